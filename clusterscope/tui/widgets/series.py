"""Series: one line of blocks a curve, from 0 to the largest value so that heights compare."""

from __future__ import annotations

import numpy as np
from rich.cells import cell_len, set_cell_size
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from clusterscope.columns import F64
from clusterscope.tui.terminal import set_virtual_size
from clusterscope.tui.theme import palette
from clusterscope.tui.widgets.rows import ground, room, strip_of
from clusterscope.views.shapes import Series
from clusterscope.views.text import fmt, sanitize

_BLOCKS = " ▁▂▃▄▅▆▇█"
_WIDEST_LABEL = 14


class SeriesView(ScrollView, can_focus=True):
    """Draws a Series; ratios always run from 0 to 1."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._series: Series | None = None

    def draw(self, series: Series) -> None:
        """Show a series."""
        self._series = series
        set_virtual_size(self, Size(0, len(series.y)))
        self.refresh()

    @property
    def shape(self) -> Series | None:
        """What is shown."""
        return self._series

    def render_line(self, y: int) -> Strip:
        """One curve."""
        width, colors, series = room(self).width, palette(self.app), self._series
        names = list(series.y) if series else []
        row = y + self.scroll_offset.y
        if series is None or row >= len(names):
            return Strip.blank(width, ground(self))
        values = series.y[names[row]]
        label = set_cell_size(sanitize(names[row]), _WIDEST_LABEL)
        last = fmt(float(values[-1]), series.kind) if len(values) else "–"
        across = max(1, width - _WIDEST_LABEL - cell_len(last) - 2)
        top = 1.0 if series.kind == "ratio" else _largest(series)
        spans = [(label + " ", colors.dim), (blocks(values, across, top), colors.text)]
        strip = strip_of([*spans, (" " + last, colors.head)]).apply_style(ground(self))
        return strip.extend_cell_length(width, ground(self))


def _largest(series: Series) -> float:
    return max((float(np.nanmax(v)) for v in series.y.values() if np.isfinite(v).any()), default=0)


def blocks(values: F64, cells: int, top: float) -> str:
    """Values as block characters, at most `cells` of them: the largest of those that share one."""
    if len(values) > cells:
        edges = np.linspace(0, len(values), cells + 1).astype(int)[:-1]
        values = np.fmax.reduceat(values, edges)
    heights = np.nan_to_num(values / top if top > 0 else values * 0.0)
    ranks = np.ceil(np.clip(heights, 0.0, 1.0) * (len(_BLOCKS) - 1)).astype(int)
    return "".join(_BLOCKS[rank] for rank in ranks).ljust(cells)
