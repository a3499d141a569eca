"""Several jobs on one fabric: who slows whom, as a table of factors and as a heat map."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clusterscope.columns import F64
from clusterscope.engine.frame import Frame
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario, with_spec
from clusterscope.fabric.things import Thing
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.tenants import Tell, Tenants, job_load, most_jobs, tenants
from clusterscope.units import counted
from clusterscope.views.focus import place_map
from clusterscope.views.measure import Measure
from clusterscope.views.shapes import Column, Grid, Table
from clusterscope.views.slots import letter
from clusterscope.views.text import percent, sanitize
from clusterscope.views.zoom import place_of

CAPTION = "iteration beside a column's job over that alone, while both send"


def tenant_table(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Table:  # noqa: ARG001 - every view takes a selection
    """Every job: alone against line rate, beside each other job, beside all; where it hurts most.

    The key of a row is the link on which the job meets its worst neighbor.
    """
    found = tenants(frame.network)
    count = len(found.alone_s)
    rows = range(count)
    names = [sanitize(scenario.program[job].name) for job in rows]
    matrix, together = found.slowdown, found.all_together
    measured = [job.iteration_s / job.alone_s for job in job_metrics(scenario, frame)[:count]]
    worst = [found.worst(job) for job in rows]
    links = [int(found.meets[job, worst[job]]) if worst[job] >= 0 else -1 for job in rows]
    keys = [scenario.names.link(link) if link >= 0 else "" for link in links]
    return Table(
        "tenants",
        (
            Column("", "text", [letter(job) for job in rows], "letter of the job"),
            Column("job", "text", names),
            Column("alone", "float", found.against_ideal, "iteration over that at line rate"),
            *(
                Column(letter(j), "float", matrix[:, j], f"beside {names[j]}, while both send")
                for j in rows
            ),
            Column("all", "float", together, "beside all others, while all send"),
            Column("now", "float", measured, "as the timeline has it at this step"),
            Column("worst", "text", [letter(job) if job >= 0 else "" for job in worst]),
            Column("meets it on", "text", keys),
            Column("ranks", "int", [len(scenario.program[job].gpus) for job in rows]),
            Column("placed", "text", [placed(scenario, job) for job in rows]),
        ),
        rows=count,
        keys=keys,
        note=CAPTION + _left_out(scenario),
    )


def _left_out(scenario: Scenario) -> str:
    most = most_jobs(scenario.fabric)
    more = len(scenario.program) - most
    return (
        f"; the first {most} jobs, {more:,} more {'is' if more == 1 else 'are'} left out"
        if more > 0
        else ""
    )


def placed(scenario: Scenario, job: int) -> str:
    """How a job is placed, and on how many nodes."""
    gpus = scenario.program[job].gpus
    nodes = len(np.unique(gpus // scenario.fabric.gpus_per_node))
    spec = scenario.spec.jobs[job]
    return f"{spec.placement}, {counted(nodes, 'node')}"


def tenant_map(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Grid:  # noqa: ARG001
    """What share of its speed a row's job loses beside a column's job, 0 to 1; last beside all."""
    found = tenants(frame.network)
    count = len(found.alone_s)
    values = lost(np.column_stack([found.slowdown, found.all_together]))
    names = [
        f"{letter(job)} {sanitize(program.name)}"
        for job, program in enumerate(scenario.program[:count])
    ]

    def key(row: int, column: int) -> str:
        other = column if column < count else found.worst(row)
        link = int(found.meets[row, other]) if other >= 0 else -1
        return scenario.names.link(link) if link >= 0 else ""

    return Grid(
        "who slows whom",
        values,
        np.isnan(values),
        tuple(names),
        (*(letter(job) for job in range(count)), "all"),
        keys=key,
        note="share of its speed that a row's job loses beside a column's, while both send",
    )


def lost(slowdown: F64) -> F64:
    """Share of its speed that a job loses, 0 to 1, from how much longer it takes; nan stays."""
    with np.errstate(divide="ignore"):
        share: F64 = 1.0 - 1.0 / slowdown
    return share


def job_map(scenario: Scenario, frame: Frame, job: int, place: Thing) -> Grid:
    """Heat map of a place with the links of one job alone: its load in its worst phase."""
    load = job_load(frame.network, job)
    with np.errstate(divide="ignore", invalid="ignore"):
        capacity = frame.network.link_gbps
        link = np.where(capacity > 0, load / capacity, np.nan)
    cable = np.fmax(link[0::2], link[1::2])
    name = f"links of {letter(job)} {sanitize(scenario.program[job].name)}"
    measure = Measure(name, link, cable, frame.network.cable_gbps <= 0)
    return place_map(scenario, measure, place_of(scenario, place))


def isolated(network: Network, tell: Tell) -> Tenants | None:
    """The matrix with the transport's isolation turned over; None when that changes nothing.

    Args:
        network: the network as it is.
        tell: as for `metrics.tenants.tenants`.
    """
    scenario = network.scenario
    pauses = scenario.transport.pauses
    own = scenario.spec.transport.model_copy(update={"isolation": pauses})
    other = with_spec(scenario, scenario.spec.model_copy(update={"transport": own}))
    if other.transport == scenario.transport or len(scenario.program) < 2:
        return None
    return tenants(Network(other, network.routed, network.actual), tell)


def sentences(scenario: Scenario, found: Tenants, other: Tenants | None = None) -> tuple[str, ...]:
    """What the matrix says in a few sentences; with isolation turned over, what that changes.

    Args:
        scenario: the cluster.
        found: its matrix.
        other: the same with the transport's isolation the other way round; None when there is none.
    """
    names = [sanitize(program.name) for program in scenario.program[: len(found.alone_s)]]
    if not names:
        return ("No job runs here.",)
    if len(names) < 2:
        return ("One job has the fabric to itself: an AI factory.",)
    if not np.isfinite(found.alone_s).any():
        return ("No job moves, not even alone.",)
    lines = [*_hurt(scenario, found, names), *_untouched(found, names)]
    if other is not None:
        lines.append(_isolation(found, other, on=not scenario.transport.pauses))
    return tuple(lines)


def _hurt(scenario: Scenario, found: Tenants, names: Sequence[str]) -> list[str]:
    """The job that suffers most, and by whom."""
    matrix = np.nan_to_num(found.slowdown, nan=0.0, posinf=math.inf)
    job, other = (int(place) for place in np.unravel_index(int(matrix.argmax()), matrix.shape))
    if not matrix[job, other] > 1.0005:
        return ["No job slows another: they share no link that is full."]
    link = scenario.names.link(int(found.meets[job, other]))
    return [
        f"{letter(other)} {names[other]} slows {letter(job)} {names[job]} most: "
        f"{factor(matrix[job, other])} while both send, on {link} and "
        f"{int(found.shared[job, other]) - 1:,} more links.",
        _all_words(found, names),
    ]


def _all_words(found: Tenants, names: Sequence[str]) -> str:
    together = np.nan_to_num(found.all_together, nan=0.0, posinf=math.inf)
    worst = int(together.argmax())
    mean = float(np.nanmean(found.all_together)) if np.isfinite(found.all_together).any() else 0.0
    return (
        f"With all of them at once {letter(worst)} {names[worst]} takes {factor(together[worst])}; "
        f"the mean of the jobs is {factor(mean)}."
    )


def _untouched(found: Tenants, names: Sequence[str]) -> list[str]:
    """Jobs that nobody slows."""
    calm = [
        f"{letter(job)} {name}"
        for job, name in enumerate(names)
        if found.all_together[job] <= 1.0005
    ]
    return [f"Undisturbed: {', '.join(calm)}."] if calm and len(calm) < len(names) else []


def _isolation(found: Tenants, other: Tenants, *, on: bool) -> str:
    """What performance isolation does to the jobs."""
    with_it, without = (found, other) if on else (other, found)
    both = np.array([with_it.all_together, without.all_together])
    moving = np.isfinite(both).all(axis=0)
    if not moving.any():
        return "No job moves both with performance isolation and without."
    mean = [float(m) for m in both[:, moving].mean(axis=1)]
    if abs(mean[0] / mean[1] - 1) < 5e-4:
        return "Performance isolation changes nothing here."
    gain = percent(1 - mean[0] / mean[1])
    return (
        f"With performance isolation the mean is {factor(mean[0])}, without {factor(mean[1])}: "
        f"{gain} of the time is congestion of one job that spreads to others."
    )


def factor(value: float) -> str:
    """How many times as long, in words: "1.8 times as long", "as long as alone"."""
    if math.isinf(value):
        return "forever"
    if value <= 1.0005:
        return "as long as alone"
    return f"{value:.2f} times as long"
