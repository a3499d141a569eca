"""The order in which a report tells what was found; the same in Markdown and HTML.

Every view that belongs in files has its place here, and one that is new to this module comes
before the sources, so that adding a view is enough to have it reported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from clusterscope.columns import F64
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.timeline import Timeline
from clusterscope.export import plots
from clusterscope.metrics.bands import band_of_all
from clusterscope.metrics.jobs import JobMetrics, job_metrics
from clusterscope.transport.model import Transport
from clusterscope.views.catalog import VIEWS
from clusterscope.views.gantt import lanes_of
from clusterscope.views.glossary import find
from clusterscope.views.series import busbw_series, utilization_series
from clusterscope.views.shapes import Column, Fact, Kind, Note, Series, Shape, Table
from clusterscope.views.text import fmt

POINTS: Final = 1000
ROWS: Final = 60
_FEW_ROWS: Final = {"links": 16}
_ORDER: Final = (
    ("summary", "Summary", ("summary",), ()),
    ("jobs", "Jobs and phases", ("jobs", "phases"), ("phases", "busbw")),
    (
        "training",
        "Training",
        ("training", "iteration", "sends", "groups", "memory", "goodput"),
        ("iteration",),
    ),
    ("serving", "Serving", ("serving", "serving-stages"), ()),
    ("tenants", "Tenants", ("tenants", "tenant-map"), ()),
    ("utilization", "Utilization", ("peaks", "utilization"), ("utilization", "spread")),
    ("tiers", "Tiers", ("tiers",), ()),
    ("links", "Hottest links", ("links",), ()),
    ("events", "Events", ("events",), ()),
    ("findings", "Findings", ("findings",), ()),
    ("cost", "Cost and power", ("cost",), ()),
    ("verdict", "Verdict", ("verdict",), ()),
    ("fabric", "Fabric", ("fabric",), ()),
    ("networks", "Networks", ("networks",), ()),
)
_WORDS: Final = (
    "algbw", "busbw", "share of line", "error band", "estimate mark", "collective", "incast",
    "phase", "rank", "scale-up domain", "scale-out", "rail", "leaf", "spine", "core", "taper",
    "bisection", "utilization", "collision", "ECMP", "adaptive routing", "spray", "reordering",
    "PFC", "performance isolation", "go-back-N", "reroute time", "MFU", "TTFT", "TPOT", "prefill",
    "decode", "KV cache",
)  # fmt: skip
_UNITS: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


@dataclass(frozen=True)
class Plot:
    """A plot.

    Attributes:
        name: unique, letters only; also the name of its SVG file.
        title: what a reader who cannot see it is told.
        svg: from `plots`.
    """

    name: str
    title: str
    svg: str


@dataclass(frozen=True)
class Section:
    """One part of a report: shapes and plots under a heading.

    `rows` is the most rows that a table shows; the CSV files have more.
    """

    name: str
    title: str
    shapes: Sequence[Shape] = ()
    plots: Sequence[Plot] = ()
    rows: int = ROWS


def shapes(scenario: Scenario, frame: Frame, report: Mapping[str, Any]) -> dict[str, Shape]:
    """Every view that belongs in files, by name; events are those of the whole run."""
    views = {v.name: v.function(scenario, frame, None) for v in VIEWS if v.files}
    return views | {"events": events(report)}


def events(report: Mapping[str, Any]) -> Table:
    """Everything that happened in the run; a view of a frame knows nothing of earlier steps."""
    rows = report["events"]
    columns: tuple[tuple[str, Kind], ...] = (
        ("step", "int"),
        ("kind", "text"),
        ("target", "text"),
        ("scale", "ratio"),
    )
    return Table(
        "events",
        tuple(Column(name, kind, [row.get(name) for row in rows]) for name, kind in columns),
        rows=len(rows),
        keys=[row["target"] for row in rows],
    )


def points(steps: int) -> list[int]:
    """Steps at which lines are sampled: all of them, or some thousand evenly apart."""
    stride = max(1, math.ceil(steps / POINTS))
    return sorted({*range(0, steps + 1, stride), steps})


def lines(timeline: Timeline, step: int) -> dict[str, Series]:
    """Every series at one step, by name."""
    return {
        "utilization-by-step": utilization_series(timeline, step, step),
        "busbw-by-step": busbw_series(timeline, step, step),
    }


def joined(parts: Sequence[Series]) -> Series:
    """Series of consecutive steps as one."""
    first = parts[0]
    return Series(
        title=first.title,
        x=np.concatenate([part.x for part in parts]),
        x_label=first.x_label,
        y={name: np.concatenate([part.y[name] for part in parts]) for name in first.y},
        y_label=first.y_label,
        kind=first.kind,
        note=first.note,
    )


def draw(scenario: Scenario, frame: Frame, series: Mapping[str, Series]) -> dict[str, Plot]:
    """Every plot of a report, by name."""
    jobs = job_metrics(scenario, frame)
    low, high = band_of_all(scenario)[0]
    drawn = [
        Plot(
            "utilization",
            "Utilization by tier over steps",
            plots.lines(series["utilization-by-step"], top=1.05),
        ),
        Plot(
            "spread",
            f"How evenly links are used at step {frame.step}",
            plots.histogram(_by_tier(scenario, frame)),
        ),
    ]
    unit, bars = phase_bars(scenario, jobs)
    if any(bars.values()):
        cut = any(not math.isfinite(p.seconds) for job in jobs for p in job.phases)
        title = "What an iteration spends its time on" + (", up to where it stalls" if cut else "")
        drawn.append(Plot("phases", title, plots.phases(bars, unit)))
    unit, lanes = gantt_lanes(scenario, frame)
    if lanes:
        title = "One iteration of each training job: what is waited for, and what is hidden"
        drawn.append(Plot("iteration", title, plots.gantt(lanes, unit)))
    if jobs:
        drawn.append(
            Plot(
                "busbw",
                f"busbw by job over steps, model band {low:g} to {high:g} of it shaded",
                plots.lines(series["busbw-by-step"], band=(low, high)),
            )
        )
    return {plot.name: plot for plot in drawn}


def _by_tier(scenario: Scenario, frame: Frame) -> dict[str, F64]:
    """Utilization of the links of each tier that has any."""
    start = 2 * scenario.fabric.tier_start
    names = scenario.fabric.tier_names
    ends = zip(names, start[:-1].tolist(), start[1:].tolist(), strict=True)
    return {name: frame.utilization[low:high] for name, low, high in ends if high > low}


def gantt_lanes(scenario: Scenario, frame: Frame) -> tuple[str, list[plots.Lane]]:
    """Unit, and the lanes of the iteration of every training job."""
    trained = [own for own in job_metrics(scenario, frame) if own.training is not None]
    spans = {own.name: own.training.spans for own in trained if own.training is not None}
    longest = max((span.end_s for own in spans.values() for span in own), default=0.0)
    scale, unit = next(((s, u) for s, u in _UNITS if longest >= s), _UNITS[-1])
    several = len(spans) > 1
    lanes = [
        plots.Lane(
            f"{name}: {label}" if several else label,
            [(s.kind, s.begin_s / scale, (s.end_s - s.begin_s) / scale) for s in rows],
        )
        for name, own in spans.items()
        for label, rows in lanes_of(own).items()
    ]
    return unit, lanes


def phase_bars(
    scenario: Scenario, jobs: Sequence[JobMetrics]
) -> tuple[str, dict[str, list[plots.Bar]]]:
    """Unit, and by job its phases on the clock of an iteration; stalled phases are left out."""
    longest = max(
        (p.seconds for j in jobs for p in j.phases if math.isfinite(p.seconds)), default=0
    )
    scale, unit = next(((s, u) for s, u in _UNITS if longest >= s), _UNITS[-1])
    bars: dict[str, list[plots.Bar]] = {}
    for job, program in zip(jobs, scenario.program, strict=True):
        row, clock = bars.setdefault(job.name, []), 0.0
        for phase in job.phases:
            if math.isfinite(phase.seconds):
                row.append(plots.Bar(phase.name, clock / scale, phase.seconds / scale))
                clock += 0.0 if program.overlapped else phase.seconds
    return unit, bars


def sections(
    scenario: Scenario,
    views: Mapping[str, Shape],
    series: Mapping[str, Series],
    drawn: Mapping[str, Plot],
) -> list[Section]:
    """The report, part by part."""
    told = {name for _, _, names, _ in _ORDER for name in names} | {"sources"}
    parts = [
        Section(
            name,
            title,
            [views[v] for v in names if v in views],
            [drawn[p] for p in pictures if p in drawn],
            _FEW_ROWS.get(name, ROWS),
        )
        for name, title, names, pictures in _ORDER
        if applies(scenario, name)
    ]
    parts += [
        Section(name, shape.title.capitalize(), [shape])
        for name, shape in views.items()
        if name not in told
    ]
    parts.append(Section("steps", "Steps", list(series.values())))
    if "sources" in views:
        parts.append(Section("sources", "Sources", [views["sources"]]))
    parts.append(Section("method", "Method and error bands", [method(scenario)]))
    parts.append(Section("words", "Words", [words()]))
    return [part for part in parts if part.shapes or part.plots]


_EGRESS = {
    True: "pauses the links that lead to it",
    False: "slows its own senders alone",
}


def _overtaking(transport: Transport) -> str:
    if transport.ordered_on_many_paths:
        return "each costs a recovery: the NIC wants order"
    return "none: a flow keeps to one path" if transport.hashed else "taken by the NIC as they come"


def applies(scenario: Scenario, section: str) -> bool:
    """True when a section has something to tell: one job has no neighbors."""
    if section == "tenants":
        return len(scenario.program) > 1
    if section == "serving":
        return any(job.serving for job in scenario.program)
    return section != "training" or any(job.training for job in scenario.program)


def method(scenario: Scenario) -> Note:
    """What was computed, and how far it can be trusted."""
    transport = scenario.transport
    (low, high), evidence = band_of_all(scenario)
    return Note(
        "method",
        (
            Fact("transport", transport.title),
            Fact("load balancing", transport.policy.load_balancing),
            Fact("channels over a NIC pair", transport.channels or "as the library opens them"),
            Fact("queue pairs of a channel", transport.qps, "int"),
            Fact("payload per wire byte", transport.goodput_ratio, "ratio", "derived"),
            Fact("packets out of order", _overtaking(transport)),
            Fact("packets lost", f"{100 * transport.loss_rate:.3g} %"),
            Fact("after a loss", transport.recovery),
            Fact("a busy egress", _EGRESS[transport.pauses]),
            Fact("reroute after a failure", transport.reroute_s, "seconds"),
            Fact("rerouted by", transport.reroute_by),
            Fact("model band", f"{low:g} to {high:g} of the computed busbw", "text"),
            Fact("seed", scenario.spec.sim.seed, "int"),
            Fact("length of a step", scenario.spec.sim.dt_s, "seconds"),
        ),
        (
            "Rates are max-min fair shares of the routed flows: bytes are a fluid, packets are not "
            "simulated. What a transport changes is a mechanism (hashing, spraying, header bytes, "
            "latency, time to reroute), never a factor taken from a brochure.",
            "A fluid is optimistic against packets. The model band says by how much, and is shown "
            f"beside every busbw. Evidence: {evidence}",
            "Utilization is wire load over what a link carries now, averaged over one step of "
            f"{fmt(scenario.spec.sim.dt_s, 'seconds')}; a dead link has none.",
            "algbw and busbw are those of nccl-tests; share of line is the iteration with every "
            "NIC at line rate over the iteration computed.",
            "Numbers marked estimate, and prices and powers above all, are assumptions with a "
            "reason; change them in the spec and run again.",
            "The same spec, seed and events give the same frames on any machine: "
            "'clusterscope replay replay.toml --verify' compares digests.",
        ),
    )


def words() -> Note:
    """What the words of a report mean; the explorer's glossary has more."""
    return Note("words", tuple(Fact(word, find(word).text) for word in _WORDS))
