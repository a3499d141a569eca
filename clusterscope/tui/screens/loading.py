"""Loading: the first thing on the screen, while a cluster is built in a thread."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

_PARTS = 4


class Loading(Screen[None]):
    """What is being opened, and how far that is.

    Args:
        what: what is being opened.
        start: called once the line can be seen: threads that import leave a terminal no time.
    """

    def __init__(self, what: str, start: Callable[[], object]) -> None:
        super().__init__()
        self._line = Static(_words(what, 0, "starting the engine"), id="line", markup=False)
        self._what = what
        self._start = start

    def compose(self) -> ComposeResult:
        """The line."""
        yield self._line

    def on_mount(self) -> None:
        """Begin when the line has been painted."""
        self.call_after_refresh(self.set_timer, 0.01, self._start)

    def say(self, done: int, words: str) -> None:
        """Tell how many parts are done, and what the next one is."""
        self._line.update(_words(self._what, done, words))


def _words(what: str, done: int, words: str) -> str:
    return f"opening {what} …\n{'■' * done}{'□' * (_PARTS - done)} {words}"
