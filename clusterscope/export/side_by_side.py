"""A comparison of transports on stdout: aligned columns with bars and a verdict, or JSON."""

from __future__ import annotations

import math
import textwrap
import unicodedata

from clusterscope.columns import F64
from clusterscope.export.compared import Compared, document
from clusterscope.export.json import write
from clusterscope.export.plain import spelled_out, words
from clusterscope.views.behind import trunks_note
from clusterscope.views.compare import compare_bars, compare_table, money_note, verdict
from clusterscope.views.shapes import Table
from clusterscope.views.text import bar

_BAR = 10
_WIDTH = 100


def json(compared: Compared) -> str:
    """The comparison as JSON."""
    return write(document(compared))


def text(compared: Compared) -> str:
    """The comparison as text; differences are against the first transport."""
    comparison, first = compared.comparison, compared.clusters[0]
    base = comparison.sides[0].label
    here = first.transport.name if len(compared.clusters) == 1 else ""
    table = compare_table(comparison, base, here)
    head = f"{spelled_out(first.spec.name)}: {spelled_out(table.note)}\n"
    lines = columns(table, compare_bars(comparison, base))
    told = [
        money_note(comparison),
        *verdict(comparison),
        trunks_note(comparison),
        compared.verdict,
    ]
    return "".join([head, lines, *(f"\n{_wrapped(sentence)}" for sentence in told if sentence)])


def _wrapped(sentence: str) -> str:
    """A sentence in lines of bearable length."""
    lines = textwrap.wrap(spelled_out(sentence), _WIDTH, break_on_hyphens=False)
    return "".join(f"{line}\n" for line in lines)


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
