"""Ready plans of public papers, a row each."""

from __future__ import annotations

from clusterscope.spec.models import resolve_model
from clusterscope.spec.plans import resolve_plan
from clusterscope.spec.ready import ReadyPlan, ready_plans
from clusterscope.spec.training import ModelSpec, PlanSpec
from clusterscope.views.published import published_words
from clusterscope.views.shapes import Column, Table
from clusterscope.views.text import percent


def plans_table() -> Table:
    """Every ready plan: what it trains, on what, how it is cut, and what was published."""
    rows = tuple(ready_plans().values())
    return Table(
        "ready plans",
        (
            Column("plan", "text", [row.name for row in rows]),
            Column("GPUs", "int", [row.gpus for row in rows]),
            Column("cut", "text", [_cut(row) for row in rows]),
            Column("published", "text", [published_words(row.published) for row in rows]),
            Column("comes out", "text", [_near(row) for row in rows], "of what was published"),
            Column("preset", "text", [row.cluster for row in rows], "most like its machine"),
            Column("what it is", "text", [row.title for row in rows]),
            Column("source", "text", [row.source for row in rows]),
            Column("left open", "text", [row.left_open or "nothing" for row in rows]),
            Column("why it does not come out", "text", [row.misses for row in rows]),
        ),
        rows=len(rows),
        note='a job takes one by plan = "NAME", --set or (explorer) :set jobs.0.plan=NAME',
    )


def _near(row: ReadyPlan) -> str:
    """How near the model comes to what was measured."""
    if row.published is None:
        return ""
    return "no" if row.misses else f"within {percent(row.published.within, 0)}"


def _cut(row: ReadyPlan) -> str:
    """The cuts above 1 in words."""
    model = resolve_model(ModelSpec(**row.model), row.name)
    return resolve_plan(PlanSpec(**row.cut), model, row.gpus, row.name).text
