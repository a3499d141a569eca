"""Side by side: a label and one column each, with bars where there is room, and one marked."""

from __future__ import annotations

import math

import numpy as np
from rich.cells import cell_len, set_cell_size

from clusterscope.columns import F64
from clusterscope.tui.theme import Palette
from clusterscope.tui.widgets.rows import RowsView, Span, room
from clusterscope.views.shapes import Table
from clusterscope.views.text import bar, sanitize

_GAP = 2
_SHORTEST_BAR, _LONGEST_BAR = 4, 24
_LABEL_MOST = 32


class Versus(RowsView):
    """Draws a Table of words whose first column is the label; left and right move the mark."""

    HEADING = 1

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._table: Table | None = None
        self._bars: F64 = np.zeros((0, 0))
        self._indent = 0  # where bars begin in a column
        self.marked = 0

    @property
    def shape(self) -> Table | None:
        """What is shown."""
        return self._table

    def draw(self, table: Table, bars: F64, marked: int) -> None:
        """Show a table, the length of each cell's bar (rows, columns - 1), and a marked column."""
        self._table, self._bars = table, bars
        self.marked = max(0, min(marked, len(table.columns) - 2))
        self._indent = 1 + max(
            (
                cell_len(str(table.columns[1 + at][row]))
                for row, at in np.argwhere(~np.isnan(bars)).tolist()
            ),
            default=0,
        )
        self.reshaped()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._table.rows if self._table else 0

    def key_of(self, row: int) -> str:
        """The marked column, whatever the row."""
        return str(self.marked) if self._table is not None and row < self.rows else ""

    def on_resize(self) -> None:
        """Columns grow and shrink with the widget."""
        self.reshaped()

    def sideways(self, where: str) -> None:
        """Mark the next column."""
        if self._table is None:
            return
        last = len(self._table.columns) - 2
        self.marked = max(0, min(self.marked + (1 if where == "right" else -1), last))
        self.touch_up()

    def _widths(self, width: int) -> tuple[int, int]:
        """Cells of the label, and of each other column."""
        assert self._table is not None
        labels = [str(self._table.columns[0][row]) for row in range(self.rows)]
        label = min(_LABEL_MOST, max((cell_len(text) for text in labels), default=0)) + 1
        columns = max(1, len(self._table.columns) - 1)
        return label, max(8, (width - label) // columns)

    def heading(self, colors: Palette) -> list[Span]:
        """Names of the columns, the marked one as a cursor."""
        if self._table is None:
            return []
        label, size = self._widths(room(self).width)
        spans: list[Span] = [(" " * label, colors.dim)]
        for place, column in enumerate(self._table.columns[1:]):
            style = colors.head
            if place == self.marked:
                style = colors.cursor(colors.head, focused=self.has_focus)
            name = sanitize(column.name)
            while cell_len(name) > size - _GAP and " " in name:
                name = name.rpartition(" ")[0]
            text = _fit(name, size - _GAP)
            pad = " " * (size - cell_len(text.rstrip()))
            spans += [(text.rstrip(), style), (pad, colors.dim)]
        return spans

    def spans_of(self, row: int, width: int, colors: Palette) -> list[Span]:
        """Label, then each value and its bar."""
        if self._table is None:
            return []
        label, size = self._widths(room(self).width)
        values = [str(column[row]) for column in self._table.columns[1:]]
        title = not any(values)
        text = sanitize(str(self._table.columns[0][row]))
        spans: list[Span] = [(_fit(text, label), colors.head if title else colors.dim)]
        for at, value in enumerate(values):
            spans += self._cell(row, at, value, size, colors)
        used = sum(cell_len(text) for text, _ in spans)
        return [*spans, (" " * max(0, width - used), colors.text)]

    def _bare(self, row: int, at: int) -> bool:
        """True for a cell without a bar."""
        return row >= len(self._bars) or math.isnan(self._bars[row, at])

    def _cell(self, row: int, at: int, value: str, size: int, colors: Palette) -> list[Span]:
        value, indent = sanitize(value), self._indent
        left = size - indent - _GAP
        if self._bare(row, at) or left < _SHORTEST_BAR:
            return [(_fit(value, size), colors.text)]
        drawn = bar(float(self._bars[row, at]), min(left, _LONGEST_BAR))
        return [
            (_fit(value, indent), colors.text),
            (_fit(drawn, size - indent), colors.good),
        ]


def _fit(text: str, cells: int) -> str:
    """Text of exactly so many cells, the last one blank where it is cut."""
    return set_cell_size(set_cell_size(text, min(cell_len(text), max(0, cells - 1))), cells)
