"""How fast each job is, what paces it, and how far it is from the line rate.

* `alone_s`: one iteration of the job alone in the network as it is at the frame, steady state.
* `iteration_s`: the same for a single job; with several jobs, the last iteration that the job
  finished beside the others when that was slower, and before there is one, what it would need
  while all the others send (`metrics.beside`).
* `ideal_s`: bytes only, at full line rate: in each phase every NIC port or GPU sends and receives
  what it must over its own cable, with no headers, no latency and a perfect fabric behind it.
* share of line = ideal_s / iteration_s; line_GBps is the busbw of ideal_s.

algbw and busbw as nccl-tests defines them (doc/PERFORMANCE.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from clusterscope.columns import F64, bincount
from clusterscope.engine.frame import Frame
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.shares import PhaseKey, Share
from clusterscope.engine.step import iteration_parts
from clusterscope.fabric.arrays import SCALE_UP, Fabric
from clusterscope.metrics.bands import error_band, waited_band
from clusterscope.metrics.beside import together
from clusterscope.metrics.crowding import side_by_side_s
from clusterscope.metrics.memo import per_key
from clusterscope.metrics.serving import ServingMetrics, serving_metrics
from clusterscope.metrics.training import TrainingMetrics, ideal_work_s, training_metrics
from clusterscope.traffic.flows import Exchange, JobProgram, Phase
from clusterscope.traffic.program import algbw_GBps, busbw_GBps
from clusterscope.units import BITS_PER_BYTE, GIGA


@dataclass(frozen=True)
class PhaseMetrics:
    """One phase of an iteration.

    Attributes:
        name: what it is.
        network: "scale-up" or "scale-out".
        seconds: how long it takes; inf when it stalls, nan when a stall before it keeps it from
            beginning.
        latency_s: part of it that is latency, of the slowest entity.
        bytes: payload that all senders move together.
        bound_link: link that paces the slowest entity, -1 when none does.
        rate_gbps: payload rate of the slowest entity while it sends, Gb/s.
        entities: rates in the phase.
        stalled: entities without a live path.
        unreached: flows (connections) without a live path.
        connections: those of a pair of NICs.
    """

    name: str
    network: str
    seconds: float
    latency_s: float
    bytes: float
    bound_link: int
    rate_gbps: float
    entities: int
    stalled: int
    unreached: int
    connections: int


@dataclass(frozen=True)
class Settled:
    """A job in the network once routes have reacted to the last failure.

    Attributes:
        from_s: when they will have.
        iteration_s: one iteration from then on, beside the other jobs; inf when it stalls for good.
        busbw_GBps: its busbw.
        alone_s: one iteration of the job alone.
    """

    from_s: float
    iteration_s: float
    busbw_GBps: float  # noqa: N815 - the unit's own spelling
    alone_s: float


@dataclass(frozen=True)
class JobMetrics:
    """One job at a frame; times in seconds, bandwidths in 10^9 B/s.

    Attributes:
        name: from the spec.
        collective: from the spec.
        ranks: GPUs of the job.
        message_bytes: nccl-tests size.
        iteration_s: one iteration; inf when stalled.
        alone_s: one iteration of the job alone in the network.
        last_iteration_s: the last iteration finished in the timeline; nan before the first.
        ideal_s: lower bound of an iteration, by line rate.
        healthy_s: one iteration of the job alone in the healthy network.
        latency_s: part of an iteration that is latency.
        algbw_GBps: message over iteration.
        busbw_GBps: algbw times the factor of the collective.
        line_GBps: busbw of an iteration of ideal_s.
        error_band: what busbw_GBps may be in truth, (low, high).
        phases: one iteration.
        iterations: iterations done at the frame.
        running_phase: index of the running phase.
        settled: how it goes once routes have reacted; None when they have.
        training: how it trains; None for a bare collective.
        serving: how it serves; None for any other job.
        algorithm: by which a library runs the collective; "" for plain traffic.
        protocol: by which the library sends; "" where that is not known.
    """

    name: str
    collective: str
    ranks: int
    message_bytes: float
    iteration_s: float
    alone_s: float
    last_iteration_s: float
    ideal_s: float
    healthy_s: float
    latency_s: float
    algbw_GBps: float  # noqa: N815 - the unit's own spelling
    busbw_GBps: float  # noqa: N815
    line_GBps: float  # noqa: N815
    error_band: tuple[float, float]
    phases: tuple[PhaseMetrics, ...]
    iterations: int
    running_phase: int
    settled: Settled | None = None
    training: TrainingMetrics | None = None
    serving: ServingMetrics | None = None
    algorithm: str = ""
    protocol: str = ""

    @property
    def share_of_line(self) -> float:
        """Line-rate time of rings over real time; above 1 where switches reduce, 0 if stalled."""
        return self.ideal_s / self.iteration_s

    @property
    def mfu_band(self) -> tuple[float, float] | None:
        """What MFU may be in truth, (low, high), as far as communication decides; None without."""
        if self.training is None or not self.busbw_GBps:
            return None
        low, high = (self.training.mfu * end / self.busbw_GBps for end in self.error_band)
        return low, high

    @property
    def slowdown(self) -> float:
        """Iteration over that of the healthy network, 1 when equal; inf when stalled."""
        return self.iteration_s / self.healthy_s

    @property
    def stalled(self) -> bool:
        """True when no iteration can be finished."""
        return math.isinf(self.iteration_s)


# Seconds and phases of one iteration, by job.
Steady = tuple[tuple[float, tuple[PhaseMetrics, ...]], ...]


@dataclass
class _Reference:
    """Times of a scenario that no frame changes, by job; filled when first asked for."""

    ideal_s: tuple[float, ...]
    line_gbps: F64
    healthy: list[Steady] = field(default_factory=list)


def job_metrics(scenario: Scenario, frame: Frame) -> tuple[JobMetrics, ...]:
    """Every job at a frame, in the order of the spec."""
    alone = steady(frame.network)
    reference, whole = _reference(scenario), healthy(scenario, frame.network)
    return tuple(
        _job(scenario, frame, job, alone[job], (reference.ideal_s[job], whole[job][0]))
        for job in range(len(scenario.program))
    )


def healthy(scenario: Scenario, network: Network) -> Steady:
    """Seconds and phases of every job alone in the healthy network.

    Computed once a scenario; `network` spares that when it is healthy.
    """
    kept = _reference(scenario).healthy
    if not kept:
        if not (network.routed.healthy and network.actual.healthy):
            network = scenario.healthy
        kept.append(steady(network))
    return kept[0]


def iteration_s(scenario: Scenario, network: Network, job: int) -> float:
    """Seconds of one iteration of a job alone in a network; inf when it stalls."""
    return sum(seconds for seconds, _ in iteration_parts(scenario, network, job))


def _job(
    scenario: Scenario,
    frame: Frame,
    job: int,
    alone: tuple[float, tuple[PhaseMetrics, ...]],
    bounds: tuple[float, float],
) -> JobMetrics:
    """One job at a frame."""
    program, state = scenario.program[job], frame.jobs[job]
    (alone_s, phases), (ideal_s, healthy_s) = alone, bounds
    iteration = alone_s
    if len(scenario.program) > 1:
        beside_s = state.last_iteration_s
        if math.isnan(beside_s):
            beside_s = together(frame.network)[job].seconds
        iteration = max(alone_s, beside_s)
    busbw = busbw_GBps(program, iteration)
    train = training_metrics(frame.network, job, iteration)
    low, high = waited_band(error_band(scenario, program), train, iteration)
    latency = [p.latency_s for p in phases]
    return JobMetrics(
        name=program.name,
        collective=program.collective,
        ranks=len(program.gpus),
        message_bytes=program.message_bytes,
        iteration_s=iteration,
        alone_s=alone_s,
        last_iteration_s=state.last_iteration_s,
        ideal_s=ideal_s,
        healthy_s=healthy_s,
        latency_s=max(latency) if program.overlapped else sum(latency),
        algbw_GBps=algbw_GBps(program.message_bytes, iteration),
        busbw_GBps=busbw,
        line_GBps=busbw_GBps(program, ideal_s),
        error_band=(busbw * low, busbw * high),
        phases=phases,
        iterations=state.iteration,
        running_phase=state.phase,
        settled=_settled(scenario, frame, job),
        training=train,
        serving=_served(scenario, frame, job, iteration / alone_s),
        algorithm=program.algorithm,
        protocol=program.protocol,
    )


def _served(scenario: Scenario, frame: Frame, job: int, slower: float) -> ServingMetrics | None:
    """How a job serves; None for any other job."""
    if scenario.program[job].serving is None:
        return None
    slower = slower if math.isfinite(slower) else 1.0
    return serving_metrics(frame.network, job, _reference(scenario).line_gbps, slower)


def _settled(scenario: Scenario, frame: Frame, job: int) -> Settled | None:
    """One job after the reroute that is on its way at a frame."""
    due = frame.state.reroute_due_s
    if due is None:
        return None
    seconds = alone_s = _settled_s(frame.network)[job]
    if len(scenario.program) > 1:
        seconds = max(alone_s, together(frame.network.rerouted)[job].seconds)
    return Settled(due, seconds, busbw_GBps(scenario.program[job], seconds), alone_s)


@per_key
def _settled_s(network: Network) -> tuple[float, ...]:
    """Iteration of every job alone on new routes in the network's actual health, seconds."""
    scenario, rerouted = network.scenario, network.rerouted
    return tuple(iteration_s(scenario, rerouted, job) for job in range(len(scenario.program)))


