"""What a screen lets you take along: to the clipboard, or to a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message
from textual.notifications import SeverityLevel
from textual.widget import Widget

from clusterscope.tui.exports import CLIPBOARD_BYTES, Exports, free_path
from clusterscope.tui.messages import Afterwards
from clusterscope.tui.mishaps import guarded
from clusterscope.tui.terminal import Gathering
from clusterscope.units import counted
from clusterscope.views.text import sanitize
from clusterscope.views.tsv import tsv

_SAID_S, _REFUSED_S = 3.0, 5.0  # seconds that a sentence stays

if TYPE_CHECKING:
    from clusterscope.engine.frame import Frame
    from clusterscope.engine.scenario import Scenario
    from clusterscope.views.shapes import Shape


class Taking(Gathering):
    """Base of the screens that show a frame; gives them the actions of `keys.TAKING`."""

    class Broke(Message):
        """Something has gone wrong in a thread."""

        def __init__(self, sentence: str) -> None:
            self.sentence = sentence
            super().__init__()

    scenario: Scenario
    exports: Exports | None

    @property
    def name_selected(self) -> str:
        """Name of the selection."""
        raise NotImplementedError

    @property
    def frame_shown(self) -> Frame | None:
        """The frame on the screen."""
        raise NotImplementedError

    def in_sight(self) -> tuple[str, Shape] | None:
        """Name and shape of what has the focus, or else of the first that has a shape."""
        widgets = [self.focused, *self.query(Widget)]
        for widget in widgets:
            shape: Shape | None = getattr(widget, "shape", None)
            if shape is not None:
                return type(self).__name__.lower(), shape
        return None

    def afterwards(self, do: Callable[[], object]) -> None:
        """Do something once the selection that was made before has arrived."""
        (self.focused or self).post_message(Afterwards(do))

    def on_afterwards(self, message: Afterwards) -> None:
        """Do what had to wait for the selection."""
        message.do()

    def say(self, sentence: str, *, wrong: bool = False) -> None:
        """Show one sentence for a few seconds."""
        severity: SeverityLevel = "error" if wrong else "information"
        timeout = _REFUSED_S if wrong else _SAID_S
        self.app.notify(sanitize(sentence), severity=severity, timeout=timeout, markup=False)

    def action_copy(self) -> None:
        """Copy the name of the selection, through the terminal (OSC 52)."""
        self.afterwards(self._copy)

    def _copy(self) -> None:
        self.app.copy_to_clipboard(self.name_selected)
        self.say(f"copied {self.name_selected}")

    def action_copy_view(self) -> None:
        """Copy what has the focus as a table, as many rows as a terminal takes."""
        found = self.in_sight()
        if found is None:
            self.say("nothing here to copy", wrong=True)
            return
        name, shape = found
        copied = tsv(shape, CLIPBOARD_BYTES)
        self.app.copy_to_clipboard(copied.text)
        rest = f"; {copied.left_out:,} more do not fit, E writes all" if copied.left_out else ""
        self.say(f"copied {counted(copied.rows, 'row')} of {name}{rest}")

    def action_export_view(self) -> None:
        """Write what has the focus as CSV."""
        found, exports = self.in_sight(), self.exports
        if found is None or exports is None:
            self.say("no writer here" if found else "nothing here to write", wrong=True)
            return
        name, shape = found
        self._write(name, "csv", lambda path: exports.view(shape, path))

    def action_picture(self) -> None:
        """Write a picture of the screen."""
        exports = self.exports
        if exports is None:
            self.say("no writer here", wrong=True)
            return
        svg, name = self.app.export_screenshot(), type(self).__name__.lower()
        self._write(name, "svg", lambda path: exports.picture(svg, path))

    def in_thread(self, work: Callable[[], None], group: str, *, exclusive: bool = False) -> None:
        """Have something done in a thread; what goes wrong there ends in `broke`."""
        told = guarded(work, lambda sentence: self.post_message(self.Broke(sentence)))
        self.run_worker(told, thread=True, group=group, exclusive=exclusive)

    def on_taking_broke(self, message: Broke) -> None:
        """Say what went wrong in a thread."""
        self.broke(message.sentence)

    def broke(self, sentence: str) -> None:
        """Say what went wrong in a thread, and wait for it no longer."""
        self.say(sentence, wrong=True)

    def _write(self, name: str, suffix: str, write: Callable[..., object]) -> None:
        """Have a file written in a thread, under a name that is free."""
        step = self.frame_shown.step if self.frame_shown else 0

        def work() -> None:
            path = free_path(self.scenario.spec.name, name, step, suffix)
            write(path)
            self.app.call_from_thread(self.say, f"wrote {path}")

        self.in_thread(work, "taking")
