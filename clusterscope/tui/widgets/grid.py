"""Heat map: one cell a ratio, as color and glyph; runs of equal cells are one piece of text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from clusterscope.tui.keys import MOVES, bindings
from clusterscope.tui.messages import Entered, Pointed
from clusterscope.tui.terminal import set_virtual_size
from clusterscope.tui.theme import Palette, glyph, palette
from clusterscope.tui.widgets.rows import ground, room
from clusterscope.views.heat import LEVELS, LITTLE, PARTLY_DOWN
from clusterscope.views.levels import levels_of_grid
from clusterscope.views.shapes import Grid
from clusterscope.views.text import fmt

_WIDEST_CELL = 6
_WIDEST_LABEL = 16
_HEADING = 1
_FOOTING = 1


class HeatMap(ScrollView, can_focus=True):
    """Draws a Grid: column labels on top, row labels at the left, the cell's value below."""

    BINDINGS = bindings(MOVES)
    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._grid: Grid | None = None
        self._levels: NDArray[np.uint8] = np.zeros((0, 0), dtype=np.uint8)
        self._segments: dict[tuple[int, int, int], Segment] = {}
        self._styled_for: Palette | None = None
        self.cursor = (0, 0)
        self._held: tuple[tuple[int, int], str] | None = None  # cell and key last selected

    def draw(self, grid: Grid) -> None:
        """Show a grid; of one that has the shape of the last, only changed rows are redrawn."""
        old_grid, old = self._grid, self._levels
        self._grid = grid
        self._levels = levels_of_grid(grid, palette(self.app).look.thresholds)
        rows, columns = self._levels.shape
        self.cursor = (
            max(0, min(self.cursor[0], rows - 1)),
            max(0, min(self.cursor[1], columns - 1)),
        )
        if old_grid is not None and _labels(old_grid) == _labels(grid):
            for row in np.flatnonzero((old != self._levels).any(axis=1)).tolist():
                self.refresh_line(row + _HEADING)
            self._refresh_footing()
            return
        self._reshape()

    @property
    def shape(self) -> Grid | None:
        """What is shown."""
        return self._grid

    @property
    def _label_width(self) -> int:
        labels = self._grid.row_labels if self._grid else ()
        return min(_WIDEST_LABEL, max((cell_len(label) for label in labels), default=0)) + 1

    @property
    def _cell(self) -> int:
        """Cells of the screen that one cell of the grid takes."""
        columns = max(1, int(self._levels.shape[1]))
        return max(1, min(_WIDEST_CELL, (room(self).width - self._label_width) // columns))

    def _reshape(self) -> None:
        rows, columns = self._levels.shape
        width = self._label_width + columns * self._cell
        set_virtual_size(self, Size(width, rows + _HEADING + _FOOTING))
        self.refresh()

    def on_resize(self) -> None:
        """Cells grow and shrink with the widget."""
        self._reshape()

    def render_line(self, y: int) -> Strip:
        """One line of the widget."""
        (width, height), colors = room(self), palette(self.app)
        if colors is not self._styled_for:
            self._segments.clear()
            self._styled_for = colors
        row = y - _HEADING + self.scroll_offset.y
        if self._grid is None:
            segments = []
        elif y < _HEADING:
            segments = [Segment(self._heading(width), colors.dim)]
        elif y == height - _FOOTING:
            segments = [Segment(self.caption(), colors.head)]
        elif row < self._levels.shape[0]:
            segments = self._row(row, width, colors)
        else:
            segments = []
        strip = Strip(segments).crop(0, width).apply_style(ground(self))
        return strip.extend_cell_length(width, ground(self))

    def caption(self) -> str:
        """Where the cursor is and what is there, exactly."""
        if self._grid is None or not self._levels.size:
            return ""
        row, column = self.cursor
        level = int(self._levels[row, column])
        value = fmt(float(self._grid.values[row, column]), self._grid.kind)
        label = self.key_here or (
            f"{self._grid.row_labels[row]} {self._grid.column_labels[column]}"
        )
        dead = {"X": "  all down", "x": "  some down"}.get(glyph(level), "")
        return f"◂ {label}  {value}{dead}"

    @property
    def key_here(self) -> str:
        """Key at the cursor: what was selected in the cell, or else what stands for it."""
        if self._held is not None and self._held[0] == self.cursor:
            return self._held[1]
        return self.key_of(*self.cursor)

    def key_of(self, row: int, column: int) -> str:
        """Key of a cell, "" when it stands for nothing."""
        if self._grid is None or self._grid.keys is None or not self._levels.size:
            return ""
        return self._grid.keys(row, column)

    def _first(self) -> int:
        """First grid column in view."""
        return self.scroll_offset.x // self._cell

    def _row(self, row: int, width: int, colors: Palette) -> list[Segment]:
        assert self._grid is not None
        size, first, indent = self._cell, self._first(), self._label_width
        here, at = self.cursor
        style = colors.head if row == here else colors.dim
        segments = [Segment(_fit(self._grid.row_labels[row], indent), style)]
        codes = self._levels[row, first : first + -(-(width - indent) // size)].astype(np.int32)
        if not len(codes):  # no room beside the labels, as for a moment while a pane resizes
            return segments
        starts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist()]
        if row == here and first <= at < first + len(codes):
            starts = sorted({*starts, at - first, at - first + 1} - {len(codes)})
        for start, end in zip(starts, [*starts[1:], len(codes)], strict=True):
            segment = self._run(int(codes[start]), (end - start) * size, colors)
            if row == here and start == at - first and segment.style is not None:
                segment = Segment(
                    segment.text, colors.cell_cursor(segment.style, focused=self.has_focus)
                )
            segments.append(segment)
        return segments

    def _run(self, level: int, cells: int, colors: Palette) -> Segment:
        segment = self._segments.get((level, cells, self._cell))
        if segment is None:
            signs = self._signs(level, colors)
            segment = Segment(signs * (cells // len(signs)), colors.levels[level])
            self._segments[level, cells, self._cell] = segment
        return segment

    def _signs(self, level: int, colors: Palette) -> str:
        """Sign of one cell; with room in it, what is dead in part says how full the rest is."""
        sign, alive = colors.sign(level), level - PARTLY_DOWN
        if self._cell == 1 or not 0 <= alive < LEVELS:
            return sign
        return sign + glyph(alive if alive else LITTLE) * (self._cell - 1)

    def _heading(self, width: int) -> str:
        """Column labels, as many as fit without touching."""
        assert self._grid is not None
        line, size = " " * self._label_width, self._cell
        for column in range(self._first(), self._levels.shape[1]):
            at = self._label_width + (column - self._first()) * size
            if at >= width:
                break
            label = self._grid.column_labels[column]
            if at == self._label_width or at > cell_len(line):
                line = line + " " * (at - cell_len(line)) + label
        return line

    def point(self, row: int, column: int) -> None:
        """Put the cursor on a cell, in view, and say so."""
        rows, columns = self._levels.shape
        if not self._levels.size:
            return
        old, self._held = self.cursor[0], None
        self.cursor = (max(0, min(row, rows - 1)), max(0, min(column, columns - 1)))
        self.refresh_line(old + _HEADING)
        self.refresh_line(self.cursor[0] + _HEADING)
        self._refresh_footing()
        self._reveal()
        self.post_message(Pointed(self.key_of(*self.cursor)))

    def select(self, key: str, *, hold: bool = False) -> None:
        """Put the cursor on the cell of a key when there is one, without telling anyone.

        With `hold` the key stands for the cell from then on, until the cursor moves.
        """
        cell = self._grid.where(key) if self._grid is not None and self._grid.where else None
        if cell is None:
            return
        self._held = (cell, key) if hold else None
        if cell == self.cursor:
            self._refresh_footing()
            return
        old, self.cursor = self.cursor[0], cell
        self.refresh_line(old + _HEADING)
        self.refresh_line(cell[0] + _HEADING)
        self._refresh_footing()
        self._reveal()

    def action_move(self, where: str) -> None:
        """Move the cursor."""
        row, column = self.cursor
        page = max(1, room(self).height - _HEADING - _FOOTING)
        steps = {
            "up": (row - 1, column),
            "down": (row + 1, column),
            "left": (row, column - 1),
            "right": (row, column + 1),
            "page_up": (row - page, column),
            "page_down": (row + page, column),
            "first": (row, 0),
            "last": (row, self._levels.shape[1] - 1),
        }
        self.point(*steps[where])

    def action_enter(self) -> None:
        """Go into the cell under the cursor."""
        self.post_message(Entered(self.key_here))

    def on_click(self, event: events.Click) -> None:
        """Point at the cell under the mouse; a second click goes in."""
        y, x = event.y - self.styles.gutter.top, event.x - self.styles.gutter.left
        column = (x - self._label_width) // self._cell + self._first()
        row = y - _HEADING + self.scroll_offset.y
        if 0 <= row < self._levels.shape[0] and 0 <= column < self._levels.shape[1]:
            self.point(row, column)
            if event.chain == 2:
                self.action_enter()

    def on_focus(self) -> None:
        """Show the cursor as the one that keys move."""
        self.refresh_line(self.cursor[0] + _HEADING)

    def on_blur(self) -> None:
        """Show the cursor as one of several."""
        self.refresh_line(self.cursor[0] + _HEADING)

    def _refresh_footing(self) -> None:
        self.refresh_line(room(self).height - _FOOTING + self.scroll_offset.y)

    def _reveal(self) -> None:
        row, column = self.cursor
        (width, height), top = room(self), self.scroll_offset.y
        height = max(1, height - _HEADING - _FOOTING)
        y = min(row, top) if row < top else max(top, row - height + 1)
        size, across = self._cell, max(1, (width - self._label_width) // self._cell)
        first = self._first()
        column = min(column, first) if column < first else max(first, column - across + 1)
        if (y, column) != (top, first):
            self.scroll_to(x=column * size, y=y, animate=False)


def _labels(grid: Grid) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return grid.row_labels, grid.column_labels


def _fit(text: str, cells: int) -> str:
    """Text of exactly so many cells, the last one blank."""
    return set_cell_size(set_cell_size(text, min(cell_len(text), cells - 1)), cells)
