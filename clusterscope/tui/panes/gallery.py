"""Gallery: shapes of views, each computed once a frame, in a thread or where it is needed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import inf

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.views.catalog import VIEWS, View
from clusterscope.views.diff import DIFFS
from clusterscope.views.shapes import Shape

Asked = tuple[Frame, Thing | None, Frame | None]
# What takes longer has no place on the event loop.
QUICK_S = 0.010
# How much of a slow answer is remembered at the next one: things of one cluster differ in cost.
_MEMORY = 0.9
# What takes longer is not worth keeping a new frame back for.
LONG_S = 0.2


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
        self._kept: dict[str, tuple[Asked, Shape]] = {}
        self._seconds: dict[str, float] = {}

    def ready(
        self, name: str, frame: Frame, thing: Thing | None = None, baseline: Frame | None = None
    ) -> Shape | None:
        """The same as `shape`, or None when it would take long and a thread should do it."""
        kept = self._kept.get(name)
        known = kept is not None and kept[0] == (frame, thing, baseline)
        # Nobody has timed a comparison before the first: a thread does that one.
        spent = self._seconds.get(_label(name, baseline), 0.0 if baseline is None else inf)
        if known or spent < QUICK_S:
            return self.shape(name, frame, thing, baseline)
        return None

    def is_long(self, name: str, baseline: Frame | None = None) -> bool:
        """True for a view that takes longer than a new frame should wait for it."""
        return self._seconds.get(_label(name, baseline), 0.0) >= LONG_S

    def shape(
        self, name: str, frame: Frame, thing: Thing | None = None, baseline: Frame | None = None
    ) -> Shape:
        """Shape of a view of a frame and a selection; with a baseline, of what has changed."""
        asked, kept = (frame, thing, baseline), self._kept.get(name)
        if kept is None or kept[0] != asked:
            begin = time.perf_counter()
            kept = asked, self._made(name, *asked)
            self._kept[name] = kept
            spent, label = time.perf_counter() - begin, _label(name, baseline)
            self._seconds[label] = max(spent, self._seconds.get(label, 0.0) * _MEMORY)
        return kept[1]

    def _made(self, name: str, frame: Frame, thing: Thing | None, baseline: Frame | None) -> Shape:
        if baseline is not None and name in DIFFS:
            return DIFFS[name](self.scenario, frame, baseline, thing)
        return self._views[name](self.scenario, frame, thing)


def _label(name: str, baseline: Frame | None) -> str:
    """What the time that a view takes is kept under."""
    return name if baseline is None else f"{name} since"
