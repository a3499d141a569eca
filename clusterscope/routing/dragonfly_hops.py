"""What is cabled to what in a dragonfly, by pairs: switches of one group, and groups.

A way inside a group is the trunk between two switches, or, when that has no live cable, two trunks
over a third switch. A group is whole when a way joins all of its switches that have a live cable.

Axes: A pairs of switches asked about, G groups, a switches of a group, S switches.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from clusterscope.columns import F64, I32, I64, U64, Arrays, Bool, Col, bincount
from clusterscope.fabric.arrays import LEAF_SPINE, SCALE_UP, SPINE_CORE, Fabric
from clusterscope.routing.nexthops import Table


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs(Arrays):
    """Cables of a dragonfly by directed pair; every cable is in a row for each direction."""

    groups: int
    size: int
    local: Table
    across: Table
    near: Annotated[I32, Col("C", "switch", "lower end of a switch cable, -1 otherwise")]
    far: Annotated[I32, Col("C", "switch", "upper end, -1 when it is not a switch")]

    def only(self, live: Bool) -> Pairs:
        """The same rows without the cables that are not `live` (C,)."""
        if live[self.local.cable].all() and live[self.across.cable].all():
            return self
        return replace(self, local=self.local.only(live), across=self.across.only(live))

    def local_row(self, x: I32, y: I32) -> I32:
        """`local` row of the cables from switch x to switch y of its group."""
        row: I32 = x * np.int32(self.size) + y % np.int32(self.size)
        return row

    def across_row(self, g: I32, h: I32) -> I32:
        """`across` row of the cables from group g to group h."""
        row: I32 = g * np.int32(self.groups) + h
        return row

    def ends(self, cable: I32, group: I32) -> tuple[I32, I32, I32]:
        """Link, first and last switch of global cables taken from `group`, (A,) each."""
        up = self.near[cable] // np.int32(self.size) == group
        first = np.where(up, self.near[cable], self.far[cable])
        last = np.where(up, self.far[cable], self.near[cable])
        return 2 * cable + ~up, first, last

    def local_link(self, cable: I32, switch: I32) -> I32:
        """Link of a local cable taken from `switch`."""
        link: I32 = 2 * cable + (self.near[cable] != switch)
        return link

    @functools.cached_property
    def joined(self) -> Bool:
        """Whether a way of one or two trunks leads from switch to switch, (G, a, a)."""
        direct = (self.local.count > 0).reshape(self.groups, self.size, self.size)
        direct |= np.eye(self.size, dtype=np.bool_)
        holes = np.flatnonzero(~direct.all(axis=(1, 2)))
        some = direct[holes].astype(np.int32)
        direct[holes] = some @ some > 0
        return direct

    def leads(self, x: I32, y: I32) -> Bool:
        """Whether a way leads from switch x to switch y of its group, (A,)."""
        group, place = np.divmod(x, self.size)
        found: Bool = self.joined[group, place, y % self.size]
        return found

    def whole(self, live: Bool, port_leaf: I32) -> Bool:
        """Groups whose switches with any live cable are all joined, (G,)."""
        if self.joined.all():
            return np.ones(self.groups, dtype=np.bool_)
        used: Bool = np.zeros(self.groups * self.size, dtype=np.bool_)
        used[port_leaf[live[: len(port_leaf)]]] = True
        for table in (self.local, self.across):
            used[self.near[table.cable]] = True
            used[self.far[table.cable]] = True
        there = used.reshape(self.groups, self.size)
        missing = there[:, :, None] & there[:, None, :] & ~self.joined
        return np.asarray(~missing.any(axis=(1, 2)))

    def segment(self, x: I32, y: I32, key: U64) -> tuple[I32, I32]:
        """Links of a way from switch x to switch y, (A,) each; -1 for hops that are not made."""
        first = np.full(len(x), -1, dtype=np.int32)
        second = first.copy()
        moves = np.flatnonzero(x != y)
        cable = self.local.pick(self.local_row(x[moves], y[moves]), key[moves])
        found = cable >= 0
        first[moves[found]] = self.local_link(cable[found], x[moves[found]])
        left = moves[~found]
        for turn in range(self.size if len(left) else 0):
            z = (key[left] + np.uint64(turn)) % np.uint64(self.size)
            via = (x[left] // self.size * self.size + z.astype(np.int64)).astype(np.int32)
            out = self.local.pick(self.local_row(x[left], via), key[left])
            back = self.local.pick(self.local_row(via, y[left]), key[left])
            good = (out >= 0) & (back >= 0)
            hit = left[good]
            first[hit] = self.local_link(out[good], x[hit])
            second[hit] = self.local_link(back[good], via[good])
            left = left[~good]
        return first, second


@functools.lru_cache(maxsize=4)
def pairs_of(fabric: Fabric) -> Pairs:
    """Pairs of a whole dragonfly, kept for the last few fabrics asked for."""
    groups, size = fabric.pods, fabric.switches // fabric.pods
    near, far = np.full(fabric.cables, -1, dtype=np.int32), np.full(fabric.cables, -1, np.int32)
    span = slice(int(fabric.tier_start[LEAF_SPINE]), int(fabric.tier_start[SCALE_UP]))
    near[span] = fabric.cable_a[span] - np.int32(fabric.ports)
    far[span] = fabric.cable_b[span] - np.int32(fabric.ports)
    local = np.array(fabric.tier_cables(LEAF_SPINE), dtype=np.int32)
    across = np.array(fabric.tier_cables(SPINE_CORE), dtype=np.int32)
    keys = [
        np.concatenate(
            [near[local] * size + far[local] % size, far[local] * size + near[local] % size]
        ),
        np.concatenate(
            [
                near[across] // size * groups + far[across] // size,
                far[across] // size * groups + near[across] // size,
            ]
        ),
    ]
    return Pairs(
        groups=groups,
        size=size,
        local=_table(keys[0], np.tile(local, 2), fabric.switches * size),
        across=_table(keys[1], np.tile(across, 2), groups * groups),
        near=near,
        far=far,
    )


def row_gbps(table: Table, cable_gbps: F64) -> F64:
    """Rate of the cables of every row together, Gb/s."""
    row = np.repeat(np.arange(len(table.count)), table.count)
    return bincount(row, cable_gbps[table.cable], len(table.count))


def _table(key: I64, cable: I32, rows: int) -> Table:
    """Cables in the rows that `key` names."""
    start = np.zeros(rows + 1, dtype=np.int32)
    np.cumsum(np.bincount(key, minlength=rows), out=start[1:])
    return Table(start=start, cable=cable[np.argsort(key, kind="stable")])
