"""Shapes as tab-separated text, for a clipboard: units in the heading, numbers in full.

Text that a spreadsheet would take for a formula gets a leading apostrophe.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, assert_never

from clusterscope.views.cells import cell, guard
from clusterscope.views.shapes import Grid, Kind, Note, Series, Shape, Table
from clusterscope.views.text import sanitize

_UNITS: Final[dict[Kind, str]] = {
    "gbps": "Gb/s",
    "GBps": "GB/s",
    "bytes": "bytes",
    "seconds": "s",
    "usd": "USD",
    "watts": "W",
}


@dataclass(frozen=True)
class Copied:
    """Tab-separated text of a shape.

    Attributes:
        text: heading and rows, one a line.
        rows: rows in it, besides the heading.
        left_out: rows that there was no room for.
    """

    text: str
    rows: int
    left_out: int


def tsv(shape: Shape, most_bytes: int) -> Copied:
    """A shape as tab-separated lines, whole rows only, within some bytes of UTF-8."""
    rows = _rows(shape)
    lines = [_line(next(rows))]
    size = len(lines[0].encode())
    for row in rows:
        line = _line(row)
        size += len(line.encode())
        if size > most_bytes:
            break
        lines.append(line)
    kept = len(lines) - 1
    return Copied("".join(lines), kept, _count(shape) - kept)


def _count(shape: Shape) -> int:
    """Rows that a shape comes to."""
    match shape:
        case Table():
            return shape.rows
        case Grid():
            return len(shape.row_labels)
        case Series():
            return len(shape.x)
        case Note():
            return len(shape.facts) + len(shape.lines)
        case _:
            assert_never(shape)


def _rows(shape: Shape) -> Iterator[Iterable[object]]:
    """Heading, then rows."""
    match shape:
        case Table():
            yield [_heading(column.name, column.kind) for column in shape.columns]
            for row in range(shape.rows):
                yield [column[row] for column in shape.columns]
        case Grid():
            yield [shape.title, *shape.column_labels]
            for row, label in enumerate(shape.row_labels):
                yield [label, *_cells(shape, row)]
        case Series():
            yield [shape.x_label, *(_heading(name, shape.kind) for name in shape.y)]
            for row in range(len(shape.x)):
                yield [shape.x[row], *(values[row] for values in shape.y.values())]
        case Note():
            yield ["label", "value", "unit", "mark", "source"]
            for line in shape.lines:
                yield ["note", line, "", "", ""]
            for fact in shape.facts:
                yield [fact.label, fact.value, _UNITS.get(fact.kind, ""), fact.mark, fact.source]
        case _:
            assert_never(shape)


def _cells(grid: Grid, row: int) -> Iterator[object]:
    """Ratios of a row; X where nothing is alive."""
    for value, down in zip(grid.values[row].tolist(), grid.down[row].tolist(), strict=True):
        yield "X" if down and math.isnan(value) else value


def _heading(name: str, kind: Kind) -> str:
    unit = _UNITS.get(kind)
    return f"{name} ({unit})" if unit else name


def _line(cells: Iterable[object]) -> str:
    return "\t".join(cell(value, _text) for value in cells) + "\n"


def _text(text: str) -> str:
    """Text that no terminal obeys and no spreadsheet takes for a formula."""
    shown = sanitize(text)
    return guard(shown) + shown
