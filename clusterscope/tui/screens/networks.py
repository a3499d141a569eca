"""Networks: scale-up, scale-out and front-end side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.widget import Widget

from clusterscope.engine.frame import Frame
from clusterscope.tui.keys import NETWORKS, SIDE, bindings
from clusterscope.tui.panes.base import Framed
from clusterscope.tui.screens.side import Side
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.networks import networks_table

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer


class Networks(Side):
    """A column a network."""

    ACTIONS = (*NETWORKS, *SIDE)
    BINDINGS = bindings(NETWORKS)
    FOOTER = ("inside", "explorer('undo')", "close", "help")

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(explorer)
        self.table = TableView(id="networks")
        self._pane = Framed(self.table)

    def body(self) -> Sequence[Widget]:
        """The table."""
        return (self._pane,)

    def on_mount(self) -> None:
        """Keys go to the table."""
        self.set_focus(self.table)

    def redraw(self, frame: Frame) -> None:
        """Draw the table; nothing in it changes with time."""
        table = networks_table(self.scenario, frame)
        self._pane.entitle(f"{table.title} · {table.note}")
        self.table.draw(table)

    def action_inside(self) -> None:
        """The inside of a node instead."""
        self.dismiss()
        self.call_later(self.explorer.run_action, "side('inside')")
