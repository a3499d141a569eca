"""Prompt: the line where a filter or a command is typed."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from clusterscope.tui.messages import Typed

_SIGNS = {"filter": "/", "command": ":"}


class Prompt(Horizontal):
    """One line of input, hidden until it is opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "give up", show=False)]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._mode = "command"
        self._sign = Static("", markup=False)
        # What is typed before the focus has arrived must not be replaced by what comes after.
        self._input = Input(compact=True, select_on_focus=False)
        self._input.cursor_blink = False

    def compose(self) -> ComposeResult:
        """Sign and input."""
        yield self._sign
        yield self._input

    def open(self, mode: str, text: str, hint: str) -> None:
        """Take input for a mode."""
        self._mode = mode
        self._sign.update(Content(_SIGNS[mode]))
        with self.prevent(Input.Changed):
            self._input.value = text
        self._input.placeholder = hint
        self.display = True
        # Not `focus()`, which takes effect later: what is typed at once belongs here.
        self.screen.set_focus(self._input)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass on what has been typed so far."""
        event.stop()
        if self.display:
            self.post_message(Typed(self._mode, event.value, "changed"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Pass on the whole line and close."""
        event.stop()
        self.display = False
        self.post_message(Typed(self._mode, event.value, "done"))

    def action_cancel(self) -> None:
        """Close without a line."""
        self.display = False
        self.post_message(Typed(self._mode, "", "cancelled"))
