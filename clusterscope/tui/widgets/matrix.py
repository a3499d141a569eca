"""Matrix: a table of factors, each in the color of the level of what it takes away.

The first column holds letters, which stand on chips of a color each. A factor of 1 takes nothing
away; of 2, half. The number says what its color says, so there are no signs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.cells import cell_len
from rich.style import Style
from textual.app import App

from clusterscope.tui.theme import Palette, palette
from clusterscope.tui.widgets.rows import Span
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.levels import level_of
from clusterscope.views.shapes import Column
from clusterscope.views.slots import COLORS, SIXTEEN, place

_WIDTH = 6  # cells of " 12.3×" and "     –"


def chip(app: App[object], slot: int) -> Style:
    """Style of a letter: black on the color of its slot; bold where there are no colors."""
    colors = palette(app)
    if app.no_color or colors.look.theme == "plain":
        return Style(bold=True)
    known = SIXTEEN if app.console.color_system == "standard" else COLORS
    return Style(color="#000000", bgcolor=known[slot % len(known)], bold=True)


def factor(value: float) -> str:
    """A factor: "1.8×", "1×" for none, "∞" for what never ends, "–" for what is not known."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞"
    digits = 0 if value >= 99.5 else 1 if value >= 9.95 else 2
    text = f"{value:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}×"


class MatrixView(TableView):
    """Draws a Table whose "float" columns are factors and whose nameless column holds letters."""

    def _value(self, column: Column, row: int, size: int, colors: Palette) -> list[Span]:
        if column.kind == "float":
            return self._factor(column, row, size, colors)
        if column.name == "":
            letters = str(column[row])
            return [(f" {letters} ", chip(self.app, place(letters))), (" ", colors.text)]
        return super()._value(column, row, size, colors)

    def _factor(self, column: Column, row: int, size: int, colors: Palette) -> list[Span]:
        held = column[row]
        value = float(held) if isinstance(held, int | float) else math.nan
        text = factor(value)
        lost = math.nan if math.isnan(value) else 1.0 - 1.0 / value
        level = level_of(lost, down=False, thresholds=colors.look.thresholds)
        cell = f"{text:>{_WIDTH}}"
        pad = " " * max(0, size - cell_len(cell))
        if not value > 1.0005:
            return [(pad, colors.text), (cell, colors.dim), ("  ", colors.text)]
        return [(pad, colors.text), (cell, colors.levels[level]), ("  ", colors.text)]

    def _width(self, column: Column, sample: Sequence[int]) -> int:
        if column.kind == "float":
            return max(_WIDTH, cell_len(column.name))
        # A chip has a blank on either side, of which one is in the gap.
        return super()._width(column, sample) + (column.name == "")
