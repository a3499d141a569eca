"""Answers to a question on the command line, as text or JSON: an explanation, a matrix of jobs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.export.json import write
from clusterscope.export.plain import spelled_out, words
from clusterscope.export.side_by_side import columns
from clusterscope.metrics import tenants as matrix
from clusterscope.metrics.explain import Explanation
from clusterscope.metrics.remedies import Tried
from clusterscope.metrics.report import json_safe
from clusterscope.views.explain import as_dict, explain_note, sharers_table, tried_table
from clusterscope.views.shapes import Note, Table
from clusterscope.views.slots import letter
from clusterscope.views.tenants import isolated, sentences, tenant_table

_WIDTH = 100


def explanation(scenario: Scenario, found: Explanation, tried: Sequence[Tried]) -> str:
    """An explanation as text: facts, who shares the bottleneck, what would help."""
    parts = [note(explain_note(scenario, found, tried))]
    if found.sharers:
        parts.append(table(sharers_table(scenario, found)))
    if tried:
        parts.append(table(tried_table(tried)))
    return "\n".join(parts)


def explanation_json(scenario: Scenario, found: Explanation, tried: Sequence[Tried]) -> str:
    """The same as JSON."""
    return write({"spec": scenario.spec.name, **json_safe(as_dict(scenario, found, tried))})


def _quiet(what: str, done: int, of: int) -> None:
    """Progress that nobody wants to see."""


_COLUMNS = (
    "alone: its iteration alone over that at line rate; a letter: beside that job; all: beside all "
    "others at once, which may slow a job that no single one slows; now: at this step. 1 is as "
    "fast as alone."
)


def tenants(scenario: Scenario, frame: Frame, tell: matrix.Tell = _quiet) -> str:
    """Who slows whom as text, and what isolation changes."""
    found = matrix.tenants(frame.network)
    told = (_COLUMNS, "", *sentences(scenario, found, isolated(frame.network, tell)))
    lines = "".join(f"{wrapped}\n" for one in told for wrapped in _wrap(one) or [""])
    return f"{table(tenant_table(scenario, frame))}\n{lines}"


def tenants_json(scenario: Scenario, frame: Frame, tell: matrix.Tell = _quiet) -> str:
    """Who slows whom as JSON; null for what never ends."""
    found = matrix.tenants(frame.network)
    names = scenario.names
    jobs = [
        {
            "name": program.name,
            "letter": letter(job),
            "ranks": len(program.gpus),
            "ideal_s": float(found.ideal_s[job]),
            "alone_s": float(found.alone_s[job]),
            "beside_s": found.beside_s[job].tolist(),
            "slowdown": found.slowdown[job].tolist(),
            "together_s": float(found.together_s[job]),
            "all_together": float(found.all_together[job]),
            "meets": [
                names.link(link) if link >= 0 else None for link in found.meets[job].tolist()
            ],
            "shared_links": found.shared[job].tolist(),
        }
        for job, program in enumerate(scenario.program[: len(found.alone_s)])
    ]
    document = {
        "schema": 1,
        "spec": scenario.spec.name,
        "step": frame.step,
        "jobs": jobs,
        "sentences": list(sentences(scenario, found, isolated(frame.network, tell))),
    }
    return write(json_safe(document))


def note(shape: Note) -> str:
    """A note as lines: sentences, then facts."""
    lines = [wrapped for text in shape.lines for wrapped in _wrap(text)]
    indent = max((len(fact.label) for fact in shape.facts), default=0) + 2
    for fact in shape.facts:
        first, *rest = _wrap(words(fact.value, fact.kind), _WIDTH - indent) or [""]
        lines.append(f"{spelled_out(fact.label):<{indent}}{first}")
        lines += [" " * indent + text for text in rest]
    return "".join(f"{line}\n" for line in lines)


def table(shape: Table) -> str:
    """A table as aligned columns under its title."""
    bars = np.full((shape.rows, len(shape.columns) - 1), np.nan)
    about = f"{shape.title} ({shape.note})" if shape.note else shape.title
    return f"{spelled_out(about)}\n{columns(shape, bars)}"


def _wrap(text: str, width: int = _WIDTH) -> list[str]:
    return textwrap.wrap(spelled_out(text), width, break_on_hyphens=False)
