"""How wiring is drawn: a thing in a box, its neighbors in rows of cells, cables as lines.

▲ 2 switches, 4 cables
  spine0 ×2     spine1 ×2
  ↑*.90 ↓=.60   ↑X–   ↓X–
┌─┴─────────────╳
│ ┌──────────┐
├─┤ leaf2    │
│ │ …        │
│ └──────────┘
└─┬─────────────┬
  node4         node5
  ↑*.90 ↓=.60   ↑X–   ↓X–
▼ 2 nodes, 2 cables
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len, set_cell_size

from clusterscope.tui.theme import Palette, glyph
from clusterscope.tui.widgets.rows import Span
from clusterscope.views.levels import level_of
from clusterscope.views.neighborhood import Look
from clusterscope.views.text import fmt

Where = Literal["above", "center", "side", "below"]
Place = tuple[Where, int]
GUTTER = 3  # left of the first cell: where the cables come together
_LEAST_CELL = 15  # a load up, a load down, a gap
_ROW = 3  # lines of a row of cells: name, load, cables
_BOX, _BOX_WIDTH = 4, 36
_SIDE = 34  # what a neighbor at the side may need beside the box


@dataclass(frozen=True, eq=False)
class Band:
    """Neighbors on one side.

    Attributes:
        words: what they are.
        count: how many.
        look: what one of them looks like.
        width: cells of the widest name.
    """

    words: str
    count: int
    look: Callable[[int], Look]
    width: int


@dataclass(frozen=True)
class Room:
    """How a band is laid out.

    Attributes:
        cell: width of a cell.
        across: cells in a row.
        shown: rows in sight.
        first: first of them.
    """

    cell: int = _LEAST_CELL
    across: int = 1
    shown: int = 0
    first: int = 0


def lay_out(
    bands: Mapping[Where, Band],
    old: Mapping[Where, Room],
    cursor: Place,
    width: int,
    height: int,
) -> dict[Where, Room]:
    """Share the lines between the bands above and below; the cursor's row is in sight."""
    upper, lower = _grid(bands["above"], width), _grid(bands["below"], width)
    need = [-(-bands["above"].count // upper.across), -(-bands["below"].count // lower.across)]
    rows = max(2, (height - _BOX - 2) // _ROW)
    shown = min(need[0], max(rows // 2, rows - need[1]))
    return {
        "above": _scrolled("above", upper, need[0], shown, old, cursor),
        "below": _scrolled("below", lower, need[1], min(need[1], rows - shown), old, cursor),
    }


def _grid(band: Band, width: int) -> Room:
    """Cells as wide as the names in a band need."""
    cell = max(_LEAST_CELL, band.width + 4)
    return Room(cell, max(1, (width - GUTTER) // cell))


def _scrolled(
    where: Where, room: Room, need: int, shown: int, old: Mapping[Where, Room], cursor: Place
) -> Room:
    """The room with as many rows in sight, scrolled as before or so that the cursor is seen."""
    first = old[where].first if where in old else 0
    if cursor[0] == where:
        row = cursor[1] // room.across
        first = min(max(first, row - shown + 1), row)
    return Room(room.cell, room.across, shown, max(0, min(first, need - shown)))


@dataclass(frozen=True, eq=False)
class Drawing:
    """One drawing.

    Attributes:
        center: the thing in the box.
        facts: words below its name.
        bands: its neighbors.
        rooms: where the bands above and below are.
        cursor: what the cursor is on.
        side: neighbor at the side that is in sight.
        focused: True when keys move the cursor.
        width: cells of a line.
        colors: palette.
    """

    center: Look
    facts: str
    bands: Mapping[Where, Band]
    rooms: Mapping[Where, Room]
    cursor: Place
    side: int
    focused: bool
    width: int
    colors: Palette

    def lines(self) -> list[list[Span]]:
        """All lines from the top."""
        return [
            self._title("above", "▲"),
            *self._band("above"),
            *self._middle(),
            *self._band("below"),
            self._title("below", "▼"),
        ]

    def _has(self, where: Where) -> bool:
        return self.bands[where].count > 0

    def _title(self, where: Where, sign: str) -> list[Span]:
        """What a band holds, and which part of it is in sight."""
        band, room = self.bands[where], self.rooms[where]
        if not band.count:
            return [(f" {sign} nothing {where}", self.colors.dim)]
        low, high = room.first * room.across, (room.first + room.shown) * room.across
        part = f" · {low + 1:,} to {min(high, band.count):,} in sight"
        return [
            (f" {sign} {band.words}", self.colors.head),
            (part if high - low < band.count else "", self.colors.dim),
        ]

    def _band(self, where: Where) -> list[list[Span]]:
        """Rows of cells; cables on the side of the center."""
        room, lines = self.rooms[where], []
        for row in range(room.first, room.first + room.shown):
            outer = row == room.first if where == "above" else row == room.first + room.shown - 1
            bus, name, load = self._row(where, row, outer=outer)
            lines += [name, load, bus] if where == "above" else [bus, name, load]
        return lines

    def _row(self, where: Where, row: int, *, outer: bool) -> tuple[list[Span], ...]:
        """Cables, names and loads of a row of cells."""
        room, band = self.rooms[where], self.bands[where]
        corner = {"above": "┌", "below": "└"}[where] if outer else "├"
        rail = " " if outer else "│"
        tick, dim = "┴" if where == "above" else "┬", self.colors.dim
        cells = range(row * room.across, min(band.count, (row + 1) * room.across))
        bus: list[Span] = [(f" {corner}─", dim)]
        name: list[Span] = [(f" {rail} ", dim)]
        load: list[Span] = [(f" {rail} ", dim)]
        for index in cells:
            look = band.look(index)
            wire = "─" if look.cables else "╌"
            tail = wire * (room.cell - 1) if index != cells[-1] else ""
            bus += [("╳", self.colors.alert) if _cut(look) else (tick, dim), (tail, dim)]
            name += self._label(look, (where, index), room.cell)
            load += _fitted(_loads(look, self.colors), room.cell, self.colors)
        return bus, name, load

    def _label(self, look: Look, place: Place, size: int) -> list[Span]:
        style = self.colors.alert if look.failed else self.colors.head
        if place == self.cursor:
            style = self.colors.cursor(style, focused=self.focused)
        return _fitted([(("X " if look.failed else "") + look.label, style)], size, self.colors)

    def _middle(self) -> list[list[Span]]:
        """The center in its box, with the neighbor at the side."""
        above, below, dim = self._has("above"), self._has("below"), self.colors.dim
        over, under = "│" if above else " ", "│" if below else " "
        joint = {(True, True): "├", (True, False): "└", (False, True): "┌"}.get((above, below))
        join = f" {joint}─┤ " if joint else "   │ "
        most = self.width - GUTTER - 4 - (_SIDE if self._has("side") else 0)
        wanted = max(cell_len(self.center.label) + 2, cell_len(self.facts)) + 1
        inner = min(max(wanted, _BOX_WIDTH), max(12, most))
        heading, name, load = self._side()
        facts = _fitted([(self.facts, self.colors.text)], inner, self.colors)
        right = "├" if self._has("side") else "│"
        return [
            [(f" {over} ┌{'─' * (inner + 1)}┐", dim), *heading],
            [(join, dim), *self._label(self.center, ("center", 0), inner), (right, dim), *name],
            [(f" {under} │ ", dim), *facts, ("│", dim), *load],
            [(f" {under} └{'─' * (inner + 1)}┘", dim)],
        ]

    def _side(self) -> tuple[list[Span], list[Span], list[Span]]:
        """Heading, name and load of the neighbor at the side that is in sight."""
        band, colors = self.bands["side"], self.colors
        if not band.count:
            return [], [], []
        index = min(self.side, band.count - 1)
        look = band.look(index)
        part = f", {index + 1:,} of {band.count:,}" if band.count > 1 else ""
        wire = ("──╳── ", colors.alert) if _cut(look) else ("───── ", colors.dim)
        name = self._label(look, ("side", index), cell_len(look.label) + 3)
        pad: Span = (" " * 6, colors.dim)
        heading: list[Span] = [pad, (band.words, colors.head), (part, colors.dim)]
        return heading, [wire, *name], [pad, *_loads(look, colors)]


def _cut(look: Look) -> bool:
    """True when no cable to a neighbor is alive."""
    return 0 < look.cables == look.dead


def _loads(look: Look, colors: Palette) -> list[Span]:
    """Worst load each way on its cables; of a part its own worst."""
    if not look.cables:
        return [_level(look.up, look.dead, colors)]
    up, down = (_level(value, look.dead, colors) for value in (look.up, look.down))
    return [("↑", colors.dim), up, (" ↓", colors.dim), down]


def _level(value: float, dead: int, colors: Palette) -> Span:
    """A ratio in the sign and color of its level."""
    level = level_of(value, down=dead > 0, thresholds=colors.look.thresholds)
    return f"{glyph(level)}{fmt(value, 'ratio'):>4}", colors.levels[level]


def _fitted(spans: list[Span], size: int, colors: Palette) -> list[Span]:
    """Spans of exactly so many cells together, the last one blank where they have to be cut."""
    used = sum(cell_len(text) for text, _ in spans)
    if used <= size:
        return [*spans, (" " * (size - used), colors.text)]
    if len(spans) == 1:
        return [(set_cell_size(spans[0][0], size - 1) + " ", spans[0][1])]
    return spans
