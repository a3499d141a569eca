"""Validation: published numbers, derived again; a case beside the list of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from textual import events, on
from textual.message import Message
from textual.worker import Worker, get_current_worker

from clusterscope.tui.keys import VALIDATION, bindings
from clusterscope.tui.messages import Entered, Pointed
from clusterscope.tui.mishaps import guarded
from clusterscope.tui.screens.beside import Beside
from clusterscope.tui.widgets.bars import Part
from clusterscope.units import counted
from clusterscope.validation import words
from clusterscope.validation.cases import Case, cases
from clusterscope.validation.run import derive
from clusterscope.validation.shapes import case_note, case_table, waiting_note
from clusterscope.validation.summary import summarize
from clusterscope.validation.verdict import Result
from clusterscope.views.text import sanitize

_WIDE = 110  # cells from which the case stands beside the list


class Validation(Beside):
    """Cases with their verdicts; the one under the cursor in full.

    Args:
        results: what has been derived already, by case.
        derive: derives a case.
    """

    ACTIONS = VALIDATION
    BINDINGS = bindings(VALIDATION)
    FOOTER = ("all", "one", "filter", "close", "help")
    HINT = "TOPO, band, fail, ring …"

    class Derived(Message):
        """The thread has derived a case."""

        def __init__(self, result: Result) -> None:
            self.result = result
            super().__init__()

    class Ended(Message):
        """The thread has nothing more to do; `sentence` says what went wrong, if anything."""

        def __init__(self, sentence: str = "") -> None:
            self.sentence = sentence
            super().__init__()

    def __init__(
        self,
        results: Mapping[str, Result] | None = None,
        derive: Callable[[Case], Result] = derive,
    ) -> None:
        super().__init__()
        self.results: dict[str, Result] = dict(results or {})
        self._derive = derive
        self._waiting: list[Case] = []
        self._worker: Worker[None] | None = None
        self.listing.empty = ("no case is called so",)

    def on_resize(self, event: events.Resize) -> None:
        """Put the case beside the list, or below it."""
        self.set_class(event.size.width < _WIDE, "-stacked")

    @property
    def listed(self) -> Sequence[Case]:
        """Cases that hold what was typed, in id, title, role or verdict."""
        wanted = self.typed.casefold()
        return [case for case in cases() if wanted in self._words(case)]

    @property
    def working(self) -> bool:
        """True while a thread derives cases."""
        return self._worker is not None

    def _words(self, case: Case) -> str:
        result = self.results.get(case.id)
        verdict = result.verdict if result else ""
        return f"{case.id} {case.title} {case.role} {verdict}".casefold()

    def draw(self) -> None:
        """Draw the list, the case under its cursor, and how far things are."""
        listed = self.listed
        self.listing.draw(case_table(listed, self.results))
        found = f"{len(listed)} of {counted(len(cases()), 'case')}"
        self.entitle(f"{found} · /{self.typed}" if self.typed else found)
        self._explain()
        self._say_how_far()

    def _explain(self) -> None:
        case = self._case()
        if case is not None:
            result = self.results.get(case.id)
            self.explain(case_note(result) if result else waiting_note(case))

    def _say_how_far(self) -> None:
        done = [self.results[case.id] for case in cases() if case.id in self.results]
        told = words.headline(summarize(done)) if done else "derived by the engine, not looked up"
        if self._waiting:
            now = self._waiting[0]
            told = f"{len(self._waiting)} to go: {now.id} {now.title} …"
        self.head.draw([Part("validation", "head", 0), Part(told, "dim", 1)])

    def _case(self) -> Case | None:
        key = self.listing.key_of(self.listing.cursor)
        return next((case for case in cases() if case.id == key), None)

    # Deriving

    def _start(self, wanted: Sequence[Case]) -> None:
        """Derive cases in a thread, one after another."""
        self._waiting = list(wanted)
        waiting = tuple(wanted)

        def work() -> None:
            worker = get_current_worker()
            for case in waiting:
                if worker.is_cancelled:
                    return
                self.post_message(self.Derived(self._derive(case)))
            self.post_message(self.Ended())

        told = guarded(work, lambda sentence: self.post_message(self.Ended(sentence)))
        self._worker = self.run_worker(told, thread=True, group="validation", exclusive=True)
        self._say_how_far()

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
        self._worker, self._waiting = None, []
        self._say_how_far()

    @on(Derived)
    def _derived(self, message: Derived) -> None:
        result = message.result
        self.results[result.case.id] = result
        self._waiting = [case for case in self._waiting if case.id != result.case.id]
        self.draw()

    @on(Ended)
    def _ended(self, message: Ended) -> None:
        self._stop()
        if message.sentence:
            self.notify(sanitize(message.sentence), severity="error", markup=False)

    # Keys

    def action_one(self) -> None:
        """Derive the case under the cursor."""
        case = self._case()
        if case is not None and not self.working:
            self._start([case])

    def action_all(self) -> None:
        """Derive all that are listed, or stop."""
        if self.working:
            self._stop()
        else:
            self._start(self.listed)

    def on_entered(self, message: Entered) -> None:
        """Derive the case that was clicked or entered."""
        message.stop()
        self.action_one()

    def on_pointed(self, message: Pointed) -> None:
        """Explain the case under the cursor."""
        message.stop()
        self._explain()

    def action_sort(self) -> None:
        """Sort the list by its next column."""
        self.listing.sort_next()
        self._explain()

    def leave(self) -> None:
        """Stop, and go back."""
        self._stop()
        super().leave()
