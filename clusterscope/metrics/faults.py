"""What events would do, without doing them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from clusterscope.columns import I32, Bool
from clusterscope.engine.events import Event, apply
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.arrays import LEAF_SPINE, SCALE_UP, Fabric, Health
from clusterscope.fabric.scaleup import cables_at
from clusterscope.fabric.things import Thing
from clusterscope.metrics.jobs import iteration_s
from clusterscope.metrics.links import by_switch, peak_utilization


@dataclass(frozen=True)
class JobImpact:
    """One iteration of a job alone in the network, seconds; inf when it stalls.

    Attributes:
        job: name of the job.
        before_s: without the event.
        during_s: after the event, on the routes of before.
        after_s: once routes have reacted.
        unreached: flows without a live path once routes have reacted.
        ranks: GPUs of the job.
        ranks_lost: those of them that are dead, or that no byte reaches any more.
    """

    job: str
    before_s: float
    during_s: float
    after_s: float
    unreached: int
    ranks: int = 0
    ranks_lost: int = 0

    @property
    def change(self) -> float:
        """Iteration after over before, minus 1; inf when the job stalls for good."""
        if self.after_s == self.before_s:
            return 0.0
        return self.after_s / self.before_s - 1.0

    @property
    def touched(self) -> bool:
        """True when the job notices."""
        return self.after_s != self.before_s or self.during_s != self.before_s


@dataclass(frozen=True)
class Uplinks:
    """The leaf that keeps the smallest share of its uplinks.

    Attributes:
        leaf: switch.
        left: uplinks that still lead to a live spine.
        of: uplinks it has.
    """

    leaf: int
    left: int
    of: int


@dataclass(frozen=True)
class BlastRadius:
    """What events do.

    Attributes:
        events: the events asked about, all of one step.
        jobs: impact on each job, in the order of the spec.
        links_gone: directed links that carry nothing any more (negative: that come back).
        links: directed links of the cluster.
        gone_by_tier: links_gone by tier, tiers with none left out.
        reroute_s: from the event until routes avoid what is dead.
        unreached: flows of all jobs without a live path once routes have reacted.
        uplinks: the live leaf that is worst off afterwards; None when every leaf has all uplinks.
    """

    events: tuple[Event, ...]
    jobs: tuple[JobImpact, ...]
    links_gone: int
    links: int
    gone_by_tier: dict[str, int]
    reroute_s: float
    unreached: int
    uplinks: Uplinks | None = None

    @property
    def all_stalled(self) -> bool:
        """True when there are jobs and all of them stand still for good."""
        return bool(self.jobs) and all(math.isinf(impact.after_s) for impact in self.jobs)

    @property
    def event(self) -> Event:
        """The first of the events."""
        return self.events[0]


@dataclass(frozen=True)
class Next:
    """A failure that might follow, and the harm it would do then."""

    event: Event
    harm: float


def blast_radius(timeline: Timeline, event: Event) -> BlastRadius:
    """What `event` would do at its step, beside all events that are there already."""
    return blast(settled(timeline.at(event.step).network), (event,))


def settled(network: Network) -> Network:
    """A network of the same health on routes that have reacted to it, for this caller alone.

    Steady state is compared to steady state: a reroute that is under way is taken as done. Routes
    are shared with the network that is given, shares are not: those may be in use by a thread.
    """
    return network.with_actual(network.actual).rerouted


def blast(before: Network, events: Sequence[Event]) -> BlastRadius:
    """What events of one step would do to a network whose routes have settled."""
    scenario, health = before.scenario, apply(before.actual, events)
    during = before.with_actual(health)
    after = during.rerouted
    reroute_s = scenario.transport.reroute_s
    if reroute_s == 0:
        during = after
    jobs = range(len(scenario.program))
    impacts = tuple(_impact(scenario, job, before, during, after) for job in jobs)
    gone = (before.cable_gbps > 0).astype(np.int8) - (after.cable_gbps > 0).astype(np.int8)
    by_tier = {
        name: 2 * int(gone[cables.start : cables.stop].sum())
        for name, cables in _tiers(scenario.fabric)
    }
    return BlastRadius(
        events=tuple(events),
        jobs=impacts,
        links_gone=2 * int(gone.sum()),
        links=scenario.fabric.links,
        gone_by_tier={name: count for name, count in by_tier.items() if count},
        reroute_s=reroute_s,
        unreached=sum(impact.unreached for impact in impacts),
        uplinks=_fewest_uplinks(scenario.fabric, after),
    )


def _tiers(fabric: Fabric) -> list[tuple[str, range]]:
    """Name and cables of every tier."""
    return [(name, fabric.tier_cables(tier)) for tier, name in enumerate(fabric.tier_names)]


def _impact(
    scenario: Scenario, job: int, before: Network, during: Network, after: Network
) -> JobImpact:
    """Impact on one job."""
    program = scenario.program[job]
    lost = cut_off(scenario.fabric, after.actual)[program.gpus]
    return JobImpact(
        job=program.name,
        before_s=iteration_s(scenario, before, job),
        during_s=iteration_s(scenario, during, job),
        after_s=iteration_s(scenario, after, job),
        unreached=sum(after.phase((job, p)).unreached for p in range(len(scenario.loads[job]))),
        ranks=len(program.gpus),
        ranks_lost=int(lost.sum()),
    )


def cut_off(fabric: Fabric, health: Health) -> Bool:
    """GPUs that are dead, or whose NIC ports or scale-up cables all carry nothing, (G,)."""
    rate = health.cable_rate(fabric)
    gpu = np.arange(fabric.gpus)
    lost: Bool = ~(health.gpu_up & health.node_up[gpu // fabric.gpus_per_node])
    own = cables_at(fabric, gpu)
    silent = np.append(rate, 0.0)[own] == 0
    lost |= (own >= 0).any(axis=1) & silent.all(axis=1)
    wired = fabric.gpu_nic_port >= 0
    if wired.any():
        ports = fabric.gpu_nic_port[wired, None] + np.arange(fabric.ports_per_nic)
        lost[wired] |= (rate[ports] == 0).all(axis=1)
    return lost


def _fewest_uplinks(fabric: Fabric, network: Network) -> Uplinks | None:
    """The live leaf with the smallest share of live uplinks, the first of equals.

    On a dragonfly, of cables to other switches.
    """
    if fabric.dragonfly:
        return _fewest_cables(fabric, network)
    leaves = fabric.switches_of(1)
    own = slice(leaves.start, leaves.stop)
    start = fabric.up_start[leaves.start : leaves.stop + 1]
    of = np.diff(start)
    alive = np.concatenate([[0], np.cumsum(network.cable_gbps > 0)])
    left: I32 = (alive[start[1:]] - alive[start[:-1]]).astype(np.int32)
    asked = network.actual.switch_up[own] & (of > 0)
    share = np.where(asked, left / np.maximum(of, 1), 1.0)
    if not (share < 1.0).any():
        return None
    worst = int(share.argmin())
    return Uplinks(leaves.start + worst, int(left[worst]), int(of[worst]))


def _fewest_cables(fabric: Fabric, network: Network) -> Uplinks | None:
    """The live switch of a dragonfly with the smallest share of live cables to others."""
    span = slice(int(fabric.tier_start[LEAF_SPINE]), int(fabric.tier_start[SCALE_UP]))
    alive = network.cable_gbps[span] > 0
    of, left = np.zeros(fabric.switches, np.int64), np.zeros(fabric.switches, np.int64)
    for vertex in (fabric.cable_a[span], fabric.cable_b[span]):
        switch = vertex - fabric.ports
        of += np.bincount(switch, minlength=fabric.switches)
        left += np.bincount(switch[alive], minlength=fabric.switches)
    asked = network.actual.switch_up & (of > 0)
    share = np.where(asked, left / np.maximum(of, 1), 1.0)
    worst = int(share.argmin())
    if share[worst] == 1.0:
        return None
    return Uplinks(worst, int(left[worst]), int(of[worst]))


def harm(blast: BlastRadius) -> float:
    """Slowest job after the event over before, minus 1; inf when one stalls, 0 without jobs."""
    return max((impact.change for impact in blast.jobs), default=0.0)


def candidates(timeline: Timeline, step: int, count: int) -> tuple[Event, ...]:
    """Failures worth asking about: the `count` busiest live switches of each tier, busiest first.

    Busy in the worst phase of an iteration; ties by index. Feed them to `blast_radius` one by one:
    each takes as long as routing all jobs anew.
    """
    network = timeline.at(step).network
    return tuple(event for tier in (1, 2, 3) for event in busiest(network, tier, step, count))


def busiest(network: Network, tier: int, step: int, count: int) -> tuple[Event, ...]:
    """Failures of the `count` busiest live switches of a tier (1 leaf, 2 spine, 3 core)."""
    scenario = network.scenario
    fabric, peak = scenario.fabric, peak_utilization(network)
    level = by_switch(fabric, np.fmax(peak[0::2], peak[1::2]))
    members = fabric.switches_of(tier)
    order = np.argsort(-level[members.start : members.stop], kind="stable")  # nan comes last
    live = [s for s in (order[:count] + members.start).tolist() if level[s] >= 0]
    return tuple(Event(step, "fail", Thing("switch", s), scenario.names.switch(s)) for s in live)


def worst_next(
    before: Network,
    events: Sequence[Event],
    count: int = 1,
    tell: Callable[[int, int], object] = lambda done, of: None,  # noqa: ARG005 - says nothing
) -> tuple[Next, ...]:
    """Failures that might follow events, most harmful first: the busiest switches of each tier.

    Args:
        before: the network before the events, routes settled.
        events: what has happened then.
        count: switches of each tier.
        tell: called before each with how many are done, of how many; what it raises ends it all.
    """
    health = apply(before.actual, events)
    network = before.with_actual(health).rerouted
    step = events[0].step if events else 0
    asked = [event for tier in (1, 2, 3) for event in busiest(network, tier, step, count)]
    found = []
    for done, event in enumerate(asked):
        tell(done, len(asked))
        found.append(Next(event, harm(blast(network, (event,)))))
    return tuple(sorted(found, key=lambda following: -following.harm))
