"""Seeded random orders that are equal on every machine and numpy version.

Only raw counter-based words and a stable sort are used: the distributions of numpy's `Generator`
may change between its versions, the words of Philox may not.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from clusterscope.columns import I32


class Purpose(IntEnum):
    """What a random order is for; each purpose has a stream of its own under one seed."""

    NODES = 1
    PARTNERS = 2
    SLOW = 3


def shuffled(count: int, seed: int, purpose: Purpose) -> I32:
    """Random order of 0..count-1, (count,)."""
    words = np.random.Philox(np.random.SeedSequence(seed, spawn_key=(int(purpose),)))
    return np.argsort(words.random_raw(count), kind="stable").astype(np.int32)


def shuffled_partners(count: int, seed: int, purpose: Purpose) -> I32:
    """Random permutation of 0..count-1 without fixed points, (count,); needs count >= 2.

    Ranks drawn as their own partner trade partners in a cycle; one alone trades with the next.
    """
    partners = shuffled(count, seed, purpose)
    alone = np.flatnonzero(partners == np.arange(count))
    if len(alone) == 1:
        alone = np.append(alone, (alone[0] + 1) % count)
    partners[alone] = np.roll(partners[alone], -1)
    return partners
