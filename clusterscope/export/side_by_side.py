"""A comparison of transports on stdout: aligned columns with bars and a verdict, or JSON."""

from __future__ import annotations

import math
import unicodedata

from clusterscope.columns import F64
from clusterscope.engine.scenario import Scenario
from clusterscope.export.json import write
from clusterscope.export.plain import spelled_out, words
from clusterscope.metrics.compare import Comparison, as_dict
from clusterscope.views.compare import compare_bars, compare_table, verdict
from clusterscope.views.shapes import Table
from clusterscope.views.text import bar

_BAR = 10


def json(scenario: Scenario, comparison: Comparison) -> str:
    """The comparison as JSON."""
    return write({"spec": scenario.spec.name, **as_dict(comparison)})


def text(scenario: Scenario, comparison: Comparison) -> str:
    """The comparison as text; differences are against the first transport."""
    base = comparison.sides[0].name
    table = compare_table(comparison, base, scenario.transport.name)
    head = f"{spelled_out(scenario.spec.name)}: {table.note}\n"
    lines = columns(table, compare_bars(comparison, base))
    return "".join([head, lines, *(f"{sentence}\n" for sentence in verdict(comparison))])


def columns(table: Table, bars: F64) -> str:
    """Lines of a table, LF at the end of each.

    Args:
        table: what to write.
        bars: length of the bar behind each cell but the first, (rows, columns - 1); nan is none.
    """
    texts = []
    for place, column in enumerate(table.columns):
        own = [words(column[row], column.kind) for row in range(table.rows)]
        texts.append([column.name, *(_with_bars(own, bars[:, place - 1]) if place else own)])
    widths = [max(map(_cells, own)) for own in texts]
    lines = []
    for line in zip(*texts, strict=True):
        padded = [own + " " * (size - _cells(own)) for own, size in zip(line, widths, strict=True)]
        lines.append("  ".join(padded).rstrip() + "\n")
    return "".join(lines)


def _with_bars(texts: list[str], parts: F64) -> list[str]:
    """Texts with bars behind them, which begin in one place."""
    drawn = [not math.isnan(part) for part in parts.tolist()]
    indent = max((_cells(text) for text, has in zip(texts, drawn, strict=True) if has), default=0)
    return [
        text + " " * (indent - _cells(text) + 1) + bar(part, _BAR) if has else text
        for text, has, part in zip(texts, drawn, parts.tolist(), strict=True)
    ]


def _cells(text: str) -> int:
    """Cells of a terminal that a text takes."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
