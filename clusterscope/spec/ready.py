"""Ready plans: training jobs of public papers by name, from `plans.toml`.

`plan = "llama3-405b-16k"` in a job stands for the plan, the model and the ranks of that entry.
What the job says itself goes before it, key by key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from clusterscope.errors import UnknownNameError
from clusterscope.spec.named import Named

CATALOGUE = Named("plans.toml", "plan", "'clusterscope plans' lists them")
Measure = Literal["mfu", "tflops", "step_s"]
MEASURES: tuple[Measure, ...] = ("mfu", "tflops", "step_s")
# Two ways to say how much an iteration works on: what a job writes goes before the entry's.
_BATCH = frozenset({"microbatches", "global_batch"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What a source measured.

    Attributes:
        measure: share of peak that the model needs (mfu, 0 to 1), 10^12 operations a GPU and
            second (tflops), or seconds of an iteration (step_s).
        value: how much.
        within: how far the model of this program may be off, a share of the value.
    """

    measure: Measure
    value: float
    within: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyPlan:
    """A training job of a paper.

    Attributes:
        name: what a job writes as its plan.
        title: the job in words.
        gpus: ranks.
        cluster: preset that is like the machine it ran on.
        model: keys of `[jobs.model]`.
        cut: keys of `[jobs.plan]`.
        published: what was measured; None when nothing was.
        misses: why the model does not come as near as it should; "" when it does.
        source: the document.
        left_open: what the document does not say, and what is taken instead.
    """

    name: str
    title: str
    gpus: int
    cluster: str
    model: Mapping[str, Any]
    cut: Mapping[str, Any]
    published: Published | None
    misses: str
    source: str
    left_open: str


@cache
def ready_plans() -> Mapping[str, ReadyPlan]:
    """All ready plans by name, in the order of the catalogue."""
    return {name: _plan(name, table) for name, table in CATALOGUE.tables.items()}


def ready_plan(name: str) -> ReadyPlan:
    """A ready plan by name, in any case.

    Raises:
        UnknownNameError: there is no such plan; names the nearest.
    """
    return ready_plans()[CATALOGUE.spelled(name)]


def plan_name(job: Mapping[str, Any]) -> str | None:
    """The ready plan that the tables of a job name; None when they name none."""
    plan = job.get("plan")
    name = plan.get("name") if isinstance(plan, Mapping) else plan
    return name if isinstance(name, str) else None


def expanded(job: Mapping[str, Any]) -> dict[str, Any]:
    """Tables of a job with what its ready plan says filled in.

    A name that nobody knows is kept for those who report it.
    """
    name = plan_name(job)
    if name is None:
        return dict(job)
    own = job["plan"] if isinstance(job["plan"], Mapping) else {}
    try:
        entry = ready_plan(name)
    except UnknownNameError:
        return {**job, "plan": {**own, "name": name}}
    said = _BATCH & {key for key, value in own.items() if value is not None}
    cut = {key: value for key, value in entry.cut.items() if not (said and key in _BATCH)}
    out = {**job, "plan": {**cut, **own, "name": entry.name}}
    model = job.get("model")
    if model is None:
        out["model"] = dict(entry.model)
    elif isinstance(model, Mapping) and model.get("name") is None and "layers" not in model:
        out["model"] = {**entry.model, **{k: v for k, v in model.items() if v is not None}}
    if job.get("ranks") is None:
        out["ranks"] = entry.gpus
    return out


def _plan(name: str, table: Mapping[str, Any]) -> ReadyPlan:
    found = next(((key, table[key]) for key in MEASURES if key in table), None)
    return ReadyPlan(
        name=name,
        title=table["title"],
        gpus=table["gpus"],
        cluster=table["cluster"],
        model=table["model"],
        cut=table["cut"],
        published=found
        and Published(measure=found[0], value=found[1], within=table.get("within", 0.1)),
        misses=table.get("misses", ""),
        source=table["source"],
        left_open=table.get("left_open", ""),
    )
