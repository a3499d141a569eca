"""Deterministic hashing: which of its equal next hops a switch gives a flow.

A 64-bit finalizer (two multiply-xorshift rounds, the constants of SplitMix64: Steele, Lea, Flood,
"Fast splittable pseudorandom number generators", OOPSLA 2014) stands in for the CRC of a switch
ASIC: integer only, so every machine gives the same paths.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from clusterscope.columns import I32, U64

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_ROUNDS = ((np.uint64(30), _FIRST), (np.uint64(27), _SECOND))
_LAST = np.uint64(31)
_PIECE = 1 << 14


def mix(value: U64) -> U64:
    """Every bit of each value spread over all 64 bits; a bijection, shape kept."""
    out: U64 = np.add(value, _GOLDEN, out=np.empty(np.shape(value), dtype=np.uint64))
    flat = out.reshape(-1)
    # In pieces that stay in the cache: of a million flows memory is what this costs.
    shifted = np.empty(min(_PIECE, len(flat)), dtype=np.uint64)
    for low in range(0, len(flat), _PIECE):
        some = flat[low : low + _PIECE]
        own = shifted[: len(some)]
        for shift, factor in _ROUNDS:
            some ^= np.right_shift(some, shift, out=own)
            some *= factor
        some ^= np.right_shift(some, _LAST, out=own)
    return out


def entropy(src: I32, dst: I32, qp: I32, seed: int) -> U64:
    """Hash of what stands for a flow's 5-tuple, (F,) uint64.

    Args:
        src: (F,) sending vertex.
        dst: (F,) receiving vertex.
        qp: (F,) which of the pair's queue pairs; each has a UDP source port of its own.
        seed: chooses among equally good draws.
    """
    out = mix(_whole(seed))
    for part in (src, dst, qp):
        out = mix(out ^ part.astype(np.uint64))
    return out


def switch_salts(switches: int, seed: int, hash_seed: Literal["per-switch", "shared"]) -> U64:
    """What each switch folds into its hash, (S,) uint64; all equal when the seed is shared."""
    own = np.arange(1, switches + 1, dtype=np.uint64)
    return mix(_whole(seed) ^ mix(own if hash_seed == "per-switch" else np.zeros_like(own)))


def _whole(seed: int) -> U64:
    """A seed of any size or sign as one 64-bit word, (1,)."""
    return np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)
