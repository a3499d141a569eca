"""Panes that show a view of the catalogue, whatever shape it has."""

from __future__ import annotations

from typing import assert_never

from textual.widget import Widget

from clusterscope.engine.frame import Frame
from clusterscope.fabric.things import Thing
from clusterscope.tui.messages import Wanting
from clusterscope.tui.panes.base import Pane
from clusterscope.tui.panes.gallery import Gallery
from clusterscope.tui.theme import palette
from clusterscope.tui.widgets.grid import HeatMap
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.rows import Span
from clusterscope.tui.widgets.series import SeriesView
from clusterscope.tui.widgets.table import TableView
from clusterscope.views import heat
from clusterscope.views.shapes import Grid, Note, Series, Shape, Table

ShapeWidget = HeatMap | TableView | NoteView | SeriesView


class ViewPane(Pane):
    """Shows one view of the frame, or of the selection in it.

    Args:
        number: key that goes to it.
        name: its name in the frame.
        widget: widget for the view's shape.
        gallery: where shapes come from.
        views: names of the views that can be seen in turn.
        follows: those of them that look at the selection.
    """

    def __init__(
        self,
        number: int,
        name: str,
        widget: ShapeWidget,
        gallery: Gallery,
        views: tuple[str, ...],
        follows: tuple[str, ...] = (),
    ) -> None:
        super().__init__(number, name, widget)
        self.waits = False
        self._views = views
        self._follows = follows
        self._gallery = gallery
        self._widget = widget

    @property
    def view(self) -> str:
        """Name of the view in sight."""
        return self._views[0]

    @property
    def follows(self) -> bool:
        """True when the view in sight looks at the selection."""
        return self.view in self._follows

    @property
    def thing(self) -> Thing | None:
        """What the view in sight looks at."""
        return self.selection if self.follows else None

    def turn(self) -> bool:
        """Show the next of the pane's views; False when it has but one."""
        self._views = (*self._views[1:], self._views[0])
        self._follow()
        return len(self._views) > 1

    def watch_selection(self) -> None:
        """Draw a new selection, where it matters."""
        if self.follows:
            super().watch_selection()

    def catch_up(self) -> None:
        """Draw what a thread has computed meanwhile, if the pane has waited for it."""
        if self.waits:
            self._follow()

    def admit(self) -> None:
        """Say that the pane waits, if it does."""
        if self.waits:
            self.caption("computing …")

    def redraw(self, frame: Frame) -> None:
        """Draw the view."""
        shape = self._gallery.ready(self.view, frame, self.thing, self.baseline)
        self.waits = shape is None
        if shape is None:
            # What is there keeps its own title until a thread has computed what shall be there.
            self.post_message(Wanting())
            return
        self.paint(shape)

    def paint(self, shape: Shape) -> None:
        """Put a shape into the pane."""
        words = words_of(shape, self.label)
        short = words.partition(": ")[0] if isinstance(shape, Table) else ""
        self.caption(words, short, named=isinstance(shape, Note))
        draw(self._widget, shape)


def words_of(shape: Shape, label: str = "") -> str:
    """What a pane's frame says about its numbers, besides its own label."""
    match shape:
        case Grid() | Table() | Series():
            title = shape.title.removeprefix(label).lstrip(" ,:")
            return ", ".join(word for word in (title, shape.note) if word)
        case Note():
            return shape.title
        case _:
            assert_never(shape)


def draw(widget: ShapeWidget, shape: Shape) -> None:
    """Draw a shape with the widget for it.

    Raises:
        TypeError: the view gave another shape than the pane was made for.
    """
    match widget, shape:
        case (HeatMap(), Grid()):
            widget.draw(shape)
        case (TableView(), Table()):
            widget.draw(shape)
        case (NoteView(), Note()):
            widget.draw(shape)
        case (SeriesView(), Series()):
            widget.draw(shape)
        case _:
            msg = f"{type(widget).__name__} cannot draw a {type(shape).__name__}"
            raise TypeError(msg)


def legend(pane: Widget, *, signed: bool = False) -> list[Span]:
    """Sign of every level and the load or change in percent from which it is used, in its color."""
    colors = palette(pane.app)
    edges = [0.0, *colors.look.thresholds]
    first, words = 0, ""
    if signed:
        edges = [*reversed(heat.CHANGES), 0.0, *heat.CHANGES]
        first, words = heat.CHANGE, "cooler "
    spans: list[Span] = [(words, colors.dim)] if signed else []
    for place, edge in enumerate(edges):
        level = first + place
        spans += [(colors.sign(level), colors.levels[level])]
        spans += [(f"{edge * 100:.0f}" if edge else "", colors.dim)]
        if level == 0:
            spans += [(colors.sign(heat.LITTLE), colors.levels[heat.LITTLE])]
    words = " hotter %  " if signed else " %  "
    down = heat.DOWN
    return [*spans, (words, colors.dim), ("X", colors.levels[down]), (" down", colors.dim)]
