"""Shapes as CSV: RFC 4180 quoting, LF line ends, units in the header, numbers in full.

A shape becomes one table:

    Table    its columns
    Grid     row, column, ratio (or change), down; one line a cell
    Series   the steps, then one column a line
    Note     label, value, unit, mark, source; sentences are labelled "note"

Numbers are written so that they read back as the same float; nan is an empty cell. Text that a
spreadsheet would take for a formula gets a leading apostrophe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, assert_never

import numpy as np

from clusterscope.export.plain import spelled_out
from clusterscope.views.cells import cell, guard, number
from clusterscope.views.shapes import Column, Grid, Kind, Note, Series, Shape, Table

UNITS: Final[dict[Kind, str]] = {
    "text": "",
    "int": "",
    "float": "",
    "ratio": "",
    "delta": "",
    "change": "",
    "gbps": "gbps",
    "GBps": "GBps",
    "bytes": "bytes",
    "seconds": "s",
    "usd": "usd",
    "watts": "w",
}


def write(shape: Shape, *, limit: int | None = None) -> str:
    """A shape as CSV text.

    Args:
        shape: what to write.
        limit: rows of a table to write at most; all when None.
    """
    match shape:
        case Table():
            rows = _table(shape, limit)
        case Grid():
            rows = _grid(shape)
        case Series():
            rows = _series(shape)
        case Note():
            rows = _note(shape)
        case _:
            assert_never(shape)
    return "".join(",".join(map(_quoted, row)) + "\n" for row in rows)


def header(name: str, kind: Kind) -> str:
    """Column name with its unit: "busbw" in 10^9 byte/s is "busbw_GBps"."""
    unit, stem = UNITS[kind], "_".join(name.split())
    return _text(stem if not unit or stem.endswith(f"_{unit}") else f"{stem}_{unit}")


def _text(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return guard(text) + spelled_out(text)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text


def _cells(column: Column, rows: int) -> Iterator[str]:
    values: Callable[[int], object] | Sequence[object] | np.ndarray = column.values
    if isinstance(values, np.ndarray):
        values = values[:rows].tolist()
    get = values if callable(values) else values.__getitem__
    return (cell(get(row), _text) for row in range(rows))


def _table(table: Table, limit: int | None) -> Iterator[Iterable[str]]:
    rows = table.rows if limit is None else min(table.rows, limit)
    yield (header(c.name, c.kind) for c in table.columns)
    yield from zip(*(_cells(c, rows) for c in table.columns), strict=True)


def _grid(grid: Grid) -> Iterator[Iterable[str]]:
    yield ("row", "column", "change" if grid.signed else "ratio", "down")
    for row, label in enumerate(grid.row_labels):
        values, down = grid.values[row].tolist(), grid.down[row].tolist()
        for column, name in enumerate(grid.column_labels):
            yield (_text(label), _text(name), number(values[column]), cell(down[column], _text))


def _series(series: Series) -> Iterator[Iterable[str]]:
    yield (header(series.x_label, "text"), *(header(name, series.kind) for name in series.y))
    lines = [series.x.tolist(), *(y.tolist() for y in series.y.values())]
    for values in zip(*lines, strict=True):
        yield (number(v) for v in values)


def _note(note: Note) -> Iterator[Iterable[str]]:
    yield ("label", "value", "unit", "mark", "source")
    for fact in note.facts:
        yield (
            _text(fact.label),
            cell(fact.value, _text),
            UNITS[fact.kind],
            fact.mark,
            _text(fact.source),
        )
    for line in note.lines:
        yield ("note", _text(line), "", "", "")
