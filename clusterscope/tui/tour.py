"""Tour: a few things to do with a cluster, each known to be done by what the explorer shows then.

Nothing here draws or presses a key. The explorer says what it shows; the tour compares that with
what it showed when the step began, and moves on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

HOT = 0.005  # a link this near to the hottest one is as good


@dataclass(frozen=True)
class Seen:
    """What the explorer shows at a moment.

    Attributes:
        selected: name of the selection.
        kind: what kind of thing it is.
        heat: its worst load, nan when there is none.
        hottest: load of the hottest link.
        opened: rows of the tree opened by hand so far.
        failed: failures by hand that are in the log.
        pane: name of the active pane.
        screens: side screens that were opened so far.
        baseline: True when a baseline is set.
        reports: reports written so far.
    """

    selected: str = ""
    kind: str = "cluster"
    heat: float = float("nan")
    hottest: float = float("nan")
    opened: int = 0
    failed: int = 0
    pane: str = ""
    screens: frozenset[str] = field(default_factory=frozenset)
    baseline: bool = False
    reports: int = 0


@dataclass(frozen=True)
class Step:
    """One thing to do.

    Attributes:
        ask: what to do and with which keys.
        praise: what was learned, shown with the next step.
        done: whether it is, from what was seen when the step began and what is seen now.
        needs: the action of the key table that it asks for, if not every explorer has it.
    """

    ask: str
    praise: str
    done: Callable[[Seen, Seen], bool]
    needs: str = ""


def _hot(_: Seen, now: Seen) -> bool:
    return now.kind in ("link", "cable", "nic") and now.heat >= now.hottest - HOT


STEPS: tuple[Step, ...] = (
    Step(
        "find the hottest link: 6 goes to the list, ↓ and enter select its rows",
        "that link paces somebody",
        _hot,
    ),
    Step(
        "open a branch: 1 goes to the tree, ↓ to a row with ▸, → opens it",
        "every row shows the worst load below it",
        lambda then, now: now.opened > then.opened,
    ),
    Step(
        "break something: select a spine (or any switch) in the tree and press x",
        "it is dead: X in the map, an event in pane 5",
        lambda then, now: now.failed > then.failed,
    ),
    Step(
        "see which job got slower: 4 goes to the jobs; slowdown 1 is none",
        "the job bar on top says the same of one job",
        lambda then, now: now.pane == "jobs" and then.pane != "jobs",
    ),
    Step(
        "take it back: u undoes, U puts it back",
        "undo is exact: all of it is computed anew",
        lambda then, now: now.failed < then.failed,
    ),
    Step(
        "compare transports: v, and esc when you have seen enough",
        "each row tells where the time goes",
        lambda then, now: "compare" in now.screens - then.screens,
    ),
    Step(
        "keep this frame as the baseline: b",
        "from now on numbers are told against it",
        lambda then, now: now.baseline and not then.baseline,
        needs="baseline",
    ),
    Step(
        "take the answer along: e writes a report",
        "report.html is in the folder that was named",
        lambda then, now: now.reports > then.reports,
    ),
)


def steps_for(actions: Collection[str]) -> tuple[Step, ...]:
    """Steps that can be done with some actions."""
    return tuple(step for step in STEPS if not step.needs or step.needs in actions)


class Tour:
    """Where a user is in the tour.

    Args:
        seen: what the explorer shows when the tour begins.
        steps: what to do.
    """

    def __init__(self, seen: Seen, steps: tuple[Step, ...] = STEPS) -> None:
        self._steps = steps
        self._then = seen
        self._at = 0
        self._praise = ""

    @property
    def over(self) -> bool:
        """True when there is nothing left to do."""
        return self._at >= len(self._steps)

    @property
    def words(self) -> tuple[str, str, str]:
        """Place ("3/8"), what was learned, what to do."""
        if self.over:
            return f"{len(self._steps)}/{len(self._steps)}", self._praise, "that was the tour"
        return f"{self._at + 1}/{len(self._steps)}", self._praise, self._steps[self._at].ask

    @property
    def keys(self) -> str:
        """What the tour's own keys do now."""
        return "t or esc closes this" if self.over else "t skips, esc ends the tour"

    def see(self, now: Seen) -> bool:
        """Look at what is shown now; True when a step was done by it."""
        if self.over or not self._steps[self._at].done(self._then, now):
            return False
        self._go_on(now, self._steps[self._at].praise)
        return True

    def skip(self, now: Seen) -> None:
        """Leave a step out."""
        if not self.over:
            self._go_on(now, "")

    def _go_on(self, now: Seen, praise: str) -> None:
        self._at, self._then, self._praise = self._at + 1, now, praise
