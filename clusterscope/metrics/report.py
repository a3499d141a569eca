"""The `report.json` of a run: one dict of plain values, the same for the same run on any machine.

Values that are not numbers (a time that never comes, a mean of nothing) are null.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from clusterscope import __version__
from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.counts import counts
from clusterscope.metrics.cost import cost, power
from clusterscope.metrics.findings import findings
from clusterscope.metrics.jobs import JobMetrics, PhaseMetrics, job_metrics
from clusterscope.metrics.links import hottest, peak_utilization, tier_levels, tier_summaries
from clusterscope.metrics.networks import networks, storage
from clusterscope.metrics.serving import serving_row
from clusterscope.metrics.tenants import tenants
from clusterscope.metrics.training import TrainingMetrics
from clusterscope.metrics.users import users_of
from clusterscope.spec.front_end import derive_front_end

SCHEMA_VERSION = 1
HOTTEST = 20
# More steps than this are thinned out evenly in `series`.
SERIES_POINTS = 1000

# Iterations done by job, and (mean, highest) utilization by tier, of one step.
Levels = tuple[list[int], dict[str, tuple[float, float]]]

NOTES = (
    "Rates are max-min fair shares of a fluid model; error_band says how far packets may differ.",
    "links: load on the wire over what the link carries now, mean over the reported step; peak is "
    "the highest load in any phase of an iteration, each job alone in the network.",
    "jobs: algbw and busbw as nccl-tests defines them; iteration_s is null when the job stalls.",
    "jobs: share_of_line is the time of rings at full line rate with a perfect fabric over "
    "iteration_s; switches that reduce may take it above 1.",
    "jobs: mfu is that of a training job, its computing as the fitted kernel efficiency has it; "
    "null for a bare collective.",
    "cost and power: GPUs, NICs, switches and cables of scale-up and scale-out only.",
    "networks: line rates, one direction; front_end: counted, not stepped, and null where the spec "
    "says nothing of it; its price and power are not in cost and power.",
)


def report(
    timeline: Timeline, steps: int | None = None, known: Mapping[int, Levels] | None = None
) -> dict[str, Any]:
    """Everything about a run after `steps` steps (`sim.steps` when left out), JSON-safe.

    Keys are those of `metrics.schema.SCHEMA`. Steps whose levels are `known` are not run again.
    """
    scenario = timeline.scenario
    last = scenario.spec.sim.steps if steps is None else steps
    series = _series(timeline, last, known or {})
    frame = timeline.at(last)
    jobs = job_metrics(scenario, frame)
    raw = {
        "schema": SCHEMA_VERSION,
        "clusterscope": __version__,
        "spec": scenario.spec.model_dump(mode="json", exclude_none=True),
        "seed": scenario.spec.sim.seed,
        "steps": last,
        "time_s": frame.time_s,
        "digest": frame.digest(),
        "fabric": dict(counts(scenario.fabric)),
        "transport": _transport(scenario),
        "links": _links(scenario, frame),
        "jobs": [_job(scenario, job) for job in jobs],
        "phases": [_phase(scenario, job, phase) for job in jobs for phase in job.phases],
        "tenants": _tenants(scenario, frame),
        "events": [_event(event) for event in events_until(timeline, last)],
        "findings": [vars(finding) for finding in findings(scenario, frame)],
        "networks": [asdict(facts) for facts in networks(scenario)],
        "front_end": _front_end(scenario),
        "cost": dict(cost(scenario)),
        "power": dict(power(scenario)),
        "series": series,
        "notes": list(NOTES),
    }
    safe: dict[str, Any] = json_safe(raw)
    return safe


def json_safe(value: Any) -> Any:  # noqa: ANN401 - any tree of plain values
    """The value with tuples as lists and numbers that JSON does not have as None."""
    if isinstance(value, dict):
        return {key: json_safe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_safe(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def events_until(timeline: Timeline, last: int) -> tuple[Event, ...]:
    """Scheduled and injected events of the steps up to `last`, by step, in order of application."""
    events = (*timeline.scenario.schedule, *timeline.log)
    return tuple(sorted((e for e in events if e.step <= last), key=lambda e: e.step))


def _transport(scenario: Scenario) -> dict[str, object]:
    """The resolved transport."""
    transport = scenario.transport
    return {
        "name": transport.name,
        "title": transport.title,
        "load_balancing": transport.policy.load_balancing,
        "hash_seed": transport.policy.hash_seed,
        "qps": transport.qps,
        "channels": transport.channels,
        "ordering": transport.ordering,
        "goodput_ratio": transport.goodput_ratio,
        "nic_latency_s": transport.nic_latency_s,
        "reroute_s": transport.reroute_s,
        "reroute_by": transport.reroute_by,
        "loss_rate": transport.loss_rate,
        "recovery": transport.recovery,
        "congestion": transport.congestion,
        "error_band": transport.error_band,
        "evidence": transport.evidence,
    }


def _front_end(scenario: Scenario) -> dict[str, object] | None:
    """The network to storage and users: its counts, and what reaches storage."""
    front, facts = derive_front_end(scenario.spec), networks(scenario)
    if front is None:
        return None
    plan, reached = front.plan, storage(scenario)
    own = next(one for one in facts if one.name == "front-end")
    return {
        **asdict(own),
        "node_gbps": front.node_gbps,
        "tiers": {"leaf": plan.leaves, "spine": plan.spines_total, "core": plan.cores_total},
        "cables_by_tier": {
            "node-leaf": plan.nic_leaf_cables,
            "leaf-spine": plan.leaf_spine_cables,
            "spine-core": plan.spine_core_cables,
        },
        "storage": None if reached is None else asdict(reached),
    }


def _links(scenario: Scenario, frame: Frame) -> dict[str, object]:
    """Utilization by tier, and the hottest links."""
    names, peak = scenario.names, peak_utilization(frame.network)
    by_tier = {}
    for tier in tier_summaries(scenario, frame):
        row = dict(vars(tier))
        worst = row.pop("worst_link")
        row["worst_link"] = names.link(worst) if worst >= 0 else None
        by_tier[row.pop("tier")] = row
    links = hottest(scenario, frame, HOTTEST)
    users = users_of(scenario, frame, links)
    rows = [
        {
            "link": names.link(link),
            "load_gbps": float(frame.link_gbps[link]),
            "capacity_gbps": float(frame.network.link_gbps[link]),
            "utilization": float(frame.utilization[link]),
            "peak": float(peak[link]),
            "jobs": [scenario.program[job].name for job in jobs],
        }
        for link, jobs in zip(links.tolist(), users, strict=True)
    ]
    return {"by_tier": by_tier, "hottest": rows}


def _job(scenario: Scenario, job: JobMetrics) -> dict[str, object]:
    """One job; its phases are listed on their own."""
    row = dict(vars(job))
    del row["phases"]
    row["settled"] = None if job.settled is None else dict(vars(job.settled))
    row["training"] = None if job.training is None else _training(scenario, job.training)
    row["serving"] = None if job.serving is None else serving_row(scenario, job.serving)
    return row | {
        "share_of_line": job.share_of_line,
        "slowdown": job.slowdown,
        "stalled": job.stalled,
        "mfu": None if job.training is None else job.training.mfu,
        "mfu_band": job.mfu_band,
    }


def _training(scenario: Scenario, own: TrainingMetrics) -> dict[str, object]:
    """How a job trains; its straggler by name."""
    row = asdict(own)
    if own.straggler is not None:
        row["straggler"]["gpu"] = scenario.names.gpu(own.straggler.gpu)
    return row


def _phase(scenario: Scenario, job: JobMetrics, phase: PhaseMetrics) -> dict[str, object]:
    """One phase of a job."""
    bound = phase.bound_link
    name = scenario.names.link(bound) if bound >= 0 else None
    return {"job": job.name, **vars(phase), "bound_link": name}


def _tenants(scenario: Scenario, frame: Frame) -> list[dict[str, object]]:
    """How much longer each job takes beside each other one, and beside all of them."""
    found = tenants(frame.network)
    names = scenario.names
    out: list[dict[str, object]] = []
    for job, program in enumerate(scenario.program[: len(found.alone_s)]):
        worst = found.worst(job)
        link = int(found.meets[job, worst]) if worst >= 0 else -1
        out.append(
            {
                "job": program.name,
                "alone": float(found.against_ideal[job]),
                "slowdown": found.slowdown[job].tolist(),
                "all": float(found.all_together[job]),
                "meets": names.link(link) if link >= 0 else None,
            }
        )
    return out


def _event(event: Event) -> dict[str, object]:
    """One event, as a replay takes it."""
    row: dict[str, object] = {"step": event.step, "kind": event.kind, "target": event.name}
    return row | ({"scale": event.scale} if event.kind == "degrade" else {})


def levels_of(scenario: Scenario, frame: Frame) -> Levels:
    """What the series of a report take of a frame."""
    return [job.iteration for job in frame.jobs], tier_levels(scenario, frame)


def _series(timeline: Timeline, last: int, known: Mapping[int, Levels]) -> dict[str, object]:
    """Iterations done and utilization by tier over steps."""
    scenario = timeline.scenario
    every = max(1, -(-(last + 1) // SERIES_POINTS))
    steps = [*range(0, last, every), last]
    iterations: dict[str, list[int]] = {job.name: [] for job in scenario.program}
    levels: dict[str, dict[str, list[float]]] = {}
    for step in steps:
        done, tiers = known.get(step) or levels_of(scenario, timeline.at(step))
        for job, iteration in zip(scenario.program, done, strict=True):
            iterations[job.name].append(iteration)
        for tier, (mean, top) in tiers.items():
            row = levels.setdefault(tier, {"mean": [], "max": []})
            row["mean"].append(mean)
            row["max"].append(top)
    return {"step": steps, "iterations": iterations, "utilization": levels}
