"""Where an iteration's time beyond line rate goes: one mechanism switched off after another.

    iteration               as it is at the frame
    - other jobs            jobs beside it take no bandwidth, but a busy egress still pauses links
    - congestion spreading  alone in the network
    - reroute               on routes that have reacted to the last failure
    - failures              in the healthy network
    - ordering and recovery nothing is lost, and every NIC takes packets in any order
    - collisions            every switch balances perfectly instead of by hash, table or blind spray
    - few uplinks           a perfect fabric behind every NIC port: only its own cable limits it
    - latency               messages take no time but their bytes'
    - headers               every byte on a scale-out wire is payload
    - scale-up goodput      and on a scale-up wire
    - in-network reduction  rings move what switches would reduce (negative when it helps)
    = ideal                 every port at its line rate

Each cause is the difference of two neighboring lines, so causes add up to iteration - ideal; what
a cause is worth depends on the order, which is the same for every transport. A cause may be
negative: a table that fits the traffic can beat balancing.

Model: what pauses add is that of the phases which run at the frame (before a first iteration, of
all phases beside all other jobs), and at most what other jobs cost altogether.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from clusterscope.engine.frame import Frame
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import LEAF_SPINE, SCALE_UP
from clusterscope.metrics.crowding import side_by_side_s
from clusterscope.metrics.jobs import (
    JobMetrics,
    Steady,
    healthy,
    ideal_phase_s,
    job_metrics,
    steady,
    vertex_gbps,
)
from clusterscope.metrics.memo import per_key
from clusterscope.metrics.pauses import paused_s
from clusterscope.metrics.training import ideal_work_s, waited_ratio
from clusterscope.traffic.flows import JobProgram
from clusterscope.transport.model import Transport

CAUSES = (
    "in-network reduction",
    "scale-up goodput",
    "headers",
    "latency",
    "few uplinks",
    "collisions",
    "ordering and recovery",
    "failures",
    "reroute",
    "congestion spreading",
    "other jobs",
)

Causes = dict[str, float]  # seconds of an iteration, by cause, in the order of CAUSES


def causes(scenario: Scenario, frame: Frame) -> tuple[Causes, ...]:
    """Seconds that each cause adds to an iteration, by job; inf for what makes it stand still."""
    jobs, paused = job_metrics(scenario, frame), paused_s(scenario, frame)
    references = _balanced(scenario, frame), _smooth(scenario, frame)
    line = vertex_gbps(scenario.fabric)
    out = []
    for job, program in enumerate(scenario.program):
        ideal = [ideal_phase_s(phase, line) for phase in program.phases]
        without = references[0][job], references[1][job][0]
        climbs = _climbs(scenario, job)
        out.append(_split(scenario, program, jobs[job], ideal, without, paused[job], climbs=climbs))
    return tuple(out)


def _split(
    scenario: Scenario,
    program: JobProgram,
    job: JobMetrics,
    ideal: Sequence[float],
    without: tuple[tuple[float, Sequence[object]], float],
    paused_s: float,
    *,
    climbs: bool,
) -> Causes:
    """Differences between neighbouring lines of the table above, for one job.

    Where it `climbs` no uplink, what phases cost each other by waiting is latency.
    """
    (balanced_s, phases), smooth_s = without
    latency = [
        _known(getattr(found, "latency_s", 0.0)) * waited_ratio(phase)
        for found, phase in zip(phases, program.phases, strict=True)
    ]
    inside = [phase.network == "scale-up" for phase in program.phases]
    up_only = [
        scenario.transport.scale_up_goodput / phase.wire_ratio if up else 1.0
        for up, phase in zip(inside, program.phases, strict=True)
    ]
    # Flags of the library's protocol are no payload either.
    goodput = [
        ratio if up else scenario.transport.goodput_ratio / phase.wire_ratio
        for up, ratio, phase in zip(inside, up_only, program.phases, strict=True)
    ]
    settled_s = job.alone_s if job.settled is None else job.settled.alone_s
    paid = _slower(scenario, program, ideal, goodput)
    waited_s = _whole_s(scenario, program, paid, latency)
    lines = (
        job.ideal_s,
        _whole_s(scenario, program, ideal),
        _whole_s(scenario, program, _slower(scenario, program, ideal, up_only)),
        _whole_s(scenario, program, paid),
        waited_s if climbs else balanced_s,
        balanced_s,
        smooth_s,
        job.healthy_s,
        settled_s,
        job.alone_s,
        min(job.alone_s + paused_s, max(job.alone_s, job.iteration_s)),
        job.iteration_s,
    )
    return {
        name: _difference(upper, lower)
        for name, lower, upper in zip(CAUSES, lines[:-1], lines[1:], strict=True)
    }


def _whole_s(
    scenario: Scenario, program: JobProgram, sending: Sequence[float], waits: Sequence[float] = ()
) -> float:
    """An iteration from what each phase sends alone, and what it waits besides, seconds."""
    if program.overlapped:
        line = vertex_gbps(scenario.fabric)
        return side_by_side_s(program.phases, sending, line, waits)
    return sum(sending) + sum(waits)


def _climbs(scenario: Scenario, job: int) -> bool:
    """Whether a job loads any link between switches in the healthy network."""
    fabric = scenario.fabric
    low, high = 2 * int(fabric.tier_start[LEAF_SPINE]), 2 * int(fabric.tier_start[SCALE_UP])
    inner = fabric.shape.kind != "switched"
    for index in range(len(scenario.program[job].phases)):
        link = scenario.healthy.phase((job, index)).entry_link
        if ((link >= low) & (link < high)).any() or (link >= fabric.links).any():
            return True
    return inner


def _slower(
    scenario: Scenario, program: JobProgram, ideal: Sequence[float], ratio: Sequence[float]
) -> list[float]:
    """Lower bounds of phases when only a share of every byte on a wire is payload.

    Computing stays as it is, and sends beside it may hide the loss.
    """
    fabric, line = scenario.fabric, vertex_gbps(scenario.fabric)
    inside = np.arange(len(line)) >= fabric.ports
    up = np.where(inside, scenario.transport.scale_up_goodput, 1.0)
    slower = []
    for phase, own, part in zip(program.phases, ideal, ratio, strict=True):
        if phase.work is None:
            slower.append(own / part)
        else:
            headers = phase.network == "scale-out" and part < 1
            out = np.where(inside, 1.0, scenario.transport.goodput_ratio if headers else 1.0)
            slower.append(ideal_work_s(phase, line * up * out))
    return slower


def _known(seconds: float) -> float:
    return 0.0 if math.isnan(seconds) else seconds


def _difference(upper: float, lower: float) -> float:
    """What one mechanism adds; nothing when both lines stand still."""
    return 0.0 if upper == lower else upper - lower


def _balanced(scenario: Scenario, frame: Frame) -> Steady:
    """Every job alone in the healthy network with perfect balancing, and nothing lost."""
    kept = _kept(scenario)
    if "balanced" not in kept:
        own = scenario.transport
        best = dataclasses.replace(own.policy, load_balancing="adaptive", course=None)
        other = dataclasses.replace(own, policy=best, loss_rate=0.0, ordering="reorder")
        kept["balanced"] = _under(scenario, frame, other)
    return kept["balanced"]


def _smooth(scenario: Scenario, frame: Frame) -> Steady:
    """Every job alone in the healthy network on its own routes, with nothing lost."""
    kept = _kept(scenario)
    if "smooth" not in kept:
        kept["smooth"] = _under(scenario, frame, undisturbed(scenario.transport))
    return kept["smooth"]


def undisturbed(transport: Transport) -> Transport:
    """The transport with nothing lost and NICs that take packets in any order."""
    if not transport.slows:
        return transport
    return dataclasses.replace(transport, loss_rate=0.0, ordering="reorder")


@per_key
def _kept(scenario: Scenario) -> dict[str, Steady]:  # noqa: ARG001 - the key
    """The answers of a scenario, once there are any."""
    return {}


def _under(scenario: Scenario, frame: Frame, transport: Transport) -> Steady:
    """Every job alone in the healthy network under another transport."""
    if transport == scenario.transport:
        return healthy(scenario, frame.network)
    other = dataclasses.replace(scenario, transport=transport)
    return steady(Network(other, scenario.whole, scenario.whole))
