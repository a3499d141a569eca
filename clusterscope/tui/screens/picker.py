"""Picker: the clusters that can be opened, and what the one under the cursor is."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.screen import Screen

from clusterscope.errors import ClusterscopeError
from clusterscope.tui.keys import PICKER, bindings
from clusterscope.tui.library import Library, PresetRow
from clusterscope.tui.messages import Asked, Entered, Picked, Pointed, Typed
from clusterscope.tui.widgets.bars import Bar, KeyBar, Part
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.prompt import Prompt
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.shapes import Column, Note, Table
from clusterscope.views.text import percent, sanitize

SIDE_BY_SIDE = 100  # from here on list and preview are beside each other
_TOURIST = "new here? t opens it with a tour, i explains words"


class Picker(Screen[None]):
    """A list of presets and files, a preview, a line to type a path; enter opens.

    Args:
        shelf: where rows and previews come from.
        back: what esc goes back to, in words; "" when there is nothing.
    """

    ACTIONS = PICKER
    BINDINGS = bindings(PICKER)
    HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (SIDE_BY_SIDE, "-beside")]  # noqa: RUF012

    class _Looked(Message):
        """A thread has read what a name stands for."""

        def __init__(self, name: str, note: Note, *, sound: bool) -> None:
            self.name, self.note, self.sound = name, note, sound
            super().__init__()

    def __init__(self, shelf: Library, back: str = "") -> None:
        super().__init__()
        self._shelf, self._back = shelf, back
        self._rows: list[PresetRow] = []
        self._text = ""
        self._wanted, self._looking, self._opening = "", "", ""
        self._table, self._note = TableView(id="presets"), NoteView(id="preview")
        self._prompt = Prompt(id="prompt")
        self._keys = KeyBar(PICKER, id="keys")

    def compose(self) -> ComposeResult:
        """Title, list and preview, line to type on, keys."""
        head, hint = Bar(id="head"), Bar(id="job")
        back = [Part(f"esc: back to {self._back}", "dim", right=True)] if self._back else []
        head.draw([Part("ClusterScope", "head", 0), Part("choose a cluster", "dim"), *back])
        hint.draw([Part(_TOURIST, "dim")])
        yield head
        with Container(id="shelf"):
            with Container(self._table, id="list", classes="pane") as listed:
                listed.border_title = Content("presets")
            with Container(self._note, id="about", classes="pane") as about:
                about.border_title = Content("preview")
                about.border_subtitle = Content("tab: scroll it")
        yield hint
        yield self._prompt
        yield self._keys

    def on_mount(self) -> None:
        """List what there is."""
        self._rows = [*self._shelf.presets(), *self._shelf.files()]
        self._draw()
        self._look_here()
        self._table.focus()

    def _draw(self) -> None:
        """Show the rows that hold what was typed."""
        rows = matching(self._rows, self._text)
        self._table.draw(table(rows))
        own = sum(not row.transport for row in rows)
        words = f"presets · {len(rows) - own}" + (f" · files here · {own}" if own else "")
        found = f"{words} · /{self._text}" if self._text else words
        self.query_one("#list").border_title = Content(sanitize(found))

    def _look_here(self) -> None:
        """Look at what is under the cursor."""
        self._look(self._table.key_of(self._table.cursor))

    # The preview

    def on_pointed(self, message: Pointed) -> None:
        """Look at what the cursor came to."""
        self._look(message.key)

    def _look(self, name: str) -> None:
        """Have a name read, one at a time: the one wanted last comes last."""
        self._wanted = name
        if not name:
            self._show("preview", Note("", lines=("nothing is called so; esc shows all",)))
        elif not self._looking:
            self._looking = name
            self.run_worker(lambda: self._read(name), thread=True, group="looking")

    def _read(self, name: str) -> None:
        try:
            looked = self._Looked(name, self._shelf.look(name), sound=True)
        except (ClusterscopeError, OSError) as error:
            note = Note("cannot be opened", lines=(str(error),))
            looked = self._Looked(name, note, sound=False)
        self.post_message(looked)

    def on_picker__looked(self, message: _Looked) -> None:
        """Show what was read, or open it, unless something else is wanted by now."""
        self._looking = ""
        if message.name != self._wanted:
            self._look(self._wanted)
            return
        self._show(message.name, message.note)
        if message.name == self._opening and message.sound:
            self.post_message(Picked(message.name))
        self._opening = ""

    def _show(self, name: str, note: Note) -> None:
        self._note.draw(note)
        self.query_one("#about").border_title = Content(sanitize(f"preview · {name}"))

    # Opening

    def on_entered(self, message: Entered) -> None:
        """Open what is in the row."""
        if message.key:
            self.post_message(Picked(message.key))

    def action_open(self) -> None:
        """Open what is under the cursor."""
        self._table.action_enter()

    def action_tour(self) -> None:
        """Open what is under the cursor, with a tour."""
        if key := self._table.key_of(self._table.cursor):
            self.post_message(Picked(key, touring=True))

    def action_close(self) -> None:
        """Show all rows again, or go back to what is below."""
        if self._text:
            self._text = ""
            self._draw()
            self._look_here()
        elif self._back:
            self.dismiss()
        else:
            self.notify("nothing is open yet: enter opens a cluster, q leaves", markup=False)

    # Typing

    def action_filter(self) -> None:
        """Type part of a name."""
        self._open("filter", self._text, "part of a name")

    def action_path(self) -> None:
        """Type a path."""
        self._open("command", "", "path of a TOML spec or replay file; enter opens it")

    def _open(self, mode: str, text: str, hint: str) -> None:
        self._keys.display = False
        self._prompt.open(mode, text, hint)

    def on_typed(self, message: Typed) -> None:
        """Narrow the list while typing; a path is looked at once it is no row's name."""
        text = self._text = message.text.strip()
        self._draw()
        is_path = message.mode == "command" and bool(text)
        if message.state == "changed":
            self._look(text) if is_path and not self._table.rows else self._look_here()
            return
        self._keys.display = True
        self.set_focus(self._table)
        if is_path:
            rows = matching(self._rows, text)
            self._text = ""
            self._draw()
            self._opening = rows[0].name if len(rows) == 1 else text
            self._look(self._opening)
        else:
            self._look_here()

    def action_glossary(self) -> None:
        """What the words mean."""
        from clusterscope.tui.screens.glossary import Glossary

        self.app.push_screen(Glossary())

    async def on_asked(self, message: Asked) -> None:
        """Do what was clicked."""
        await self.run_action(message.action)


def matching(rows: Sequence[PresetRow], text: str) -> list[PresetRow]:
    """Rows whose name or title holds the text."""
    part = text.casefold()
    return [row for row in rows if part in f"{row.name} {row.title}".casefold()]


def table(rows: Sequence[PresetRow]) -> Table:
    """Presets and files as a table."""
    names = [row.name for row in rows]
    columns = (
        Column("name", "text", names),
        Column("GPUs", "int", [row.gpus or None for row in rows]),
        Column("transport", "text", [row.transport or "file here" for row in rows]),
        Column("estimates", "text", [_share(row.estimates) for row in rows]),
    )
    return Table("presets", columns, len(rows), names)


def _share(estimates: float) -> str:
    """Share of numbers that are estimates; nothing for a file that nobody has read."""
    return percent(estimates, 0).rjust(5) if estimates == estimates else ""
