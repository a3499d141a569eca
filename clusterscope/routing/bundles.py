"""Bundles of links that share sprayed load, one set a fabric and health.

A leaf spreads packets over its live uplinks (its *leaf up* bundle) and the spines bring them down
over the same cables (*leaf down*); the cables between the spines of a block and the cores are the
block's *block up* and *block down* bundles. A cable whose far switch leads nowhere else is no
member.

* spray shares alike, whatever the members can carry: the slowest is full first, so the bundle
  carries n x the slowest member.
* adaptive follows the live capacity: the bundle carries the sum of its members.

Axes: B bundles, K members.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I32, Bool, bincount
from clusterscope.routing.nexthops import NextHops
from clusterscope.routing.routes import Bundles


@dataclass(frozen=True)
class BundleIds:
    """Where the four kinds of bundles start; there are `leaves` or `blocks` of each kind."""

    leaves: int
    blocks: int

    @property
    def leaf_down(self) -> int:
        """First leaf-down bundle; leaf up starts at 0."""
        return self.leaves

    @property
    def block_up(self) -> int:
        """First block-up bundle."""
        return 2 * self.leaves

    @property
    def block_down(self) -> int:
        """First block-down bundle."""
        return 2 * self.leaves + self.blocks

    @property
    def total(self) -> int:
        """Number of bundles."""
        return 2 * (self.leaves + self.blocks)


def bundle_ids(hops: NextHops) -> BundleIds:
    """Numbers of the bundles of a fabric."""
    return BundleIds(hops.leaves, len(hops.block_column))


def equal_bundles(hops: NextHops, cable_gbps: F64) -> Bundles:
    """Bundles whose members carry the same; `hops` are over the live of the cables (C,)."""
    start, link = _members(hops)
    count = np.diff(start)
    slowest = np.zeros(len(count))
    filled = count > 0
    if filled.any():
        slowest[filled] = np.minimum.reduceat(cable_gbps[link >> 1], start[:-1][filled])
    return Bundles(
        common=len(count),
        start=start,
        member_link=link,
        member_share=np.repeat(1.0 / np.maximum(count, 1), count),
        gbps=count * slowest,
    )


def capacity_bundles(hops: NextHops, cable_gbps: F64) -> Bundles:
    """Bundles whose members carry in proportion to their rate."""
    start, link = _members(hops)
    rate, count = cable_gbps[link >> 1], np.diff(start)
    owner = np.repeat(np.arange(len(count), dtype=np.int32), count)
    total = bincount(owner, rate, len(count))
    return Bundles(
        common=len(total),
        start=start,
        member_link=link,
        member_share=rate / total[owner],
        gbps=total,
    )


def with_extra(bundles: Bundles, gbps: F64) -> Bundles:
    """The same, followed by bundles without members: limits that put no load on links."""
    end = np.full(len(gbps), bundles.start[-1], dtype=np.int32)
    return Bundles(
        common=bundles.common,
        start=np.concatenate([bundles.start, end]),
        member_link=bundles.member_link,
        member_share=bundles.member_share,
        gbps=np.concatenate([bundles.gbps, gbps]),
    )


def _members(hops: NextHops) -> tuple[I32, I32]:
    """Start of every bundle (B+1,), and the link of every member (K,)."""
    ids = bundle_ids(hops)
    leaf_cable, core_cable = _useful(hops)
    block = hops.block[hops.near[core_cable]]
    if (np.diff(block) < 0).any():
        order = np.argsort(block, kind="stable")
        core_cable, block = core_cable[order], block[order]
    ups = (2 * leaf_cable, 2 * core_cable)
    link = np.concatenate([ups[0], ups[0] + 1, ups[1], ups[1] + 1])
    of_leaf = np.bincount(hops.near[leaf_cable], minlength=ids.leaves)
    of_block = np.bincount(block, minlength=ids.blocks)
    start = np.zeros(ids.total + 1, dtype=np.int32)
    np.cumsum(np.concatenate([of_leaf, of_leaf, of_block, of_block]), out=start[1:])
    return start, link


def _useful(hops: NextHops) -> tuple[I32, I32]:
    """Live leaf-spine and spine-core cables, by lower end, that are not dead ends."""
    seen = hops.down.start[:-1][hops.down.count > 0]
    leaves_of_spine = np.bincount(hops.far[hops.down.cable[seen]], minlength=len(hops.block))
    climbs = hops.up.count > 0
    through = (leaves_of_spine > 1) | ((leaves_of_spine > 0) & climbs)
    cables = hops.up.cable
    split = int(hops.up.start[hops.leaves])
    leaf_cable, core_cable = cables[:split], cables[split:]
    enters = leaves_of_spine > 0
    turns = _joins_spines(hops, enters)
    keep = enters[hops.near[core_cable]] & turns[hops.far[core_cable]]
    return leaf_cable[through[hops.far[leaf_cable]]], core_cable[keep]


def _joins_spines(hops: NextHops, enters: Bool) -> Bool:
    """Cores with live cables to two spines that see leaves (`enters`), (S,); False for others."""
    joins = np.zeros(len(hops.block), dtype=np.bool_)
    cable = hops.fan.cable[enters[hops.near[hops.fan.cable]]]
    if len(cable):
        spine, core = hops.near[cable], hops.far[cable]
        first = np.flatnonzero(np.diff(core, prepend=-1))
        lowest, highest = np.minimum.reduceat(spine, first), np.maximum.reduceat(spine, first)
        joins[core[first]] = lowest < highest
    return joins
