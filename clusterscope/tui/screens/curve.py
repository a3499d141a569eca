"""Curve: a collective of a job by message size, as nccl-tests measures it, and a log beside it.

A thread plays the sizes; what is chosen meanwhile is played after that. Curves that have been
played are kept, so that going back costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual import on
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from clusterscope.engine.frame import Frame
from clusterscope.errors import ClusterscopeError
from clusterscope.fabric.arrays import Health
from clusterscope.metrics.curve import ORDER, Curve, algorithms, curve, job_of, sizes_between
from clusterscope.spec.model import Algorithm, JobSpec
from clusterscope.spec.nccl_log import Log, read_log
from clusterscope.tui.keys import SIDE, bindings
from clusterscope.tui.messages import Typed
from clusterscope.tui.panes.base import Framed
from clusterscope.tui.screen_keys import CURVE
from clusterscope.tui.screens.side import Side
from clusterscope.tui.widgets.plot import Plot
from clusterscope.tui.widgets.prompt import Prompt
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.curve import curve_series, curve_table

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer

SIZES: Final = sizes_between(8, 8 * 2**30, 2)
_HINT = "file that all_reduce_perf printed; nothing: none"
_HIGHEST = 20  # lines of the chart, frame included


class _EndedError(Exception):
    """Nobody waits for the answer any more."""


class Curves(Side):
    """Time, algbw and busbw of a collective by size."""

    ACTIONS = (*CURVE, *SIDE)
    BINDINGS = bindings(CURVE)
    FOOTER = ("algorithm(1)", "collective(1)", "overlay", "job", "close", "help")

    class _Came(Message):
        """A thread has got somewhere: words on the way, at last a curve."""

        def __init__(
            self, words: str, job: JobSpec, found: Curve | None = None, health: object = None
        ) -> None:
            self.words, self.job, self.found, self.health = words, job, found, health
            super().__init__()

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(explorer)
        self.table, self._line = TableView(id="sizes"), Plot("bytes", id="line")
        self.table.empty = ("playing the sizes …",)
        self._top, self._below = Framed(self._line, id="by-size"), Framed(self.table, id="rows")
        self._prompt = Prompt(id="prompt")
        self.number = explorer.stage.job
        self.job = job_of(self.scenario.spec, self.number)
        self.log_: Log | None = None
        self._busy = self._stale = False
        self._known: dict[JobSpec, Curve] = {}
        self._health: tuple[Health, Health] | None = None

    def body(self) -> Sequence[Widget]:
        """The line, the table, and where a file is typed."""
        return self._top, self._below, self._prompt

    def on_mount(self) -> None:
        """Keys go to the table."""
        self.on_resize()
        self.set_focus(self.table)

    def on_resize(self) -> None:
        """The chart takes a third of the room."""
        self._top.styles.height = min(_HIGHEST, self.size.height // 3)

    def redraw(self, frame: Frame) -> None:
        """Play what is chosen in the network of the frame, unless it is there."""
        now = (frame.network.routed, frame.network.actual)
        before = self._health
        if before is None or not all(
            new.works_as(old) for new, old in zip(now, before, strict=True)
        ):
            self._known.clear()
            self._health = now
        self._show() if self.job in self._known else self._play()

    @property
    def found(self) -> Curve | None:
        """The curve that is shown; None while it is played."""
        return self._known.get(self.job)

    # Playing

    def _play(self) -> None:
        """Play the chosen job in a thread; what is chosen meanwhile is played after that."""
        self._stale = True
        if self._busy:
            return
        self._busy, self._stale = True, False
        scenario, job, health = self.scenario, self.job, self._health

        def work() -> None:
            worker = get_current_worker()

            def tell(words: str, done: int, of: int) -> None:  # noqa: ARG001 - words are enough
                if worker.is_cancelled:
                    raise _EndedError
                self.post_message(self._Came(f"playing {words} …", job))

            try:
                found = curve(scenario, job, SIZES, tell, health)
            except _EndedError:
                return
            except ClusterscopeError as error:
                self.post_message(self._Came(str(error), job))
                return
            self.post_message(self._Came("", job, found, health))

        self.in_thread(work, "curve")

    @on(_Came)
    def _came(self, message: _Came) -> None:
        if message.found is None and message.words.endswith("…"):
            self._top.entitle(message.words)
            return
        self._busy = False
        if message.found is not None and message.health is self._health:
            self._known[message.job] = message.found
        elif message.found is None and message.job == self.job:
            self.say(message.words, wrong=True)
        if self._stale and self.job not in self._known:
            self._play()
        elif self.job in self._known:
            self._show()

    def broke(self, sentence: str) -> None:
        """Say what went wrong, and wait for it no longer."""
        self._busy = self._stale = False
        super().broke(sentence)

    def _show(self) -> None:
        """Draw the chosen curve."""
        found = self.found
        if found is None:
            return
        table, series = curve_table(found, self.log_), curve_series(found, self.log_)
        self._line.draw(series)
        self.table.draw(table)
        self._top.entitle(f"{table.title} · {self.job.algorithm} · {series.title}")
        self._below.entitle(table.note or "by size")

    # Keys

    def action_algorithm(self, way: int) -> None:
        """The next algorithm that can run here, or the one before."""
        names = algorithms(self.scenario, self.job)
        here = names.index(self.job.algorithm) if self.job.algorithm in names else 0
        self._choose(algorithm=names[(here + way) % len(names)])

    def action_collective(self, way: int) -> None:
        """The next collective, by the algorithm that the library would choose."""
        here = [str(name) for name in ORDER].index(self.job.collective)
        auto: Algorithm = "auto"
        self._choose(collective=ORDER[(here + way) % len(ORDER)], algorithm=auto)

    def action_job(self) -> None:
        """The ranks and the collective of the next job."""
        count = len(self.scenario.spec.jobs)
        if count == 1:
            self.say("there is one job only")
            return
        self.number = (self.number + 1) % count
        self.job = job_of(self.scenario.spec, self.number)
        self.redraw_now()

    def _choose(self, **values: object) -> None:
        self.job = self.job.model_copy(update=values)
        self.redraw_now()

    def redraw_now(self) -> None:
        """Draw what is chosen now."""
        if self.frame is not None:
            self.redraw(self.frame)

    def action_overlay(self) -> None:
        """Type the file of a log."""
        self._keys.display = False
        self._prompt.open("filter", "", _HINT)

    def on_typed(self, message: Typed) -> None:
        """Put a log beside the curve."""
        message.stop()
        if message.state == "changed":
            return
        self._keys.display = True
        self.set_focus(self.table)
        if message.state == "done":
            self.overlay(message.text.strip())

    def overlay(self, path: str) -> None:
        """Put the log in a file beside the curve; none when there is no path."""
        try:
            self.log_ = read_log(path) if path else None
        except ClusterscopeError as error:
            self.say(str(error), wrong=True)
            return
        log = self.log_
        if log is not None and log.collective in ORDER and log.collective != self.job.collective:
            self.job = self.job.model_copy(
                update={"collective": log.collective, "algorithm": "auto"}
            )
        self.redraw_now()

    def action_close(self) -> None:
        """Stop what is played; back to the explorer."""
        self.workers.cancel_node(self)
        self.dismiss()
