"""One iteration as lanes on a time axis: where each cell of a chart belongs, and its sign.

Signs tell the kinds apart where colors do not. What is shorter than a cell still takes one, so that
nothing disappears; where two meet in a cell, what is waited for wins over what is hidden.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from clusterscope.metrics.training import Span, SpanKind
from clusterscope.views.text import duration, sanitize

SIGNS: Final[dict[SpanKind, str]] = {
    "compute": "█",
    "communication": "×",
    "hidden": "─",
    "bubble": "·",
    "busy": "█",
}
WORDS: Final[dict[SpanKind, str]] = {
    "compute": "computing",
    "communication": "exposed: waited for",
    "hidden": "hidden: nobody waits for it",
    "bubble": "bubble: stage idles",
    "busy": "busy: computing and sending",
}
COMPUTING: Final = "computing"
# What wins a cell, from the weakest.
_RANK: Final[tuple[SpanKind, ...]] = ("bubble", "hidden", "compute", "busy", "communication")
_LABEL: Final = 24
_TICK: Final = 12  # cells from one number of the axis to the next, at least
_NICE: Final = (1.0, 2.0, 5.0, 10.0)

Run = tuple[SpanKind | None, int]


@dataclass(frozen=True)
class Lane:
    """One line of the chart: what it is, and runs of cells of one kind, left to right."""

    label: str
    runs: tuple[Run, ...]

    @property
    def text(self) -> str:
        """The cells as signs."""
        return "".join((SIGNS[kind] if kind else " ") * cells for kind, cells in self.runs)


@dataclass(frozen=True)
class Chart:
    """Lanes under a time axis.

    Attributes:
        lanes: lines, the computing first.
        axis: numbers and ticks of the time axis, as wide as the cells of a lane.
        label: cells that the longest label takes.
    """

    lanes: tuple[Lane, ...]
    axis: str
    label: int


def chart(spans: Sequence[Span], width: int, window: tuple[float, float] | None = None) -> Chart:
    """An iteration on so many cells, labels and all.

    Args:
        spans: its rows, from `metrics.training` or `metrics.iteration`.
        width: cells of a line.
        window: seconds to show, from and to; all when left out.
    """
    rows = lanes_of(spans)
    label = min(_LABEL, max((len(name) for name in rows), default=0))
    cells = max(1, width - label - 1)
    end = max((span.end_s for span in spans), default=0.0)
    low, high = window or (0.0, end)
    if not high > low:
        return Chart((), " " * cells, label)
    lanes = tuple(
        Lane(_short(name, label), _runs(own, cells, low, high)) for name, own in rows.items()
    )
    return Chart(lanes, axis(cells, low, high), label)


def lanes_of(spans: Sequence[Span]) -> dict[str, list[Span]]:
    """Rows of a chart by the lane that they are in: computing and bubble, then what is sent."""
    lanes: dict[str, list[Span]] = {}
    if any(span.kind == "compute" for span in spans):
        lanes[COMPUTING] = []
    for span in spans:
        if span.kind in ("compute", "bubble"):
            lanes.setdefault(COMPUTING, []).append(span)
        else:
            kind = span.name.rpartition(": ")[2] if COMPUTING in lanes else span.name
            word = sanitize(f"{kind} {span.network}" if COMPUTING in lanes else kind)
            lanes.setdefault(word, []).append(span)
    return lanes


def axis(cells: int, low: float, high: float) -> str:
    """Numbers at round times under which lanes can be read, (cells,) characters."""
    step = _round_step((high - low) / max(1, cells // _TICK))
    line = [" "] * cells
    place = math.ceil(low / step)
    while place * step <= high:
        at = round((place * step - low) / (high - low) * cells)
        text = f"╵{duration(place * step)}" if place else "╵0"
        if at + len(text) <= cells and all(sign == " " for sign in line[max(0, at - 1) : at + 1]):
            line[at : at + len(text)] = text
        place += 1
    return "".join(line)


def text(spans: Sequence[Span], width: int) -> list[str]:
    """The chart as lines: axis, lanes, and what the signs mean."""
    drawn = chart(spans, width)
    if not drawn.lanes:
        return ["nothing of it can be finished"]
    gap = " " * (drawn.label + 1)
    lines = [f"{gap}{drawn.axis}".rstrip()]
    lines += [f"{lane.label:<{drawn.label}} {lane.text}".rstrip() for lane in drawn.lanes]
    return [*lines, f"{gap}{'  '.join(legend(spans))}"]


def legend(spans: Sequence[Span]) -> list[str]:
    """A sign and its words for each kind that there is."""
    kinds = {span.kind for span in spans}
    return [f"{SIGNS[kind]} {words}" for kind, words in WORDS.items() if kind in kinds]


def _runs(spans: Sequence[Span], cells: int, low: float, high: float) -> tuple[Run, ...]:
    """Runs of cells that some spans take between two times."""
    held: list[SpanKind | None] = [None] * cells
    for span in sorted(spans, key=lambda own: _RANK.index(own.kind)):
        if span.end_s <= low or span.begin_s >= high:
            continue
        scale = cells / (high - low)
        first = min(cells - 1, max(0, math.floor((span.begin_s - low) * scale + 0.5)))
        last = max(first + 1, min(cells, math.floor((span.end_s - low) * scale + 0.5)))
        held[first:last] = [span.kind] * (last - first)
    runs: list[Run] = []
    for kind in held:
        if runs and runs[-1][0] == kind:
            runs[-1] = (kind, runs[-1][1] + 1)
        else:
            runs.append((kind, 1))
    return tuple(runs)


def _round_step(least_s: float) -> float:
    """The smallest of 1, 2, 5, 10 ... times a power of ten that is not below `least_s`."""
    power = 10.0 ** math.floor(math.log10(least_s))
    return next(nice * power for nice in _NICE if nice * power >= least_s * (1 - 1e-9))


def _short(label: str, width: int) -> str:
    return label if len(label) <= width else label[: width - 1] + "…"
