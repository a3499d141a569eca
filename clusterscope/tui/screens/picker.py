"""Picker: the clusters that can be opened, and what the one under the cursor is."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.screen import Screen

from clusterscope.tui.keys import MOVES, PICKER, bindings
from clusterscope.tui.library import Library, PresetRow
from clusterscope.tui.messages import Asked, Entered, Picked, Pointed, Typed
from clusterscope.tui.mishaps import sentence
from clusterscope.tui.screens.help import Help
from clusterscope.tui.settings import Settings
from clusterscope.tui.theme import Palette
from clusterscope.tui.widgets.bars import Bar, KeyBar, Part
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.prompt import Prompt
from clusterscope.tui.widgets.rows import Span
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.shapes import Column, Note, Table
from clusterscope.views.text import percent, sanitize

_FREE = frozenset("hl")  # sideways there is nothing in the list, and names begin so
SIDE_BY_SIDE = 100  # from here on list and preview are beside each other
_TYPIST, _TOURIST = "type a name to find it", "new here? t opens it with a tour, i explains words"


class Shelf(TableView):
    """The list: the cursor passes over the headings of groups."""

    def point(self, row: int) -> None:
        """Put the cursor on a row, or on the next one that stands for a cluster."""
        super().point(self._near(max(0, min(row, self.rows - 1)), 1 if row >= self.cursor else -1))

    def settle(self) -> None:
        """Move the cursor off a heading."""
        if self.rows:
            self.cursor = self._near(self.cursor, 1)

    def spans_of(self, row: int, width: int, colors: Palette) -> list[Span]:
        """Values of a row; a heading is its name alone."""
        if self.key_of(row) or self.shape is None:
            return super().spans_of(row, width, colors)
        return [(f"{self.shape.columns[0][row]:<{width}}", colors.dim)]

    def _near(self, row: int, step: int) -> int:
        """The first row from here on in one direction, else in the other, that has a key."""
        ahead = range(row, self.rows if step > 0 else -1, step)
        back = range(row, -1 if step > 0 else self.rows, -step)
        return next((at for at in (*ahead, *back) if self.key_of(at)), row)


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
        self._table, self._note = Shelf(id="presets"), NoteView(id="preview")
        self._prompt = Prompt(id="prompt")
        actions = [action for action in PICKER if back or action.id != "close"]
        self._keys = KeyBar(
            actions, ("open", "filter", "path", "tour", "close", "help", "app.quit"), id="keys"
        )

    def compose(self) -> ComposeResult:
        """Title, list and preview, line to type on, keys."""
        head, hint = Bar(id="head"), Bar(id="job")
        back = [Part(f"esc: back to {self._back}", "dim", right=True)] if self._back else []
        head.draw([Part("ClusterScope", "head", 0), Part("choose a cluster", "dim"), *back])
        hint.draw([Part(_TYPIST, "dim", 2), Part(_TOURIST, "dim")])
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
        self._table.settle()
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
        except AssertionError:
            raise  # an invariant of ours
        except Exception as error:  # whatever it is, the next file may be better
            note = Note("cannot be opened", lines=(sentence(error),))
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

    def on_key(self, event: Key) -> None:
        """Begin the filter with a letter that does nothing else: who types means a name."""
        if self._prompt.display or not event.character or not event.is_printable:
            return
        if event.key in self._taken or event.character.isspace():
            return
        event.stop()
        event.prevent_default()
        self._open("filter", self._text + event.character, "part of a name")
        self._narrow(self._text + event.character)

    @property
    def _taken(self) -> set[str]:
        """Keys that do something here."""
        keymap = getattr(self.app, "settings", Settings()).keys
        return {key for action in (*PICKER, *MOVES) for key in action.under(keymap).keys} - _FREE

    def action_path(self) -> None:
        """Type a path."""
        self._open("command", "", "path of a TOML spec or replay file; enter opens it")

    def _open(self, mode: str, text: str, hint: str) -> None:
        self._keys.display = False
        self._prompt.open(mode, text, hint)

    def on_typed(self, message: Typed) -> None:
        """Narrow the list while typing; a path is looked at once it is no row's name."""
        text = self._narrow(message.text.strip())
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

    def _narrow(self, text: str) -> str:
        """List what holds a text; gives it."""
        self._text = text
        self._draw()
        return text

    def action_glossary(self) -> None:
        """What the words mean."""
        from clusterscope.tui.screens.glossary import Glossary

        self.app.push_screen(Glossary())

    def action_validation(self) -> None:
        """Derive published numbers again."""
        from clusterscope.tui.screens.sides import validation

        self.app.push_screen(validation())

    def action_help(self) -> None:
        """Keys and signs, the screen's own first."""
        self.app.push_screen(Help("picker"))

    async def on_asked(self, message: Asked) -> None:
        """Do what was clicked."""
        await self.run_action(message.action)


def matching(rows: Sequence[PresetRow], text: str) -> list[PresetRow]:
    """Rows whose name or title holds the text."""
    part = text.casefold()
    return [row for row in rows if part in f"{row.name} {row.title}".casefold()]


def table(rows: Sequence[PresetRow]) -> Table:
    """Presets and files as a table, each group below a row of its name that has no key."""
    lines: list[PresetRow | str] = []
    for row in rows:
        if row.group and (not lines or _group(lines[-1]) != row.group):
            lines.append(row.group)
        lines.append(row)
    columns = (
        Column("name", "text", [_name(line) for line in lines]),
        Column("GPUs", "int", [None if isinstance(x, str) else x.gpus or None for x in lines]),
        Column("transport", "text", ["" if isinstance(x, str) else _on(x) for x in lines]),
        Column("est.", "text", ["" if isinstance(x, str) else _share(x) for x in lines]),
    )
    keys = ["" if isinstance(line, str) else line.name for line in lines]
    return Table("presets", columns, len(lines), keys)


def _group(line: PresetRow | str) -> str:
    return line if isinstance(line, str) else line.group


def _name(line: PresetRow | str) -> str:
    """Name of a cluster, set in below the heading of its group."""
    if isinstance(line, str):
        return line
    return f"  {line.name}" if line.group else line.name


def _on(row: PresetRow) -> str:
    return row.transport or "file here"


def _share(row: PresetRow) -> str:
    """Share of numbers that are estimates; nothing for a file that nobody has read."""
    known = row.estimates == row.estimates
    return percent(row.estimates, 0).rjust(5) if known else ""
