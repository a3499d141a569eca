"""Table: rows of columns, of which only the visible ones are ever turned into text."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len, set_cell_size
from rich.style import Style

from clusterscope.columns import F64
from clusterscope.tui.theme import Palette
from clusterscope.tui.widgets.rows import RowsView, Span
from clusterscope.views.shapes import Column, Table
from clusterscope.views.text import fmt, sanitize

_SAMPLE = 200  # rows that decide how wide a column is
_WIDEST = 72


def _is_text(column: Column) -> bool:
    return column.kind == "text"


class TableView(RowsView):
    """Draws a Table; the cursor keeps to its thing while rows change places under it.

    Args:
        lead: names of the columns that come first.
    """

    HEADING = 1

    def __init__(self, lead: tuple[str, ...] = (), *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._lead = lead
        self._table: Table | None = None
        self._order: NDArray[np.intp] | None = None
        self._widths: list[int] = []
        self._sort: str | None = None
        self._down = True

    @property
    def sorted_by(self) -> tuple[str | None, bool]:
        """Column in whose order rows stand (None: as they come), and whether it falls."""
        return self._sort, self._down

    def draw(self, table: Table) -> None:
        """Show a table."""
        held = self.key_of(self.cursor) if self.rows else ""
        if self._lead:
            table = dataclasses.replace(table, columns=_led(table.columns, self._lead))
        self._table = table
        self._order = self._ordered(table)
        self._widths = [self._width(column, table.rows) for column in table.columns]
        if held and self.key_of(min(self.cursor, table.rows - 1)) != held:
            self._follow(held)
        self.reshaped()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._table.rows if self._table else 0

    def key_of(self, row: int) -> str:
        """Key of the row at a place, "" when it stands for nothing."""
        if self._table is None or not 0 <= row < self._table.rows:
            return ""
        return self._table.key(self._at(row))

    @property
    def line_width(self) -> int:
        """Cells of a row."""
        return sum(self._widths) + 2 * max(0, len(self._widths) - 1)

    def heading(self, colors: Palette) -> list[Span]:
        """Column names; an arrow shows the order."""
        if self._table is None:
            return []
        spans: list[Span] = []
        for column, size in zip(self._table.columns, self._widths, strict=True):
            mark = ("↓" if self._down else "↑") if column.name == self._sort else ""
            spans += _cell(column, column.name + mark, size, colors.dim)
        return spans

    def spans_of(self, row: int, width: int, colors: Palette) -> list[Span]:
        """Values of a row."""
        if self._table is None:
            return []
        spans: list[Span] = []
        for column, size in zip(self._table.columns, self._widths, strict=True):
            spans += _cell(column, _text(column, self._at(row)), size, colors.text)
        used = sum(cell_len(text) for text, _ in spans)
        return [*spans, (" " * max(0, width - used), colors.text)]

    def sort_next(self) -> None:
        """Order by the next column: numbers from the top, words from A."""
        if self._table is None:
            return
        names: list[str | None] = [None, *(column.name for column in self._table.columns)]
        here = names.index(self._sort) if self._sort in names else 0
        self._sort = names[(here + 1) % len(names)]
        columns = {column.name: column for column in self._table.columns}
        self._down = self._sort is None or not _is_text(columns[self._sort])
        self.draw(self._table)

    def turn_around(self) -> None:
        """Turn the order around."""
        self._down = not self._down
        if self._table is not None:
            self.draw(self._table)

    def _at(self, row: int) -> int:
        """Row of the table at a place of the screen."""
        return row if self._order is None else int(self._order[row])

    def _width(self, column: Column, rows: int) -> int:
        sample = range(min(rows, _SAMPLE))
        texts = [cell_len(_text(column, self._at(row))) for row in sample]
        return min(_WIDEST, max([cell_len(column.name) + (column.name == self._sort), *texts]))

    def _ordered(self, table: Table) -> NDArray[np.intp] | None:
        """Rows in the chosen order; None when they stand as they come."""
        column = next((c for c in table.columns if c.name == self._sort), None)
        if column is None:
            return np.arange(table.rows)[::-1] if self._sort is None and not self._down else None
        ranks = _sortable(column, table.rows)
        return np.argsort(-ranks if self._down else ranks, kind="stable")

    def _follow(self, key: str) -> None:
        """Move the cursor to the row of a key, if it is still there."""
        for row in range(min(self.rows, 5_000)):
            if self.key_of(row) == key:
                self.cursor = row
                return


def _led(columns: tuple[Column, ...], lead: tuple[str, ...]) -> tuple[Column, ...]:
    """Columns with those of `lead` first."""
    rank = {name: place for place, name in enumerate(lead)}
    return tuple(sorted(columns, key=lambda column: rank.get(column.name, len(lead))))


def _cell(column: Column, text: str, size: int, style: Style) -> list[Span]:
    """A padded value, numbers to the right, and the gap after it."""
    short = set_cell_size(text, size) if cell_len(text) > size else text
    pad = " " * (size - cell_len(short))
    return [(short + pad if _is_text(column) else pad + short, style), ("  ", style)]


def _text(column: Column, row: int) -> str:
    return sanitize(fmt(column[row], column.kind))


def _sortable(column: Column, rows: int) -> F64:
    """Values of a column as numbers, or the ranks of its words, (rows,); missing ones are least."""
    if isinstance(column.values, np.ndarray) and column.values.dtype.kind in "ifub":
        return np.nan_to_num(column.values.astype(np.float64), nan=-np.inf)
    values = [column[row] for row in range(rows)]
    if _is_text(column):
        words = np.array([str(value) for value in values], dtype=object)
        return np.unique(words, return_inverse=True)[1].astype(np.float64)
    return np.array([_number(value) for value in values], dtype=np.float64)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value == value else -np.inf
