"""What has changed since a baseline: each view as a view of two frames.

A frame is compared with an earlier or later one of the same scenario. What was dead in the baseline
carried nothing; what is dead now is shown as dead.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from clusterscope.columns import I32
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.metrics.jobs import JobMetrics, PhaseMetrics, job_metrics
from clusterscope.metrics.memo import per_pair
from clusterscope.metrics.users import users_of
from clusterscope.views import zoom
from clusterscope.views.focus import place_map
from clusterscope.views.inspector import inspector as inspect
from clusterscope.views.measure import load_change, peak_change
from clusterscope.views.shapes import Column, Fact, Grid, Note, Shape, Table
from clusterscope.views.tables import column
from clusterscope.views.text import change, delta, fmt, sanitize
from clusterscope.views.tree import TreeRow

Selected = Thing | None
Diff = Callable[[Scenario, Frame, Frame, Selected], Shape]

# Links that the table of risers and fallers lists, of each kind.
MOVERS = 500
# Changes of utilization that are noise of floating point, not news.
_NOISE = 1e-9


def utilization(scenario: Scenario, frame: Frame, baseline: Frame, thing: Selected = None) -> Grid:
    """Heat map of how utilization has changed, of a place or the whole cluster."""
    place = zoom.place_of(scenario, thing or zoom.CLUSTER)
    return place_map(scenario, load_change(scenario, frame, baseline), place)


def peaks(scenario: Scenario, frame: Frame, baseline: Frame, thing: Selected = None) -> Grid:
    """Heat map of how utilization in the worst phase has changed."""
    place = zoom.place_of(scenario, thing or zoom.CLUSTER)
    return place_map(scenario, peak_change(scenario, frame, baseline), place)


def jobs(scenario: Scenario, frame: Frame, baseline: Frame, thing: Selected = None) -> Table:  # noqa: ARG001 - every view takes a selection
    """How every job's speed has changed."""
    now, then = job_metrics(scenario, frame), job_metrics(scenario, baseline)
    pairs = list(zip(now, then, strict=True))

    def growth(of: Callable[[JobMetrics], float]) -> list[float]:
        return [grown(of(a), of(b)) for a, b in pairs]

    return Table(
        "jobs, change",
        (
            column("job", "text", [job.name for job in now]),
            column("busbw ±", "change", growth(lambda job: job.busbw_GBps)),
            column("iteration ±", "change", growth(lambda job: job.iteration_s)),
            column("busbw now", "GBps", [job.busbw_GBps for job in now]),
            column("was", "GBps", [job.busbw_GBps for job in then]),
            column("iteration now", "seconds", [job.iteration_s for job in now]),
            column("was before", "seconds", [job.iteration_s for job in then]),
            column("iterations", "int", [a.iterations - b.iterations for a, b in pairs], "done"),
        ),
        rows=len(now),
        note=_since(baseline),
    )


def phases(scenario: Scenario, frame: Frame, baseline: Frame, thing: Selected = None) -> Table:  # noqa: ARG001
    """How long every phase takes now and took then, and what paces it."""
    rows: list[tuple[str, PhaseMetrics, PhaseMetrics]] = [
        (now.name, a, b)
        for now, then in zip(
            job_metrics(scenario, frame), job_metrics(scenario, baseline), strict=True
        )
        for a, b in zip(now.phases, then.phases, strict=True)
    ]
    bound = [scenario.names.link(a.bound_link) if a.bound_link >= 0 else "" for _, a, _ in rows]
    return Table(
        "phases, change",
        (
            column("job", "text", [job for job, _, _ in rows]),
            column("phase", "text", [a.name for _, a, _ in rows]),
            column("time ±", "change", [grown(a.seconds, b.seconds) for _, a, b in rows]),
            column("time now", "seconds", [a.seconds for _, a, _ in rows]),
            column("was", "seconds", [b.seconds for _, _, b in rows]),
            column("bound by", "text", list(bound), "link that paces the slowest entity now"),
        ),
        rows=len(rows),
        keys=bound,
        note=_since(baseline),
    )


