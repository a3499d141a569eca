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

import numpy as np

from clusterscope.columns import F64, I32, Bool, bincount
from clusterscope.engine._pages import Capacities
from clusterscope.engine.bursts import between
from clusterscope.engine.merging import Entries, merged
from clusterscope.engine.rates import Rates, own_entries
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.shares import PhaseKey, Routed, Share, paced, wanted_gbps
from clusterscope.engine.slowing import PhaseRows, gather, slowed
from clusterscope.engine.spreading import Shared, full_egress, spread
from clusterscope.engine.straggling import work_of
from clusterscope.engine.waiting import mean_hops, step_latency_s
from clusterscope.engine.walked import Walked
from clusterscope.fabric.arrays import SCALE_UP, Health
from clusterscope.routing.planes import moved_rows
from clusterscope.routing.route import route_exchange
from clusterscope.routing.routes import Bundles, add_members, no_bundles
from clusterscope.traffic.flows import Work

Flat = tuple[I32, I32, F64]
# What the link loads of kept shares may take together.
_SHARE_BYTES = 256 * 2**20
# How many shares of what stays inside domains are kept besides.
_INSIDE = 4


@dataclass(eq=False)
class Network:
    """Routes and shares under one pair of healths; results are memoized, inputs never change."""

    scenario: Scenario
    routed: Health
    actual: Health
    _phases: dict[PhaseKey, Routed] = field(default_factory=dict)
    _walked: Walked = field(default_factory=Walked, init=False)
    _shares: dict[tuple[PhaseKey, ...], Share] = field(default_factory=dict)
    _inside: dict[tuple[PhaseKey, ...], Share] = field(default_factory=dict)
    _live: tuple[Bundles, F64] | None = None
    _works: dict[PhaseKey, Work | None] = field(default_factory=dict)

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

    def with_speeds(self, actual: Health) -> Network:
        """The same links, with GPUs that compute at other speeds: no route has to react."""
        routed = actual
        if self.routed is not self.actual:
            routed = dataclasses.replace(self.routed, gpu_speed=actual.gpu_speed)
        other = Network(self.scenario, routed, actual, self._phases)
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
        paced_alike = np.array_equal(self.actual.gpu_speed, before.actual.gpu_speed)
        for kept, own in ((before._shares, self._shares), (before._inside, self._inside)):
            for keys, share in list(kept.items()):
                if all(self._crossed(key) <= same for key in keys) and (
                    paced_alike or all(self._bare(key) for key in keys)
                ):
                    own[keys] = share

    def _crossed(self, key: PhaseKey) -> frozenset[str]:
        return self.scenario.crossed[key[0]][key[1]]

    def _bare(self, key: PhaseKey) -> bool:
        """True when nothing is computed in a phase, so that no slow GPU matters to it."""
        program = self.scenario.program[key[0]]
        return program.training is None and program.serving is None

    def work(self, key: PhaseKey) -> Work | None:
        """What ranks compute in a phase, at the speed of their GPUs; None in a bare collective."""
        if key not in self._works:
            self._works[key] = work_of(self.scenario, key, self.actual)
        return self._works[key]

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
            routes, bundles = self._walked.of(scenario, key, self._routed_cable_gbps)
            row_weight, row_entity = load.row_weight, load.row_entity
        units, reached = len(load.size_bytes), routes.reached
        carried = moved_rows(scenario.fabric, load.src, load.row_weight, reached)
        if carried is not None:
            row_weight, reached = carried, reached | (carried == 0)
        unreached = bincount(row_entity, (~reached).astype(np.float64), units)
        hops = mean_hops(routes, row_entity, load, units)
        steps = load.serial_steps if load.work is None else load.work.group_steps
        return Routed(
            entry_entity=row_entity.take(routes.entry_flow),
            entry_link=routes.entry_link,
            entry_weight=routes.entry_weight * row_weight.take(routes.entry_flow),
            entry_row=routes.entry_flow,
            row_weight=row_weight,
            row_hops=routes.hops,
            stalled=unreached > 0,
            latency_s=load.extra_s + steps * step_latency_s(scenario, load, hops, row_entity),
            bundles=bundles,
            unreached=int((~reached).sum()),
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
            return self._joined(keys, active)
        share = self._shares.get(keys)
        if share is None:
            twins = tuple(self.scenario.twin(key) for key in keys)
            alone = twins == keys or len(set(twins)) < len(twins)
            share = self._joined(keys, {}) if alone else self.share(twins).under(twins, keys)
            # Many jobs meet in many ways; the oldest share goes when there are too many.
            if len(self._shares) >= max(8, _SHARE_BYTES // (8 * self.scenario.fabric.links + 1)):
                self._shares.pop(next(iter(self._shares)), None)
            self._shares[keys] = share
        return share

    def _joined(self, keys: tuple[PhaseKey, ...], active: dict[PhaseKey, Bool]) -> Share:
        """Solved at once, or apart where no link is shared: the inside outlives a dead spine."""
        parts = self.scenario.apart(keys)
        if not parts or self.scenario.transport.slows:
            return self._solve(keys, active)
        out, up = ({key: active[key] for key in part if key in active} for part in parts)
        first = self.share(parts[0], out or None)
        if not any(self.phase(key).long for key in parts[0]):
            second = self.share(parts[1], up or None)
        elif up:
            second = self._solve(parts[1], up, split=True)
        else:
            if parts[1] not in self._inside:
                if len(self._inside) >= _INSIDE:
                    self._inside.pop(next(iter(self._inside)), None)
                self._inside[parts[1]] = self._solve(parts[1], {}, split=True)
            second = self._inside[parts[1]]
        return first.beside(second, 2 * int(self.scenario.fabric.tier_start[SCALE_UP]))

    def _solve(
        self, keys: tuple[PhaseKey, ...], active: dict[PhaseKey, Bool], *, split: bool = False
    ) -> Share:
        links, phases = self.scenario.fabric.links, [self.phase(key) for key in keys]
        common = next((p.bundles for p in phases if p.bundles.common), no_bundles())
        base, offset = links + common.common, 0
        capacity = [self._bundle_payload(common)[: common.common]]
        starts, entries, rows, wanted = [], Entries([], [], []), [], [np.zeros(0)]
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
            entity = routed.entry_entity[keep]
            entries.entity.append(entity + offset if offset else entity)
            entries.resource.append(resource)
            entries.weight.append(routed.entry_weight[keep])
            starts.append((key, offset, sends))
            load = self.scenario.loads[key[0]][key[1]]
            own_rows = (routed.entry_row[keep], routed.row_weight, routed.row_hops)
            rows.append(PhaseRows(load, *own_rows, offset))
            wanted.append(wanted_gbps(load, routed.latency_s, self.work(key)))
            offset += len(sends)
        flat = entries.flat()
        limit = Capacities(self.link_gbps, self.scenario.goodput, np.concatenate(capacity))
        transport = self.scenario.transport
        heard = transport.slows or transport.pauses
        most = np.concatenate(wanted)
        slim = merged(flat, [*(low for _, low, _ in starts), offset], len(limit))
        rates = own_entries(*slim, offset, limit, most, loads=heard, split=split)
        rates, flat, free = self._disturbed(rows, flat, (limit, most), rates, common)
        served = [(low, key) for key, low, _ in starts if self.scenario.program[key[0]].serving]
        if served:
            pace = self._paces(starts, rates.flow_gbps)
            turns = [(low, pace[key], self.work(key)) for low, key in served]
            rates, free = between(flat, (limit, most), (rates, free), turns)
        share = self._share(starts, rates.flow_gbps, rates.bottleneck, flat, common)
        if free is not rates:
            share.free_gbps.update(self._paces(starts, free.flow_gbps))
        return share

    def _disturbed(
        self,
        phases: list[PhaseRows],
        flat: Flat,
        limits: tuple[Capacities, F64],
        rates: Rates,
        common: Bundles,
    ) -> tuple[Rates, Flat, Rates]:
        """Rates, and entries, with losses, reordering and pauses; and rates but for pauses.

        `limits` are what links carry and what entities (U,) want.
        """
        transport = self.scenario.transport
        meet = len(phases) > 1 or any(phase.load.converges for phase in phases)
        meet &= transport.pauses and full_egress(self.scenario.fabric.ports, rates, limits[0])
        if not phases or not (transport.slows or meet):
            return rates, flat, rates
        rows, limit = gather(self.scenario, phases, self.link_gbps), limits[0].whole()
        demand = limits[1]
        if transport.slows:
            known = limit, demand
            rates, weight, demand = slowed(self.scenario, rows, flat, known, rates, common)
            flat = (*flat[:2], weight)
        return spread(transport, rows, Shared(*flat, limit, demand), rates), flat, rates

    def _share(
        self,
        starts: list[tuple[PhaseKey, int, Bool]],
        flow_gbps: F64,
        bottleneck: I32,
        entries: tuple[I32, I32, F64],
        common: Bundles,
    ) -> Share:
        """Rates, paces and link loads by phase from the solver's flat result."""
        rate, bound, pace = {}, {}, self._paces(starts, flow_gbps)
        flat = np.zeros(len(flow_gbps))
        for key, low, sends in starts:
            high = low + len(sends)
            rate[key] = np.where(sends, flow_gbps[low:high], 0.0)
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
        wire = total[:links]
        add_members(wire, total[links : links + common.common], live)
        wire /= self.scenario.goodput
        wire.setflags(write=False)
        return Share(rate, pace, bound, wire)

    def _paces(
        self, starts: list[tuple[PhaseKey, int, Bool]], flow_gbps: F64
    ) -> dict[PhaseKey, F64]:
        """Rates averaged over sending and waiting, by phase."""
        pace = {}
        for key, low, sends in starts:
            rate = np.where(sends, flow_gbps[low : low + len(sends)], 0.0)
            load = self.scenario.loads[key[0]][key[1]]
            pace[key] = paced(rate, load.size_bytes, self.phase(key).latency_s, self.work(key))
        return pace

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
