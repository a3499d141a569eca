"""Compare: two or more transports on the same flows, seed and failures, live while time runs.

Rivals have timelines of their own, which only the thread of this screen touches; of the explorer it
reads frames, which never change. While one comparison is computed, the newest frame waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.errors import ClusterscopeError, nearest
from clusterscope.metrics.compare import (
    MAIN,
    Comparison,
    TransportSide,
    rivals_of,
    same_jobs,
)
from clusterscope.metrics.contest import Contest
from clusterscope.spec import presets
from clusterscope.spec.presets import load
from clusterscope.tui.completion import WordCompleter
from clusterscope.tui.keys import COMPARE, SIDE, Action, bindings
from clusterscope.tui.messages import Entered, Pointed, Typed
from clusterscope.tui.screens.judging import EndedError, Judging
from clusterscope.tui.widgets.bars import Bar, Part
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.prompt import Prompt
from clusterscope.tui.widgets.versus import Versus
from clusterscope.views.compare import compare_bars, compare_table, verdict
from clusterscope.views.shapes import Note
from clusterscope.views.verdict import paragraph

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer

_SHOWN_AT_FIRST = 3
_FEW = 4  # names that fit side by side
_ROOMY = 30  # cells that a column needs for error bands and differences in time


_Wanted = tuple[Frame, tuple[Event, ...], tuple[str, ...], tuple[str, ...]]


class Compare(Judging):
    """Transports as columns; the marked one can become the base, or the explorer's own."""

    ACTIONS: ClassVar[Sequence[Action]] = (*COMPARE, *SIDE)
    BINDINGS = bindings(COMPARE)
    FOOTER = ("other", "switch", "base", "explorer('undo')", "close", "help")

    class _Came(Message):
        """The thread has got somewhere: words on the way, at last a comparison."""

        def __init__(self, words: str, comparison: Comparison | None = None) -> None:
            self.words, self.comparison = words, comparison
            super().__init__()

    class _Stopped(Message):
        """The thread has ended without a comparison."""

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(explorer)
        self.here = self.scenario.transport.name
        self.known = rivals_of(self.scenario)
        others = [name for name in self.known if name != self.here]
        others.sort(key=lambda name: name not in MAIN)
        self.chosen = [*([self.here] if self.known else []), *others][:_SHOWN_AT_FIRST]
        self.clusters: tuple[str, ...] = ()
        self.base = self.here
        self._met: tuple[str, ...] = ()
        self._busy = False
        self._wanted: _Wanted | None = None
        self._last: _Wanted | None = None

    def body(self) -> Sequence[Widget]:
        """Transports to choose from, the table, the verdict."""
        self._choice = Bar(id="transports")
        self._prompt = Prompt(id="prompt")
        self._versus = Versus(id="versus")
        self._verdict = NoteView(id="verdict")
        frame = Container(self._versus, id="comparing", classes="pane")
        frame.border_title = Content("compare")
        frame.border_subtitle = Content("← → marks a transport · numbers show or hide one")
        below = Container(self._verdict, id="judging", classes="pane")
        below.border_title = Content("verdict")
        return self._choice, frame, below, self._prompt

    def on_mount(self) -> None:
        """Keys go to the table."""
        self._versus.focus()
        self._draw_choice()
        if not self.known:
            self._verdict.draw(
                Note("verdict", (), ("This cluster has no scale-out fabric to compare.",))
            )

    # Computing

    def redraw(self, frame: Frame) -> None:  # noqa: ARG002 - the log that goes with it comes next
        """Have the newest frame compared."""
        self.call_later(self._want)

    def watch_events(self) -> None:
        """Have the newest log compared."""
        self.call_later(self._want)

    def _want(self) -> None:
        """Ask for a comparison of what the explorer shows now, unless that is on its way."""
        asked = tuple(self.chosen), self.clusters
        wanted = None if self.frame is None else (self.frame, self.events, *asked)
        if self.known and wanted is not None and wanted != self._last:
            self._wanted = self._last = wanted
            self._pump()

    def _pump(self) -> None:
        """Compare what is wanted, unless something is being compared."""
        if self._busy or self._wanted is None:
            return
        (frame, log, names, clusters), self._wanted = self._wanted, None
        self._busy = True

        def work() -> None:
            worker = get_current_worker()

            def tell(name: str, step: int, of: int) -> None:
                if worker.is_cancelled:
                    raise EndedError
                way = f" step {step:,} of {of:,}" if of - step > 1 else ""
                self.post_message(self._Came(f"computing {name}{way} …"))

            try:
                if clusters != self._met:
                    tell("the other clusters", 0, 0)
                    self.contest = Contest(self.scenario, [load(name) for name in clusters])
                    self._met = clusters
                done = self.contest.compare(frame, log, names, tell)
            except EndedError:
                self.post_message(self._Stopped())
            else:
                self.post_message(self._Came("", done))

        self.in_thread(work, "compare")

    @on(_Came)
    def _came(self, message: _Came) -> None:
        if message.comparison is not None:
            self._busy = False
            self.comparison = message.comparison
            self.show_comparison()
            self.judge()
        self._say_how_far(message.words)
        self._pump()

    @on(_Stopped)
    def _stopped(self) -> None:
        self._busy = False
        self._pump()

    def broke(self, sentence: str) -> None:
        """Say what went wrong, and wait for it no longer."""
        self._busy, self._wanted = False, None
        self._say_how_far("")
        super().broke(sentence)

    def _say_how_far(self, words: str) -> None:
        frame = self.query_one("#comparing")
        note = "" if self._versus.shape is None else self._versus.shape.note
        title = Content(" · ".join(part for part in ("compare", words or note) if part))
        if str(frame.border_title) != title.plain:
            frame.border_title = title

    # What is shown

    def show_comparison(self) -> None:
        """Draw the comparison and the verdict."""
        comparison = self.comparison
        if comparison is None or not comparison.sides:
            return
        labels = [side.label for side in comparison.sides]
        base = self.base if self.base in labels else labels[0]
        marked = min(self._versus.marked, len(labels) - 1)
        full = (self.size.width - 30) // len(labels) >= _ROOMY
        here = (
            f"{self.scenario.spec.name}: {self.here}" if comparison.sides[0].cluster else self.here
        )
        table = compare_table(comparison, base, here, full=full)
        self._versus.draw(table, compare_bars(comparison, base), marked)
        found = self.uses_of(comparison)
        told = (paragraph(comparison, found),) if found is not None else ()
        self._verdict.draw(Note("verdict", (), (*told, *verdict(comparison))))

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - the size is known by then
        """Say more, or less."""
        self.query_one("#judging").styles.height = max(6, self.size.height // 4)
        self.show_comparison()

    def _draw_choice(self) -> None:
        parts = [
            Part(
                f"{number} {'■' if name in self.chosen else '□'} {name}",
                "head" if name in self.chosen else "dim",
                number,
            )
            for number, name in enumerate(self.known, start=1)
        ]
        many = f"/ types one of {len(self.known)}" if len(self.known) > _FEW else ""
        more = Part(many, "dim", 0, right=True)
        self._choice.draw([Part("transports", "dim", 0), *parts, more])

    # Keys

    def action_choose(self, number: int) -> None:
        """Show a transport, or leave it out."""
        if number <= len(self.known):
            self._turn(self.known[number - 1])

    def action_other(self) -> None:
        """Type the name of a transport, of which there are more than digits, or of a cluster."""
        self._keys.display = False
        helper = WordCompleter((*self.known, *presets.names()))
        hint = "a transport, or a preset or file to compare with  tab completes"
        self._prompt.open("filter", "", hint, helper)

    def on_typed(self, message: Typed) -> None:
        """Show the transport or cluster that was typed, or leave it out."""
        if message.state == "changed":
            return
        self._keys.display = True
        self._versus.focus()
        name = message.text.strip()
        if message.state == "done" and name in self.known:
            self._turn(name)
        elif message.state == "done" and name:
            self._turn_cluster(name)

    def _turn_cluster(self, name: str) -> None:
        """Compare with another cluster, or no longer."""
        if name in self.clusters:
            self.clusters = tuple(other for other in self.clusters if other != name)
        elif name in presets.names() or name.endswith(presets.SUFFIX):
            try:
                same_jobs([self.scenario.spec, load(name)])
            except ClusterscopeError as error:
                self.say(str(error), wrong=True)
                return
            self.clusters = (*self.clusters, name)
        else:
            near = nearest(name, (*self.known, *presets.names()))
            hint = f": did you mean {near!r}?" if near else ": tab names those there are"
            self.say(f"there is no transport or cluster {name[:40]!r}{hint}", wrong=True)
            return
        self.workers.cancel_group(self, "compare")
        self._want()

    def _turn(self, name: str) -> None:
        """Show a transport, or leave it out."""
        if name in self.chosen and len(self.chosen) == 1:
            self.say("one has to stay")
            return
        chosen = {*self.chosen} ^ {name}
        first = [self.here] if self.here in chosen else []
        self.chosen = first + [n for n in self.known if n in chosen and n != self.here]
        self._draw_choice()
        # What is on its way is not wanted any more; its timelines stay as far as they are.
        self.workers.cancel_group(self, "compare")
        self._want()

    def _marked(self) -> TransportSide | None:
        sides = self.comparison.sides if self.comparison is not None else ()
        return sides[self._versus.marked] if sides else None

    def action_base(self) -> None:
        """Show differences against the marked transport."""
        marked = self._marked()
        if marked is not None:
            self.base = marked.label
            self.show_comparison()

    def on_pointed(self, message: Pointed) -> None:
        """Rows stand for nothing that could be selected."""
        message.stop()

    def on_entered(self, message: Entered) -> None:
        """Switch."""
        message.stop()
        self.action_switch()

    def action_switch(self) -> None:
        """Have the explorer go on under the marked transport."""
        side = self._marked()
        if side is None or (side.name == self.here and not self.abroad(side)):
            self.say(f"the explorer runs on {self.here} already; ← → mark another")
            return
        explorer, line = self.explorer, f"transport {side.name}"
        if self.abroad(side):
            line = f"open {self.clusters[self._place_abroad(side)]}"
        self._leave()
        explorer.post_message(Typed("command", line, "done"))

    def _place_abroad(self, side: TransportSide) -> int:
        """Place of another cluster's side among those that were typed."""
        sides = self.comparison.sides if self.comparison is not None else ()
        return [one for one in sides if self.abroad(one)].index(side)

    def action_close(self) -> None:
        """Stop what is computed; back to the explorer."""
        self._leave()

    def _leave(self) -> None:
        self._wanted = None
        self.workers.cancel_node(self)
        self.dismiss()
