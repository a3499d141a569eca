"""Next hops: which cables lead from a switch toward another, as rows of cables.

Going up, a switch may take any of its uplinks. Coming down, a spine takes a cable of its trunk to
the destination leaf, and a core any cable to a spine of the destination's block. Built once a
fabric; `only` keeps the same rows with fewer cables when some are dead.

An island is what cables connect: blocks that share a core, directly or through others. Planes, and
the rails of a rail-only fabric, are islands of their own.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from clusterscope.columns import I32, U64, Arrays, Bool, Col
from clusterscope.fabric.arrays import LEAF_SPINE, SPINE_CORE, Fabric


@dataclass(frozen=True, eq=False, kw_only=True)
class Table(Arrays):
    """Rows of cables."""

    start: Annotated[I32, Col("R+1", "1", "cables of row r are cable[start[r]:start[r+1]]")]
    cable: Annotated[I32, Col("K", "cable", "by row, then ascending")]

    def only(self, live: Bool) -> Table:
        """The same rows without the cables that are not `live` (C,)."""
        keep = live[self.cable]
        kept = np.zeros(len(keep) + 1, dtype=np.int32)
        np.cumsum(keep, out=kept[1:])
        return Table(start=kept[self.start], cable=self.cable[keep])

    @functools.cached_property
    def count(self) -> I32:
        """Cables in each row, (R,)."""
        counts: I32 = np.diff(self.start)
        return counts

    def pick(self, row: I32, key: U64) -> I32:
        """Cable number `key` mod n of each row's n, (F,); -1 where the row is empty."""
        if not len(self.cable):
            return np.full(len(row), -1, dtype=np.int32)
        count = self.count[row]
        place = (key % np.maximum(count, 1).astype(np.uint64)).astype(np.int32)
        slot = np.minimum(self.start[row] + place, np.int32(len(self.cable) - 1))
        chosen: I32 = np.where(count > 0, self.cable[slot], np.int32(-1))
        return chosen

    def spread(self, row: I32) -> tuple[I32, I32]:
        """Every cable of the rows, with the position of its row in `row`: (M,), (M,)."""
        count = self.count[row]
        owner: I32 = np.repeat(np.arange(len(row), dtype=np.int32), count)
        first = np.cumsum(count) - count
        slot = np.arange(len(owner)) - first[owner] + self.start[row][owner]
        return owner, self.cable[slot]


@dataclass(frozen=True, eq=False, kw_only=True)
class NextHops(Arrays):
    """Up and down tables of a fabric, S switches and B blocks."""

    leaves: int
    spines: int
    cores: int
    up: Table
    down: Table
    fan: Table
    near: Annotated[I32, Col("C", "switch", "lower end of a switch cable, -1 otherwise")]
    far: Annotated[I32, Col("C", "switch", "upper end, -1 when it is not a switch")]
    place: Annotated[I32, Col("C", "1", "place in its whole `down` or `fan` row, 0 elsewhere")]
    block: Annotated[I32, Col("S", "1", "block, -1 for a core")]
    island: Annotated[I32, Col("S", "1", "what cables connect")]
    row: Annotated[I32, Col("S", "1", "first `down` row of a spine, first `fan` row of a core")]
    column: Annotated[I32, Col("S", "1", "place of a leaf among the leaves of its block")]
    block_column: Annotated[I32, Col("B", "1", "place of a block among those of its island")]
    block_island: Annotated[I32, Col("B", "1", "island of a block")]

    @property
    def spine_range(self) -> slice:
        """Spines, as a slice of the switches."""
        return slice(self.leaves, self.leaves + self.spines)

    @property
    def core_range(self) -> slice:
        """Cores, as a slice of the switches."""
        return slice(self.leaves + self.spines, self.leaves + self.spines + self.cores)

    def only(self, live: Bool) -> NextHops:
        """Next hops over `live` (C,) cables; the same object when all switch cables live."""
        if live[self.up.cable].all():
            return self
        return replace(
            self, up=self.up.only(live), down=self.down.only(live), fan=self.fan.only(live)
        )

    def down_row(self, spine: I32, leaf: I32) -> I32:
        """`down` row of the cables between spine and leaf of one block."""
        rows: I32 = self.row[spine] + self.column[leaf]
        return rows

    def fan_row(self, core: I32, block: I32) -> I32:
        """`fan` row of the cables between a core and the spines of a block of its island."""
        rows: I32 = self.row[core] + self.block_column[block]
        return rows


