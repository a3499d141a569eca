"""Guide: takes an explorer through the tour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clusterscope.metrics.links import tier_summaries
from clusterscope.tui.keys import EXPLORER, PANES
from clusterscope.tui.tour import Seen, Tour, steps_for
from clusterscope.tui.widgets.strip import GuideStrip

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer


class Guide:
    """The tour of one explorer, if one is on, and the strip that tells it.

    Args:
        explorer: what is toured.
    """

    def __init__(self, explorer: Explorer) -> None:
        self.strip = GuideStrip(id="guide")
        self._explorer = explorer
        self._tour: Tour | None = None
        self._screens: frozenset[str] = frozenset()
        self._reports = 0

    @property
    def on(self) -> bool:
        """True while there is a tour."""
        return self._tour is not None

    def next(self) -> None:
        """Begin the tour, or skip a step of it."""
        seen = self._seen()
        if self._tour is None:
            actions = {action.id.partition("(")[0] for action in EXPLORER}
            self._tour = Tour(seen, steps_for(actions))
        elif self._tour.over:
            self.end()
            return
        else:
            self._tour.skip(seen)
        self._tell()

    def end(self) -> None:
        """No more of it."""
        self._tour = None
        self.strip.display = False

    def look(self) -> None:
        """See whether the step was done."""
        if self._tour is not None and self._tour.see(self._seen()):
            self._tell()

    def opened(self, screen: str) -> None:
        """Take note of a side screen that was opened."""
        self._screens |= {screen}
        self.look()

    def reported(self) -> None:
        """Take note of a report that was written."""
        self._reports += 1
        self.look()

    def _tell(self) -> None:
        if self._tour is not None:
            self.strip.tell(self._tour.words, self._tour.keys)

    def _seen(self) -> Seen:
        explorer = self._explorer
        log = explorer.player.timeline.log
        return Seen(
            selected=explorer.name_selected,
            kind=explorer.selection.kind,
            heat=self._heat(),
            hottest=self._hottest(),
            opened=explorer.stage.topology.branches.opened,
            failed=sum(event.kind == "fail" for event in log),
            pane=PANES[explorer.stage.active - 1] if explorer.stage.active else "",
            screens=self._screens,
            baseline=getattr(explorer, "baseline", None) is not None,
            reports=self._reports,
        )

    def _heat(self) -> float:
        """Load of the selection, where it is one cable or a direction of one."""
        frame, thing = self._explorer.frame, self._explorer.selection
        if frame is None or thing.kind not in ("link", "cable", "nic"):
            return float("nan")
        if thing.kind == "link":
            return float(frame.utilization[thing.index])
        both = frame.utilization[2 * thing.index : 2 * thing.index + 2]
        return float(np.fmax.reduce(both))

    def _hottest(self) -> float:
        """Load of the hottest link of all."""
        frame = self._explorer.frame
        if frame is None:
            return float("nan")
        tiers = tier_summaries(self._explorer.scenario, frame)
        return float(np.fmax.reduce([tier.max for tier in tiers], initial=np.nan))
