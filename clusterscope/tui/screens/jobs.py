"""Jobs: one iteration of a job as a chart, what bounds it, and its plan, changed as one looks.

A change makes another plan beside the explorer's, which is shown at once with the difference to
the one before; leaving the screen goes on with it, and `u` takes it back. A thread does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Container
from textual.message import Message
from textual.widget import Widget

from clusterscope.engine.frame import Frame
from clusterscope.errors import ClusterscopeError, UnknownNameError
from clusterscope.fabric.things import Thing
from clusterscope.metrics.planned import JobFacts
from clusterscope.spec.replan import FIELDS, parse_changes, planned, replanned, stepped
from clusterscope.tui import headline
from clusterscope.tui.completion import WordCompleter
from clusterscope.tui.keys import SIDE, bindings
from clusterscope.tui.library import Opened
from clusterscope.tui.messages import Entered, Pointed, Reopen, Typed
from clusterscope.tui.mishaps import guarded
from clusterscope.tui.panes.base import Framed, headed
from clusterscope.tui.panes.job_pages import JobPages
from clusterscope.tui.replanning import Bench, Wish, Worked, job_shown
from clusterscope.tui.screen_keys import JOBS
from clusterscope.tui.screens.side import Side
from clusterscope.tui.start import Start
from clusterscope.tui.theme import palette
from clusterscope.tui.widgets.gantt import Gantt
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.prompt import Prompt
from clusterscope.tui.widgets.table import TableView
from clusterscope.views import plan as shown
from clusterscope.views.group_map import group_map
from clusterscope.views.shapes import Grid, Table

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer

_WIDE = 150  # cells from which what the job reaches is beside the pages
_TALL = 32  # lines from which it is below them
_CORNERS = 4  # cells of a frame's bottom that are no words
_HINT = "FIELD=VALUE, as tp=4 pp=8; dp follows"


class Jobs(Side):
    """A job's iteration, plan, phases, groups and memory."""

    ACTIONS = (*JOBS, *SIDE)
    BINDINGS = bindings(JOBS)
    FOOTER = ("change(1)", "change(-1)", "plan", "page", "around", "explorer('undo')", "close")

    class _Came(Message):
        """A thread has worked out a job."""

        def __init__(self, worked: Worked) -> None:
            self.worked = worked
            super().__init__()

    class _Mapped(Message):
        """A thread has drawn a group on the map."""

        def __init__(self, grid: Grid) -> None:
            self.grid = grid
            super().__init__()

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(explorer)
        self.bench = Bench(
            explorer.player.timeline, job_shown(explorer.scenario, explorer.stage.job)
        )
        self.gantt, self.plan = Gantt(id="gantt"), TableView(id="fields")
        self.beside = NoteView(id="reached")
        runs = bool(self.scenario.program)
        self.plan.empty = ("working it out …" if runs else "this cluster runs no job",)
        self._top = Framed(self.gantt, id="iteration")
        self._left = Framed(self.plan, id="plan")
        self.pages = JobPages()
        self._right = Framed(self.beside, id="beside")
        self._prompt = Prompt(id="prompt")
        self._pending: list[Wish] = []  # what no thread has begun with
        self._begun = False  # a thread is at a change
        self._busy = self._stale = False
        self._close_up = False
        self._leaving: Callable[[], None] | None = None

    def body(self) -> Sequence[Widget]:
        """The chart; below it the plan, a page of rows, and what the job reaches."""
        told = Container(self.pages, self._right, id="told")
        return self._top, Container(self._left, told, id="below"), self._prompt

    def on_mount(self) -> None:
        """Keys go to the plan."""
        self._right.entitle("what it reaches")
        self._arrange()
        self._foreshow()
        self.set_focus(self.plan)

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - the size is known by then
        """What the job reaches has a pane of its own where there is room."""
        self._arrange()

    def _arrange(self) -> None:
        wide, tall = self.size.width >= _WIDE, self.size.height >= _TALL
        self.set_class(wide, "-wide")
        self.pages.show_page(figures=not (wide or tall))
        self._right.display = wide or (tall and self.pages.page != "map")
        self._top.styles.height = min(self.gantt.lines + 2, max(6, self.size.height // 2))

    # Working out

    def redraw(self, frame: Frame) -> None:  # noqa: ARG002 - the thread takes the newest
        """Work the job out at a new frame."""
        self._work()

    def _work(self) -> None:
        """Do what is asked for in a thread; what is asked meanwhile is done after that."""
        self._stale = True
        frame = self.frame
        if self._busy or frame is None or not self.scenario.program:
            return
        self._busy, self._stale = True, False
        wishes, self._pending = self._pending, []
        self._begun = bool(wishes)
        bench, job, log = self.bench, self.bench.job, self.explorer.player.timeline.log

        def work() -> None:
            worked = bench.work_out(wishes, frame, log, job)
            if worked.tries and worked.frame is not None:
                # What the head line says of a frame is worked out here, where nobody waits for it.
                scenario, player = worked.timeline.scenario, self.explorer.player
                headline.short(scenario, worked.frame, player, job)
            self.post_message(self._Came(worked))

        self.in_thread(work, "jobs")

    @on(_Came)
    def _came(self, message: _Came) -> None:
        self._busy = self._begun = False
        self.bench.shown = worked = message.worked
        if self._leaving is not None and not self._pending:
            self._leaving()
            return
        if worked.refused:
            self._refuse(worked.refused)
        self._show()
        for action in worked.unmet:
            super().action_explorer(action)
        if self._stale or self._pending:
            self._work()

    def broke(self, sentence: str) -> None:
        """Say what went wrong, and wait for it no longer."""
        self._busy = self._begun = False
        self._pending, self._leaving = [], None
        super().broke(sentence)

    def _refuse(self, sentence: str) -> None:
        """Say why a plan is not possible, until the next one."""
        self.say(sentence, wrong=True)
        self._top.subtitle([(sentence, palette(self.app).alert)])

    # Drawing

    def draw_head(self, frame: Frame) -> None:
        """Draw the head line; under another plan what it says of that."""
        tried = self.bench.frame
        if self._busy or not self.bench.tries or tried is None:
            super().draw_head(frame)
            return
        player, job = self.explorer.player, self.bench.job
        self._head.draw(headline.short(self.bench.scenario, tried, player, job))

    def _show(self) -> None:
        """Draw what is known of the job; what goes wrong is said."""
        guarded(self._draw, self.broke)()

    def _foreshow(self) -> None:
        """Draw the plan of a job that is being worked out, so that keys find its fields."""
        if self.scenario.program:
            values = planned(self.bench.scenario.spec, self.bench.job).values
            self.plan.draw(_narrow(shown.fields_table(values)))
            self._explain_field()

    def _draw(self) -> None:
        facts, before = self.bench.facts, self.bench.before
        if facts is None:
            return
        if self.frame is not None:
            self.draw_head(self.frame)
        self._top.entitle(shown.title(facts))
        self.gantt.draw(facts.spans, shown.headline(facts, before), self._window(facts))
        self.plan.draw(_narrow(shown.plan_table(facts, before)))
        note = shown.facts_note(facts, before)
        self.beside.draw(note)
        self._left.entitle(
            f"plan · {self.bench.tries} tried · esc keeps" if self.bench.tries else "plan"
        )
        self._explain_field()
        self._arrange()
        if self.pages.draw(self.bench.scenario, facts, note):
            self._draw_map(facts)

    def _draw_map(self, facts: JobFacts) -> None:
        """Draw the group on the map of the cluster, in a thread."""
        frame = self.bench.frame
        if frame is None:
            return
        scenario, job = self.bench.scenario, facts.job
        cut, number = self.pages.cut, self.pages.number

        def work() -> None:
            self.post_message(self._Mapped(group_map(scenario, frame, job, cut, number)))

        self.in_thread(work, "map", exclusive=True)

    @on(_Mapped)
    def _mapped(self, message: _Mapped) -> None:
        self.pages.draw_map(message.grid)

    def _window(self, facts: JobFacts) -> tuple[float, float] | None:
        """Seconds of the phase under the cursor, when one looks close."""
        if not self._close_up or self.pages.page != "phases" or not facts.sent:
            return None
        phase = facts.sent[min(self.pages.table.place, len(facts.sent) - 1)].phase
        own = [s for s in facts.spans if s.name == phase or s.name.startswith(f"{phase}: ")]
        return (min(s.begin_s for s in own), max(s.end_s for s in own)) if own else None

    def _explain_field(self) -> None:
        """Say in the frame what the field under the cursor is."""
        words = FIELDS.get(self.field, "")
        room = self._left.outer_size.width - _CORNERS
        self._left.subtitle([(headed((words,), room), palette(self.app).dim)])

    # Keys

    @property
    def field(self) -> str:
        """Field of the plan under the cursor."""
        return self.plan.key_of(self.plan.cursor)

    def action_change(self, way: int) -> None:
        """Give the field under the cursor its next possible value, up or down."""
        name, job = self.field, self.bench.job
        if name:
            self._ask(lambda spec: stepped(spec, job, name, way))

    def _ask(self, wish: Wish) -> None:
        self._top.subtitle([])
        self._pending.append(wish)
        self._work()

    def action_plan(self, begun: str = "") -> None:
        """Type another plan."""
        self._keys.display = False
        self._prompt.open("filter", begun, _HINT, WordCompleter([f"{name}=" for name in FIELDS]))

    def on_typed(self, message: Typed) -> None:
        """Try the plan that was typed."""
        message.stop()
        if message.state == "changed":
            return
        self._keys.display = True
        self.set_focus(self.plan)
        text, job = message.text.strip(), self.bench.job
        if message.state != "done" or not text:
            return
        try:
            changes = parse_changes(text)
        except ClusterscopeError as error:
            self._refuse(str(error))
            return
        self._ask(lambda spec: replanned(spec, job, changes))

    def action_explorer(self, action: str) -> None:
        """Undo and redo are those of the plan as long as one was tried."""
        plans = {"undo": self.bench.tries, "redo": self.bench.shown.undone}.get(action)
        if plans is None or not (plans or self._busy):
            super().action_explorer(action)
        else:
            self._ask(action)

    def action_page(self) -> None:
        """Turn to the next page."""
        self.pages.turn(figures=not (self.size.width >= _WIDE or self.size.height >= _TALL))
        self._show()

    def action_group(self, way: int) -> None:
        """Look at the next group of the cut, or at the one before, on the map or in rows."""
        if self.pages.page not in ("places", "map"):
            self.pages.page = "places"
        self.pages.number += way
        self._show()

    def action_around(self) -> None:
        """Look close at the phase under the cursor, or at the whole iteration again."""
        self._close_up = not self._close_up
        self._show()

    def action_job(self) -> None:
        """Go on to the next job; what was tried for this one stays."""
        count = len(self.scenario.program)
        if count == 1:
            self.say("there is one job only")
            return
        self.pages.look_at("")
        self.bench.job = (self.bench.job + 1) % count
        self._foreshow()
        self._work()

    def on_pointed(self, message: Pointed) -> None:
        """Follow the cursor: rows are selected here alone."""
        message.stop()
        self._explain_field()
        if self.bench.facts is not None and self._close_up and self.focused is self.pages.table:
            self._show()

    def on_entered(self, message: Entered) -> None:
        """On a field: type it. On a cut: its groups. On a phase or place: back to it."""
        message.stop()
        if self.focused is self.plan:
            self.action_plan(f"{message.key}=")
        elif self.pages.page == "groups":
            self.pages.look_at(message.key)
            self.pages.page = "places"
            self._show()
        elif message.key:
            try:
                self.leave_to(self.scenario.names.find(message.key))
            except UnknownNameError:
                return
        elif self.pages.page == "phases":
            self.say("no link bounds it: it has as long as the computing takes")

    # Leaving

    def leave_to(self, thing: Thing) -> None:
        """Back to the explorer, with a thing selected there, under the plan that is shown."""
        if self._busy:
            self._leaving = lambda: self.leave_to(thing)
        elif self.bench.tries:
            self._reopen(self.scenario.names.thing(thing))
        else:
            super().leave_to(thing)

    def action_close(self) -> None:
        """Back to the explorer, which goes on under the plan that is shown."""
        if self._busy and self._changed:
            self._leaving = self.action_close
        elif self.bench.tries:
            self._reopen("")
        else:
            self.workers.cancel_node(self)
            self.dismiss()

    @property
    def _changed(self) -> bool:
        """True when a plan was tried, or is about to be."""
        return bool(self.bench.tries or self._pending or self._begun)

    def _reopen(self, selected: str) -> None:
        timeline, step = self.bench.timeline, self.explorer.player.step
        words = f"{self.scenario.spec.name} with another plan"
        self.post_message(Reopen(words, lambda: Opened(timeline, Start(step, selected))))


def _narrow(table: Table) -> Table:
    """A plan without what its fields mean, which the frame says."""
    return Table(table.title, table.columns[:-1], table.rows, table.keys, table.note)
