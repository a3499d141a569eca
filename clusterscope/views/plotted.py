"""Lines of a series as a chart of characters: a scale at the left, one below, a sign a line."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from clusterscope.columns import F64
from clusterscope.views.shapes import Kind, Series
from clusterscope.views.text import fmt, sanitize

SIGNS: Final = "*o+x"  # of the lines, in their order; the first is in front
_GAP = 3  # cells between two numbers of the scale below, at least
_LEAST = 3  # lines of a chart besides scale and legend
_STEP: Final = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Plotted:
    """A chart.

    Attributes:
        scale: what is at the left of each line, all of a width.
        rows: cells of each line, from the top.
        below: the scale below, as wide as a line with what is at its left.
        legend: what the signs are.
    """

    scale: tuple[str, ...]
    rows: tuple[str, ...]
    below: str
    legend: str


def plotted(series: Series, width: int, height: int, x_kind: Kind) -> Plotted:
    """A series on so many cells and lines, scales and legend included.

    Points are as far apart as they are many: sizes that double stand on a scale of logarithms.

    Args:
        series: what to draw; nan and what is not finite is left out.
        width: cells of a line.
        height: lines.
        x_kind: how numbers of the scale below are written.
    """
    lines = max(_LEAST, height - 2)
    top, ticks = _scale(series, lines)
    words = {row: fmt(value, series.kind) for row, value in ticks.items()}
    left = max(map(len, words.values()), default=0)
    cells = max(1, width - left - 2)
    grid = [[" "] * cells for _ in range(lines)]
    for sign, values in reversed(list(zip(SIGNS, series.y.values(), strict=False))):
        for column, value in enumerate(_spread(values, cells)):
            if math.isfinite(value) and top > 0:
                grid[lines - 1 - round(value / top * (lines - 1))][column] = sign
    told = [(words.get(row, ""), "┤" if row in words else "│") for row in range(lines)]
    scale = tuple(f"{text:>{left}} {line}" for text, line in told)
    names = zip(SIGNS, series.y, strict=False)
    legend = "  ".join(f"{sign} {sanitize(name)}" for sign, name in names)
    below = _below(series.x, cells, x_kind)
    return Plotted(scale, tuple(map("".join, grid)), " " * (left + 1) + below, legend)


def _scale(series: Series, lines: int) -> tuple[float, dict[int, float]]:
    """Value of the top line, and values by line: round numbers from 0 to above the largest."""
    known = [values[np.isfinite(values)] for values in series.y.values()]
    largest = max((float(values.max()) for values in known if len(values)), default=0.0)
    if not largest > 0:
        return 0.0, {lines - 1: 0.0}
    count = max(1, min(5, (lines - 1) // 3))
    power = 10.0 ** math.floor(math.log10(largest / count))
    step = next(s * power for s in _STEP if s * power * count >= largest * (1 - 1e-9))
    count = math.ceil(largest / step - 1e-9)
    top = step * count
    return top, {lines - 1 - round(i * (lines - 1) / count): i * step for i in range(count + 1)}


def _spread(values: F64, cells: int) -> F64:
    """Values on every cell of a line, straight between two points; a lone point has its cell."""
    if len(values) < 2:
        return np.resize(values, cells) if len(values) else np.full(cells, math.nan)
    place = np.arange(len(values))
    found = np.interp(np.linspace(0, len(values) - 1, cells), place, values)
    known = np.isfinite(values)
    found[np.rint(place[known] * (cells - 1) / (len(values) - 1)).astype(int)] = values[known]
    return found


def _below(x: F64, cells: int, kind: Kind) -> str:
    """The scale below: numbers under the cells of their points, as many as do not touch."""
    line = ""
    for place, value in enumerate(x.tolist()):
        at = round(place * (cells - 1) / max(1, len(x) - 1))
        word = f"╵{fmt(value, kind)}"
        if at >= len(line) + (_GAP if line else 0) and at + len(word) <= cells + 1:
            line = line.ljust(at) + word
    return line