@per_key
def lasting_s(network: Network) -> tuple[float, ...]:
    """Iteration of every job while all others send and routes have reacted, seconds.

    What a long run meets: it depends on no step, and on no outage of a few milliseconds.
    """
    settled = network.rerouted
    alone = [seconds for seconds, _ in steady(settled)]
    if len(alone) < 2:
        return tuple(alone)
    beside = [one.seconds for one in together(settled)]
    return tuple(max(pair) for pair in zip(alone, beside, strict=True))


@per_key
def steady(network: Network) -> Steady:
    """Seconds and phases of one iteration of every job, each alone in the network."""
    scenario = network.scenario
    out = []
    for job, program in enumerate(scenario.program):
        parts = iteration_parts(scenario, network, job)
        phases = tuple(
            _phase(network, (job, index), phase, parts)
            for index, phase in enumerate(program.phases)
        )
        out.append((sum(seconds for seconds, _ in parts), phases))
    return tuple(out)


def _phase(
    network: Network, key: PhaseKey, phase: Phase, parts: list[tuple[float, Share]]
) -> PhaseMetrics:
    """One phase, from the parts of the iteration in which it runs."""
    routed = network.phase(key)
    own = [(seconds, share) for seconds, share in parts if key in share.rate_gbps]
    seconds, latency, bound, rate = math.nan, math.nan, -1, math.nan
    if own:
        share = own[0][1]
        pace = share.pace_gbps[key] / network.scenario.loads[key[0]][key[1]].size_bytes
        if math.isfinite(own[0][0]) and network.scenario.program[key[0]].serving is not None:
            pace = np.where(pace > 0, pace, np.inf)  # what is cut off paces nobody
        slowest = int(pace.argmin())
        seconds = sum(s for s, _ in own)
        latency = float(routed.latency_s[slowest])
        bound = int(share.bottleneck[key][slowest])
        rate = float(share.rate_gbps[key][slowest])
    return PhaseMetrics(
        name=phase.name,
        network=phase.network,
        seconds=seconds,
        latency_s=latency,
        bytes=phase_bytes(phase),
        bound_link=bound,
        rate_gbps=rate,
        entities=len(routed.stalled),
        stalled=int(routed.stalled.sum()),
        unreached=routed.unreached,
        connections=network.scenario.loads[key[0]][key[1]].connections,
    )


