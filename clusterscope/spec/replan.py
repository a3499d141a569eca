"""Another plan for a job of a spec: what can be changed, what may come next, and what follows.

Data parallel ranks follow from the other cuts, and the batch of an iteration stays what it was, so
that two plans do the same work. A number of data parallel ranks that is asked for makes the job as
large as it says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import tomli_w

from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.spec.model import ClusterSpec, JobSpec, Placement
from clusterscope.spec.models import Transformer, resolve_model
from clusterscope.spec.plans import Plan, resolve_plan
from clusterscope.spec.read import parse
from clusterscope.spec.training import Attention, Overlap, PlanSpec, Recompute, Schedule
from clusterscope.spec.write import to_tables

FIELDS: dict[str, str] = {
    "tp": "tensor parallel ranks",
    "pp": "pipeline stages",
    "dp": "data parallel ranks: they follow from the others",
    "cp": "context parallel ranks",
    "ep": "expert parallel ranks",
    "vp": "chunks of layers of a stage, interleaved when above 1",
    "schedule": "order of forward and backward",
    "microbatch": "sequences of a microbatch",
    "batch": "sequences of an iteration",
    "zero": "what the dp ranks share out",
    "recompute": "what backward computes again",
    "attention": "scores stay inside a kernel, or go through memory",
    "overlap": "communication beside computing",
    "placement": "which GPUs the ranks are on",
    "stride": "nodes from one to the next, when placement is strided",
}
_ALIASES = {"global_batch": "batch", "ranks": "dp"}
_CUTS = ("tp", "cp", "pp")
_OF_JOB = ("placement", "stride")
_PLACEMENTS: tuple[Placement, ...] = get_args(Placement)
_OVERLAPS: tuple[Overlap, ...] = get_args(Overlap)
# What one key after another lets run beside computing, from nothing to everything.
_MORE_OVERLAP = ("none", "dp", "dp+cp", "dp+cp+pp", "dp+cp+pp+ep", "dp+cp+pp+ep+tp")
_DIGITS = 7
_MOST = 10**_DIGITS - 1


@dataclass(frozen=True)
class Planned:
    """A job of a spec with its plan worked out.

    Attributes:
        job: what the user wrote.
        model: what is trained; None for a bare collective.
        plan: how it is cut; None for a bare collective.
    """

    job: JobSpec
    model: Transformer | None
    plan: Plan | None

    @property
    def values(self) -> dict[str, str]:
        """Value of every field that the job has, as it would be typed."""
        placed: dict[str, str] = {
            "placement": self.job.placement,
            "stride": str(self.job.stride),
        }
        plan = self.plan
        if plan is None:
            return placed
        numbers = {name: str(getattr(plan, name)) for name in ("tp", "pp", "dp", "cp", "ep", "vp")}
        return {
            **numbers,
            "schedule": plan.schedule,
            "microbatch": str(plan.microbatch),
            "batch": str(plan.batch),
            "zero": str(plan.zero),
            "recompute": plan.recompute,
            "attention": plan.attention,
            "overlap": overlap_text(plan.overlap),
            **placed,
        }


def overlap_text(overlap: frozenset[Overlap]) -> str:
    """Kinds of communication in one word, as "dp+cp"; "none" for none."""
    order = ("dp", "cp", "pp", "ep", "tp")
    return "+".join(kind for kind in order if kind in overlap) or "none"


def planned(spec: ClusterSpec, job: int) -> Planned:
    """A job with its plan worked out; gives what `FIELDS` of it are now.

    Raises:
        SpecError: model and plan do not fit each other or the GPUs.
    """
    own = spec.jobs[job]
    if own.model is None or own.collective != "training":
        return Planned(own, None, None)
    ranks = own.ranks or spec.gpus - own.first_gpu
    model = resolve_model(own.model, f"jobs.{job}.model")
    plan = resolve_plan(own.plan or PlanSpec(), model, ranks, f"jobs.{job}.plan")
    return Planned(own, model, plan)


def parse_changes(text: str) -> dict[str, str]:
    """Fields and values of a line like "tp=4 pp=8", or "tp=4,pp=8".

    Raises:
        SpecError: not of that form.
        UnknownNameError: no such field.
    """
    changes: dict[str, str] = {}
    for word in text.replace(",", " ").split():
        name, equals, value = word.partition("=")
        name = _ALIASES.get(name.casefold(), name.casefold())
        if not equals or not name or not value:
            raise SpecError("plan", f"{word!r} is not a change", "type FIELD=VALUE, as tp=4 pp=8")
        if name not in FIELDS:
            raise UnknownNameError("field", name, FIELDS, "known are " + ", ".join(FIELDS))
        changes[name] = value
    if not changes:
        raise SpecError("plan", "names no change", "type FIELD=VALUE, as tp=4 pp=8")
    return changes


def replanned(spec: ClusterSpec, job: int, changes: Mapping[str, str]) -> ClusterSpec:
    """The spec with some fields of a job's plan changed, and what follows from them.

    Args:
        spec: the cluster.
        job: index of the job.
        changes: values by name, keys of `FIELDS`.

    Raises:
        SpecError: such a plan is not possible, and why, in one sentence.
    """
    now = planned(spec, job)
    _must_have(now, tuple(changes))
    tables = to_tables(spec)
    listed: list[dict[str, Any]] = tables.setdefault("jobs", [])
    if not listed:
        listed.append(now.job.model_dump(exclude_none=True, exclude_defaults=True))
    if now.plan is not None:
        _let_follow(tables, job, now.plan, changes)
    if "stride" in changes and "placement" not in changes:
        changes = {**changes, "placement": "strided"}
    settings = [_setting(job, name, value) for name, value in changes.items()]
    try:
        return parse(tomli_w.dumps(tables), spec.name, settings)
    except SpecError as error:
        own = f"--set: jobs.{job}."  # which is how it was asked of `parse`, not of us
        if not error.where.startswith(own):
            raise
        raise SpecError(error.where.removeprefix(own), error.problem, error.hint) from None


def _must_have(now: Planned, names: Sequence[str]) -> None:
    """Say so when a job has no such field."""
    bad = next((name for name in names if name not in now.values), None)
    if bad is not None:
        hint = f"what can be changed is {', '.join(now.values)}"
        raise SpecError(f"job {now.job.name!r}", f"{bad} is for a job that trains", hint)


def _let_follow(tables: dict[str, Any], job: int, plan: Plan, changes: Mapping[str, str]) -> None:
    """Take out of a job's tables what follows from the changes; keep the batch."""
    own = tables["jobs"][job]
    table: dict[str, Any] = own.setdefault("plan", {})
    if set(changes) - set(_OF_JOB):
        table.pop("name", None)  # it is not the plan of the paper any more
    gone = [key for key in ("dp",) if set(changes) & {*_CUTS, "dp"}]
    if "microbatch" in changes or "batch" in changes or gone:
        gone += ["microbatches", "global_batch"]
    if "vp" in changes and "schedule" not in changes:
        gone.append("schedule")
    for key in gone:
        table.pop(key, None)
        tables.get("sources", {}).pop(f"jobs.{job}.plan.{key}", None)
    if "global_batch" in gone and "batch" not in changes:
        table["global_batch"] = plan.batch
    if "dp" in changes:
        sizes = [changes.get(cut, str(getattr(plan, cut))) for cut in (*_CUTS, "dp")]
        product = 1
        for cut, size in zip((*_CUTS, "dp"), sizes, strict=True):
            product *= _whole(cut, size)
        own["ranks"] = product


