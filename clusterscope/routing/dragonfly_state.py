"""What adaptive routing on a dragonfly shares load over: bundles of links, in one health.

There are two kinds of bundles, which have no link in common: the live global cables from one group
to another, and all live local links of a group. A switch whose NICs could fill more than its live
local links is a limit of its own, without a link to show for it.

Model: local hops spread over all local links of a group. How often a switch is its own gateway is
taken from its part of the group's global capacity.

Axes: G groups, a switches of a group, S switches, B bundles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clusterscope.columns import F64, I32, Bool, bincount
from clusterscope.fabric.arrays import LEAF_SPINE, SPINE_CORE, Fabric
from clusterscope.routing.detour import Mesh
from clusterscope.routing.dragonfly_hops import Pairs, pairs_of, row_gbps
from clusterscope.routing.routes import Bundles


@dataclass(frozen=True, eq=False)
class State:
    """A dragonfly in one health, as adaptive routing sees it.

    Bundle g * G + h is that of the global cables from group g to h, and g * G + g that of the local
    links of group g; then come the limits out of and into every switch.
    """

    fabric: Fabric
    cable_gbps: F64

    @cached_property
    def live(self) -> Bool:
        """Cables that carry anything, (C,)."""
        return np.asarray(self.cable_gbps > 0)

    @cached_property
    def pairs(self) -> Pairs:
        """Live cables by pair."""
        return pairs_of(self.fabric).only(self.live)

    @cached_property
    def whole(self) -> Bool:
        """Groups whose switches are all joined, (G,)."""
        return self.pairs.whole(self.live, self.fabric.port_leaf)

    @cached_property
    def groups(self) -> Mesh:
        """The groups, joined by global cables: one mesh."""
        count = self.pairs.groups
        return Mesh.of(row_gbps(self.pairs.across, self.cable_gbps).reshape(1, count, count))

    @cached_property
    def trunks(self) -> F64:
        """Rate from switch to switch of a group, (G, a, a) Gb/s."""
        pairs = self.pairs
        rate = row_gbps(pairs.local, self.cable_gbps)
        return rate.reshape(pairs.groups, pairs.size, pairs.size)

    @cached_property
    def own(self) -> F64:
        """Part of its group's global capacity that each switch has itself, (S,)."""
        fabric, tier = self.fabric, self.fabric.tier_cables(SPINE_CORE)
        span = slice(tier.start, tier.stop)
        rate, total = self.cable_gbps[span], np.zeros(fabric.switches)
        for ends in (self.pairs.near, self.pairs.far):
            total += bincount(ends[span], rate, fabric.switches)
        of_group = bincount(fabric.switch_pod, total, fabric.pods)[fabric.switch_pod]
        return np.divide(total, of_group, out=np.zeros_like(total), where=of_group > 0)

    @cached_property
    def tight(self) -> Bool:
        """Switches whose NICs could send more than their live local links carry, (S,)."""
        nics = bincount(
            self.fabric.port_leaf, self.cable_gbps[: self.fabric.ports], self.fabric.switches
        )
        local = self.trunks.sum(axis=2).ravel()
        return np.asarray((local > 0) & (local < nics * (1.0 - 1e-9)))

    @cached_property
    def bundles(self) -> Bundles:
        """All bundles; a member carries in proportion to its rate."""
        fabric, pairs = self.fabric, self.pairs
        local, across = (
            np.flatnonzero(self.live[tier.start : tier.stop]).astype(np.int32) + tier.start
            for tier in (fabric.tier_cables(LEAF_SPINE), fabric.tier_cables(SPINE_CORE))
        )
        inside = fabric.switch_pod[pairs.near[local]] * np.int32(pairs.groups + 1)
        g, h = fabric.switch_pod[pairs.near[across]], fabric.switch_pod[pairs.far[across]]
        owner = np.concatenate([inside, inside, pairs.across_row(g, h), pairs.across_row(h, g)])
        link = np.concatenate([2 * local, 2 * local + 1, 2 * across, 2 * across + 1])
        order = np.argsort(owner, kind="stable")
        owner, link = owner[order], link[order].astype(np.int32)
        count = self.limits + 2 * fabric.switches
        start = np.zeros(count + 1, dtype=np.int32)
        np.cumsum(np.bincount(owner, minlength=count), out=start[1:])
        rate = self.cable_gbps[link >> 1]
        total = bincount(owner, rate, count)
        share = rate / total[owner]
        total[self.limits : self.limits + fabric.switches] = self.trunks.sum(axis=2).ravel()
        total[self.limits + fabric.switches :] = self.trunks.sum(axis=1).ravel()
        return Bundles(common=count, start=start, member_link=link, member_share=share, gbps=total)

    @property
    def limits(self) -> int:
        """Bundle that limits what leaves switch 0 by local links; what enters it is S further."""
        return self.pairs.groups * self.pairs.groups

    def local_bundle(self, group: I32) -> I32:
        """Bundle of a group's local links."""
        bundle: I32 = group * np.int32(self.pairs.groups + 1)
        return bundle