@functools.lru_cache(maxsize=4)
def next_hops(fabric: Fabric) -> NextHops:
    """Next hops of a whole fabric, kept for the last few fabrics asked for."""
    leaves, spines, cores = (len(fabric.switches_of(tier)) for tier in (1, 2, 3))
    near, far = _switch_ends(fabric)
    block = fabric.switch_block
    blocks = int(block.max()) + 1 if len(block) else 0
    low, high = fabric.tier_cables(LEAF_SPINE), fabric.tier_cables(SPINE_CORE)
    block_island, core_island = _islands(
        block[near[high.start : high.stop]],
        far[high.start : high.stop] - leaves - spines,
        cores,
        blocks,
    )
    island = np.concatenate([block_island[block[: leaves + spines]], core_island])
    column = np.zeros(fabric.switches, dtype=np.int32)
    column[:leaves], leaf_count = _places(block[:leaves], blocks)
    block_column, block_count = _places(block_island, max(blocks, 1))
    row = np.zeros(fabric.switches, dtype=np.int32)
    row[leaves : leaves + spines], down_rows = _offsets(leaf_count[block[leaves : leaves + spines]])
    row[leaves + spines :], fan_rows = _offsets(block_count[core_island])
    down_key = row[far[low.start : low.stop]] + column[near[low.start : low.stop]]
    fan_key = row[far[high.start : high.stop]] + block_column[block[near[high.start : high.stop]]]
    down = _table(down_key, down_rows, low.start)
    fan = _table(fan_key, fan_rows, high.start)
    place = np.zeros(fabric.cables, dtype=np.int32)
    for table in (down, fan):
        place[table.cable] = np.arange(len(table.cable)) - np.repeat(table.start[:-1], table.count)
    return NextHops(
        leaves=leaves,
        spines=spines,
        cores=cores,
        up=Table(
            start=fabric.up_start - np.int32(low.start),
            cable=np.arange(low.start, high.stop, dtype=np.int32),
        ),
        down=down,
        fan=fan,
        near=near,
        far=far,
        place=place,
        block=block,
        island=island,
        row=row,
        column=column,
        block_column=block_column,
        block_island=block_island,
    )


def _switch_ends(fabric: Fabric) -> tuple[I32, I32]:
    """Switch at the lower and at the upper end of every cable, -1 where there is none."""
    ends = []
    for vertex in (fabric.cable_a, fabric.cable_b):
        switch = vertex - np.int32(fabric.ports)
        outside = (switch < 0) | (switch >= fabric.switches)
        ends.append(np.where(outside, np.int32(-1), switch))
    return ends[0], ends[1]


def _islands(cable_block: I32, cable_core: I32, cores: int, blocks: int) -> tuple[I32, I32]:
    """Label of what hangs together: of every block, and of every core; labels are block numbers.

    Labels sink to the smallest block number; in a Clos two rounds are enough.
    """
    of_block = np.arange(blocks, dtype=np.int32)
    of_core = np.zeros(cores, dtype=np.int32)
    while len(cable_core):
        before = of_block.copy()
        of_core[:] = blocks
        np.minimum.at(of_core, cable_core, of_block[cable_block])
        np.minimum.at(of_block, cable_block, of_core[cable_core])
        if (before == of_block).all():
            break
    # A core without a cable belongs nowhere; it keeps a valid label that nothing asks for.
    return of_block, np.minimum(of_core, np.int32(max(blocks - 1, 0)))


def _places(group: I32, groups: int) -> tuple[I32, I32]:
    """Place of each item inside its group in index order, and the size of each group."""
    order = np.argsort(group, kind="stable")
    size = np.bincount(group, minlength=groups).astype(np.int32)
    first = np.cumsum(size) - size
    place = np.empty(len(group), dtype=np.int32)
    place[order] = np.arange(len(group)) - first[group[order]]
    return place, size


def _offsets(width: I32) -> tuple[I32, int]:
    """First row of each item that takes `width` rows, and the number of rows."""
    ends = np.cumsum(width, dtype=np.int32)
    return ends - width, int(ends[-1]) if len(ends) else 0


def _table(key: I32, rows: int, first_cable: int) -> Table:
    """Cables `first_cable`, ... put in the rows that `key` (K,) names."""
    start = np.zeros(rows + 1, dtype=np.int32)
    np.cumsum(np.bincount(key, minlength=rows), out=start[1:])
    order = np.argsort(key, kind="stable").astype(np.int32)
    return Table(start=start, cable=order + np.int32(first_cable))
