"""Picker: the clusters that can be opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen

from clusterscope.tui.keys import PICKER, bindings
from clusterscope.tui.messages import Asked, Entered, Picked
from clusterscope.tui.widgets.bars import Bar, KeyBar, Part
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.shapes import Column, Table


@dataclass(frozen=True)
class PresetRow:
    """One cluster to choose.

    Attributes:
        name: what opens it.
        title: what it is.
        gpus: how large it is.
        transport: what it runs on.
    """

    name: str
    title: str
    gpus: int
    transport: str


class Picker(Screen[None]):
    """A table of presets; enter opens one.

    Args:
        rows: gives the presets.
    """

    ACTIONS = PICKER
    BINDINGS = bindings(PICKER)

    def __init__(self, rows: Callable[[], Sequence[PresetRow]]) -> None:
        super().__init__()
        self._rows = rows
        self._table = TableView(id="presets")

    def compose(self) -> ComposeResult:
        """Title, table, keys."""
        head = Bar(id="head")
        head.draw([Part("ClusterScope", "head", 0), Part("choose a cluster", "dim")])
        yield head
        frame = Container(self._table, classes="pane")
        frame.border_title = Content("presets")
        yield frame
        yield KeyBar(PICKER, id="keys")

    def on_mount(self) -> None:
        """List the presets."""
        self._table.draw(table(self._rows()))
        self._table.focus()

    def on_entered(self, message: Entered) -> None:
        """Open a preset."""
        self.post_message(Picked(message.key))

    def action_open(self) -> None:
        """Open the preset under the cursor."""
        self._table.action_enter()

    async def on_asked(self, message: Asked) -> None:
        """Do what was clicked."""
        await self.run_action(message.action)


def table(rows: Sequence[PresetRow]) -> Table:
    """Presets as a table."""
    names = [row.name for row in rows]
    columns = (
        Column("name", "text", names),
        Column("GPUs", "int", [row.gpus for row in rows]),
        Column("transport", "text", [row.transport for row in rows]),
        Column("what it is", "text", [row.title for row in rows]),
    )
    return Table("presets", columns, len(rows), names)
