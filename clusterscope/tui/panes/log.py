"""Pane 5: everything that was done to the cluster, by schedule or by hand."""

from __future__ import annotations

from textual.reactive import var

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.tui.panes.base import Pane
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.shapes import Column, Table


class LogPane(Pane):
    """Shows the schedule of the spec and the log of the timeline; follows `events` as well."""

    events: var[tuple[Event, ...]] = var((), init=False)

    def __init__(self, number: int, name: str, scenario: Scenario) -> None:
        self._table = TableView()
        super().__init__(number, name, self._table)
        self._schedule = scenario.schedule

    def watch_events(self) -> None:
        """Draw a changed log."""
        self._follow()

    def watch_selection(self) -> None:
        """Nothing here depends on it."""

    def redraw(self, frame: Frame) -> None:
        """Draw the log as it looks from the frame's step."""
        self.caption("u takes the last back" if self.events else "")
        self._table.draw(table(self._schedule, self.events, frame.step))


def table(schedule: tuple[Event, ...], injected: tuple[Event, ...], step: int) -> Table:
    """Events by step, and whether they are done, happen now or are to come."""
    rows = [*((event, "schedule") for event in schedule), *((event, "you") for event in injected)]
    rows.sort(key=lambda row: row[0].step)
    return Table(
        "events",
        (
            Column("step", "int", [event.step for event, _ in rows]),
            Column("what", "text", [event.text() for event, _ in rows]),
            Column("when", "text", [_when(event.step, step) for event, _ in rows]),
            Column("by", "text", [by for _, by in rows]),
        ),
        len(rows),
        [event.name for event, _ in rows],
    )


def _when(event_step: int, step: int) -> str:
    if event_step == step:
        return "now"
    return "done" if event_step < step else "to come"
