"""Pairs of leaves in one block that do not see the same spines.

When leaves a and b have lost different spines, only the spines that both still see carry their
flows: fewer paths than either leaf's bundle has members. Leaves that see every live spine of the
block at one rate need no such care, so only pairs with an uneven leaf are looked at.

Axes: S switches, P pairs, X (pair, spine) combinations.
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import F64, I32, Bool, bincount
from clusterscope.routing.nexthops import NextHops
from clusterscope.routing.reach import reach_of

# Bounds the memory of one round: pairs x spines of a block.
_COMBINATIONS_AT_A_TIME = 1 << 21


def uneven(hops: NextHops, cable_gbps: F64) -> Bool:
    """Leaves that miss a live spine of their block, or see spines at several rates, (S,)."""
    mark = ~reach_of(hops).plain
    mark[hops.leaves :] = False
    filled = np.flatnonzero(hops.down.count > 0)
    if len(filled):
        gbps = _row_gbps(hops, cable_gbps)[filled]
        leaf = hops.near[hops.down.cable[hops.down.start[filled]]]
        most = np.zeros(len(hops.block))
        np.maximum.at(most, leaf, gbps)
        mark[leaf[gbps < most[leaf]]] = True
    return mark


def common_cables(hops: NextHops, leaf_a: I32, leaf_b: I32) -> tuple[F64, F64]:
    """Live cables of a, and of b, to spines that both see: (P,) each."""
    count = hops.down.count.astype(np.float64)
    return _over_spines(hops, leaf_a, leaf_b, count)[:2]


def common_gbps(hops: NextHops, cable_gbps: F64, leaf_a: I32, leaf_b: I32) -> F64:
    """What the spines carry from a to b together: the sum of the narrower sides, (P,) Gb/s."""
    return _over_spines(hops, leaf_a, leaf_b, _row_gbps(hops, cable_gbps))[2]


def _row_gbps(hops: NextHops, cable_gbps: F64) -> F64:
    """Rate of the live cables of every `down` row together."""
    row = np.repeat(np.arange(len(hops.down.count)), hops.down.count)
    return bincount(row, cable_gbps[hops.down.cable], len(hops.down.count))


def _over_spines(hops: NextHops, leaf_a: I32, leaf_b: I32, value: F64) -> tuple[F64, F64, F64]:
    """Sums over the spines of the block that both leaves see.

    Args:
        hops: next hops over live cables.
        leaf_a: (P,) leaf.
        leaf_b: (P,) leaf of the same block.
        value: what a `down` row is worth; 0 when it is empty.

    Returns:
        Sum of a's value, of b's value, and of the smaller of the two, (P,) each.
    """
    spine_block = hops.block[hops.spine_range]
    spines = hops.leaves + np.argsort(spine_block, kind="stable").astype(np.int32)
    size = np.bincount(spine_block, minlength=len(hops.block_column))
    first = np.cumsum(size) - size
    sums = np.zeros((3, len(leaf_a)))
    step = max(_COMBINATIONS_AT_A_TIME // max(int(size.max(initial=1)), 1), 1)
    for low in range(0, len(leaf_a), step):
        a, b = leaf_a[low : low + step], leaf_b[low : low + step]
        width = size[hops.block[a]]
        pair = np.repeat(np.arange(len(a)), width)
        place = np.arange(len(pair)) - np.repeat(np.cumsum(width) - width, width)
        spine = spines[first[hops.block[a]][pair] + place]
        of_a = value[hops.down_row(spine, a[pair])]
        of_b = value[hops.down_row(spine, b[pair])]
        common = (of_a > 0) & (of_b > 0)
        for total, part in zip(sums, (of_a, of_b, np.minimum(of_a, of_b)), strict=True):
            total[low : low + step] = bincount(pair, part * common, len(a))
    return sums[0], sums[1], sums[2]
