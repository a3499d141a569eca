"""What deserves attention at a frame: the fabric's findings, and those about transport and jobs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import LEAF_SPINE, NIC_LEAF, SPINE_CORE
from clusterscope.fabric.audit import Finding, Severity, audit
from clusterscope.metrics.idle import idle_keys
from clusterscope.metrics.jobs import JobMetrics, job_metrics
from clusterscope.metrics.links import peak_utilization, tier_links
from clusterscope.metrics.memo import per_frame, per_key
from clusterscope.metrics.memory import short_of_memory
from clusterscope.spec.model import DEFAULT_JOB
from clusterscope.transport.connections import CACHE_BYTES, sends, spills, state_bytes
from clusterscope.units import counted

# A link that paces a phase is named when it is fuller than the mean of its tier by this factor.
_IMBALANCE = 1.2
# Links fuller than another by less than this share are as full.
_ROUNDING = 1e-9
# A phase whose latency is more than this share of it is named.
_LATENCY_RATIO = 0.5


@per_frame
def findings(scenario: Scenario, frame: Frame) -> tuple[Finding, ...]:
    """All findings: about the fabric, the transport, and the jobs at the frame; errors first."""
    found = [*_fabric(scenario), *_transport(scenario), *short_of_memory(scenario.program)]
    found += idle_keys(scenario)
    for job in job_metrics(scenario, frame):
        found.extend(_job(scenario, frame, job))
    order = ("error", "warning", "info")
    return tuple(sorted(found, key=lambda finding: order.index(finding.severity)))


@per_key
def _fabric(scenario: Scenario) -> tuple[Finding, ...]:
    """Findings about the fabric as designed."""
    return audit(scenario.spec, scenario.fabric)


def _transport(scenario: Scenario) -> Iterator[Finding]:
    """What the model of the transport leaves out."""
    transport = scenario.transport
    if transport.ordered_on_many_paths:
        yield Finding(
            "warning",
            "reordering",
            "transport.load_balancing",
            f"{transport.policy.load_balancing} routing lets packets overtake, and NICs of "
            f"{transport.name} want order: each that is overtaken costs a {transport.recovery}",
        )
    peers = most_peers(scenario)
    if spills(transport, peers):
        state = state_bytes(transport.connection_bytes, peers, sends(transport))
        yield Finding(
            "info",
            "connection-state",
            "transport.name",
            f"an all-to-all opens {peers * sends(transport):,} connections a NIC, "
            f"{state / 1e6:.3g} MB of state; NICs hold about {CACHE_BYTES / 1e6:g} MB",
        )
    if transport.policy.hash_seed == "shared" and transport.policy.load_balancing == "ecmp":
        yield Finding(
            "info",
            "polarization",
            "transport.hash_seed",
            "all switches hash alike, so choices at successive tiers depend on each other",
        )


def most_peers(scenario: Scenario) -> int:
    """Peers of the busiest NIC port in any uniform exchange."""
    sizes = [
        len(load.exchange.ports)
        for loads in scenario.loads
        for load in loads
        if load.exchange is not None and load.network == "scale-out"
    ]
    return max(sizes, default=1) - 1


def _job(scenario: Scenario, frame: Frame, job: JobMetrics) -> Iterator[Finding]:
    """What is wrong with one job."""
    where = f"job {job.name!r}"
    unreached = sum(phase.unreached for phase in job.phases)
    if unreached:
        message = f"{counted(unreached, 'flow')} {'has' if unreached == 1 else 'have'} no live path"
        yield Finding("error", "unreachable", where, message)
    if job.stalled:
        dead = "" if unreached else " until routes avoid what is dead"
        yield Finding("error", "stalled", where, f"the job stands still{dead}")
    several = len(scenario.program) > 1
    if several and not job.iterations and not job.stalled:
        message = "no iteration has ended yet: its time is that while all other jobs send"
        yield Finding("info", "not-contended", where, message)
    if frame.network.routed is not frame.network.actual:
        message = "routes are those from before the last change of health"
        yield Finding("info", "rerouting", where, message)
    yield from _imbalance(scenario, frame, job)
    for phase in job.phases:
        if phase.seconds > 0 and phase.latency_s > _LATENCY_RATIO * phase.seconds:
            message = (
                f"{phase.latency_s / phase.seconds:.0%} of phase {phase.name!r} is latency: "
                "messages are too small for a ring of this length"
            )
            yield Finding("info", "latency-bound", where, message)


def _imbalance(scenario: Scenario, frame: Frame, job: JobMetrics) -> Iterator[Finding]:
    """Switch-to-switch links that pace a job because others of their tier carry less.

    Not those that are no fuller than a NIC: a ring that crosses few of many links fills these, and
    the NICs of its members pace it just as well.
    """
    peak = peak_utilization(frame.network)
    nics = float(np.fmax.reduce(peak[tier_links(scenario.fabric, NIC_LEAF)], initial=0.0))
    for phase in job.phases:
        link = phase.bound_link
        tier = int(scenario.fabric.cable_tier[link >> 1]) if link >= 0 else NIC_LEAF
        if tier not in (LEAF_SPINE, SPINE_CORE) or not 0 < phase.seconds < math.inf:
            continue
        level = peak[tier_links(scenario.fabric, tier)]
        mean = float(np.nanmean(level))
        if mean > 0 and peak[link] > max(_IMBALANCE * mean, nics * (1 + _ROUNDING)):
            message = (
                f"{scenario.names.link(link)} carries {peak[link] / mean:.2g} times the mean of "
                f"{scenario.fabric.tier_names[tier]} links and paces phase {phase.name!r}"
            )
            # Nobody asked for the job of a cluster without jobs, so nobody need mend it.
            own = scenario.spec.jobs != (DEFAULT_JOB,)
            severity: Severity = "warning" if own else "info"
            told = message if own else f"{message}; this job is there since [[jobs]] is left out"
            yield Finding(severity, "imbalance", f"job {job.name!r}", told)