@per_pair
def movers(scenario: Scenario, frame: Frame, baseline: Frame) -> Table:
    """Links whose utilization rose or fell most, the largest change first."""
    moved = load_change(scenario, frame, baseline).link
    moved = np.where(np.isnan(moved), -baseline.utilization, moved)
    links = largest(moved, MOVERS)
    users = users_of(scenario, frame, links)
    names, tier = scenario.names, scenario.fabric.cable_tier[links >> 1]
    program = [sanitize(job.name) for job in scenario.program]

    def key(row: int) -> str:
        return names.link(int(links[row]))

    return Table(
        "risers and fallers",
        (
            Column("link", "text", key, "> leads up, < leads down"),
            Column("change", "delta", moved[links], "of load over capacity"),
            Column(
                "now", "ratio", frame.utilization[links], "load over capacity; none when it is dead"
            ),
            Column("was", "ratio", baseline.utilization[links]),
            Column("tier", "text", lambda row: scenario.fabric.tier_names[tier[row]]),
            Column("jobs", "text", lambda row: ", ".join(program[j] for j in users[row])),
        ),
        rows=len(links),
        keys=key,
        note=_since(baseline),
    )


def largest(moved: np.ndarray, count: int) -> I32:
    """Links that rose most and those that fell most, by size of change, ties by index, (n,).

    At most `count` of each; links that did not change are left out.
    """
    picked = []
    for way in (moved, -moved):
        size = np.where(way > _NOISE, way, 0.0)
        some = min(count, int((size > 0).sum()))
        if some:
            edge = np.partition(size, len(size) - some)[len(size) - some]
            above, level = np.flatnonzero(size > edge), np.flatnonzero(size == edge)
            picked.append(np.concatenate([above, level[: some - len(above)]]))
    links = np.sort(np.concatenate(picked)) if picked else np.zeros(0, dtype=np.intp)
    order = np.argsort(-np.abs(moved[links]), kind="stable")
    return links[order].astype(np.int32)


def links(scenario: Scenario, frame: Frame, baseline: Frame, thing: Selected = None) -> Table:  # noqa: ARG001
    """The biggest risers and fallers."""
    return movers(scenario, frame, baseline)


def inspector(scenario: Scenario, frame: Frame, baseline: Frame, thing: Selected = None) -> Note:
    """One thing now and then: what has changed about it, then what has not."""
    now, then = inspect(scenario, frame, thing), inspect(scenario, baseline, thing)
    before = {fact.label: fact for fact in then.facts}
    changed, same = [], []
    for fact in now.facts:
        was = before.get(fact.label)
        if was is None or _alike(fact, was):
            same.append(fact)
        else:
            changed.append(Fact(fact.label, _versus(fact, was)))
    lines = now.lines
    if not changed:
        lines = (f"nothing about it has changed since step {baseline.step:,}.", *lines)
    kept = [fact for fact in same if changed or fact.label == "kind"]
    return Note(now.title, (*changed, *kept), lines)


def _alike(now: Fact, was: Fact) -> bool:
    """True when two facts read the same."""
    return fmt(now.value, now.kind) == fmt(was.value, was.kind)


def _versus(now: Fact, was: Fact) -> str:
    """A value beside the one it had."""
    words = f"{fmt(now.value, now.kind)}, was {fmt(was.value, was.kind)}"
    if now.kind == "text" or now.kind != was.kind:
        return words
    new, old = _number(now.value), _number(was.value)
    if now.kind == "ratio":
        return words if math.isnan(new - old) else f"{words} ({delta(new - old)})"
    share = grown(new, old)
    return f"{words} ({change(share)})" if math.isfinite(share) and now.kind != "int" else words


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def grown(now: float, then: float) -> float:
    """Share by which a number has grown; 0 when both are the same, nan when there is no share."""
    if now == then:
        return 0.0
    if not (math.isfinite(now) and math.isfinite(then)) or then == 0:
        return math.inf if now > then else -1.0 if now < then else math.nan
    return now / then - 1


def tree_row(row: TreeRow, then: TreeRow) -> TreeRow:
    """A row of the topology with the change of its worst utilization in place of that."""
    before = 0.0 if math.isnan(then.worst) else then.worst
    return dataclasses.replace(row, worst=row.worst - before)


def headline(scenario: Scenario, frame: Frame, baseline: Frame, job: int = 0) -> tuple[str, bool]:
    """How the busbw of a job has changed, in words, and whether to the worse; "" without a job."""
    now, then = job_metrics(scenario, frame), job_metrics(scenario, baseline)
    if not now:
        return "", False
    job = min(job, len(now) - 1)
    share = grown(now[job].busbw_GBps, then[job].busbw_GBps)
    return fmt(share, "change"), share < 0 and change(share) != change(0.0)


def _since(baseline: Frame) -> str:
    return f"since step {baseline.step:,}"


DIFFS: dict[str, Diff] = {
    "utilization": utilization,
    "peaks": peaks,
    "focus": utilization,
    "jobs": jobs,
    "phases": phases,
    "links": links,
    "inspector": inspector,
}
