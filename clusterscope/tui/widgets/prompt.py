"""Prompt: the line where a filter or a command is typed."""

from __future__ import annotations

from typing import ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from clusterscope.tui.messages import Typed

_SIGNS = {"filter": "/", "command": ":"}


class Helper(Protocol):
    """Helps with a line that is being typed."""

    def usage(self, line: str) -> str:
        """What the line could become, in words."""

    def complete(self, line: str) -> tuple[str, str]:
        """The line as far as it goes on in one way only, and the ways from there in words."""


class Prompt(Horizontal):
    """One line of input, hidden until it is opened."""

    # Tab would go to another pane otherwise, which takes the letters that follow for its keys.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "give up", show=False),
        Binding("tab,shift+tab", "complete", "complete", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._mode = "command"
        self._sign = Static("", markup=False)
        # What is typed before the focus has arrived must not be replaced by what comes after.
        self._input = Input(compact=True, select_on_focus=False)
        self._input.cursor_blink = False
        self._words = Static("", id="ways", markup=False)
        self._helper: Helper | None = None

    def compose(self) -> ComposeResult:
        """Sign, input, and words about it."""
        yield self._sign
        yield self._input
        yield self._words

    def open(self, mode: str, text: str, hint: str, helper: Helper | None = None) -> None:
        """Take input for a mode, perhaps with help."""
        self._mode, self._helper = mode, helper
        self._words.update("")
        self._sign.update(Content(_SIGNS[mode]))
        with self.prevent(Input.Changed):
            self._input.value = text
        self._input.cursor_position = len(text)
        self._input.placeholder = hint
        self.display = True
        # Not `focus()`, which takes effect later: what is typed at once belongs here.
        self.screen.set_focus(self._input)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass on what has been typed so far."""
        event.stop()
        if self._helper is not None:
            self._words.update(Content(self._helper.usage(event.value)))
        if self.display:
            self.post_message(Typed(self._mode, event.value, "changed"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Pass on the whole line and close."""
        event.stop()
        self.display = False
        self.post_message(Typed(self._mode, event.value, "done"))

    def action_complete(self) -> None:
        """Go on with the line as far as there is one way only, and name the ways from there."""
        if self._helper is None:
            return
        line, words = self._helper.complete(self._input.value)
        with self.prevent(Input.Changed):
            self._input.value = line
        self._input.cursor_position = len(line)
        self._words.update(Content(words or self._helper.usage(line)))

    def action_cancel(self) -> None:
        """Close without a line."""
        self.display = False
        self.post_message(Typed(self._mode, "", "cancelled"))
