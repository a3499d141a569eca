"""Backward reachability: which switches still lead to which destination leaf.

After a failure a live cable may be a dead end: its far switch has lost the destination. Most
destinations do not care, because whatever is cabled to them at all still leads to them; those are
*ordinary*, and any live cable will do. The others are grouped in targets (leaves of one block that
have lost nothing of their own share one), and each gets one bit a switch:

* turn: a spine with a live cable to the target; a leaf with a live uplink to such a spine;
* over: a core with a live cable to a spine that turns; a spine with a live uplink to such a core; a
  leaf with a live uplink to such a spine.

Axes: S switches, T targets.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from clusterscope.columns import I32, Arrays, Bool, Col
from clusterscope.routing.nexthops import NextHops, Table

U8 = NDArray[np.uint8]
# Bounds the memory of one round of OR-ing: targets that are treated at a time.
_TARGETS_AT_A_TIME = 512


@dataclass(frozen=True, eq=False, kw_only=True)
class Reach(Arrays):
    """What still leads to the leaves that are not ordinary; bits are little-endian in a byte."""

    target: Annotated[I32, Col("S", "target", "of a leaf; -1 when it is ordinary, or no leaf")]
    plain: Annotated[Bool, Col("S", "1", "leaf with a live cable to every spine that has one")]
    turn: Annotated[U8, Col("SW", "bit", "reaches the target without a core")]
    over: Annotated[U8, Col("SW", "bit", "reaches the target through a core")]

    def turns(self, switch: I32, target: I32) -> Bool:
        """Whether each switch leads to its target (>= 0) below the cores; shape of `switch`."""
        return _bit(self.turn, switch, target)

    def crosses(self, switch: I32, target: I32) -> Bool:
        """Whether each switch leads to its target (>= 0) through a core; shape of `switch`."""
        return _bit(self.over, switch, target)


@functools.lru_cache(maxsize=8)
def reach_of(hops: NextHops) -> Reach:
    """Reachability over the cables of `hops`, kept for the last few asked for."""
    plain = _plain(hops)
    flagged = _blocks_cut_short(hops)
    lonely = np.flatnonzero(~plain).astype(np.int32)
    shared = np.flatnonzero(plain & flagged[hops.block[: hops.leaves]]).astype(np.int32)
    _, first, same = np.unique(hops.block[shared], return_index=True, return_inverse=True)
    target = np.full(len(hops.block), -1, dtype=np.int32)
    target[lonely] = np.arange(len(lonely))
    target[shared] = len(lonely) + same
    turn, over = _bits(hops, np.concatenate([lonely, shared[first]]))
    padded = np.zeros(len(hops.block), dtype=np.bool_)
    padded[: hops.leaves] = plain
    return Reach(target=target, plain=padded, turn=turn, over=over)


def _plain(hops: NextHops) -> Bool:
    """Leaves with a live cable to every spine of their block that has one, (leaves,)."""
    blocks = len(hops.block_column)
    seen = hops.down.start[:-1][hops.down.count > 0]
    leaf = hops.near[hops.down.cable[seen]]
    spines_of_leaf = np.bincount(leaf, minlength=hops.leaves)
    alive = _with_down(hops)
    alive_spines = np.bincount(hops.block[hops.spine_range][alive], minlength=blocks)
    plain: Bool = spines_of_leaf == alive_spines[hops.block[: hops.leaves]]
    return plain


def _with_down(hops: NextHops) -> Bool:
    """Spines with a live cable to a leaf, (spines,)."""
    down = np.bincount(hops.far[hops.down.cable] - hops.leaves, minlength=hops.spines)
    return down > 0


def _blocks_cut_short(hops: NextHops) -> Bool:
    """Blocks that some live cable of their island fails to lead to, (B,).

    Three ways to be a dead end: a spine that cores see but that sees no leaf, a core that sees
    other blocks only, and a spine that leaves see but that sees no core.
    """
    blocks = len(hops.block_column)
    if not hops.cores or not blocks:
        return np.zeros(blocks, dtype=np.bool_)
    spine_block = hops.block[hops.spine_range]
    up, down = hops.up.count[hops.spine_range] > 0, _with_down(hops)
    cut = np.bincount(spine_block[up & ~down], minlength=blocks) > 0
    stranded = np.bincount(hops.block_island[spine_block[down & ~up]], minlength=blocks) > 0
    seen = hops.fan.start[:-1][hops.fan.count > 0]
    cores_of_block = np.bincount(hops.block[hops.near[hops.fan.cable[seen]]], minlength=blocks)
    alive = np.bincount(hops.far[hops.fan.cable], minlength=len(hops.block))[hops.core_range] > 0
    alive_cores = np.bincount(hops.island[hops.core_range][alive], minlength=blocks)
    has_cores = np.bincount(hops.island[hops.core_range], minlength=blocks) > 0
    short: Bool = cores_of_block < alive_cores[hops.block_island]
    return cut | short | (stranded & has_cores)[hops.block_island]


def _bits(hops: NextHops, target_leaf: I32) -> tuple[U8, U8]:
    """Packed `turn` and `over` of every switch for each target leaf."""
    switches = len(hops.block)
    turns, overs = [], []
    for low in range(0, max(len(target_leaf), 1), _TARGETS_AT_A_TIME):
        some = target_leaf[low : low + _TARGETS_AT_A_TIME]
        owner, cable = hops.up.spread(some)
        direct = np.zeros((switches, len(some)), dtype=np.bool_)
        direct[hops.far[cable], owner] = True
        turn = np.packbits(direct, axis=1, bitorder="little")
        over = np.zeros_like(turn)
        leaf, spine, core = slice(0, hops.leaves), hops.spine_range, hops.core_range
        turn[leaf] = _any_up(hops, leaf, turn)
        over[core] = _any_down(hops, turn)
        over[spine] = _any_up(hops, spine, over)
        over[leaf] = _any_up(hops, leaf, over)
        turns.append(turn)
        overs.append(over)
    return np.concatenate(turns, axis=1), np.concatenate(overs, axis=1)


def _any_up(hops: NextHops, switches: slice, bits: U8) -> U8:
    """OR of `bits` over the far ends of the uplinks of each switch of a tier."""
    return _or_rows(hops.up.start[switches.start : switches.stop + 1], hops.up, hops.far, bits)


def _any_down(hops: NextHops, bits: U8) -> U8:
    """OR of `bits` over the spines below each core; the `fan` rows of a core are contiguous."""
    start = np.append(hops.fan.start[hops.row[hops.core_range]], hops.fan.start[-1:])
    return _or_rows(start, hops.fan, hops.near, bits)


def _or_rows(start: I32, table: Table, end: I32, bits: U8) -> U8:
    """OR of `bits` at `end` of the cables table.cable[start[r]:start[r+1]], by row."""
    out = np.zeros((len(start) - 1, bits.shape[1]), dtype=np.uint8)
    filled = np.diff(start) > 0
    if filled.any() and bits.shape[1]:
        cables = table.cable[start[0] : start[-1]]
        first = start[:-1][filled] - start[0]
        out[filled] = np.bitwise_or.reduceat(bits[end[cables]], first, axis=0)
    return out


def _bit(bits: U8, switch: I32, target: I32) -> Bool:
    """Bit `target` of the row of each switch."""
    word = bits[switch, target >> 3]
    hit: Bool = (word >> (target & 7).astype(np.uint8)) & np.uint8(1) > 0
    return hit
