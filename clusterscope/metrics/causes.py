"""Where an iteration's time beyond line rate goes: one mechanism switched off after another.

    iteration        as it is at the frame
    - other jobs     alone in the network
    - reroute        on routes that have reacted to the last failure
    - failures       in the healthy network
    - collisions     every switch balances perfectly instead of by hash, table or blind spray
    - few uplinks    a perfect fabric behind every NIC port: only its own cable limits it
    - latency        messages take no time but their bytes'
    - headers        every byte on a scale-out wire is payload
    - scale-up       and on a scale-up wire
    = ideal          every port at its line rate

Each cause is the difference of two neighboring lines, so causes add up to iteration - ideal; what
a cause is worth depends on the order, which is the same for every transport. A cause may be
negative: a table that fits the traffic can beat balancing.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from clusterscope.engine.frame import Frame
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.metrics.jobs import (
    JobMetrics,
    Steady,
    healthy,
    ideal_phase_s,
    job_metrics,
    steady,
    vertex_gbps,
    whole_s,
)
from clusterscope.metrics.memo import per_key
from clusterscope.traffic.flows import JobProgram
from clusterscope.transport.model import SCALE_UP_GOODPUT

CAUSES = (
    "scale-up goodput",
    "headers",
    "latency",
    "few uplinks",
    "collisions",
    "failures",
    "reroute",
    "other jobs",
)

Causes = dict[str, float]  # seconds of an iteration, by cause, in the order of CAUSES


def causes(scenario: Scenario, frame: Frame) -> tuple[Causes, ...]:
    """Seconds that each cause adds to an iteration, by job; inf for what makes it stand still."""
    jobs = job_metrics(scenario, frame)
    balanced = _balanced(scenario, frame)
    line = vertex_gbps(scenario.fabric)
    out = []
    for job, program in enumerate(scenario.program):
        ideal = [ideal_phase_s(phase, line) for phase in program.phases]
        out.append(_split(scenario, program, jobs[job], ideal, balanced[job]))
    return tuple(out)


def _split(
    scenario: Scenario,
    program: JobProgram,
    job: JobMetrics,
    ideal: Sequence[float],
    balanced: tuple[float, Sequence[object]],
) -> Causes:
    """Differences between neighbouring lines of the table above, for one job."""
    balanced_s, phases = balanced
    latency = [_known(getattr(phase, "latency_s", 0.0)) for phase in phases]
    goodput = [
        SCALE_UP_GOODPUT if phase.network == "scale-up" else scenario.transport.goodput_ratio
        for phase in program.phases
    ]
    up_only = [SCALE_UP_GOODPUT if phase.network == "scale-up" else 1.0 for phase in program.phases]
    settled_s = job.alone_s if job.settled is None else job.settled.iteration_s
    paid = [own / ratio for own, ratio in zip(ideal, goodput, strict=True)]
    lines = (
        job.ideal_s,
        whole_s(program, [own / ratio for own, ratio in zip(ideal, up_only, strict=True)]),
        whole_s(program, paid),
        whole_s(program, [own + wait for own, wait in zip(paid, latency, strict=True)]),
        balanced_s,
        job.healthy_s,
        settled_s,
        job.alone_s,
        job.iteration_s,
    )
    return {
        name: _difference(upper, lower)
        for name, lower, upper in zip(CAUSES, lines[:-1], lines[1:], strict=True)
    }


def _known(seconds: float) -> float:
    return 0.0 if math.isnan(seconds) else seconds


def _difference(upper: float, lower: float) -> float:
    """What one mechanism adds; nothing when both lines stand still."""
    return 0.0 if upper == lower else upper - lower


def _balanced(scenario: Scenario, frame: Frame) -> Steady:
    """Every job alone in the healthy network with perfect balancing."""
    kept = _kept(scenario)
    if not kept:
        kept.append(_compute_balanced(scenario, frame))
    return kept[0]


@per_key
def _kept(scenario: Scenario) -> list[Steady]:  # noqa: ARG001 - the key
    """The answer of a scenario, once there is one."""
    return []


def _compute_balanced(scenario: Scenario, frame: Frame) -> Steady:
    network, transport = frame.network, scenario.transport
    if transport.policy.load_balancing == "adaptive":
        return healthy(scenario, network)
    policy = dataclasses.replace(transport.policy, load_balancing="adaptive")
    other = dataclasses.replace(scenario, transport=dataclasses.replace(transport, policy=policy))
    return steady(Network(other, scenario.whole, scenario.whole))
