"""Pane 1: the topology as a tree that opens where one looks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.inside import MOST_GPUS
from clusterscope.fabric.names import Names
from clusterscope.fabric.things import Thing
from clusterscope.tui.keys import PANE_HINTS
from clusterscope.tui.messages import Asked, Entered, Pointed
from clusterscope.tui.panes.base import Pane
from clusterscope.tui.widgets.tree import Branch, TreeView
from clusterscope.views import diff, tree
from clusterscope.views.tree import TreeRow

_INSIDE = "/inside"  # behind a node's name: the row that leads into it
# What enter shows of a thing that has no rows below it.
_LEADS = {"gpu": "inside", "nic": "inside", "switch": "neighborhood"}


class TopologyPane(Pane):
    """Shows what is cabled to what, with the worst load of each row."""

    def __init__(self, number: int, name: str, scenario: Scenario) -> None:
        self.branches = TreeView()
        super().__init__(number, name, self.branches)
        self._scenario = scenario

    def redraw(self, frame: Frame) -> None:
        """Draw the rows that are open; the cursor goes to the selection when it is among them."""
        scenario, names, baseline = self._scenario, self._scenario.names, self.baseline

        def branch(row: TreeRow) -> Branch:
            if baseline is None:
                return branch_of(names, row)
            then = tree.row_of(scenario, baseline, row.thing)
            return branch_of(names, diff.tree_row(row, then), signed=True)

        def children(key: str) -> Sequence[Branch]:
            thing = names.find(key)
            rows = [branch(row) for row in tree.children(scenario, frame, thing)]
            enters = thing.kind == "node" and scenario.spec.node.gpus <= MOST_GPUS
            return [door(key), *rows] if enters else rows

        def row(key: str) -> Branch:
            if key.endswith(_INSIDE):
                return door(key.removesuffix(_INSIDE))
            return branch(tree.row_of(scenario, frame, names.find(key)))

        self.branches.draw(names.thing(Thing("cluster")), row, children)
        self._say()

    def on_pointed(self, message: Pointed) -> None:
        """The way into a node selects the node."""
        if message.key.endswith(_INSIDE):
            message.stop()
            self.post_message(Pointed(message.key.removesuffix(_INSIDE)))

    def on_entered(self, message: Entered) -> None:
        """Lead from a row that does not open to the screen that shows more of it."""
        name = message.key.removesuffix(_INSIDE)
        kind = self._scenario.names.find(name).kind
        screen = "inside" if name != message.key else _LEADS.get(kind)
        if screen is not None:
            message.stop()
            self.post_message(Pointed(name))
            self.post_message(Asked(f"side('{screen}')"))

    def watch_selection(self) -> None:
        """Follow a selection that was made elsewhere."""
        if self.is_mounted and self.display and self.frame is not None:
            self.branches.select(self._scenario.names.thing(self.selection))

    def reveal(self, thing: Thing) -> None:
        """Open everything above a thing and put the cursor on it."""
        above: list[str] = []
        outer = tree.parent(self._scenario, thing)
        while outer is not None:
            above.append(self._scenario.names.thing(outer))
            outer = tree.parent(self._scenario, outer)
        self.branches.open(above)
        self.branches.select(self._scenario.names.thing(thing))

    def filter(self, text: str) -> None:
        """Show rows whose name holds the text."""
        self.branches.filter(text)
        self._say()

    def _say(self) -> None:
        if self.branches.filtered:
            found = f"{self.branches.matches:,} found"
            if not self.branches.searched_all:
                found = f"first {self.branches.matches:,}"
            self.caption(f"/{self.branches.filtered} {found}")
            self.hint("x fails · esc shows all")
        else:
            self.caption("worst link" if self.baseline is None else "change of worst")
            self.hint(PANE_HINTS[0])


def door(node: str) -> Branch:
    """The row that leads into a node."""
    return Branch(node + _INSIDE, "inside", "GPUs, NICs, links", math.nan, 0, False, door=node)


def branch_of(names: Names, row: TreeRow, *, signed: bool = False) -> Branch:
    """A row of the tree view as the widget takes it; `signed` when it tells a change."""
    name = names.thing(row.thing)
    return Branch(name, row.label, row.detail, row.worst, row.down, row.children, signed)
