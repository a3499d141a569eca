"""A list to filter beside what is under its cursor: base of the screens that explain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from clusterscope.tui.keys import Action
from clusterscope.tui.messages import Asked, Typed
from clusterscope.tui.screens.help import Help
from clusterscope.tui.widgets.bars import Bar, KeyBar
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.prompt import Prompt
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.shapes import Note
from clusterscope.views.text import sanitize


class Beside(Screen[None]):
    """Head line, a list and an explanation side by side, keys; the list narrows while one types."""

    ACTIONS: ClassVar[Sequence[Action]] = ()
    FOOTER: ClassVar[Sequence[str]] = ()  # ids of actions that the key bar shows first
    HINT: ClassVar[str] = ""  # what can be typed to narrow the list

    def __init__(self) -> None:
        super().__init__()
        self.typed = ""
        self.head = Bar(id="head")
        self.listing, self.about = TableView(id="listing"), NoteView(id="about-text")
        self._prompt = Prompt(id="prompt")
        self._keys = KeyBar(self.ACTIONS, self.FOOTER, id="keys")

    @property
    def subject(self) -> str:
        """Name of the screen, as the help page has it."""
        return type(self).__name__.lower()

    def compose(self) -> ComposeResult:
        """Head line, list and explanation, line to type on, keys."""
        yield self.head
        yield Container(*self._panes(), id=self.subject, classes="beside")
        yield self._prompt
        yield self._keys

    def _panes(self) -> Iterator[Widget]:
        yield Container(self.listing, id="list", classes="pane")
        yield Container(self.about, id="about", classes="pane")

    def on_mount(self) -> None:
        """List everything; keys go to the list."""
        self.draw()
        self.set_focus(self.listing)

    def draw(self) -> None:
        """Draw the list, as narrow as was typed, and what is under its cursor."""
        raise NotImplementedError

    def entitle(self, found: str) -> None:
        """Say above the list how much it holds."""
        self.query_one("#list").border_title = Content(sanitize(found))

    def explain(self, note: Note) -> None:
        """Show what is under the cursor."""
        self.query_one("#about").border_title = Content(sanitize(note.title))
        self.about.draw(note)

    def action_filter(self) -> None:
        """Type what narrows the list."""
        self._keys.display = False
        self._prompt.open("filter", self.typed, self.HINT)

    def on_typed(self, message: Typed) -> None:
        """Narrow the list while typing."""
        self.typed = message.text.strip()
        self.draw()
        if message.state != "changed":
            self._keys.display = True
            self.set_focus(self.listing)

    def action_close(self) -> None:
        """List everything again, or go back."""
        if self.typed:
            self.typed = ""
            self.draw()
        else:
            self.leave()

    def leave(self) -> None:
        """Go back."""
        self.dismiss()

    def action_help(self) -> None:
        """Keys and signs, the screen's own first."""
        self.app.push_screen(Help(self.subject))

    async def on_asked(self, message: Asked) -> None:
        """Do what was clicked."""
        await self.run_action(message.action)
