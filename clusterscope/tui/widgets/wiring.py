"""Wiring: one thing in the middle of its neighbors, with a cursor that walks among them."""

from __future__ import annotations

from collections.abc import Mapping

from rich.style import Style
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from clusterscope.tui.keys import MOVES, bindings
from clusterscope.tui.messages import Pointed
from clusterscope.tui.theme import Palette, palette
from clusterscope.tui.widgets.rows import Span, ground, strip_of
from clusterscope.tui.widgets.wires import Band, Drawing, Place, Room, Where, lay_out
from clusterscope.views.neighborhood import Look


class WiringView(Widget, can_focus=True):
    """Draws a thing and its neighbors; the cursor goes from one to the next and beyond."""

    BINDINGS = bindings(MOVES)
    ALLOW_SELECT = False

    class Walked(Message):
        """The neighbor under the cursor shall be in the middle."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self.cursor: Place = ("center", 0)
        self._center: tuple[Look, str] | None = None
        self._bands: Mapping[Where, Band] = {}
        self._rooms: dict[Where, Room] = {}
        self._last: dict[Where, int] = {}  # where the cursor was in each band
        self._lines: list[tuple[list[Span], int, Style]] = []
        self._strips: list[Strip] = []
        self._styled_for: Palette | None = None

    def draw(self, center: Look, facts: str, bands: Mapping[Where, Band]) -> None:
        """Show a thing with some words about it, and its neighbors."""
        if self._center is None or self._center[0].name != center.name:
            self._rooms, self._last = {}, {}
        self._center, self._bands = (center, facts), bands
        self.point(*self.cursor)

    def point(self, where: Where, index: int = 0) -> None:
        """Put the cursor on a neighbor, in view, or on the center."""
        band = self._bands.get(where)
        if band is None or not band.count:
            where, index = "center", 0
        else:
            index = max(0, min(index, band.count - 1))
            self._last[where] = index
        self.cursor = (where, index)
        self._repaint()
        self.post_message(Pointed(""))

    def on_resize(self) -> None:
        """Lay it out anew."""
        self._repaint()

    def on_focus(self) -> None:
        """Show the cursor as the one that keys move."""
        self._repaint()

    def render_line(self, y: int) -> Strip:
        """One line of the widget."""
        if self._styled_for is not palette(self.app):
            self._paint()
        if y < len(self._strips):
            return self._strips[y]
        return Strip.blank(self.size.width, ground(self))

    # Moving

    def action_move(self, where: str) -> None:
        """Move the cursor; out at the far end of a band is a walk."""
        band, index = self.cursor
        room = self._rooms.get(band, Room())
        page = room.across * max(1, room.shown)
        count = self._bands[band].count if band in self._bands else 0
        match band, where:
            case "center", _:
                self._leave_center(where)
            case _, "first" | "last":
                self.point(band, 0 if where == "first" else count - 1)
            case _, "page_up" | "page_down":
                self.point(band, index + (page if where == "page_down" else -page))
            case "side", _:
                self._along_side(where, index, count)
            case _, "left" | "right":
                self.point(band, index + (1 if where == "right" else -1))
            case _:
                self._across_rows(
                    band, index, count, room.across if where == "down" else -room.across
                )

    def action_enter(self) -> None:
        """Walk to the neighbor under the cursor."""
        if self.cursor[0] != "center":
            self.post_message(self.Walked())

    def _leave_center(self, where: str) -> None:
        to: dict[str, Where] = {"up": "above", "down": "below", "right": "side"}
        band = to.get(where)
        if band is None:
            return
        room = self._rooms.get(band, Room())
        nearest = room.first + (room.shown - 1 if band == "above" else 0)
        self.point(band, self._last.get(band, max(0, nearest) * room.across))

    def _along_side(self, where: str, index: int, count: int) -> None:
        """Left leads back to the center, right through the neighbors and then on."""
        if where in ("up", "down"):
            self._leave_center(where)
        elif where == "left":
            self.point(*(("side", index - 1) if index else ("center", 0)))
        elif index + 1 < count:
            self.point("side", index + 1)
        else:
            self.action_enter()

    def _across_rows(self, band: Where, index: int, count: int, step: int) -> None:
        """A row up or down; past the inner row is the center, past the outer one a walk."""
        across, to = abs(step), index + step
        if to >= count and index // across < (count - 1) // across:
            to = count - 1
        if 0 <= to < count:
            self.point(band, to)
        elif (step > 0) == (band == "above"):
            self.point("center")
        else:
            self.action_enter()

    # Drawing

    def _repaint(self) -> None:
        """Draw the lines that look different."""
        if self._center is None or not self.size:
            return
        old = self._lines
        changed = self._paint()
        if len(changed) == len(self._lines) or len(old) != len(self._lines):
            self.refresh()
        elif changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def _paint(self) -> list[int]:
        """Make the lines that look different; gives which."""
        if self._center is None:
            return []
        width, style, old = self.size.width, ground(self), self._lines
        self._styled_for = palette(self.app)
        self._lines = [(spans, width, style) for spans in self._drawing().lines()]
        if len(self._lines) != len(old):
            old, self._strips = [], []
        changed = [y for y, line in enumerate(self._lines) if not old or line != old[y]]
        self._strips += [Strip([])] * (len(self._lines) - len(self._strips))
        for y in changed:
            strip = strip_of(self._lines[y][0]).crop(0, width).apply_style(style)
            self._strips[y] = strip.extend_cell_length(width, style)
        return changed

    def _drawing(self) -> Drawing:
        assert self._center is not None
        width, height = self.size
        self._rooms = lay_out(self._bands, self._rooms, self.cursor, width, height)
        where, index = self.cursor
        return Drawing(
            *self._center,
            self._bands,
            self._rooms,
            self.cursor,
            index if where == "side" else self._last.get("side", 0),
            self.has_focus,
            width,
            palette(self.app),
        )
