"""Gallery: shapes of views, each computed once a frame, in a thread or where it is needed."""

from __future__ import annotations

from collections.abc import Mapping

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.views.catalog import VIEWS, View
from clusterscope.views.shapes import Shape

Kept = tuple[Frame, Thing | None, Shape]


class Gallery:
    """The latest shape of every view asked for.

    Args:
        scenario: what is shown.
        views: view functions by name; those of the catalogue when left out.
    """

    def __init__(self, scenario: Scenario, views: Mapping[str, View] | None = None) -> None:
        self.scenario = scenario
        catalog = {definition.name: definition.function for definition in VIEWS}
        self._views: dict[str, View] = {**catalog, **(views or {})}
        self._kept: dict[str, Kept] = {}

    def shape(self, name: str, frame: Frame, thing: Thing | None = None) -> Shape:
        """Shape of a view of a frame and a selection."""
        kept = self._kept.get(name)
        if kept is None or kept[0] is not frame or kept[1] != thing:
            kept = frame, thing, self._views[name](self.scenario, frame, thing)
            self._kept[name] = kept
        return kept[2]