def _setting(job: int, name: str, value: str) -> str:
    """A change as `table.key=value`."""
    if name in _OF_JOB:
        return f"jobs.{job}.{name}={value}"
    if name == "overlap":
        return f"jobs.{job}.plan.overlap={_overlaps(value)}"
    if name == "batch":
        return f"jobs.{job}.plan.global_batch={_whole(name, value)}"
    return f"jobs.{job}.plan.{name}={value}"


def _whole(name: str, text: str) -> int:
    """A number that was typed."""
    if text.isascii() and text.isdecimal() and len(text) <= _DIGITS and int(text):
        return int(text)
    raise SpecError(f"plan.{name}", f"{text!r} is not a number of them", f"use 1 to {_MOST:,}")


def _overlaps(text: str) -> str:
    """Kinds of communication as a TOML array."""
    kinds = [] if text == "none" else text.split("+")
    for kind in kinds:
        if kind not in _OVERLAPS:
            raise SpecError(
                "plan.overlap",
                f"{kind!r} is no kind of communication",
                f"use none, or some of {', '.join(_OVERLAPS)} with + between",
            )
    return "[" + ", ".join(f'"{kind}"' for kind in kinds) + "]"


def stepped(spec: ClusterSpec, job: int, name: str, way: int) -> ClusterSpec:
    """The spec with one field of a job's plan at its next possible value, up or down.

    Raises:
        SpecError: no value that way is possible, and why the nearest is not.
    """
    now = planned(spec, job)
    _must_have(now, (name,))
    first: SpecError | None = None
    for value in _candidates(now, name, way):
        try:
            return replanned(spec, job, {name: value})
        except SpecError as error:
            first = first or error
    if first is not None:
        raise first
    end = "above" if way > 0 else "below"
    raise SpecError(f"plan.{name}", f"there is nothing {end} {now.values[name]}")


def _candidates(now: Planned, name: str, way: int) -> list[str]:
    """Values of a field that come next in a direction, the nearest first."""
    words = _words(name)
    value = now.values[name]
    if words is not None:
        at = words.index(value) if value in words else 0
        return list(words[at + 1 :] if way > 0 else words[:at][::-1])
    number, model = int(value), now.model
    if name == "zero":
        return [str(n) for n in (range(number + 1, 4) if way > 0 else range(number - 1, -1, -1))]
    if model is None:
        return _doubled(number, way)
    if name in ("pp", "vp"):
        most = model.layers + 1
        return [str(n) for n in (range(number + 1, most) if way > 0 else range(number - 1, 0, -1))]
    whole = {"tp": model.heads, "cp": model.sequence, "ep": max(1, model.experts)}.get(name)
    if whole is not None:
        found = [n for n in range(1, whole + 1) if whole % n == 0]
        return [str(n) for n in (found if way > 0 else found[::-1]) if (n - number) * way > 0]
    return _doubled(number, way)


def _doubled(number: int, way: int) -> list[str]:
    """Twice a number, or half of it where that is whole."""
    if way > 0:
        return [str(2 * number)]
    return [str(number // 2)] if number % 2 == 0 else []


def _words(name: str) -> Sequence[str] | None:
    """Values of a field that are words; None when they are numbers."""
    return {
        "schedule": get_args(Schedule),
        "recompute": get_args(Recompute),
        "attention": get_args(Attention),
        "overlap": _MORE_OVERLAP,
        "placement": _PLACEMENTS,
    }.get(name)
