"""What an event would do, without doing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clusterscope.engine.events import Event, apply
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.arrays import TIER_NAMES
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
    """

    job: str
    before_s: float
    during_s: float
    after_s: float
    unreached: int

    @property
    def change(self) -> float:
        """Iteration after over before, minus 1; inf when the job stalls for good."""
        return self.after_s / self.before_s - 1.0

    @property
    def touched(self) -> bool:
        """True when the job notices."""
        return self.after_s != self.before_s or self.during_s != self.before_s


@dataclass(frozen=True)
class BlastRadius:
    """What an event does.

    Attributes:
        event: the event asked about.
        jobs: impact on each job, in the order of the spec.
        links_gone: directed links that carry nothing any more (negative: that come back).
        links: directed links of the cluster.
        gone_by_tier: links_gone by tier, tiers with none left out.
        reroute_s: from the event until routes avoid what is dead.
        unreached: flows of all jobs without a live path once routes have reacted.
    """

    event: Event
    jobs: tuple[JobImpact, ...]
    links_gone: int
    links: int
    gone_by_tier: dict[str, int]
    reroute_s: float
    unreached: int


def blast_radius(timeline: Timeline, event: Event) -> BlastRadius:
    """What `event` would do at its step, beside all events that are there already."""
    scenario = timeline.scenario
    frame = timeline.at(event.step)
    health = apply(frame.health, [event])
    # Steady state to steady state: a reroute that is still under way is taken as done.
    before = frame.network
    if before.routed is not before.actual:
        before = Network(scenario, frame.health, frame.health)
    during, after = before.with_actual(health), Network(scenario, health, health)
    reroute_s = scenario.transport.reroute_s
    if reroute_s == 0:
        during = after
    impacts = tuple(_impact(scenario, job, before, during, after) for job in _jobs(scenario))
    gone = (before.cable_gbps > 0).astype(np.int8) - (after.cable_gbps > 0).astype(np.int8)
    by_tier = {
        name: 2 * int(gone[cables.start : cables.stop].sum())
        for name, cables in _tiers(scenario.fabric.tier_cables)
    }
    return BlastRadius(
        event=event,
        jobs=impacts,
        links_gone=2 * int(gone.sum()),
        links=scenario.fabric.links,
        gone_by_tier={name: count for name, count in by_tier.items() if count},
        reroute_s=reroute_s,
        unreached=sum(impact.unreached for impact in impacts),
    )


def _jobs(scenario: Scenario) -> range:
    return range(len(scenario.program))


def _tiers(cables_of: Callable[[int], range]) -> list[tuple[str, range]]:
    """Name and cables of every tier."""
    return [(name, cables_of(tier)) for tier, name in enumerate(TIER_NAMES)]


def _impact(
    scenario: Scenario, job: int, before: Network, during: Network, after: Network
) -> JobImpact:
    """Impact on one job."""
    return JobImpact(
        job=scenario.program[job].name,
        before_s=iteration_s(scenario, before, job),
        during_s=iteration_s(scenario, during, job),
        after_s=iteration_s(scenario, after, job),
        unreached=sum(after.phase((job, p)).unreached for p in range(len(scenario.loads[job]))),
    )


def harm(blast: BlastRadius) -> float:
    """Slowest job after the event over before, minus 1; inf when one stalls, 0 without jobs."""
    return max((impact.change for impact in blast.jobs), default=0.0)


def candidates(timeline: Timeline, step: int, count: int) -> tuple[Event, ...]:
    """Failures worth asking about: the `count` busiest live switches of each tier, busiest first.

    Busy in the worst phase of an iteration; ties by index. Feed them to `blast_radius` one by one:
    each takes as long as routing all jobs anew.
    """
    scenario = timeline.scenario
    frame = timeline.at(step)
    fabric, peak = scenario.fabric, peak_utilization(frame.network)
    level = by_switch(fabric, np.fmax(peak[0::2], peak[1::2]))
    events = []
    for tier in (1, 2, 3):
        members = fabric.switches_of(tier)
        order = np.argsort(-level[members.start : members.stop], kind="stable")  # nan comes last
        live = [s for s in (order[:count] + members.start).tolist() if level[s] >= 0]
        events += [Event(step, "fail", Thing("switch", s), scenario.names.switch(s)) for s in live]
    return tuple(events)
