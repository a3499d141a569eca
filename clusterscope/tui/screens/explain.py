"""Explain: what holds the selection back, who shares that, and what would help.

A thread finds the bottleneck first and then tries one change after another; closing ends it.
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
from clusterscope.engine.network import Network
from clusterscope.errors import ClusterscopeError, UnknownNameError
from clusterscope.metrics.explain import Explanation, explain
from clusterscope.metrics.remedies import Tried, remedies
from clusterscope.metrics.subject import Subject, of_thing, subject_of
from clusterscope.tui.completion import WordCompleter
from clusterscope.tui.keys import EXPLAIN, SIDE, bindings
from clusterscope.tui.messages import Entered, Pointed, Typed
from clusterscope.tui.panes.base import Framed
from clusterscope.tui.screens.side import Side
from clusterscope.tui.theme import palette
from clusterscope.tui.widgets.matrix import MatrixView
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.prompt import Prompt
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.explain import explain_note, sharers_table, tried_table
from clusterscope.views.text import sanitize

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer

_WIDE = 110  # cells from which facts and sharers are side by side
_HINT = "a job, a link, a device, or NODE/GPU -> NODE/GPU"


class _EndedError(Exception):
    """Nobody waits for the answer any more."""


class Explain(Side):
    """Why something is as fast as it is.

    Args:
        explorer: the explorer below.
        text: what to explain; its selection when left out.
    """

    ACTIONS = (*EXPLAIN, *SIDE)
    BINDINGS = bindings(EXPLAIN)
    FOOTER = ("do", "ask", "explorer('undo')", "close", "help")

    class _Came(Message):
        """A thread has got somewhere."""

        def __init__(
            self,
            network: Network,
            words: str,
            found: Explanation | None = None,
            tried: tuple[Tried, ...] | None = None,
        ) -> None:
            self.network, self.words, self.found, self.tried = network, words, found, tried
            super().__init__()

    def __init__(self, explorer: Explorer, text: str = "") -> None:
        super().__init__(explorer)
        self._text = text
        self._found: Explanation | None = None
        self._tried: tuple[Tried, ...] | None = None
        self._explained: tuple[Network, str] | None = None
        self._note = NoteView(id="why")
        self.sharers = MatrixView(ramp=("share",), id="sharers")
        self.changes = TableView(id="changes")
        self.sharers.empty = ("no job loads it",)
        self.changes.empty = ("trying …",)
        self._top, self._beside = Framed(self._note), Framed(self.sharers)
        self._below = Framed(self.changes, id="helping")
        self._prompt = Prompt(id="prompt")

    def body(self) -> Sequence[Widget]:
        """Facts and who shares the bottleneck; below them what would help."""
        return Container(self._top, self._beside, id="facts"), self._below, self._prompt

    def on_mount(self) -> None:
        """Keys go to the changes."""
        self._top.entitle("explain")
        self._beside.entitle("who shares it")
        self._below.entitle("what would help")
        self._arrange()
        self.set_focus(self.changes)

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - the size is known by then
        """Facts and sharers side by side, or one above the other."""
        self._arrange()

    def _arrange(self) -> None:
        self.set_class(self.size.width >= _WIDE, "-beside")

    # Explaining

    def redraw(self, frame: Frame) -> None:
        """Explain anew when routes or health have changed."""
        if self._explained is None or self._explained != (frame.network, self._text):
            self._begin(frame)

    def _begin(self, frame: Frame) -> None:
        """Explain and try in a thread; what is on its way is not wanted any more."""
        self.workers.cancel_group(self, "explain")
        network, text, thing = frame.network, self._text, self.explorer.selection
        job = self.explorer.stage.job
        scenario = self.scenario
        self._explained = network, text

        def subject() -> Subject:
            if text:
                return subject_of(scenario, network, text)
            if thing.kind == "cluster" and scenario.program:
                return Subject(scenario.program[job].name, "job", job)
            return of_thing(scenario, network, thing)

        def work() -> None:
            worker = get_current_worker()

            def tell(words: str, done: int, of: int) -> None:
                if worker.is_cancelled:
                    raise _EndedError
                self.post_message(self._Came(network, f"trying {done + 1} of {of}: {words} …"))

            try:
                found = explain(subject(), network)
                self.post_message(self._Came(network, "", found))
                tried = remedies(found, network, tell)
            except _EndedError:
                return
            if not worker.is_cancelled:
                self.post_message(self._Came(network, "", found, tried))

        self.in_thread(work, "explain")

    @on(_Came)
    def _came(self, message: _Came) -> None:
        if self._explained is None or message.network is not self._explained[0]:
            return
        if message.found is not None:
            self._found, self._tried = message.found, message.tried
            self._show()
        words = ("what would help", message.words)
        self._below.entitle(" · ".join(word for word in words if word))

    def _show(self) -> None:
        found = self._found
        if found is None:
            return
        note = explain_note(self.scenario, found, self._tried)
        table = sharers_table(self.scenario, found)
        self._note.draw(note)
        self._top.entitle(f"explain · {note.title}")
        self.sharers.draw(table)
        self._beside.entitle(table.title)
        if self._tried is not None:
            self.changes.empty = ("nothing here can be changed",)
            self.changes.draw(tried_table(self._tried))
            self._say_how()

    def broke(self, sentence: str) -> None:
        """Say what went wrong, and wait for it no longer."""
        self.changes.empty = (sentence,)
        self.changes.reshaped()
        super().broke(sentence)

    # Keys

    def action_ask(self) -> None:
        """Type what to explain."""
        self._keys.display = False
        jobs = [program.name for program in self.scenario.program]
        self._prompt.open("filter", "", _HINT, WordCompleter(jobs))

    def on_typed(self, message: Typed) -> None:
        """Explain what was typed."""
        message.stop()
        if message.state == "changed":
            return
        self._keys.display = True
        self.set_focus(self.changes)
        text = message.text.strip()
        frame = self.frame
        if message.state != "done" or not text or frame is None:
            return
        try:
            subject_of(self.scenario, frame.network, text)
        except ClusterscopeError as error:
            self.say(str(error), wrong=True)
            return
        self._text = text
        self._begin(frame)

    def on_pointed(self, message: Pointed) -> None:
        """Rows are selected here alone; how to do a change has room below them."""
        message.stop()
        self._say_how()

    def _say_how(self) -> None:
        tried = self._tried or ()
        if tried:
            one = tried[min(self.changes.place, len(tried) - 1)]
            words = sanitize(f"{'not tried' if one.why_not else 'how'}: {one.why_not or one.how}")
            self._below.subtitle([(words, palette(self.app).dim)])

    def on_entered(self, message: Entered) -> None:
        """On a change: make it. On a job that shares the link: back, with the link selected."""
        message.stop()
        if self.focused is self.changes:
            self.action_do()
            return
        try:
            self.leave_to(self.scenario.names.find(message.key))
        except UnknownNameError:
            return

    def action_do(self) -> None:
        """Make the change under the cursor: the explorer goes on with it."""
        tried = self._tried or ()
        if not tried:
            return
        one = tried[self.changes.place]
        line = command_of(one)
        if one.why_not or not line:
            self.say(one.why_not or f"this cannot be done from here: {one.how}")
            return
        explorer = self.explorer
        self.action_close()
        explorer.post_message(Typed("command", line, "done"))

    @property
    def name_selected(self) -> str:
        """Name of the bottleneck."""
        if self._found is not None and self._found.bottleneck >= 0:
            return self.scenario.names.link(self._found.bottleneck)
        return super().name_selected

    def action_close(self) -> None:
        """Stop what is tried; back to where it was asked."""
        self.workers.cancel_node(self)
        self.dismiss()


def command_of(one: Tried) -> str:
    """The explorer's command for a change; "" when there is none."""
    if one.how.startswith(":"):
        return one.how[1:]
    if one.how.startswith("--transport "):
        return f"transport {one.how.removeprefix('--transport ')}"
    if one.how.startswith("--set "):
        return "set " + one.how.removeprefix("--set ").replace(" --set ", " ")
    return ""
