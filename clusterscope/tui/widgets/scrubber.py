"""Scrubber: the steps so far as a line, with marks where something happened."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from rich.cells import cell_len
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from clusterscope.tui.messages import SoughtStep
from clusterscope.tui.theme import palette
from clusterscope.tui.widgets.rows import Span, ground, strip_of

_SHORTEST = 20  # steps that the line spans at least


class Scrubber(Widget):
    """A line from step 0 to the last step seen; a click goes to a step."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._step = self._last = 0
        self._marks: dict[int, str] = {}
        self._hint = ""

    def draw(self, step: int, last: int, marks: Mapping[int, str], hint: str) -> None:
        """Show a step among the steps so far, marks by step, and words at the end."""
        state = (step, max(last, _SHORTEST), dict(marks), hint)
        if state != (self._step, self._last, self._marks, self._hint):
            self._step, self._last, self._marks, self._hint = state
            self.refresh()

    @property
    def _tail(self) -> str:
        return f" {self._step}/{self._last}  {self._hint} "

    @property
    def _length(self) -> int:
        return max(8, self.size.width - cell_len(self._tail) - 3)

    def _place(self, step: int) -> int:
        return min(step, self._last) * (self._length - 1) // max(1, self._last)

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - there is but one
        """The line."""
        colors = palette(self.app)
        length, here = self._length, self._place(self._step)
        cells: list[Span] = [
            ("─", colors.text if place <= here else colors.dim) for place in range(length)
        ]
        for step, mark in sorted(self._marks.items()):
            cells[self._place(step)] = (mark, colors.alert if mark != "r" else colors.good)
        cells[here] = ("●", colors.head)
        # A run of one style is one piece: cell by cell the line would take 2 kB.
        runs = [
            ("".join(text for text, _ in run), style)
            for style, run in groupby(cells, key=lambda cell: cell[1])
        ]
        spans = [(" ├", colors.dim), *runs, ("┤" + self._tail, colors.dim)]
        strip = strip_of(spans).crop(0, self.size.width).apply_style(ground(self))
        return strip.extend_cell_length(self.size.width, ground(self))

    def on_click(self, event: events.Click) -> None:
        """Go to the step under the mouse."""
        place = event.x - 2
        if 0 <= place < self._length:
            self.post_message(SoughtStep(round(place * self._last / max(1, self._length - 1))))
