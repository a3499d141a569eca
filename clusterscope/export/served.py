"""Serving jobs as text or JSON: what a request feels, and what the GPUs give."""

from __future__ import annotations

import math
from typing import Any

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.export.answers import note
from clusterscope.export.json import write
from clusterscope.metrics.jobs import JobMetrics, job_metrics
from clusterscope.metrics.report import json_safe
from clusterscope.metrics.serving import ServingMetrics, StageMetrics, serving_row
from clusterscope.spec.services import CATALOGUE
from clusterscope.views.serving import NOTE, link, serving_facts
from clusterscope.views.shapes import Fact, Note
from clusterscope.views.text import fmt, percent

_EXCHANGE = (
    ("exchange of experts", "exchange_s"),
    ("  dispatch, a layer", "dispatch_s"),
    ("  combine, a layer", "combine_s"),
    ("  DeepSeek's formula", "formula_s"),
)


def service_text(scenario: Scenario, frame: Frame) -> str:
    """Every serving job as text."""
    parts = []
    for job in job_metrics(scenario, frame):
        own = job.serving
        if own is None:
            continue
        parts.append(note(Note("serving", tuple(serving_facts(job, own)))))
        for kind, stage in (("prefill", own.prefill), ("decode", own.decode)):
            if stage is not None:
                parts.append(f"{kind}\n{note(Note(kind, tuple(_facts(scenario, stage))))}")
        if own.transfer is not None:
            parts.append(f"KV cache\n{note(Note('transfer', tuple(_moved(scenario, own))))}")
    return "\n".join([*parts, f"{NOTE}\n"])


def service_json(scenario: Scenario, frame: Frame) -> str:
    """The same as JSON, in raw numbers; null for what stands still."""
    jobs = [
        service_dict(scenario, job)
        for job in job_metrics(scenario, frame)
        if job.serving is not None
    ]
    document = {"schema": 1, "spec": scenario.spec.name, "step": frame.step, "jobs": jobs}
    return write(json_safe(document))


def service_dict(scenario: Scenario, job: JobMetrics) -> dict[str, Any]:
    """One serving job as plain values."""
    assert job.serving is not None
    found = serving_row(scenario, job.serving)
    return {"name": job.name, "ranks": job.ranks, "slowdown": job.slowdown, **found}


def listing() -> str:
    """The services of the catalogue: name, title, the preset that they run on, source."""
    facts = [
        Fact(name, f"{own['title']} (on {own['preset']}). {own['source']}")
        for name, own in CATALOGUE.tables.items()
    ]
    return note(Note("services", tuple(facts)))


def _facts(scenario: Scenario, own: StageMetrics) -> list[Fact]:
    """What one pass or step is made of."""
    facts = [
        Fact("  a pass or step", own.step_s, "seconds"),
        Fact("  bound by", own.bound),
        Fact("  tokens/s a GPU, a node", _both(own)),
        Fact("  computing", own.compute_s, "seconds"),
        Fact("  reading memory", own.memory_s, "seconds"),
    ]
    facts += [Fact(f"  {label}", getattr(own, key), "seconds") for label, key in _EXCHANGE
              if getattr(own, key)]  # fmt: skip
    facts += [Fact(f"  waits for {k}", seconds, "seconds") for k, seconds in own.exposed_s.items()]
    if own.bound_link >= 0:
        facts.append(Fact("  paced by", link(scenario, own.bound_link)))
    held = own.weights_bytes + own.cache_bytes
    words = f"{fmt(own.weights_bytes, 'bytes')} of weights, {fmt(own.cache_bytes, 'bytes')} of "
    words += f"KV cache, {percent(held / own.memory_bytes, 0)} of it"
    return [*facts, Fact("  memory of a GPU", words)]


def _both(own: StageMetrics) -> str:
    """Tokens a second of a GPU and of a node."""
    if not math.isfinite(own.step_s):
        return "none: every instance stands still"
    return f"{fmt(own.tokens_per_s_per_gpu, 'int')}, {fmt(own.tokens_per_s_per_node, 'int')}"


def _moved(scenario: Scenario, own: ServingMetrics) -> list[Fact]:
    """The transfer from prefill to decode."""
    moved = own.transfer
    assert moved is not None
    facts = [
        Fact("  of a token, of a prompt",
             f"{fmt(moved.token_bytes, 'bytes')}, {fmt(moved.request_bytes, 'bytes')}"),
        Fact("  all prompts of a pass", moved.seconds, "seconds"),
        Fact("  of it waited for", moved.exposed_s, "seconds"),
    ]  # fmt: skip
    if moved.bound_link >= 0:
        facts.append(Fact("  paced by", link(scenario, moved.bound_link)))
    return facts
