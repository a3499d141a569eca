"""Pane 5: everything that was done to the cluster, by schedule or by hand."""

from __future__ import annotations

from textual.reactive import var

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.tui.messages import Entered, Pointed, SoughtStep
from clusterscope.tui.panes.base import Pane
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.shapes import Column, Table

_NOTHING_YET = (
    "nothing has failed yet:",
    "x fails the selection,",
    "F chooses and shows the blast,",
    "u takes it back",
)


class LogPane(Pane):
    """Shows the schedule of the spec and the log of the timeline; follows `events` as well."""

    events: var[tuple[Event, ...]] = var((), init=False)

    def __init__(self, number: int, name: str, scenario: Scenario) -> None:
        self._table = TableView()
        self._table.empty = _NOTHING_YET
        super().__init__(number, name, self._table)
        self._schedule = scenario.schedule

    def watch_events(self) -> None:
        """Draw a changed log."""
        self._follow()

    def watch_selection(self) -> None:
        """Nothing here depends on it."""

    def on_entered(self, message: Entered) -> None:
        """Go to the step of an event and select its target; the inspector can wait."""
        message.stop()
        rows = entries(self._schedule, self.events)
        if self._table.place < len(rows):
            self.post_message(Pointed(message.key))
            self.post_message(SoughtStep(rows[self._table.place][0].step))

    def redraw(self, frame: Frame) -> None:
        """Draw the log as it looks from the frame's step."""
        self.caption("u takes the last back" if self.events else "")
        self._table.draw(table(self._schedule, self.events, frame.step))


def entries(
    schedule: tuple[Event, ...], injected: tuple[Event, ...]
) -> list[tuple[Event, int | None]]:
    """Events by step, each with its place among the injected ones, None when it is scheduled."""
    rows: list[tuple[Event, int | None]] = [(event, None) for event in schedule]
    rows += [(event, place) for place, event in enumerate(injected)]
    return sorted(rows, key=lambda row: row[0].step)


def table(schedule: tuple[Event, ...], injected: tuple[Event, ...], step: int) -> Table:
    """Events by step, and whether they are done, happen now or are to come."""
    rows = entries(schedule, injected)
    return Table(
        "events",
        (
            # One rule can make ten thousand events: only those in sight are put into words.
            Column("step", "int", lambda row: rows[row][0].step),
            Column("what", "text", lambda row: rows[row][0].text()),
            Column("when", "text", lambda row: _when(rows[row][0].step, step)),
            Column("by", "text", lambda row: "schedule" if rows[row][1] is None else "you"),
        ),
        len(rows),
        lambda row: rows[row][0].name,
    )


def _when(event_step: int, step: int) -> str:
    if event_step == step:
        return "now"
    return "done" if event_step < step else "to come"
