"""Panes that show a view of the catalogue, whatever shape it has."""

from __future__ import annotations

from typing import assert_never

from clusterscope.engine.frame import Frame
from clusterscope.tui.panes.base import Pane
from clusterscope.tui.panes.gallery import Gallery
from clusterscope.tui.theme import DOWN, THRESHOLDS, glyph, palette
from clusterscope.tui.widgets.grid import HeatMap
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.rows import Span
from clusterscope.tui.widgets.series import SeriesView
from clusterscope.tui.widgets.table import TableView
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
        self._views = views
        self._follows = follows
        self._gallery = gallery
        self._widget = widget

    def on_mount(self) -> None:
        """The legend of a heat map never leaves."""
        super().on_mount()
        if isinstance(self._widget, HeatMap):
            self.subtitle(legend(self))

    @property
    def view(self) -> str:
        """Name of the view in sight."""
        return self._views[0]

    @property
    def follows(self) -> bool:
        """True when the view in sight looks at the selection."""
        return self.view in self._follows

    def turn(self) -> bool:
        """Show the next of the pane's views; False when it has but one."""
        self._views = (*self._views[1:], self._views[0])
        self._follow()
        return len(self._views) > 1

    def watch_selection(self) -> None:
        """Draw a new selection, where it matters."""
        if self.follows:
            super().watch_selection()

    def redraw(self, frame: Frame) -> None:
        """Draw the view."""
        thing = self.selection if self.follows else None
        shape = self._gallery.shape(self.view, frame, thing)
        self.caption(words_of(shape, self.label))
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


def legend(pane: Pane) -> list[Span]:
    """Sign of every level and the load in percent from which it is used, in its color."""
    colors = palette(pane.app)
    numbers = ["", *(f"{edge * 100:.0f}" for edge in THRESHOLDS)]
    spans: list[Span] = []
    for level, number in enumerate(numbers):
        spans += [(glyph(level), colors.levels[level]), (number, colors.dim)]
    return [*spans, (" %  ", colors.dim), ("X", colors.levels[DOWN]), (" down", colors.dim)]
