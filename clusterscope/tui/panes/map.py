"""Pane 2: the heat map, from the whole cluster down to single links."""

from __future__ import annotations

from clusterscope.fabric.things import Thing
from clusterscope.tui.messages import Pointed
from clusterscope.tui.panes.gallery import Gallery
from clusterscope.tui.panes.views import ViewPane, draw, legend, words_of
from clusterscope.tui.widgets.grid import HeatMap
from clusterscope.views import zoom
from clusterscope.views.shapes import Shape

_SELECTION = "focus"  # the view that is where the selection is


class MapPane(ViewPane):
    """Shows a place of the cluster; its cursor goes to the selection when that is in sight.

    Args:
        number: key that goes to it.
        name: its name in the frame.
        gallery: where maps come from.
        views: names of the maps that can be seen in turn.
    """

    def __init__(self, number: int, name: str, gallery: Gallery, views: tuple[str, ...]) -> None:
        self._map = HeatMap()
        super().__init__(number, name, self._map, gallery, views, (_SELECTION,))
        self._scenario = gallery.scenario
        self._place = zoom.CLUSTER
        self._own: list[str] = []  # selections that the map's own cursor has made

    @property
    def thing(self) -> Thing:
        """What is drawn: the place zoomed to, or that of the selection."""
        return zoom.place_of(self._scenario, self.selection) if self.follows else self._place

    def into(self, thing: Thing) -> bool:
        """Zoom in, one place further to a thing; False when there is nothing further in."""
        place = None if self.follows else zoom.inward(self._scenario, self._place, thing)
        if place is None:
            return False
        self._go(place)
        return True

    def out(self) -> bool:
        """Zoom out by one place; False in the map of the whole cluster."""
        place = None if self.follows else zoom.outer(self._scenario, self._place)
        if place is None:
            return False
        self._go(place)
        return True

    def _go(self, place: Thing) -> None:
        self._place = place
        self._map.scroll_to(0, 0, animate=False)
        self._follow()

    def on_pointed(self, message: Pointed) -> None:
        """Remember what the map itself selects: its cursor is there, or further by now."""
        self._own.append(message.key)

    def watch_selection(self) -> None:
        """Draw the place of a new selection, or go to its cell."""
        if self.follows:
            self._follow()
            return
        name = self._scenario.names.thing(self.selection)
        if not self._map.has_focus:
            self._own.clear()
        if name in self._own:
            del self._own[: self._own.index(name) + 1]
        elif self.is_mounted and self.display:
            self._map.select(name, hold=self.thing == zoom.CLUSTER)

    def paint(self, shape: Shape) -> None:
        """Draw the map, where it is, and what its colors stand for."""
        draw(self._map, shape)
        # A cell of the whole cluster holds many things, of which the selection is one.
        name = self._scenario.names.thing(self.selection)
        self._map.select(name, hold=self.thing == zoom.CLUSTER)
        crumbs, words = zoom.crumbs(self._scenario, self.thing), words_of(shape, self.label)
        self.caption(f"{crumbs}: {words.partition(': ')[2] or words}" if crumbs else words)
        self.legend()

    def legend(self) -> None:
        """Write the legend anew."""
        grid = self._map.shape
        self.subtitle(legend(self, signed=grid is not None and grid.signed))
