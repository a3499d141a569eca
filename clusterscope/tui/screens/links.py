"""Links: every directed link of the cluster, to sort, filter, fail and jump to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message
from textual.widget import Widget

from clusterscope.engine.frame import Frame
from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.fabric.things import Thing
from clusterscope.tui import edits
from clusterscope.tui.keys import LINKS, SIDE, bindings
from clusterscope.tui.messages import Entered, Typed
from clusterscope.tui.panes.base import Framed
from clusterscope.tui.panes.views import legend
from clusterscope.tui.screens.side import Side
from clusterscope.tui.widgets.bars import Bar, Part
from clusterscope.tui.widgets.prompt import Prompt
from clusterscope.tui.widgets.table import Order, TableView
from clusterscope.views import all_links
from clusterscope.views.all_links import SORTS, LinkTable
from clusterscope.views.link_filter import HINT, matching
from clusterscope.views.text import sanitize

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer


class Links(Side):
    """The table of all links.

    Values are those of the frame; the order is kept while rows are read, so that the link under the
    cursor is the one that a key acts on. It is made anew when a key asks for it, and at every step
    while time runs with the cursor at the top.
    """

    ACTIONS = (*LINKS, *SIDE)
    BINDINGS = bindings(LINKS)
    FOOTER = ("filter", "sort", "reverse", "again", "fail", "explorer('undo')", "close", "help")

    class Listed(Message):
        """A thread has looked at all links.

        Attributes:
            frame: when.
            links: their numbers.
            order: rows to list; None to leave them as they are.
            line: filter that the order obeys.
            mistake: why the line that was typed cannot be read, "" when it can.
        """

        def __init__(
            self, frame: Frame, links: LinkTable, order: Order | None, line: str, mistake: str
        ) -> None:
            self.frame, self.links, self.order = frame, links, order
            self.line, self.mistake = line, mistake
            super().__init__()

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(explorer)
        self.table = TableView(ramp=("util", "peak"), id="links")
        self._pane = Framed(self.table)
        self._prompt = Prompt(id="prompt")
        self._mistake = Bar(id="mistake")
        self._by, self._falling, self._line = "util", True, explorer.first_filter
        explorer.first_filter = ""
        self._order: Order | None = None
        self._ordered_at: Frame | None = None
        self._filtered_by = ""
        self._busy = self._asked = self._sort_asked = False

    def body(self) -> Sequence[Widget]:
        """Table, filter, and what is wrong with that."""
        return (self._pane, self._prompt, self._mistake)

    def on_mount(self) -> None:
        """Keys go to the table."""
        self._mistake.display = False
        self.set_focus(self.table)

    # What is listed

    @property
    def follows(self) -> bool:
        """True when rows are sorted anew at every step."""
        return self.explorer.player.playing and self.table.cursor == 0

    def redraw(self, frame: Frame) -> None:  # noqa: ARG002 - the thread takes the newest
        """Refresh the values; the order too while it follows."""
        self._look(sort=self.follows)

    def _look(self, *, sort: bool) -> None:
        """Look at all links in a thread; what is asked meanwhile is done after that, at once."""
        self._sort_asked |= sort or self._order is None
        self._asked = True
        frame = self.frame
        if self._busy or frame is None:
            return
        self._busy, self._asked = True, False
        sort, self._sort_asked = self._sort_asked, False
        scenario, by, falling = self.scenario, self._by, self._falling
        line, in_force = self._line, self._filtered_by

        def work() -> None:
            links = all_links.link_table(scenario, frame)
            order, mistake, filtered = None, "", line
            if sort:
                try:
                    keep = matching(scenario, links, line)
                except SpecError as error:
                    keep, filtered = matching(scenario, links, in_force), in_force
                    mistake = str(error)
                rows = links.ordered(keep, by, falling)
                order = Order(rows, by, falling, all_links.sample(scenario, links))
            self.post_message(self.Listed(frame, links, order, filtered, mistake))

        self.in_thread(work, "links")

    @on(Listed)
    def _listed(self, message: Listed) -> None:
        self._busy = False
        if message.order is not None:
            self._order, self._ordered_at = message.order, message.frame
            self._filtered_by = message.line
            self._say(message.mistake)
        if self._order is not None:
            self.table.empty = ("no link is all of that at once",)
            table = all_links.as_table(self.scenario, message.links)
            self.table.draw_in_order(table, self._order)
        self._caption()
        if self._asked:
            self._look(sort=False)

    def broke(self, sentence: str) -> None:
        """Say what went wrong, and wait for it no longer."""
        self._busy = self._asked = False
        super().broke(sentence)

    def relook(self) -> None:
        """Draw the legend in another look; the table has been drawn."""
        self._caption()

    def _say(self, mistake: str) -> None:
        self._mistake.draw([Part(sanitize(mistake), "alert")])
        self._mistake.display = bool(mistake)

    def draw_head(self, frame: Frame) -> None:
        """Draw the head line and the title."""
        super().draw_head(frame)
        self._caption()

    def on_pointed(self) -> None:
        """Whether the order follows depends on where the cursor is."""
        self._caption()

    def _caption(self) -> None:
        """Say how many links are listed, in what order, and whether it is up to date."""
        order, frame = self._order, self.frame
        if order is None or frame is None:
            title = "links · looking …"
        else:
            share = f"{len(order.rows):,} of {self.scenario.fabric.links:,}"
            sorted_by = f"by {order.by} {'↓' if order.falling else '↑'}"
            if self.follows:
                sorted_by += ", sorted at every step"
            elif self._ordered_at is not None and self._ordered_at is not frame:
                then = self._ordered_at.step
                sorted_by += " as it was" if then == frame.step else f" as of step {then:,}"
                sorted_by += ", r sorts"
            words = [
                "links",
                share,
                f"/{self._filtered_by}" if self._filtered_by else "",
                sorted_by,
            ]
            title = " · ".join(word for word in words if word)
        self._pane.entitle(title)
        self._pane.subtitle(legend(self._pane))

    # Keys

    def action_sort(self) -> None:
        """Sort by the next column: numbers from the top, names from the first."""
        self._by = SORTS[(SORTS.index(self._by) + 1) % len(SORTS)]
        self._falling = self._by != all_links.BY_NAME
        self._look(sort=True)

    def action_reverse(self) -> None:
        """Turn the order around."""
        self._falling = not self._falling
        self._look(sort=True)

    def action_again(self) -> None:
        """Sort by what is true now."""
        self._look(sort=True)

    def action_filter(self) -> None:
        """Type a filter."""
        self._keys.display = False
        self._prompt.open("filter", self._line, HINT)

    def on_typed(self, message: Typed) -> None:
        """Filter while typing; what is given up lists all again."""
        self._line = message.text
        self._look(sort=True)
        if message.state != "changed":
            self._keys.display = True
            self.set_focus(self.table)

    def action_fail(self) -> None:
        """Fail the cable under the cursor, or restore it."""
        thing = self._link()
        if thing is not None:
            self.explorer.edit(edits.fail_or_restore, thing)

    def on_entered(self, message: Entered) -> None:
        """Back to the explorer, with the link selected and its lower end open in the tree."""
        try:
            link = self.scenario.names.find(message.key)
        except UnknownNameError:
            return
        fabric, names = self.scenario.fabric, self.scenario.names
        self.leave_to(link)
        self.explorer.stage.topology.reveal(names.of_vertex(int(fabric.cable_a[link.index >> 1])))

    def _link(self) -> Thing | None:
        key = self.name_selected
        return self.scenario.names.find(key) if key else None

    @property
    def name_selected(self) -> str:
        """Name of the link under the cursor, "" when none is listed."""
        return self.table.key_of(self.table.cursor)
