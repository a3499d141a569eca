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
from clusterscope.metrics.compare import Comparison, Rivals, rivals_of
from clusterscope.tui.keys import COMPARE, Action, bindings
from clusterscope.tui.messages import Entered, Pointed, Typed
from clusterscope.tui.screens.side import Side
from clusterscope.tui.widgets.bars import Bar, Part
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.versus import Versus
from clusterscope.views.compare import compare_bars, compare_table, verdict
from clusterscope.views.shapes import Note

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer

_SHOWN_AT_FIRST = 3
_ROOMY = 30  # cells that a column needs for error bands and differences in time


_Wanted = tuple[Frame, tuple[Event, ...], tuple[str, ...]]


class _EndedError(Exception):
    """Nobody waits for the comparison any more."""


class Compare(Side):
    """Transports as columns; the marked one can become the base, or the explorer's own."""

    ACTIONS: ClassVar[Sequence[Action]] = COMPARE
    BINDINGS = bindings(COMPARE)

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
        self.chosen = [*([self.here] if self.known else []), *others][:_SHOWN_AT_FIRST]
        self.base = self.here
        self.comparison: Comparison | None = None
        self._rivals = Rivals(self.scenario)
        self._busy = False
        self._wanted: _Wanted | None = None
        self._last: _Wanted | None = None

    def body(self) -> Sequence[Widget]:
        """Transports to choose from, the table, the verdict."""
        self._choice = Bar(id="transports")
        self._versus = Versus(id="versus")
        self._verdict = NoteView(id="verdict")
        frame = Container(self._versus, id="comparing", classes="pane")
        frame.border_title = Content("compare")
        below = Container(self._verdict, id="judging", classes="pane")
        below.border_title = Content("verdict")
        return self._choice, frame, below

    def on_mount(self) -> None:
        """Keys go to the table."""
        self._versus.focus()
        self._draw_choice()
        if not self.known:
            self._verdict.draw(Note("verdict", (), ("This cluster has no NICs to compare.",)))

    # Computing

    def redraw(self, frame: Frame) -> None:  # noqa: ARG002 - the log that goes with it comes next
        """Have the newest frame compared."""
        self.call_later(self._want)

    def watch_events(self) -> None:
        """Have the newest log compared."""
        self.call_later(self._want)

    def _want(self) -> None:
        """Ask for a comparison of what the explorer shows now, unless that is on its way."""
        wanted = None if self.frame is None else (self.frame, self.events, tuple(self.chosen))
        if self.known and wanted is not None and wanted != self._last:
            self._wanted = self._last = wanted
            self._pump()

    def _pump(self) -> None:
        """Compare what is wanted, unless something is being compared."""
        if self._busy or self._wanted is None:
            return
        (frame, log, names), self._wanted = self._wanted, None
        self._busy = True

        def work() -> None:
            worker = get_current_worker()

            def tell(name: str, step: int, of: int) -> None:
                if worker.is_cancelled:
                    raise _EndedError
                way = f" step {step:,} of {of:,}" if of - step > 1 else ""
                self.post_message(self._Came(f"computing {name}{way} …"))

            try:
                done = self._rivals.compare(frame, log, names, tell)
            except _EndedError:
                self.post_message(self._Stopped())
            else:
                self.post_message(self._Came("", done))

        self.run_worker(work, thread=True, group="compare")

    @on(_Came)
    def _came(self, message: _Came) -> None:
        if message.comparison is not None:
            self._busy = False
            self.comparison = message.comparison
            self._show()
        self._say_how_far(message.words)
        self._pump()

    @on(_Stopped)
    def _stopped(self) -> None:
        self._busy = False
        self._pump()

    def _say_how_far(self, words: str) -> None:
        frame = self.query_one("#comparing")
        note = "" if self._versus.shape is None else self._versus.shape.note
        title = Content(" · ".join(part for part in ("compare", words or note) if part))
        if str(frame.border_title) != title.plain:
            frame.border_title = title

    # What is shown

    def _show(self) -> None:
        comparison = self.comparison
        if comparison is None or not comparison.sides:
            return
        names = [side.name for side in comparison.sides]
        base = self.base if self.base in names else names[0]
        marked = min(self._versus.marked, len(names) - 1)
        full = (self.size.width - 30) // len(names) >= _ROOMY
        table = compare_table(comparison, base, self.here, full=full)
        self._versus.draw(table, compare_bars(comparison, base), marked)
        self._verdict.draw(Note("verdict", (), verdict(comparison)))

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - the size is known by then
        """Say more, or less."""
        self._show()

    def _draw_choice(self) -> None:
        parts = [
            Part(
                f"{number} {'■' if name in self.chosen else '□'} {name}",
                "head" if name in self.chosen else "dim",
                number,
            )
            for number, name in enumerate(self.known, start=1)
        ]
        self._choice.draw([Part("transports", "dim", 0), *parts])

    # Keys

    def action_choose(self, number: int) -> None:
        """Show a transport, or leave it out."""
        if number > len(self.known):
            return
        name = self.known[number - 1]
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

    def _marked(self) -> str:
        sides = self.comparison.sides if self.comparison is not None else ()
        return sides[self._versus.marked].name if sides else ""

    def action_base(self) -> None:
        """Show differences against the marked transport."""
        if self._marked():
            self.base = self._marked()
            self._show()

    def on_pointed(self, message: Pointed) -> None:
        """Rows stand for nothing that could be selected."""
        message.stop()

    def on_entered(self, message: Entered) -> None:
        """Switch."""
        message.stop()
        self.action_switch()

    def action_switch(self) -> None:
        """Have the explorer go on under the marked transport."""
        name = self._marked()
        if not name or name == self.here:
            self.say(f"the explorer runs on {self.here} already; ← → mark another")
            return
        explorer = self.explorer
        self._leave()
        explorer.post_message(Typed("command", f"transport {name}", "done"))

    def action_close(self) -> None:
        """Stop what is computed; back to the explorer."""
        self._leave()

    def _leave(self) -> None:
        self._wanted = None
        self.workers.cancel_node(self)
        self.dismiss()
