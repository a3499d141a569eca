"""Gantt: one iteration as lanes on a time axis, with a line of words above and signs below."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from clusterscope.metrics.training import Span, SpanKind
from clusterscope.tui.theme import Palette, palette
from clusterscope.tui.widgets.rows import Span as Piece
from clusterscope.tui.widgets.rows import ground, strip_of
from clusterscope.views.gantt import SIGNS, WORDS, Chart, chart, lanes_of
from clusterscope.views.text import sanitize

_AROUND = 3  # lines that are no lanes: words, axis, signs


class Gantt(Widget):
    """Draws the rows of an iteration; narrow or wide, every row keeps a cell at least."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._spans: tuple[Span, ...] = ()
        self._window: tuple[float, float] | None = None
        self._words = ""
        self._chart = Chart((), "", 0)
        self._width = 0

    def draw(
        self,
        spans: Sequence[Span],
        words: str = "",
        window: tuple[float, float] | None = None,
    ) -> None:
        """Show an iteration.

        Args:
            spans: its rows.
            words: the line above it.
            window: seconds to show, from and to; all when left out.
        """
        now = tuple(spans), sanitize(words), window
        if now == (self._spans, self._words, self._window) and self._width == self.size.width:
            return
        self._spans, self._words, self._window = now
        self._lay_out()

    @property
    def lines(self) -> int:
        """Lines that it takes to show all of it."""
        return len(lanes_of(self._spans)) + _AROUND

    @property
    def text(self) -> list[str]:
        """Lanes as text, with their labels."""
        return [f"{lane.label} {lane.text}" for lane in self._chart.lanes]

    def on_resize(self) -> None:
        """Other cells for the same times."""
        self._lay_out()

    def _lay_out(self) -> None:
        self._width = self.size.width
        self._chart = chart(self._spans, max(1, self._width), self._window)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Words, axis, lanes, signs."""
        colors, drawn = palette(self.app), self._chart
        lanes = drawn.lanes[: max(1, self.size.height - _AROUND)]
        gap: Piece = (" " * (drawn.label + 1), colors.text)
        pieces: list[Piece] = []
        if y == 0:
            pieces = [(self._words, colors.text)]
        elif y == 1:
            pieces = [gap, (drawn.axis, colors.dim)]
        elif y - 2 < len(lanes):
            lane = lanes[y - 2]
            pieces = [(f"{lane.label:<{drawn.label}} ", colors.dim)]
            pieces += [(_sign(kind) * cells, _style(kind, colors)) for kind, cells in lane.runs]
        elif y - 2 == len(lanes):
            pieces = [gap, *self._legend(colors, self._width - drawn.label - 1)]
        strip = strip_of(pieces).crop(0, self._width).apply_style(ground(self))
        return strip.extend_cell_length(self._width, ground(self)).simplify()

    def _legend(self, colors: Palette, width: int) -> list[Piece]:
        """Signs and what they mean, as many words as there is room for."""
        kinds = {span.kind for span in self._spans}
        told = [(kind, words) for kind, words in WORDS.items() if kind in kinds]
        long = sum(cell_len(words) + 4 for _, words in told) > width
        pieces: list[Piece] = []
        for kind, words in told:
            short = words.partition(":")[0].partition(" ")[0] if long else words
            pieces += [(SIGNS[kind], _style(kind, colors)), (f" {short}  ", colors.dim)]
        return pieces


def _sign(kind: SpanKind | None) -> str:
    return " " if kind is None else SIGNS[kind]


def _style(kind: SpanKind | None, colors: Palette) -> Style:
    """What is waited for stands out; the sign says the same where there are no colors."""
    match kind:
        case "compute" | "busy":
            return colors.good
        case "communication":
            return colors.alert
        case "hidden":
            return colors.text
        case _:
            return colors.dim
