"""One path a flow through a dragonfly, all flows at once.

    minimal   NIC, [local], global, [local], NIC: a hash chooses among the live cables between the
              two groups that both switches have a way to; none left, over a third group
    valiant   NIC, [local], global, [local], global, [local], NIC over a group chosen by hash;
              with no such group, as minimal

A local hop is made where the switch with the global cable is another one. Inside a group a flow
takes the trunk between its switches, or two trunks when that is dead (`Pairs.segment`).

Axes: F flows, A flows looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from clusterscope.columns import F64, I32, U64, Bool
from clusterscope.fabric.arrays import Fabric
from clusterscope.routing.dragonfly_hops import Pairs, pairs_of
from clusterscope.routing.hashing import mix
from clusterscope.routing.keys import Keys, Stage

HOPS = 10
_NIC, _SOURCE, _FIRST, _MIDDLE, _SECOND, _TARGET, _LAST = 0, 1, 3, 4, 6, 7, 9
Course = Literal["minimal", "valiant"]


def paths(
    fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32, keys: Keys, course: Course
) -> tuple[I32, I32]:
    """Path of every flow between NIC ports.

    Returns:
        links: (F, 10) links in order; -1 for hops that are not made.
        switches: (F,) switches on the path, 0 when there is none.
    """
    live = cable_rate_gbps > 0
    pairs = pairs_of(fabric).only(live)
    start, end = fabric.port_leaf[src], fabric.port_leaf[dst]
    links = np.full((len(src), HOPS), -1, dtype=np.int32)
    walk = _Walk(pairs, pairs.whole(live, fabric.port_leaf), start, end, keys, links)
    ends = live[src] & live[dst]
    near = walk.group(start) == walk.group(end)
    inside = np.flatnonzero(ends & near).astype(np.int32)
    inside = inside[pairs.leads(start[inside], end[inside])]
    walk.fill(inside, _SOURCE, start[inside], end[inside])
    cross = np.flatnonzero(ends & ~near).astype(np.int32)
    first, then = (walk.direct, walk.around) if course == "minimal" else (walk.around, walk.direct)
    lost = then(first(cross))
    reached = ends.copy()
    reached[near] = False
    reached[inside] = True
    reached[lost] = False
    links[reached, _NIC] = 2 * src[reached]
    links[reached, _LAST] = 2 * dst[reached] + 1
    switches = np.count_nonzero(links >= 0, axis=1) - 1
    return links, np.where(reached, switches, 0).astype(np.int32)


@dataclass(frozen=True, eq=False)
class _Walk:
    """Flows from switch `start` to switch `end` (F,); methods fill in columns of links (F, 10)."""

    pairs: Pairs
    whole: Bool
    start: I32
    end: I32
    keys: Keys
    links: I32

    def group(self, switch: I32) -> I32:
        """Group of each switch."""
        group: I32 = switch // np.int32(self.pairs.size)
        return group

    def fill(self, flow: I32, column: int, x: I32, y: I32) -> None:
        """Links inside a group from switch x to switch y, (A,)."""
        pair = self.pairs.segment(x, y, self.keys("leaf up", flow, x))
        self.links[flow, column], self.links[flow, column + 1] = pair

    def direct(self, flow: I32) -> I32:
        """Route flows (A,) over a cable between their groups; those that none serves."""
        pairs = self.pairs
        for turn in range(int(pairs.across.count.max(initial=0)) if len(flow) else 0):
            x, y = self.start[flow], self.end[flow]
            g = self.group(x)
            key = self.keys("spine up", flow, x) + np.uint64(turn)
            cable = pairs.across.pick(pairs.across_row(g, self.group(y)), key)
            link, u, v = pairs.ends(cable, g)
            good = (cable >= 0) & pairs.leads(x, u) & pairs.leads(v, y)
            hit = flow[good]
            self.links[hit, _FIRST] = link[good]
            self.fill(hit, _SOURCE, x[good], u[good])
            self.fill(hit, _TARGET, v[good], y[good])
            flow = flow[~good]
            if not len(flow):
                break
        return flow

    def around(self, flow: I32) -> I32:
        """Route flows (A,) over a third group; those that none serves."""
        pairs = self.pairs
        others, width = pairs.groups - 1, int(pairs.across.count.max(initial=0))
        # With whole groups the first cable of a pair of groups serves as well as any.
        tries = others * (1 if self.whole.all() else width * width)
        for turn in range(tries if len(flow) else 0):
            x, y = self.start[flow], self.end[flow]
            g, h = self.group(x), self.group(y)
            key = self.keys("spine up", flow, x)
            place = (mix(key) + np.uint64(turn)) % np.uint64(others)
            i = ((g + 1 + place.astype(np.int64)) % pairs.groups).astype(np.int32)
            again, more = divmod(turn // others, max(width, 1))
            out = pairs.across.pick(pairs.across_row(g, i), key + np.uint64(more))
            link, u, v = pairs.ends(out, g)
            key = self.keys("core down", flow, v) + np.uint64(again)
            back = pairs.across.pick(pairs.across_row(i, h), key)
            good = (i != h) & (out >= 0) & (back >= 0)
            flow = self._through(flow, good, (x, u, v, link), (i, y, back))
            if not len(flow):
                break
        return flow

    def _through(
        self,
        flow: I32,
        good: Bool,
        out: tuple[I32, I32, I32, I32],
        back: tuple[I32, I32, I32],
    ) -> I32:
        """Fill in the flows that a cable out and a cable back serve; the others."""
        (x, u, v, link), (i, y, cable) = out, back
        last, w, z = self.pairs.ends(cable, i)
        good = good & self.pairs.leads(x, u) & self.pairs.leads(v, w) & self.pairs.leads(z, y)
        hit = flow[good]
        self.links[hit, _FIRST], self.links[hit, _SECOND] = link[good], last[good]
        self.fill(hit, _SOURCE, x[good], u[good])
        self.fill(hit, _MIDDLE, v[good], w[good])
        self.fill(hit, _TARGET, z[good], y[good])
        return flow[~good]


def by_destination(rank: I32) -> Keys:
    """Static tables: the rank of each flow's destination (F,), at every switch."""
    digit = rank.astype(np.uint64)

    def keys(stage: Stage, flow: I32, switch: I32) -> U64:
        del stage, switch
        return digit[flow]

    return keys
