"""Plots of a report as SVG text, the same bytes for the same numbers.

Matplotlib is imported by the functions that draw, and driven through `Figure` alone: no pyplot, no
global state left behind, no settings taken from a user's matplotlibrc. Text stays text (readable
by screen readers, drawn in the reader's font), colors are those of Okabe and Ito without the
yellow, and lines also differ by dashes.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from clusterscope.columns import F64
from clusterscope.export.plain import spelled_out
from clusterscope.metrics.training import SpanKind
from clusterscope.units import counted
from clusterscope.views.shapes import Kind, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#1b1f25"
PAPER: Final = "#fdfdfd"
RULE: Final = "#c9ced6"
COLORS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
_DASHES: Final = ("-", "--", "-.", ":")
_MOST_LINES: Final = 8
_LEGEND_SIGNS: Final = 100
_BINS: Final = 40
_UNITS: Final[dict[Kind, str]] = {"GBps": ", GB/s", "gbps": ", Gb/s", "seconds": ", s"}
_MOST_LANES: Final = 24
# Color, hatch and words of each kind of bar of an iteration.
_KINDS: Final[dict[SpanKind, tuple[str, str | None, str]]] = {
    "compute": ("#009e73", None, "computing"),
    "communication": ("#d55e00", "xxxx", "communication, waited for"),
    "hidden": ("#cfe3f1", "----", "communication, hidden"),
    "bubble": ("#f0f0f0", "....", "bubble"),
    "busy": ("#009e73", None, "computing and sending"),
}
_METADATA: Final = ("Date", "Creator", "Format", "Type")
_RC: Final[Any] = {
    "svg.hashsalt": "clusterscope",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.color": INK,
    "axes.facecolor": PAPER,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "hatch.linewidth": 0.6,
}


@dataclass(frozen=True)
class Bar:
    """One phase: when it begins and how long it takes."""

    name: str
    start: float
    length: float


@dataclass(frozen=True)
class Lane:
    """A line of a Gantt chart: its name, and (kind, begin, length) of each bar."""

    name: str
    bars: Sequence[tuple[SpanKind, float, float]]


def lines(
    series: Series, *, band: tuple[float, float] | None = None, top: float | None = None
) -> str:
    """Lines over steps, as SVG.

    Args:
        series: the lines; the first eight are drawn.
        band: low and high factors around each line, shaded.
        top: upper end of the y axis; from the data when None.
    """
    from matplotlib.ticker import MaxNLocator

    with _figure(7.2, 2.9) as figure:
        axes = figure.add_subplot()
        for place, (name, y) in enumerate(_first(series.y)):
            color, dash = COLORS[place % len(COLORS)], _DASHES[place % len(_DASHES)]
            axes.plot(series.x, y, color=color, linestyle=dash, label=_label(name), marker=".")
            if band is not None:
                axes.fill_between(
                    series.x, y * band[0], y * band[1], color=color, alpha=0.14, linewidth=0
                )
        axes.set_ylim(bottom=0, top=top or _headroom(series.y.values()))
        axes.margins(x=0.01)
        axes.xaxis.set_major_locator(MaxNLocator(9, integer=True))
        axes.set_xlabel(_label(series.x_label))
        axes.set_ylabel(_label(series.y_label + _UNITS.get(series.kind, "")))
        _legend(figure, axes, len(series.y))
        return _svg(figure)


def histogram(shares: Mapping[str, F64]) -> str:
    """Share of links by utilization, one panel a tier, as SVG.

    Args:
        shares: tier -> utilization of its links, 0 to 1; nan (a dead link) is left out.
    """
    tiers = {name: u[np.isfinite(u)] for name, u in shares.items()}
    tiers = {name: u for name, u in tiers.items() if u.size} or {"no links": np.zeros(0)}
    height_in = 0.6 + 1.05 * len(tiers)
    # Panels of known sizes: to find their places by drawing everything twice is slow.
    with _figure(7.2, height_in, layout=None) as figure:
        figure.subplots_adjust(0.09, 0.48 / height_in, 0.97, 1 - 0.25 / height_in, hspace=0.55)
        panels = figure.subplots(len(tiers), 1, sharex=True, squeeze=False)[:, 0]
        edges = np.linspace(0.0, 1.0, _BINS + 1)
        for place, (axes, (name, values)) in enumerate(zip(panels, tiers.items(), strict=True)):
            counts, _ = np.histogram(np.clip(values, 0.0, 1.0), edges)
            share = 100.0 * counts / max(1, values.size)
            axes.stairs(share, edges, fill=True, color=COLORS[place % len(COLORS)])
            axes.set_xlim(0, 1)
            axes.set_ylim(0, max(1.0, float(share.max())) * 1.15)
            axes.set_ylabel("% of links")
            axes.set_title(
                _label(f"{name}  ({counted(values.size, 'link')})"), loc="left", fontsize=9.5
            )
        panels[-1].set_xlabel("utilization")
        return _svg(figure)


def phases(jobs: Mapping[str, Sequence[Bar]], unit: str = "ms") -> str:
    """What an iteration spends its time on, one row a job, as SVG.

    Args:
        jobs: job -> its phases; those that begin together are drawn one below the other.
        unit: what times are in.
    """
    shown = dict(_first(jobs))
    with _figure(7.2, 0.9 + 0.55 * max(1, len(shown))) as figure:
        axes = figure.add_subplot()
        seen: dict[str, str] = {}
        for row, bars in enumerate(shown.values()):
            lanes = len(bars) if len({bar.start for bar in bars}) == 1 else 1
            for place, bar in enumerate(bars):
                new = bar.name not in seen
                color = seen.setdefault(bar.name, COLORS[len(seen) % len(COLORS)])
                axes.barh(
                    row - 0.3 + 0.6 * (place % lanes + 0.5) / lanes,
                    bar.length,
                    left=bar.start,
                    height=0.6 / lanes,
                    color=color,
                    edgecolor=PAPER,
                    label=_label(bar.name) if new else None,
                )
        axes.set_yticks(range(len(shown)), [_label(name) for name in shown])
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"{unit} of an iteration")
        _legend(figure, axes, 0)
        return _svg(figure)


def gantt(lanes: Sequence[Lane], unit: str = "ms") -> str:
    """An iteration as a chart, a line a lane, as SVG; hatches tell kinds apart without colors.

    Args:
        lanes: lines from the top; the first twenty-four are drawn.
        unit: what times are in.
    """
    shown = lanes[:_MOST_LANES]
    with _figure(7.2, 0.9 + 0.28 * max(1, len(shown))) as figure:
        axes = figure.add_subplot()
        seen: set[str] = set()
        for row, lane in enumerate(shown):
            for kind, begin, length in lane.bars:
                color, hatch, words = _KINDS[kind]
                axes.barh(
                    row,
                    length,
                    left=begin,
                    height=0.62,
                    color=color,
                    hatch=hatch,
                    edgecolor=PAPER if hatch is None else INK,
                    linewidth=0.4,
                    label=words if kind not in seen else None,
                )
                seen.add(kind)
        axes.set_yticks(range(len(shown)), [_label(lane.name) for lane in shown])
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"{unit} of an iteration")
        _legend(figure, axes, 0)
        return _svg(figure)


def _first(items: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return list(items.items())[:_MOST_LINES]


def _label(name: str) -> str:
    """A name as matplotlib may draw it: one starting with "_" would be left out of a legend."""
    text = spelled_out(name)
    text = text if len(text) <= 40 else text[:39] + "…"
    return f" {text}" if text.startswith("_") else text


def _headroom(lines: Iterable[F64]) -> float:
    """Upper end of an axis that starts at 0, a little above the highest number."""
    highest = max((float(y[np.isfinite(y)].max(initial=0.0)) for y in lines), default=0.0)
    return 1.1 * highest or 1.0


def _legend(figure: Figure, axes: Axes, wanted: int) -> None:
    """Legend above the axes, in as many columns as the longest name allows."""
    handles, labels = axes.get_legend_handles_labels()
    if not labels:
        return
    fitting = max(1, _LEGEND_SIGNS // (max(map(len, labels)) + 8))
    figure.legend(
        handles,
        labels,
        loc="outside upper left",
        ncols=min(len(labels), fitting),
        title=f"first {_MOST_LINES} of {wanted}" if wanted > _MOST_LINES else None,
        alignment="left",
    )


@contextmanager
def _figure(
    width_in: float, height_in: float, layout: Literal["constrained"] | None = "constrained"
) -> Iterator[Figure]:
    """A figure under our settings alone; matplotlib's own settings are put back afterwards."""
    import matplotlib
    from matplotlib.figure import Figure

    # A missing glyph is the reader's font to supply, since text stays text.
    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC)
        yield Figure(figsize=(width_in, height_in), layout=layout)


def _svg(figure: Figure) -> str:
    """The figure as SVG text without date, creator or anything that a viewer would fetch."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata=dict.fromkeys(_METADATA))
    drawing = stream.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    return "\n".join(line.rstrip() for line in drawing.splitlines()) + "\n"
