"""Entries of the same entity on the same link, taken together.

A lock-step group of many connections crosses a link over and over, and only the sum counts for
rates. Axes: E entries, P phases.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clusterscope.columns import F64, I32, bincount

# Fewer entries than this are not worth it.
_MANY = 300_000


class Entries(NamedTuple):
    """Entries of several phases on one numbering of entities and resources."""

    entity: list[I32]
    resource: list[I32]
    weight: list[F64]

    def flat(self) -> tuple[I32, I32, F64]:
        """All entries, in order of their entity."""
        if not self.entity:
            return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0)
        if len(self.entity) == 1:
            return self.entity[0], self.resource[0], self.weight[0]
        return (
            np.concatenate(self.entity).astype(np.int32, copy=False),
            np.concatenate(self.resource).astype(np.int32, copy=False),
            np.concatenate(self.weight),
        )


def merged(entry: tuple[I32, I32, F64], bounds: Sequence[int], links: int) -> tuple[I32, I32, F64]:
    """Entries (E,) of (entity, link, weight), each pair once where that is worth it, by entity.

    Args:
        entry: entity, ascending; link; weight.
        bounds: (P+1,) first entity of every phase, and the number of all.
        links: how many links and bundles there are.
    """
    if len(entry[0]) < _MANY:
        return entry
    cuts = np.searchsorted(entry[0], bounds)
    parts = [
        _merged((entry[0][a:b], entry[1][a:b], entry[2][a:b]), low, high, links)
        for (a, b), (low, high) in zip(pairwise(cuts.tolist()), pairwise(bounds), strict=True)
    ]
    if sum(len(part[0]) for part in parts) == len(entry[0]):
        return entry
    entity, link, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return entity, link, weight


def _merged(entry: tuple[I32, I32, F64], low: int, high: int, links: int) -> tuple[I32, I32, F64]:
    """Entries of the entities from `low` to `high`."""
    entity, link, weight = entry
    if len(entity) < _MANY or (high - low) * links > 2 * len(entity):
        return entry
    total = bincount((entity.astype(np.int64) - low) * links + link, weight, (high - low) * links)
    kept = np.flatnonzero(total)
    return (kept // links + low).astype(np.int32), (kept % links).astype(np.int32), total[kept]
