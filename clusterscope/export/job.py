"""One job as text or JSON: its iteration as a chart, what it sends, its groups, its memory."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from clusterscope.engine.scenario import Scenario
from clusterscope.export.answers import note, table
from clusterscope.export.json import write
from clusterscope.export.plain import spelled_out
from clusterscope.metrics.planned import JobFacts
from clusterscope.metrics.report import json_safe
from clusterscope.views import gantt, plan

_WIDTH = 100


def job_text(scenario: Scenario, facts: JobFacts, before: JobFacts | None = None) -> str:
    """A job as text; `before` is the same job under another plan, and what changed is told."""
    lines = [plan.title(facts), "", *gantt.text(facts.spans, _WIDTH), ""]
    tables = [plan.plan_table(facts, before), plan.sent_table(scenario, facts)]
    tables.append(plan.groups_table(facts))
    if facts.memory is not None:
        tables.append(plan.memory_table(facts))
    parts = [
        "".join(f"{spelled_out(line)}\n" for line in lines) + note(plan.facts_note(facts, before))
    ]
    parts += [table(shape) for shape in tables]
    return "\n".join(parts)


def job_json(scenario: Scenario, facts: JobFacts, before: JobFacts | None = None) -> str:
    """The same as JSON, in raw numbers; `before` holds the same of the other plan."""
    document = {"schema": 1, "spec": scenario.spec.name, **job_dict(scenario, facts)}
    if before is not None:
        document["before"] = job_dict(scenario, before)
    return write(json_safe(document))


def job_dict(scenario: Scenario, facts: JobFacts) -> dict[str, Any]:
    """Everything of one job as plain values."""
    own, names = facts.metrics, scenario.names
    train = own.training
    sent = [
        {**asdict(row), "bound_link": names.link(row.bound_link) if row.bound_link >= 0 else None}
        for row in facts.sent
    ]
    told = facts.memory
    return {
        "job": facts.name,
        "ranks": own.ranks,
        "plan": facts.values,
        "iteration_s": own.iteration_s,
        "alone_s": own.alone_s,
        "exposed_s": facts.exposed_s,
        "busbw_GBps": None if train is not None else own.busbw_GBps,
        "mfu": None if train is None else train.mfu,
        "tokens_per_s": None if train is None else train.tokens_per_s,
        "tflops_per_gpu": None if train is None else train.tflops_per_gpu,
        "compute_s": 0.0 if train is None else train.compute_s,
        "bubble_s": 0.0 if train is None else train.bubble_s,
        "exposed_by_kind_s": {} if train is None else train.exposed_s,
        "spans": [asdict(span) for span in facts.spans],
        "phases": sent,
        "groups": [{**asdict(row), "where": plan.spread(row)} for row in facts.groups],
        "memory": None if told is None else {**asdict(told), "needed_bytes": told.needed_bytes},
    }
