"""Where an explorer begins: at a step, on a selection, a side screen on top, a baseline pinned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from clusterscope.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable

    from clusterscope.engine.events import Event
    from clusterscope.engine.frame import Frame
    from clusterscope.engine.replay import Replay
    from clusterscope.engine.timeline import Timeline
    from clusterscope.fabric.names import Names
    from clusterscope.spec.model import ClusterSpec

EXPLORER: Final = "explorer"


@dataclass(frozen=True)
class Start:
    """Where to begin.

    Attributes:
        step: of the timeline.
        select: name of a thing, "" for the whole cluster.
        screen: name of a side screen, "" or "explorer" for none.
    """

    step: int = 0
    select: str = ""
    screen: str = ""

    @classmethod
    def of(cls, saved: Replay) -> Start:
        """Where a replay was saved."""
        return cls(saved.step, saved.selection, saved.screen)

    @property
    def side(self) -> str:
        """Name of the side screen to open, "" for none."""
        return "" if self.screen == EXPLORER else self.screen

    def check(self, spec: Callable[[], ClusterSpec]) -> None:
        """Refuse what a cluster does not have, before anything is drawn.

        Args:
            spec: gives the cluster; asked for when something is selected in it.

        Raises:
            UnknownNameError: no such screen, or nothing is called so.
        """
        self.check_screen()
        if self.select:
            from clusterscope.fabric.build import build
            from clusterscope.fabric.names import Names

            Names(build(spec())).find(self.select)

    def check_screen(self) -> None:
        """Refuse a screen that is not there.

        Raises:
            UnknownNameError: no such screen.
        """
        from clusterscope.tui.screens.sides import NAMES

        if self.side and self.side not in NAMES:
            screens = (EXPLORER, *NAMES)
            raise UnknownNameError("screen", self.side, screens, f"use {', '.join(screens)}")

    def check_in(self, names: Names) -> None:
        """The same as `check`, in a cluster that is built.

        Raises:
            UnknownNameError: no such screen, or nothing is called so.
        """
        self.check_screen()
        if self.select:
            names.find(self.select)


class Pinned(NamedTuple):
    """A baseline: a frame, and the log of events that it was made under."""

    frame: Frame
    log: tuple[Event, ...]

    def under(self, timeline: Timeline) -> Pinned:
        """The same step under the same log, of another timeline of the same fabric."""
        from clusterscope.engine.timeline import Timeline

        same = timeline.log == self.log
        then = timeline if same else Timeline(timeline.scenario, self.log)
        return Pinned(then.at(self.frame.step), self.log)
