"""Judging: runs the uses that a verdict rests on, once for each choice of transports and health."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.content import Content
from textual.message import Message
from textual.worker import get_current_worker

from clusterscope.metrics.compare import Comparison, TransportSide
from clusterscope.metrics.contest import Contest
from clusterscope.metrics.verdict import Use, uses
from clusterscope.tui.screens.side import Side

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer


class EndedError(Exception):
    """Nobody waits for the answer any more."""


class Judging(Side):
    """A screen with a comparison, whose transports are tried in each use by a thread."""

    class Judged(Message):
        """Another thread has run the uses that the verdict rests on."""

        def __init__(self, health: tuple[str, ...], found: tuple[Use, ...], words: str) -> None:
            self.health, self.found, self.words = health, found, words
            super().__init__()

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(explorer)
        self.comparison: Comparison | None = None
        self.contest = Contest(self.scenario)
        self._uses: dict[tuple[str, ...], tuple[Use, ...]] = {}
        self._judging: tuple[str, ...] = ()

    def show_comparison(self) -> None:
        """Draw the comparison and the verdict."""
        raise NotImplementedError

    def uses_of(self, comparison: Comparison) -> tuple[Use, ...] | None:
        """The uses of a choice of transports in their health; None before they are known."""
        return self._uses.get(comparison.health)

    def judge(self) -> None:
        """Have the uses run that the verdict rests on, once for each choice and health."""
        comparison = self.comparison
        if comparison is None or len(comparison.sides) < 2:
            return
        health = comparison.health
        if health in self._uses or health == self._judging:
            return
        self._judging = health
        self.workers.cancel_group(self, "uses")
        sides = comparison.networks

        def work() -> None:
            worker = get_current_worker()

            def tell(words: str, done: int, of: int) -> None:
                if worker.is_cancelled:
                    raise EndedError
                self.post_message(self.Judged((), (), f"trying {words}, {done + 1} of {of} …"))

            try:
                found = uses(sides, tell)
            except EndedError:
                return
            self.post_message(self.Judged(health, found, ""))

        self.in_thread(work, "uses")

    @on(Judged)
    def _judged(self, message: Judged) -> None:
        if message.health:
            self._uses[message.health] = message.found
            self._judging = ()
            self.show_comparison()
        words = " · ".join(word for word in ("verdict", message.words) if word)
        self.query_one("#judging").border_title = Content(words)

    def abroad(self, side: TransportSide) -> bool:
        """True for a cluster that is not the explorer's."""
        return bool(side.cluster) and side.cluster != self.scenario.spec.name
