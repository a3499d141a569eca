"""Tenants: the jobs that share the fabric, who slows whom, and where each job's bytes are.

A thread looks at the jobs and draws the map; it begins anew when routes or health have changed, and
what it has found for a network is kept there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Container
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from clusterscope.engine.frame import Frame
from clusterscope.errors import UnknownNameError
from clusterscope.metrics.tenants import tenants
from clusterscope.tui.keys import SIDE, TENANTS, bindings
from clusterscope.tui.messages import Entered, Pointed
from clusterscope.tui.panes.base import Framed
from clusterscope.tui.panes.views import legend
from clusterscope.tui.screens.side import Side
from clusterscope.tui.widgets.grid import HeatMap
from clusterscope.tui.widgets.matrix import MatrixView
from clusterscope.tui.widgets.note import NoteView
from clusterscope.views.shapes import Grid, Note, Table
from clusterscope.views.tenants import isolated, job_map, sentences, tenant_table
from clusterscope.views.zoom import CLUSTER

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer

_WIDE = 110  # cells from which map and words are side by side
_MARGIN = 3  # lines of a matrix that are no rows


class _EndedError(Exception):
    """Nobody waits for the answer any more."""


class Tenants(Side):
    """Jobs as rows and columns; the one under the cursor has its links on the map."""

    ACTIONS = (*TENANTS, *SIDE)
    BINDINGS = bindings(TENANTS)
    FOOTER = ("why", "map", "explorer('undo')", "close", "help")

    class _Came(Message):
        """A thread has got somewhere: words on the way, at last tables."""

        def __init__(
            self, words: str, table: Table | None = None, note: Note | None = None
        ) -> None:
            self.words, self.table, self.note = words, table, note
            super().__init__()

    class _Mapped(Message):
        """A thread has drawn the map of a job."""

        def __init__(self, job: int, grid: Grid) -> None:
            self.job, self.grid = job, grid
            super().__init__()

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(explorer)
        self.matrix = MatrixView(("", "job", "all"), id="matrix")
        self.matrix.empty = ("looking at the jobs …",)
        self._map, self._note = HeatMap(id="links"), NoteView(id="words")
        self._top = Framed(self.matrix, id="who")
        self._left, self._right = Framed(self._map, id="where"), Framed(self._note, id="said")
        self._busy = self._asked = self._mapping = self._map_asked = False
        self._mapped: tuple[Frame, int] | None = None
        self._on_map = False

    def body(self) -> Sequence[Widget]:
        """The matrix, and below it the map of one job and what the matrix says."""
        return self._top, Container(self._left, self._right, id="below")

    def on_mount(self) -> None:
        """Keys go to the matrix."""
        self._top.entitle("tenants")
        self._right.entitle("what it says")
        self._arrange()
        self.set_focus(self.matrix)

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - the size is known by then
        """Map and words side by side, or one of them."""
        self._arrange()

    def _arrange(self) -> None:
        wide = self.size.width >= _WIDE
        self._left.display = wide or self._on_map
        self._right.display = wide or not self._on_map
        rows = min(len(self.scenario.program), max(1, self.size.height // 2 - _MARGIN))
        self._top.styles.height = rows + _MARGIN

    # Looking

    def redraw(self, frame: Frame) -> None:  # noqa: ARG002 - the thread takes the newest
        """Look at the jobs of a frame, and draw the map of the one that is marked."""
        self._look()
        self._draw_map()

    def _look(self) -> None:
        """Look at the jobs in a thread; what is asked meanwhile is done after that."""
        self._asked = True
        frame, scenario = self.frame, self.scenario
        if self._busy or frame is None:
            return
        self._busy, self._asked = True, False

        def work() -> None:
            worker = get_current_worker()

            def tell(name: str, done: int, of: int) -> None:
                if worker.is_cancelled:
                    raise _EndedError
                self.post_message(self._Came(f"{name}, {done + 1} of {of} …"))

            try:
                found = tenants(frame.network, tell)
                other = isolated(frame.network, tell)
            except _EndedError:
                return
            words = sentences(scenario, found, other)
            note = Note("what it says", (), words)
            self.post_message(self._Came("", tenant_table(scenario, frame), note))

        self.in_thread(work, "tenants")

    @on(_Came)
    def _came(self, message: _Came) -> None:
        if message.table is not None:
            self._busy = False
            self.matrix.draw(message.table)
        if message.note is not None:
            self._note.draw(message.note)
        note = self.matrix.shape.note if self.matrix.shape is not None else ""
        self._top.entitle(" · ".join(word for word in ("tenants", message.words or note) if word))
        if message.table is not None and self._asked:
            self._look()

    def broke(self, sentence: str) -> None:
        """Say what went wrong, and wait for it no longer."""
        self._busy = self._asked = self._mapping = self._map_asked = False
        super().broke(sentence)

    @property
    def job(self) -> int:
        """The job under the cursor."""
        return self.matrix.place

    def _draw_map(self) -> None:
        """Draw the links of the marked job in a thread."""
        self._map_asked = True
        frame, job, scenario = self.frame, self.job, self.scenario
        if self._mapping or frame is None or job >= len(scenario.program):
            return
        self._map_asked = False
        last = self._mapped
        if last is not None and last[0].network is frame.network and last[1] == job:
            return
        self._mapping, self._mapped = True, (frame, job)

        def work() -> None:
            grid = job_map(scenario, frame, job, CLUSTER)
            self.post_message(self._Mapped(job, grid))

        self.in_thread(work, "map")

    @on(_Mapped)
    def _drawn(self, message: _Mapped) -> None:
        self._mapping = False
        self._map.draw(message.grid)
        self._left.entitle(message.grid.title)
        self._left.subtitle(legend(self._left))
        if self._map_asked:
            self._draw_map()

    # Keys

    def on_pointed(self, message: Pointed) -> None:
        """Show the links of the job that the cursor has come to."""
        message.stop()
        if self.focused is self.matrix:
            self._draw_map()

    def on_entered(self, message: Entered) -> None:
        """Back to the explorer, with the link selected on which jobs meet, or the map's cell."""
        message.stop()
        try:
            thing = self.scenario.names.find(message.key)
        except UnknownNameError:
            self.say("this job meets no other")
            return
        self.leave_to(thing)

    def action_why(self) -> None:
        """Explain the job under the cursor."""
        from clusterscope.tui.screens.explain import Explain

        name = self.scenario.program[self.job].name
        self.app.push_screen(Explain(self.explorer, f"job {name}"))

    def action_map(self) -> None:
        """Show the map of the job, or the words."""
        self._on_map = not self._on_map
        self._arrange()
        self.set_focus(self.matrix)

    @property
    def name_selected(self) -> str:
        """Name of the link on which the job under the cursor meets its worst neighbor."""
        return self.matrix.key_of(self.matrix.cursor) or super().name_selected

    def action_close(self) -> None:
        """Stop what is computed; back to the explorer."""
        self.workers.cancel_node(self)
        self.dismiss()
