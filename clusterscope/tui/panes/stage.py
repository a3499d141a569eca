"""The stage: six panes, of which all are in sight or only the active one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.app import ComposeResult
from textual.containers import Container
from textual.events import DescendantFocus
from textual.message import Message
from textual.reactive import var

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.tui import headline
from clusterscope.tui.keys import PANES
from clusterscope.tui.panes.base import Pane
from clusterscope.tui.panes.gallery import Gallery
from clusterscope.tui.panes.log import LogPane
from clusterscope.tui.panes.map import MapPane
from clusterscope.tui.panes.topology import TopologyPane
from clusterscope.tui.panes.views import ViewPane
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.table import TableView
from clusterscope.views import tree
from clusterscope.views.catalog import View
from clusterscope.views.shapes import Shape

WIDE, TALL = 110, 30  # from here on all panes are shown together
HUGE = 160  # from here on the outer ones are wider
TOPOLOGY, UTILIZATION, INSPECTOR, JOBS = 1, 2, 3, 4

# Views that need the peak of every phase, which may have to be shared out anew.
_LATE = ("inspector", "links", "peaks")
_MAPS = ("utilization", "peaks", "focus")
# Columns that come first, since a narrow pane shows no more.
_SERVED_LEAD = ("tokens/s", "TTFT", "TPOT")
_JOBS_LEAD = ("job", *_SERVED_LEAD, "busbw", "iteration", "slowdown", "ranks", "of line")
_LINKS_LEAD = ("link", "utilization", "peak", "load")


def _links() -> TableView:
    """Table of the hottest links, or of those that have changed most."""
    table = TableView(_LINKS_LEAD)
    table.brief = {"utilization": "util"}
    table.empty = ("no link carries more or less", "than it did in the baseline")
    return table


def _job_views(scenario: Scenario) -> tuple[str, ...]:
    """Views that the jobs pane goes through; what a job serves is one of them where one does."""
    serves = [program.serving is not None for program in scenario.program]
    served = ("serving", "serving-stages") if any(serves) else ()
    first = (*served, "jobs") if served and all(serves) else ("jobs", *served)
    return (*first, "phases", "tenants")


class Stage(Container):
    """Holds the panes and knows which one is active.

    Args:
        scenario: what is shown.
        views: view functions to use instead of the catalogue's, by name.
    """

    frame: var[Frame | None] = var(None, init=False)
    selection: var[Thing] = var(Thing("cluster"), init=False)
    events: var[tuple[Event, ...]] = var((), init=False)
    baseline: var[Frame | None] = var(None, init=False)
    active: var[int] = var(0, init=False)

    class Turned(Message):
        """Another pane is active, or another number of panes is in sight."""

    def __init__(self, scenario: Scenario, views: Mapping[str, View] | None) -> None:
        super().__init__(id="body")
        self.scenario = scenario
        self._gallery = gallery = Gallery(scenario, views)
        self._came_from = UTILIZATION
        self._job = 0
        self.zoomed = False
        self.topology = TopologyPane(1, PANES[0], scenario)
        self.map = MapPane(2, PANES[1], gallery, _MAPS)
        # In the order in which the grid places them.
        self._panes: dict[int, Pane] = {
            1: self.topology,
            2: self.map,
            3: ViewPane(3, PANES[2], NoteView(), gallery, ("inspector",), ("inspector",)),
            5: LogPane(5, PANES[4], scenario),
            4: ViewPane(4, PANES[3], TableView(_JOBS_LEAD), gallery, _job_views(scenario)),
            6: ViewPane(6, PANES[5], _links(), gallery, ("links",)),
        }

    def compose(self) -> ComposeResult:
        """The panes."""
        for pane in self._panes.values():
            pane.data_bind(Stage.frame, Stage.selection, Stage.baseline)
            if isinstance(pane, LogPane):
                pane.data_bind(Stage.events)
            yield pane

    def on_mount(self) -> None:
        """Begin where there is most to see."""
        self.go(UTILIZATION if self.single else TOPOLOGY)

    @property
    def single(self) -> bool:
        """True when one pane is shown at a time."""
        width, height = self.app.size
        return width < WIDE or height < TALL or self.zoomed

    @property
    def table(self) -> TableView | None:
        """The table of the active pane, if it has one."""
        widget = self._panes[self.active].inner
        return widget if isinstance(widget, TableView) else None

    @property
    def job(self) -> int:
        """Place of the job under the cursor of the jobs pane, in the order of the spec."""
        pane = self._panes[JOBS]
        if isinstance(pane, ViewPane) and pane.view == "jobs" and isinstance(pane.inner, TableView):
            self._job = pane.inner.place
        return self._job

    @property
    def in_sight(self) -> tuple[str, Shape] | None:
        """Name and shape of the active pane; None before it was drawn."""
        pane = self._panes[self.active]
        shape: Shape | None = getattr(pane.inner, "shape", None)
        name = pane.view if isinstance(pane, ViewPane) else pane.label
        return None if shape is None else (name, shape)

    def go(self, number: int) -> None:
        """Make a pane the active one."""
        self.active = number
        # Not `focus()`, which takes effect later: the next key belongs to this pane already.
        self.screen.set_focus(self._panes[number].inner)

    def turn(self, places: int) -> None:
        """Make the pane some places further the active one."""
        self.go((self.active - 1 + places) % len(self._panes) + 1)

    def inspect(self) -> None:
        """Go to the inspector where it is out of sight; `leave_inspector` comes back."""
        if self.single and self.active != INSPECTOR:
            self._came_from = self.active
            self.go(INSPECTOR)

    def leave_inspector(self) -> bool:
        """Go back to where `inspect` came from; False when the inspector is not alone in sight."""
        if not self.single or self.active != INSPECTOR:
            return False
        self.go(self._came_from)
        return True

    def out_of_map(self) -> bool:
        """Zoom the map out by one place; False when another pane is active, or it is out."""
        return self.active == UTILIZATION and self.map.out()

    def other_view(self) -> bool:
        """Show the next view of the active pane; False when it has no other."""
        pane = self._panes[self.active]
        return isinstance(pane, ViewPane) and pane.turn()

    def zoom(self) -> None:
        """Give the active pane the whole stage, or take it back."""
        self.zoomed = not self.zoomed
        self._arrange()

    def watch_active(self) -> None:
        """Show the active pane."""
        self._arrange()

    def on_resize(self) -> None:
        """There may be room for all panes now, or no longer."""
        self._arrange()

    def _arrange(self) -> None:
        """Display all panes, or the active one."""
        single = self.single
        self.set_class(not single, "-all")
        for number, pane in self._panes.items():
            pane.display = not single or number == self.active
        self.post_message(self.Turned())

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """The pane that has the focus is the active one."""
        for node in event.widget.ancestors:
            if isinstance(node, Pane):
                self.active = node.number

    def preparing(self) -> Callable[[Frame], None]:
        """What a thread can compute of a frame beforehand: the views that are in sight.

        Those that look at whole iterations come after the others where they take long: their panes
        ask for them when they find that they are not there.
        """
        scenario, gallery, baseline = self.scenario, self._gallery, self.baseline
        late = _LATE if any(gallery.is_long(view, baseline) for view in _LATE) else ()
        panes = [pane for pane in self._view_panes() if pane.display]
        shown = [(pane.view, pane.thing) for pane in panes if pane.waits or pane.view not in late]
        single = self.is_attached and self.single  # before there is a screen nobody knows

        def prepare(frame: Frame) -> None:
            for view, thing in shown:
                gallery.shape(view, frame, thing, baseline)
            tree.root(scenario, frame)
            headline.jobs(scenario, frame)
            if single:
                headline.hot(scenario, frame)

        return prepare

    def prepare(self, frame: Frame) -> None:
        """Compute what every pane shows first, before there is a screen."""
        for pane in self._view_panes():
            self._gallery.shape(pane.view, frame, pane.thing, self.baseline)
        self.preparing()(frame)

    def catch_up(self) -> None:
        """Draw the panes that have waited for a thread."""
        for pane in self._view_panes():
            pane.catch_up()

    def admit(self) -> None:
        """Say on the panes that wait that they do."""
        for pane in self._view_panes():
            pane.admit()

    def _view_panes(self) -> list[ViewPane]:
        return [pane for pane in self._panes.values() if isinstance(pane, ViewPane)]
