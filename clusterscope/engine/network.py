"""The network in one state of health: routes of each phase, and how phases share the links.

Nothing here changes with time; results are kept because a running job asks for the same share
again at every step. After a failure, routes still follow the health in which they were computed
(`routed`) while links already carry only what works (`actual`). A network made from another takes
over what the change cannot have touched: a dead spine changes no share inside a domain.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from clusterscope.columns import F64, I32, Arrays, Bool, Col, bincount
from clusterscope.engine.rates import max_min_entries
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import SCALE_UP, Health
from clusterscope.routing.route import route, route_exchange
from clusterscope.routing.routes import Bundles, link_loads, no_bundles
from clusterscope.transport.model import SCALE_UP_LATENCY_S, path_latency_s
from clusterscope.units import BITS_PER_BYTE, GIGA

PhaseKey = tuple[int, int]
# What the link loads of kept shares may take together.
_SHARE_BYTES = 256 * 2**20


@dataclass(frozen=True, eq=False, kw_only=True)
class Routed(Arrays):
    """One phase on its routes, by entity (U) and entry (E)."""

    entry_entity: Annotated[I32, Col("E", "entity", "ascending")]
    entry_link: Annotated[I32, Col("E", "resource", "link, or L + bundle of this phase")]
    entry_weight: Annotated[F64, Col("E", "1", "load per unit of entity rate")]
    stalled: Annotated[Bool, Col("U", "1", "a member has no live path")]
    latency_s: Annotated[F64, Col("U", "s", "latency of all serial steps together")]
    bundles: Bundles
    unreached: int


@dataclass(frozen=True, eq=False)
class Share:
    """How the entities of some phases share the network.

    Attributes:
        rate_gbps: by phase, payload rate of each entity while it sends, (U,).
        pace_gbps: by phase, payload rate averaged over latency too, (U,).
        bottleneck: by phase, link that holds the entity back, (U,), -1 when none does.
        link_gbps: wire load of every link, (L,).
    """

    rate_gbps: dict[PhaseKey, F64]
    pace_gbps: dict[PhaseKey, F64]
    bottleneck: dict[PhaseKey, I32]
    link_gbps: F64

    def under(self, keys: tuple[PhaseKey, ...], names: tuple[PhaseKey, ...]) -> Share:
        """The same share of phases with other keys."""
        pairs = list(zip(keys, names, strict=True))
        return Share(
            {name: self.rate_gbps[key] for key, name in pairs},
            {name: self.pace_gbps[key] for key, name in pairs},
            {name: self.bottleneck[key] for key, name in pairs},
            self.link_gbps,
        )


class _Entries(NamedTuple):
    """Entries of several phases on one numbering of entities and resources."""

    entity: list[I32]
    resource: list[I32]
    weight: list[F64]

    def flat(self) -> tuple[I32, I32, F64]:
        """All entries, in order of their entity."""
        if not self.entity:
            return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0)
        return (
            np.concatenate(self.entity).astype(np.int32, copy=False),
            np.concatenate(self.resource).astype(np.int32, copy=False),
            np.concatenate(self.weight),
        )


@dataclass(eq=False)
class Network:
    """Routes and shares under one pair of healths; results are memoized, inputs never change."""

    scenario: Scenario
    routed: Health
    actual: Health
    _phases: dict[PhaseKey, Routed] = field(default_factory=dict)
    _shares: dict[tuple[PhaseKey, ...], Share] = field(default_factory=dict)
    _live: tuple[Bundles, F64] | None = None

    @cached_property
    def cable_gbps(self) -> F64:
        """What each cable carries now, one direction, (C,) Gb/s."""
        return self.actual.cable_rate(self.scenario.fabric)

    @cached_property
    def rerouted(self) -> Network:
        """The network once routes have reacted to its actual health; itself when they have."""
        if self.routed is self.actual:
            return self
        other = Network(self.scenario, self.actual, self.actual)
        other.cable_gbps, other.link_gbps = self.cable_gbps, self.link_gbps
        other._take_over(self)
        return other

    @cached_property
    def link_gbps(self) -> F64:
        """What each link carries now, (L,) Gb/s on the wire."""
        return np.repeat(self.cable_gbps, 2)

    @cached_property
    def _routed_cable_gbps(self) -> F64:
        if self.routed is self.actual:
            return self.cable_gbps
        return self.routed.cable_rate(self.scenario.fabric)

    def with_actual(self, actual: Health) -> Network:
        """The same routes in another health; computed routes are shared."""
        other = Network(self.scenario, self.routed, actual, self._phases)
        other._take_over(self)
        return other

    def _take_over(self, before: Network) -> None:
        """Adopt routes and shares of phases whose cables are as before."""
        boundary = int(self.scenario.fabric.tier_start[SCALE_UP])
        same = {
            name
            for name, cables in (("out", slice(boundary)), ("up", slice(boundary, None)))
            if np.array_equal(self.cable_gbps[cables], before.cable_gbps[cables])
            and np.array_equal(self._routed_cable_gbps[cables], before._routed_cable_gbps[cables])
        }
        # Lists, since a thread may be adding to what is read here.
        for key, routed in list(before._phases.items()):
            if self._crossed(key) <= same:
                self._phases.setdefault(key, routed)
        for keys, share in list(before._shares.items()):
            if all(self._crossed(key) <= same for key in keys):
                self._shares[keys] = share

    def _crossed(self, key: PhaseKey) -> set[str]:
        """Networks that a phase can use: "up", "out"."""
        load = self.scenario.loads[key[0]][key[1]]
        if load.exchange is not None:
            return {"out"}
        inside = load.src >= self.scenario.fabric.ports
        return ({"up"} if inside.any() else set()) | (set() if inside.all() else {"out"})

    def phase(self, key: PhaseKey) -> Routed:
        """Routes of a phase of a job."""
        key = self.scenario.twin(key)
        if key not in self._phases:
            self._phases[key] = self._route(key)
        return self._phases[key]

    def _route(self, key: PhaseKey) -> Routed:
        scenario = self.scenario
        load = scenario.loads[key[0]][key[1]]
        policy = scenario.transport.policy
        if load.exchange is not None:
            routes, bundles = route_exchange(
                scenario.fabric,
                self._routed_cable_gbps,
                load.exchange.ports,
                load.exchange.domain,
                policy,
            )
            row_weight, row_entity = np.ones(1), np.zeros(1, dtype=np.int32)
        else:
            routes, bundles = route(
                scenario.fabric, self._routed_cable_gbps, load.src, load.dst, load.entropy, policy
            )
            row_weight, row_entity = load.row_weight, load.row_entity
        units = len(load.size_bytes)
        unreached = bincount(row_entity, (~routes.reached).astype(np.float64), units)
        rows = np.maximum(bincount(row_entity, None, units), 1.0)
        hops = bincount(row_entity, routes.hops.astype(np.float64), units) / rows
        if load.network == "scale-up":
            step_s = np.full(units, SCALE_UP_LATENCY_S)
        else:
            step_s = path_latency_s(scenario.spec, scenario.transport, hops)
        return Routed(
            entry_entity=row_entity[routes.entry_flow],
            entry_link=routes.entry_link,
            entry_weight=routes.entry_weight * row_weight[routes.entry_flow],
            stalled=unreached > 0,
            latency_s=load.serial_steps * step_s,
            bundles=bundles,
            unreached=int((~routes.reached).sum()),
        )

    def share(
        self, keys: tuple[PhaseKey, ...], active: dict[PhaseKey, Bool] | None = None
    ) -> Share:
        """Max-min share of the entities of some phases.

        Args:
            keys: phases that send.
            active: entities (U,) that still have bytes left, by phase; all when left out.
        """
        if active is not None:
            return self._solve(keys, active)
        share = self._shares.get(keys)
        if share is None:
            twins = tuple(self.scenario.twin(key) for key in keys)
            alone = twins == keys or len(set(twins)) < len(twins)
            share = self._solve(keys, {}) if alone else self.share(twins).under(twins, keys)
            # Many jobs meet in many ways; the oldest share goes when there are too many.
            if len(self._shares) >= max(8, _SHARE_BYTES // (8 * self.scenario.fabric.links + 1)):
                self._shares.pop(next(iter(self._shares)), None)
            self._shares[keys] = share
        return share

    def _solve(self, keys: tuple[PhaseKey, ...], active: dict[PhaseKey, Bool]) -> Share:
        links, phases = self.scenario.fabric.links, [self.phase(key) for key in keys]
        common = next((p.bundles for p in phases if p.bundles.common), no_bundles())
        base, offset = links + common.common, 0
        capacity = [self.link_gbps * self.scenario.goodput]
        capacity.append(self._bundle_payload(common)[: common.common])
        starts, entries = [], _Entries([], [], [])
        for key, routed in zip(keys, phases, strict=True):
            sends = ~routed.stalled
            if key in active:
                sends &= active[key]
            keep = slice(None) if sends.all() else sends[routed.entry_entity]
            own = routed.bundles.gbps[routed.bundles.common :]
            resource = routed.entry_link[keep]
            if len(own):
                first = links + routed.bundles.common
                resource = np.where(resource >= first, resource + (base - first), resource)
                capacity.append(own * self.scenario.transport.goodput_ratio)
                base += len(own)
            entries.entity.append(routed.entry_entity[keep] + offset)
            entries.resource.append(resource)
            entries.weight.append(routed.entry_weight[keep])
            starts.append((key, offset, sends))
            offset += len(sends)
        flat = entries.flat()
        rates = max_min_entries(*flat, offset, np.concatenate(capacity))
        return self._share(starts, rates.flow_gbps, rates.bottleneck, flat, common)

    def _share(
        self,
        starts: list[tuple[PhaseKey, int, Bool]],
        flow_gbps: F64,
        bottleneck: I32,
        entries: tuple[I32, I32, F64],
        common: Bundles,
    ) -> Share:
        """Rates, paces and link loads by phase from the solver's flat result."""
        rate, pace, bound = {}, {}, {}
        flat = np.zeros(len(flow_gbps))
        for key, low, sends in starts:
            high = low + len(sends)
            rate[key] = np.where(sends, flow_gbps[low:high], 0.0)
            size = self.scenario.loads[key[0]][key[1]].size_bytes
            pace[key] = paced(rate[key], size, self.phase(key).latency_s)
            bound[key] = self._bound_links(bottleneck[low:high], common)
            flat[low:high] = pace[key]
        entity, resource, weight = entries
        links = self.scenario.fabric.links
        total = bincount(resource, flat[entity] * weight, links + common.common)
        # Limits of one phase's own come after the common bundles; they load no link.
        live = dataclasses.replace(
            common,
            start=common.start[: common.common + 1],
            gbps=common.gbps[: common.common],
            member_share=self._live_share(common),
        )
        wire = link_loads(total[: links + common.common], links, live)
        wire /= self.scenario.goodput
        wire.setflags(write=False)
        return Share(rate, pace, bound, wire)

    def _bound_links(self, bottleneck: I32, common: Bundles) -> I32:
        """Link that each bottleneck is, (U,): of a bundle, the member that fills first.

        -1 where there is no bottleneck, or only a limit that stands for no link.
        """
        links, first = bottleneck.copy(), self.scenario.fabric.links
        for resource in np.unique(bottleneck[bottleneck >= first]):
            low, high = (
                common.start[resource - first : resource - first + 2]
                if (resource - first < common.common)
                else (0, 0)
            )
            members = common.member_link[low:high]
            with np.errstate(divide="ignore"):
                fill = common.member_share[low:high] / self.link_gbps[members]
            links[bottleneck == resource] = members[fill.argmax()] if len(members) else -1
        return links

    def _bundle_payload(self, bundles: Bundles) -> F64:
        """Payload capacity of each bundle now, (B,) Gb/s.

        Between a failure and the reroute, packets are still dealt to dead members and lost there;
        what arrives is what the live members carry, until the first of them is full.
        """
        gbps = bundles.gbps
        if self.routed is not self.actual and len(bundles.member_link):
            hit, members, first = self._hit(bundles)
            live, carried = self._live_share(bundles)[members], bundles.member_link[members]
            with np.errstate(divide="ignore", invalid="ignore"):
                full = np.where(live > 0, self.link_gbps[carried] / live, np.inf)
            gbps = gbps.copy()
            if len(hit):
                gbps[hit] = np.minimum.reduceat(full, first)
            gbps[~np.isfinite(gbps)] = 0.0
        return gbps * self.scenario.transport.goodput_ratio

    def _live_share(self, bundles: Bundles) -> F64:
        """Share of what arrives through the bundle that each member carries, (K,)."""
        share: F64 = bundles.member_share
        if self.routed is self.actual:
            return share
        if self._live is not None and self._live[0] is bundles:
            return self._live[1]
        hit, members, first = self._hit(bundles)
        own = np.where(self.link_gbps[bundles.member_link[members]] > 0, share[members], 0.0)
        owner = np.repeat(np.arange(len(hit)), np.diff(first, append=len(members)))
        total = bincount(owner, own, len(hit))[owner]
        share = share.copy()
        share[members] = np.divide(own, total, out=np.zeros_like(own), where=total > 0)
        self._live = bundles, share
        return share

    def _hit(self, bundles: Bundles) -> tuple[I32, I32, I32]:
        """Bundles with a member that carries something else than its routes expect.

        Their numbers (H,), their members, bundle by bundle, and where in these each begins (H,).
        """
        changed = self.cable_gbps != self._routed_cable_gbps
        places = np.flatnonzero(changed[bundles.member_link >> 1])
        size = np.diff(bundles.start)
        hit = np.unique(np.searchsorted(bundles.start, places, side="right") - 1)
        among = np.zeros(len(size), dtype=np.bool_)
        among[hit] = True
        members = np.flatnonzero(np.repeat(among, size))
        first = np.cumsum(size[hit]) - size[hit]
        return hit.astype(np.int32), members.astype(np.int32), first.astype(np.int32)


def paced(rate_gbps: F64, size_bytes: F64, latency_s: F64) -> F64:
    """Rate averaged over sending and waiting: size / (latency + size / rate), (U,) Gb/s."""
    gigabits = size_bytes * BITS_PER_BYTE / GIGA
    with np.errstate(divide="ignore", invalid="ignore"):
        seconds = latency_s + gigabits / rate_gbps
        return np.where(rate_gbps > 0, gigabits / seconds, 0.0)
