"""Base of widgets made of rows: a cursor, fixed heading lines, and only visible rows drawn."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from clusterscope.tui.keys import MOVES, bindings
from clusterscope.tui.messages import Entered, Pointed
from clusterscope.tui.terminal import set_virtual_size
from clusterscope.tui.theme import Palette, palette

Span = tuple[str, Style]


def strip_of(spans: Iterable[Span]) -> Strip:
    """A strip of pieces of text and their styles."""
    return Strip([Segment(text, style) for text, style in spans if text])


def room(view: ScrollView) -> Size:
    """Cells that a view can draw on: all but its scroll bars."""
    return view.scrollable_content_region.size


_GROUNDS: WeakKeyDictionary[Widget, tuple[str, Style]] = WeakKeyDictionary()


def ground(widget: Widget) -> Style:
    """Style of what a widget leaves empty; it changes with the theme alone.

    Textual's `rich_style` is put together anew whenever it is asked for, which costs more than the
    line that is drawn with it.
    """
    theme, (known, style) = widget.app.theme, _GROUNDS.get(widget, ("", Style.null()))
    if known != theme:
        style = widget.rich_style
        if widget.is_mounted:
            _GROUNDS[widget] = theme, style
    return style


class RowsView(ScrollView, can_focus=True):
    """Rows with a cursor; subclasses say how many there are, what they show and mean."""

    BINDINGS = bindings(MOVES)
    ALLOW_SELECT = False
    HEADING = 0

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self.cursor = 0
        self.empty: tuple[str, ...] = ()  # what is said where there are no rows, by line
        self._drawn: dict[int, Strip] = {}

    @property
    def rows(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def key_of(self, row: int) -> str:
        """Key of a row, "" when it stands for nothing."""
        raise NotImplementedError

    def spans_of(self, row: int, width: int, colors: Palette) -> list[Span]:
        """What a row shows, left to right."""
        raise NotImplementedError

    def heading(self, colors: Palette) -> list[Span]:  # noqa: ARG002 - for subclasses
        """What the heading shows."""
        return []

    @property
    def line_width(self) -> int:
        """Cells of the widest row; rows longer than the widget scroll sideways."""
        return 0

    def reshaped(self) -> None:
        """Adopt a new number of rows or new widths, and draw the lines that look different."""
        set_virtual_size(self, Size(self.line_width, self.rows + self.HEADING))
        self.cursor = max(0, min(self.cursor, self.rows - 1))
        self.touch_up()

    def touch_up(self) -> None:
        """Draw the lines in sight that do not look as they did when they were drawn last."""
        top = self.scroll_offset.y
        for y in range(self.size.height):
            if self._strip(y) != self._drawn.get(y):
                self.refresh_line(y + top)

    def render_line(self, y: int) -> Strip:
        """One line of the widget."""
        strip = self._drawn[y] = self._strip(y)
        return strip

    def _strip(self, y: int) -> Strip:
        width, colors, (left, top) = room(self).width, palette(self.app), self.scroll_offset
        if y < self.HEADING:
            spans = self.heading(colors)
        else:
            row = y - self.HEADING + top
            if row >= self.rows:
                said = self.empty[row : row + 1] if not self.rows else ()
                strip = strip_of([(line, colors.dim) for line in said])
                strip = strip.crop(0, width).apply_style(ground(self))
                return strip.extend_cell_length(width, ground(self))
            spans = self.spans_of(row, max(width, self.line_width), colors)
            if row == self.cursor:
                focused = self.has_focus
                spans = [(text, colors.cursor(style, focused=focused)) for text, style in spans]
        strip = strip_of(spans).crop(left, left + width).apply_style(ground(self))
        return strip.extend_cell_length(width, ground(self)).simplify()

    def point(self, row: int) -> None:
        """Put the cursor on a row, in view, and say so."""
        if not self.rows:
            return
        old, self.cursor = self.cursor, max(0, min(row, self.rows - 1))
        self._redraw_row(old)
        self._redraw_row(self.cursor)
        self.reveal()
        self.post_message(Pointed(self.key_of(self.cursor)))

    def reveal(self) -> None:
        """Scroll so that the cursor can be seen."""
        top, height = self.scroll_offset.y, max(1, room(self).height - self.HEADING)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)

    def action_move(self, where: str) -> None:
        """Move the cursor."""
        page = max(1, room(self).height - self.HEADING - 1)
        to = {
            "up": self.cursor - 1,
            "down": self.cursor + 1,
            "page_up": self.cursor - page,
            "page_down": self.cursor + page,
            "first": 0,
            "last": self.rows - 1,
        }
        if where in to:
            self.point(to[where])
        else:
            self.sideways(where)

    def sideways(self, where: str) -> None:
        """Left or right: scroll."""
        step = 8 if where == "right" else -8
        self.scroll_to(x=self.scroll_offset.x + step, animate=False)

    def action_enter(self) -> None:
        """Go into the row under the cursor."""
        if self.rows:
            self.post_message(Entered(self.key_of(self.cursor)))

    def on_click(self, event: events.Click) -> None:
        """Point at the row under the mouse; a second click goes in."""
        row = event.y - self.styles.gutter.top - self.HEADING + self.scroll_offset.y
        if 0 <= row < self.rows:
            self.point(row)
            if event.chain == 2:
                self.action_enter()

    def on_focus(self) -> None:
        """Show the cursor as the one that keys move."""
        self._redraw_row(self.cursor)

    def on_blur(self) -> None:
        """Show the cursor as one of several."""
        self._redraw_row(self.cursor)

    def _redraw_row(self, row: int) -> None:
        self.refresh_line(row + self.HEADING)
