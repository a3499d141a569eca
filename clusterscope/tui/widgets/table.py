"""Table: rows of columns, of which only the visible ones are ever turned into text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len, set_cell_size
from rich.style import Style

from clusterscope.columns import F64
from clusterscope.tui.messages import OutOfSight
from clusterscope.tui.theme import Palette, glyph
from clusterscope.tui.widgets.rows import RowsView, Span, room
from clusterscope.units import counted
from clusterscope.views.levels import level_of
from clusterscope.views.shapes import Column, Table
from clusterscope.views.text import fmt, sanitize

_SAMPLE = 200  # rows that decide how wide a column is
_WIDEST = 72
_RATIO = 4  # cells of "1.00"


def _is_text(column: Column) -> bool:
    return column.kind == "text"


@dataclass(frozen=True, eq=False)
class Order:
    """Which rows of a table to show and in what order, for tables too long to be sorted here.

    Attributes:
        rows: rows of the table, as they stand on the screen.
        by: column that they are sorted by.
        falling: largest first.
        sample: rows that decide how wide columns are.
    """

    rows: NDArray[np.int32]
    by: str
    falling: bool
    sample: Sequence[int]


class TableView(RowsView):
    """Draws a Table; the cursor keeps to its thing while rows change places under it.

    Args:
        lead: names of the columns that come first.
        ramp: names of columns of ratios to show in the colors and signs of their levels; nan is
            what is dead.
    """

    HEADING = 1

    def __init__(
        self,
        lead: tuple[str, ...] = (),
        ramp: tuple[str, ...] = (),
        *,
        id: str | None = None,  # noqa: A002 - Textual's word
    ) -> None:
        super().__init__(id=id)
        self._lead = lead
        self._ramp = frozenset(ramp)
        self.brief: Mapping[str, str] = {}  # shorter names of columns, where there is little room
        self._table: Table | None = None
        self._brought: Order | None = None
        self._order: NDArray[np.integer] | None = None
        self._widths: list[int] = []
        self._sort: str | None = None
        self._down = True
        self._told = ""  # what was said last of columns out of sight

    @property
    def sorted_by(self) -> tuple[str | None, bool]:
        """Column in whose order rows stand (None: as they come), and whether it falls."""
        return self._sort, self._down

    def draw(self, table: Table) -> None:
        """Show a table."""
        held = self.key_of(self.cursor) if self.rows else ""
        if self._lead:
            table = dataclasses.replace(table, columns=_led(table.columns, self._lead))
        if self._table is not None and _names(self._table) != _names(table):
            self.scroll_to(x=0, animate=False)  # other columns: their beginning matters again
        self._table = table
        self._order = self._ordered(table)
        sample = [self._at(row) for row in range(min(table.rows, _SAMPLE))]
        self._widths = [self._width(column, sample) for column in table.columns]
        if held and self.key_of(min(self.cursor, table.rows - 1)) != held:
            self._follow(held)
        self.reshaped()

    @property
    def shape(self) -> Table | None:
        """What is shown, rows and columns in the order of the screen."""
        table, order = self._table, self._order
        if table is None or order is None:
            return table
        return dataclasses.replace(
            table,
            columns=tuple(_reordered(column, order) for column in table.columns),
            rows=self.rows,
            keys=lambda row: table.key(int(order[row])),
        )

    def draw_in_order(self, table: Table, order: Order) -> None:
        """Show a table in an order that it brings along.

        At the top the cursor stays there; elsewhere it keeps to its row of the table.
        """
        held = self._at(self.cursor) if self.cursor and self.cursor < self.rows else None
        moved = self._brought is None or self._brought.rows is not order.rows
        self._table, self._brought, self._order = table, order, order.rows
        self._sort, self._down = order.by, order.falling
        widths = [self._width(column, order.sample) for column in table.columns]
        # Columns that grow and shrink with every step would be hard to read.
        self._widths = [max(pair) for pair in zip(widths, self._widths or widths, strict=True)]
        if moved and held is not None:
            places = np.flatnonzero(order.rows == held)
            self.cursor = int(places[0]) if len(places) else 0
        self.reshaped()
        if moved:
            self.reveal()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        if self._brought is not None:
            return len(self._brought.rows)
        return self._table.rows if self._table else 0

    def key_of(self, row: int) -> str:
        """Key of the row at a place, "" when it stands for nothing."""
        if self._table is None or not 0 <= row < self.rows:
            return ""
        return self._table.key(self._at(row))

    @property
    def place(self) -> int:
        """Row of the table under the cursor, in its own order; 0 in an empty one."""
        return self._at(self.cursor) if self.rows else 0

    @property
    def line_width(self) -> int:
        """Cells of a row."""
        return sum(self._widths) + 2 * max(0, len(self._widths) - 1)

    def heading(self, colors: Palette) -> list[Span]:
        """Column names; an arrow shows the order."""
        if self._table is None:
            return []
        cells = []
        for column, size in zip(self._table.columns, self._widths, strict=True):
            mark = ("↓" if self._down else "↑") if column.name == self._sort else ""
            name = self.brief.get(column.name, column.name)
            # Half a name reads as another one.
            cells.append((False, _cell(column, name + mark, size, colors.dim)))
        return self._in_sight(cells, colors.dim)

    def spans_of(self, row: int, width: int, colors: Palette) -> list[Span]:
        """Values of a row."""
        if self._table is None:
            return []
        spans = self._in_sight(
            (_is_text(column), self._value(column, self._at(row), size, colors))
            for column, size in zip(self._table.columns, self._widths, strict=True)
        )
        used = sum(cell_len(text) for text, _ in spans)
        return [*spans, (" " * max(0, width - used), colors.text)]

    @property
    def beyond(self) -> str:
        """How to see the columns that are out of sight, "" when all are in sight."""
        left, width = self.scroll_offset.x, room(self).width
        ends = np.cumsum([size + 2 for size in self._widths]) - 2
        more = int((ends > left + width).sum()) if width else 0
        words = [counted(more, "more column")] if more else []
        arrows = "← " * (left > 0) + "→ " * bool(more)
        return arrows + (words or ["back"])[0] if arrows else ""

    def reshaped(self) -> None:
        """Draw what looks different, and say when other columns are out of sight."""
        super().reshaped()
        self._tell()

    def on_resize(self) -> None:
        """Say when other columns are out of sight."""
        self._tell()

    def _tell(self) -> None:
        if self.beyond != self._told:
            self._told = self.beyond
            self.post_message(OutOfSight())

    def sideways(self, where: str) -> None:
        """Left or right: by whole columns."""
        left, right = self.scroll_offset.x, where == "right"
        starts = [sum(self._widths[:n]) + 2 * n for n in range(len(self._widths))]
        ahead = [x for x in starts if x > left] if right else [x for x in starts[::-1] if x < left]
        if ahead:
            self.scroll_to(x=ahead[0], animate=False)
            self.call_after_refresh(self._tell)

    def _in_sight(
        self, cells: Iterable[tuple[bool, list[Span]]], more: Style | None = None
    ) -> list[Span]:
        """Cells side by side, of words or not; one that the edge of the widget cuts says so.

        Half a number would be another number, and "55.6 m" another unit. `more` is the style of
        the sign where the edge falls between two columns; None for no sign.
        """
        left = self.scroll_offset.x
        right = left + room(self).width
        spans: list[Span] = []
        start = 0
        for (words, cell), size in zip(cells, self._widths, strict=True):
            whole = left <= start and start + size <= right
            out = start + size <= left or right <= start
            spans += (
                cell if whole or out else _cut(cell, size, left - start, right - start, words=words)
            )
            start += size + 2
            if more is not None and start - 2 < right <= start < self.line_width:
                spans[-1] = (f"{'→':>{right - start + 2}}{' ' * (start - right)}", more)
        return spans

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

    def _value(self, column: Column, row: int, size: int, colors: Palette) -> list[Span]:
        """A value of a row of the table, padded; with its level when it has one."""
        text = _text(column, row)
        if column.name not in self._ramp:
            return _cell(column, text, size, colors.text)
        value = _number(column[row])
        level = level_of(value, down=value == -np.inf, thresholds=colors.look.thresholds)
        cell = f"{glyph(level)}{text:>{_RATIO}}"
        pad = " " * (size - cell_len(cell))
        return [(pad, colors.text), (cell, colors.levels[level]), ("  ", colors.text)]

    def _width(self, column: Column, sample: Sequence[int]) -> int:
        texts = [cell_len(_text(column, row)) for row in sample]
        if column.name in self._ramp:
            texts.append(1 + _RATIO)
        arrow = self._brought is not None or column.name == self._sort
        name = cell_len(self.brief.get(column.name, column.name)) + arrow
        return min(_WIDEST, max([name, *texts]))

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


def _names(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def _reordered(column: Column, order: NDArray[np.integer]) -> Column:
    return dataclasses.replace(column, values=lambda row: column[int(order[row])])


def _led(columns: tuple[Column, ...], lead: tuple[str, ...]) -> tuple[Column, ...]:
    """Columns with those of `lead` first."""
    rank = {name: place for place, name in enumerate(lead)}
    return tuple(sorted(columns, key=lambda column: rank.get(column.name, len(lead))))


def _cell(column: Column, text: str, size: int, style: Style) -> list[Span]:
    """A padded value, numbers to the right, and the gap after it."""
    short = set_cell_size(text, size) if cell_len(text) > size else text
    pad = " " * (size - cell_len(short))
    return [(short + pad if _is_text(column) else pad + short, style), ("  ", style)]


def _cut(cell: list[Span], size: int, left: int, right: int, *, words: bool) -> list[Span]:
    """A cell of which only the part from `left` to `right` is in sight.

    Blanks that are out of sight are no loss; words end with a sign, numbers give way to it.
    """
    text = "".join(part for part, _ in cell)
    low, high = max(0, left), min(size, right)
    shown = text[low:high]
    if text.strip() == shown.strip() or cell_len(text) != len(text):
        return cell
    if words and shown.strip():
        shown = f"{shown[:-1]}…" if low == 0 else f"…{shown[1:]}"
    else:
        shown = f"{'…':>{high - low}}" if low == 0 else f"{'…':<{high - low}}"
    return [(" " * low + shown + text[high:], cell[0][1])]


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
