"""Pages about one job, one at a time: phases, groups, where a group is, memory, figures."""

from __future__ import annotations

from textual.widget import Widget

from clusterscope.engine.scenario import Scenario
from clusterscope.metrics.planned import JobFacts
from clusterscope.tui.messages import OutOfSight
from clusterscope.tui.panes.base import Framed
from clusterscope.tui.widgets.grid import HeatMap
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.table import TableView
from clusterscope.views import plan as shown
from clusterscope.views.shapes import Grid, Note, Table

PAGES = ("phases", "groups", "places", "map", "memory", "figures")
_LEAD = ("seconds", "exposed")  # what counts has a place also where there is little room
_NO_MEMORY = ("only a training job has a plan to count memory from",)


class JobPages(Framed):
    """A frame with the page that is turned to, and the group that pages are about."""

    def __init__(self) -> None:
        self.table, self.map = TableView(_LEAD, id="rows"), HeatMap(id="group-map")
        self.figures = NoteView(id="figures")
        super().__init__(self.table, self.map, self.figures, id="page")
        self.table.empty = ("working it out …",)
        self.page, self.cut, self.number = "phases", "", 0

    @property
    def inner(self) -> Widget:
        """What shows the page."""
        return {"map": self.map, "figures": self.figures}.get(self.page, self.table)

    def show_page(self, *, figures: bool) -> None:
        """Show what the page takes; without `figures` there is no page of these."""
        if self.page == "figures" and not figures:
            self.page = "phases"
        for widget in (self.table, self.map, self.figures):
            widget.display = widget is self.inner
        self.on_out_of_sight(OutOfSight())

    def turn(self, *, figures: bool) -> None:
        """Go to the next page."""
        pages = PAGES if figures else PAGES[:-1]
        self.page = pages[(pages.index(self.page) + 1) % len(pages)]

    def look_at(self, cut: str, number: int = 0) -> None:
        """Be about another group from now on."""
        self.cut, self.number = cut, number

    def draw(self, scenario: Scenario, facts: JobFacts, note: Note) -> bool:
        """Show the page; True when it is the map, which is for others to compute."""
        self._settle(facts)
        if self.page == "figures":
            self.entitle("what it reaches")
            self.figures.draw(note)
        elif self.page == "map":
            return bool(self.cut)
        else:
            table = self._table(scenario, facts)
            self.entitle(f"{table.title} · {table.note}" if table.note else table.title)
            self.table.draw(table)
        return False

    def draw_map(self, grid: Grid) -> None:
        """Show a map, if that is still the page."""
        if self.page == "map":
            self.entitle(grid.title)
            self.map.draw(grid)

    def _table(self, scenario: Scenario, facts: JobFacts) -> Table:
        """Rows of the page."""
        if self.page == "groups":
            return shown.groups_table(facts)
        if self.page == "places":
            return shown.places_table(scenario, facts, self.cut, self.number)
        if self.page == "memory":
            self.table.empty = _NO_MEMORY
            return shown.memory_table(facts)
        return shown.sent_table(scenario, facts)

    def _settle(self, facts: JobFacts) -> None:
        """Be about a group that the job has; one has not been chosen, or is gone."""
        cuts: dict[str, int] = {row.cut: row.count for row in facts.groups}
        if self.cut not in cuts:
            self.cut = next(iter(cuts), "")
        self.number %= cuts.get(self.cut, 1)
        if self.page == "places" and not self.cut:
            self.page = "groups"
