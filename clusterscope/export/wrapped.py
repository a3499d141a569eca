"""A table as lines of a given width: long cells go on below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from textwrap import wrap

from clusterscope.export.plain import words
from clusterscope.views.shapes import Table

_GAP = 2


def wrapped(table: Table, widths: Mapping[str, int]) -> str:
    """Lines of some columns, LF at the end of each, no cell wider than its column.

    Args:
        table: what to write.
        widths: the columns to show, by name, with the most cells of each.
    """
    columns = {column.name: column for column in table.columns}
    chosen = [columns[name] for name in widths]
    rows = [[column.name for column in chosen]]
    rows += [[words(column[row], column.kind) for column in chosen] for row in range(table.rows)]
    return "".join(f"{line}\n" for row in rows for line in _lines(row, list(widths.values())))


def width_of(widths: Mapping[str, int]) -> int:
    """Cells of the widest line that `wrapped` can write."""
    return sum(widths.values()) + _GAP * (len(widths) - 1)


def _lines(texts: list[str], widths: list[int]) -> Iterator[str]:
    """One row as as many lines as its longest cell takes."""
    cells = [wrap(text, size) for text, size in zip(texts, widths, strict=True)]
    for line in zip_longest(*cells, fillvalue=""):
        padded = (f"{cell:<{size}}" for cell, size in zip(line, widths, strict=True))
        yield (" " * _GAP).join(padded).rstrip()
