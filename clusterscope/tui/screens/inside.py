"""Inside: what patterns of traffic get in a node, and what one of them puts on its links."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.widget import Widget

from clusterscope.engine.frame import Frame
from clusterscope.errors import SpecError
from clusterscope.fabric.inside import Variant
from clusterscope.tui.keys import INSIDE, SIDE, bindings
from clusterscope.tui.panes.base import Framed
from clusterscope.tui.panes.views import legend
from clusterscope.tui.screens.side import Side
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.inside import inside, kept, links_inside

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer

_ROOMY = 140  # cells from which every column has room
_MARGIN = 3  # lines of a table that are no rows


class Inside(Side):
    """Patterns of traffic as rows; below them the links of the node under the one at the cursor."""

    ACTIONS = (*INSIDE, *SIDE)
    BINDINGS = bindings(INSIDE)
    FOOTER = ("build", "explorer('undo')", "close", "help")

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(explorer)
        self.patterns = TableView(id="patterns")
        self.links = TableView(ramp=("there", "back"), id="inner")
        self._top, self._below = Framed(self.patterns, id="gets"), Framed(self.links, id="carries")
        self._table = inside(self.scenario, None)
        self._builds = _builds(explorer)
        self._build = 0

    def body(self) -> Sequence[Widget]:
        """Patterns, and the links below them."""
        return self._top, self._below

    def on_mount(self) -> None:
        """Keys go to the patterns."""
        self._top.styles.height = self._table.rows + _MARGIN
        self._top.entitle(f"{self._table.title} · {self._table.note}")
        self.patterns.draw(self._table)
        self.set_focus(self.patterns)

    def redraw(self, frame: Frame) -> None:  # noqa: ARG002 - a node looks the same at all times
        """Draw the links under the pattern at the cursor."""
        if not self._builds:
            return
        row = min(self.patterns.cursor, self._table.rows - 1)
        table = links_inside(self.scenario, row, self._build)
        self._below.entitle(table.title)
        self._below.subtitle(legend(self._below))
        loads = ("load there", "load back")  # rates times the ratios: for where there is room
        if self.app.size.width < _ROOMY:
            columns = tuple(c for c in table.columns if c.name not in loads)
            table = dataclasses.replace(table, columns=columns)
        self.links.draw(table)

    def on_pointed(self) -> None:
        """Another pattern: other loads."""
        if self.frame is not None and self.patterns.has_focus:
            self.redraw(self.frame)

    def action_build(self) -> None:
        """The links of the next build of the node."""
        if self._builds and self.frame is not None:
            self._build = (self._build + 1) % len(self._builds)
            self.redraw(self.frame)


def _builds(explorer: Explorer) -> tuple[Variant, ...]:
    """Builds that can be shown; none when a node has too many GPUs."""
    try:
        return tuple(node.variant for node in kept(explorer.scenario))
    except SpecError:
        return ()
