"""Plot: lines of a series on a scale at the left and one below."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from clusterscope.tui.theme import palette
from clusterscope.tui.widgets.rows import Span, ground, strip_of
from clusterscope.views.plotted import Plotted, plotted
from clusterscope.views.shapes import Kind, Series


class Plot(Widget):
    """Draws a Series as a chart that fills its room.

    Args:
        x_kind: how numbers of the scale below are written.
    """

    ALLOW_SELECT = False

    def __init__(self, x_kind: Kind, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._x_kind: Kind = x_kind
        self._series: Series | None = None
        self._chart = Plotted((), (), "", "")

    def draw(self, series: Series) -> None:
        """Show a series."""
        self._series = series
        self.on_resize()

    @property
    def shape(self) -> Series | None:
        """What is shown."""
        return self._series

    def on_resize(self) -> None:
        """Other cells for the same lines."""
        width, height = self.size
        if self._series is not None and width and height:
            self._chart = plotted(self._series, width, height, self._x_kind)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """A line of the chart, the scale below, the signs."""
        colors, chart, width = palette(self.app), self._chart, self.size.width
        spans: list[Span] = []
        if y < len(chart.rows):
            spans = [(chart.scale[y], colors.dim), (chart.rows[y], colors.text)]
        elif y == len(chart.rows):
            spans = [(chart.below, colors.dim)]
        elif y == len(chart.rows) + 1:
            spans = [(chart.legend, colors.dim)]
        strip = strip_of(spans).crop(0, width).apply_style(ground(self))
        return strip.extend_cell_length(width, ground(self)).simplify()
