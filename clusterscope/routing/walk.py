"""One path a flow: up to a common spine or core, then down, all flows at once, hop by hop.

A switch takes the (key mod n)-th of the n live cables that still lead to the destination leaf; the
policy is the key. Two leaves of a block that have lost every common spine are joined through a
core when there is one, as shortest-path routing would.

Axes: F flows, A the flows that are at a switch of one tier now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I32, U64, Bool
from clusterscope.fabric.arrays import Fabric
from clusterscope.routing.keys import Keys
from clusterscope.routing.nexthops import NextHops, Table, next_hops
from clusterscope.routing.reach import Reach, reach_of

HOPS = 6
# Bounds the memory of one round of comparing candidates: flows x uplinks.
_CANDIDATES_AT_A_TIME = 1 << 21

# Whether a switch leads to a target, elementwise.
Leads = Callable[[I32, I32], Bool]


@dataclass(frozen=True, eq=False)
class Ways:
    """How far each scale-out flow must climb, and whether it gets there; all (F,).

    Attributes:
        src_leaf: leaf of the sender.
        dst_leaf: leaf of the receiver.
        reached: a live path exists.
        below: through a spine of the common block.
        across: through a core.
    """

    src_leaf: I32
    dst_leaf: I32
    reached: Bool
    below: Bool
    across: Bool

    @property
    def switches(self) -> I32:
        """Switches on the path, (F,): 1, 3 or 5; 0 when unreached."""
        count: I32 = self.reached.astype(np.int32) + 2 * self.below + 4 * self.across
        return count.astype(np.int32)


def ways(fabric: Fabric, hops: NextHops, live: Bool, src: I32, dst: I32) -> Ways:
    """Climb of every flow between NIC ports, over `live` (C,) cables and the `hops` they leave."""
    reach = reach_of(hops)
    src_leaf, dst_leaf = fabric.port_leaf[src], fabric.port_leaf[dst]
    ends = live[src] & live[dst]
    away = ends & (src_leaf != dst_leaf) & (hops.island[src_leaf] == hops.island[dst_leaf])
    # To an ordinary leaf any live uplink leads.
    away &= hops.up.count[src_leaf] > 0
    below = away & (hops.block[src_leaf] == hops.block[dst_leaf])
    across = away & ~below
    target = reach.target[dst_leaf]
    some = np.flatnonzero(away & (target >= 0))
    turns = reach.turns(src_leaf[some], target[some])
    crosses = reach.crosses(src_leaf[some], target[some])
    across[some] = crosses & ~(below[some] & turns)
    below[some] &= turns
    reached = (ends & (src_leaf == dst_leaf)) | below | across
    return Ways(src_leaf=src_leaf, dst_leaf=dst_leaf, reached=reached, below=below, across=across)


def walk(fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32, keys: Keys) -> tuple[I32, I32]:
    """Path of every flow between NIC ports.

    Returns:
        links: (F, 6) links in order; -1 for hops that are not made.
        switches: (F,) switches on the path, 0 when there is none.
    """
    live = cable_rate_gbps > 0
    hops = next_hops(fabric).only(live)
    way = ways(fabric, hops, live, src, dst)
    links = np.full((len(src), HOPS), -1, dtype=np.int32)
    links[:, 0] = np.where(way.reached, 2 * src, -1)
    links[:, 5] = np.where(way.reached, 2 * dst + 1, -1)
    step = _Step(hops=hops, reach=reach_of(hops), dst_leaf=way.dst_leaf, keys=keys)
    below = np.flatnonzero(way.below).astype(np.int32)
    if len(below):
        step.below(links, below, way.src_leaf[below])
    across = np.flatnonzero(way.across).astype(np.int32)
    if len(across):
        step.across(links, across, way.src_leaf[across])
    return links, way.switches


@dataclass(frozen=True, eq=False)
class _Step:
    """The hops of some flows (A,); each method fills in columns of links (F, 6)."""

    hops: NextHops
    reach: Reach
    dst_leaf: I32
    keys: Keys

    def below(self, links: I32, flow: I32, leaf: I32) -> None:
        """Leaf, spine, leaf."""
        hops = self.hops
        key = self.keys("leaf up", flow, leaf)
        cable = self._leading(hops.up, leaf, key, flow, hops.far, self.reach.turns)
        links[flow, 1] = 2 * cable
        self._last(links, flow, hops.far[cable])

    def across(self, links: I32, flow: I32, leaf: I32) -> None:
        """Leaf, spine, core, spine, leaf."""
        hops, reach = self.hops, self.reach
        key = self.keys("leaf up", flow, leaf)
        cable = self._leading(hops.up, leaf, key, flow, hops.far, reach.crosses)
        links[flow, 1] = 2 * cable
        spine = hops.far[cable]
        key = self.keys("spine up", flow, spine)
        cable = self._leading(hops.up, spine, key, flow, hops.far, reach.crosses)
        links[flow, 2] = 2 * cable
        core = hops.far[cable]
        row = hops.fan_row(core, hops.block[self.dst_leaf[flow]])
        key = self.keys("core down", flow, core)
        cable = self._leading(hops.fan, row, key, flow, hops.near, reach.turns)
        links[flow, 3] = 2 * cable + 1
        self._last(links, flow, hops.near[cable])

    def _last(self, links: I32, flow: I32, spine: I32) -> None:
        """Spine to the destination leaf; every live cable of the trunk leads there."""
        row = self.hops.down_row(spine, self.dst_leaf[flow])
        links[flow, 4] = 2 * self.hops.down.pick(row, self.keys("spine down", flow, spine)) + 1

    def _leading(self, table: Table, row: I32, key: U64, flow: I32, end: I32, leads: Leads) -> I32:
        """Cable that each flow takes, among those whose `end` leads to its destination."""
        cable = table.pick(row, key)
        target = self.reach.target[self.dst_leaf[flow]]
        picky = np.flatnonzero(target >= 0)
        width = int(table.count[row[picky]].max()) if len(picky) else 0
        size = max(_CANDIDATES_AT_A_TIME // max(width, 1), 1)
        for low in range(0, len(picky), size):
            some = picky[low : low + size]
            candidate = _candidates(table, row[some], width)
            goal = np.broadcast_to(target[some][:, None], candidate.shape)
            leading = (candidate >= 0) & leads(end[candidate], goal)
            cable[some] = _kth(candidate, leading, key[some])
        return cable


def _candidates(table: Table, row: I32, width: int) -> I32:
    """Cables of each row, (A, width), padded with -1."""
    place = np.arange(width, dtype=np.int32)
    slot = np.minimum(table.start[row][:, None] + place, np.int32(len(table.cable) - 1))
    inside = place < table.count[row][:, None]
    padded: I32 = np.where(inside, table.cable[slot], np.int32(-1))
    return padded


def _kth(candidate: I32, leading: Bool, key: U64) -> I32:
    """The (key mod n)-th of the n >= 1 leading candidates of each row, (A,)."""
    running = np.cumsum(leading, axis=1, dtype=np.int32)
    k = (key % running[:, -1].astype(np.uint64)).astype(np.int32)
    place = (running > k[:, None]).argmax(axis=1)
    chosen: I32 = candidate[np.arange(len(candidate)), place]
    return chosen