def phase_bytes(phase: Phase) -> float:
    """Payload that all senders of a phase move together, bytes."""
    if isinstance(phase.demand, Exchange):
        return phase.demand.port_bytes * len(phase.demand.ports)
    return float(phase.demand.size_bytes.sum())


def ideal_s(scenario: Scenario, job: int) -> float:
    """Lower bound of an iteration of a job, by line rate, seconds."""
    return _reference(scenario).ideal_s[job]


@per_key
def _reference(scenario: Scenario) -> _Reference:
    """Line-rate times, by job."""
    line = vertex_gbps(scenario.fabric)
    return _Reference(tuple(_ideal_s(program, line) for program in scenario.program), line)


def vertex_gbps(fabric: Fabric) -> F64:
    """Line rate of the cable of every NIC port and of all scale-up cables of a GPU, by vertex."""
    rate = np.zeros(fabric.vertices)
    for cables in (slice(0, fabric.ports), slice(int(fabric.tier_start[SCALE_UP]), None)):
        ends = (fabric.cable_a, fabric.cable_b) if fabric.shape.direct else (fabric.cable_a,)
        for end in ends:
            rate += bincount(end[cables], fabric.cable_gbps[cables], fabric.vertices)
    return rate[: fabric.domain_vertex]


def _ideal_s(program: JobProgram, line_gbps: F64) -> float:
    """Lower bound of an iteration: each phase by its busiest sender or receiver, seconds.

    That of rings also when switches reduce, so that a job has one bound under every transport.
    """
    phases = program.ring_phases or program.phases
    alone_s = [ideal_phase_s(phase, line_gbps) for phase in phases]
    return side_by_side_s(phases, alone_s, line_gbps) if program.overlapped else sum(alone_s)


def whole_s(program: JobProgram, seconds: Sequence[float]) -> float:
    """An iteration from the time that each phase takes beside the others, seconds."""
    return max(seconds, default=0.0) if program.overlapped else sum(seconds)


def ideal_phase_s(phase: Phase, line_gbps: F64) -> float:
    """Lower bound of one phase, seconds; of a training job with its computing."""
    if phase.work is not None:
        return ideal_work_s(phase, line_gbps)
    demand = phase.demand
    if isinstance(demand, Exchange):
        return demand.port_bytes * BITS_PER_BYTE / GIGA / float(line_gbps[demand.ports].min())
    longest = 0.0
    for ends in (demand.src, demand.dst):
        size = bincount(ends, demand.size_bytes, len(line_gbps))
        busy = np.flatnonzero(size)
        longest = max(longest, float((size[busy] / line_gbps[busy]).max(initial=0.0)))
    return longest * BITS_PER_BYTE / GIGA
