"""Palette: every action of a screen, found by any of its words; commands as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Input

from clusterscope.tui.commands import USAGE
from clusterscope.tui.keys import Action, Keymap
from clusterscope.tui.messages import Asked, Entered, Typed
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.shapes import Column, Table

# Groups of actions in the order of what is looked for; those of a side screen itself come first.
_ORDER = ("screens", "faults", "time", "look", "panes", "app")
_COMMAND = ":"  # begins the key of a row that is a command


class Palette(ModalScreen[str]):
    """A line to type on above a list; gives the id of an action, or ":" and a command.

    Args:
        actions: what can be done.
        keymap: keys that the user has given actions.
        commands: True where commands can be typed.
    """

    # Letters go to the line, so that only keys which are no letters move the cursor.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+p", "close", "go back", show=False),
        Binding("up", "list('up')", "up", show=False),
        Binding("down", "list('down')", "down", show=False),
        Binding("pageup", "list('page_up')", "a page up", show=False),
        Binding("pagedown", "list('page_down')", "a page down", show=False),
    ]

    def __init__(self, actions: Sequence[Action], keymap: Keymap, *, commands: bool) -> None:
        super().__init__()
        self._actions = [action.under(keymap) for action in actions]
        self._commands = commands
        self._input = Input(compact=True, placeholder="type what you want to do")
        self._input.cursor_blink = False
        self._list = TableView(id="found")
        self._list.empty = ("nothing is called so",)

    def compose(self) -> ComposeResult:
        """The line and the list."""
        frame = Container(self._input, self._list, id="palette", classes="overlay")
        frame.border_title = Content("actions" + (" and commands" if self._commands else ""))
        frame.border_subtitle = Content("↑ ↓ choose · enter does it · esc back")
        yield frame

    def on_mount(self) -> None:
        """List everything; letters go to the line."""
        self._list.draw(listed(self._actions, "", commands=self._commands))
        self.set_focus(self._input)

    def on_input_changed(self, event: Input.Changed) -> None:
        """List what has all the words that were typed."""
        event.stop()
        self._list.draw(listed(self._actions, event.value, commands=self._commands))
        self._list.action_move("first")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Do what is under the cursor."""
        event.stop()
        self._list.action_enter()

    def on_entered(self, message: Entered) -> None:
        """Do what was entered or clicked."""
        message.stop()
        if message.key:
            self.dismiss(message.key)

    def action_list(self, where: str) -> None:
        """Move the cursor of the list."""
        self._list.action_move(where)

    def action_close(self) -> None:
        """Back to the screen below."""
        self.dismiss("")


def listed(actions: Sequence[Action], typed: str, *, commands: bool) -> Table:
    """Rows of what has all typed words: keys, what it does, where it belongs."""
    line = typed.strip().removeprefix(_COMMAND).strip()
    verb = line.split()[0] if line else ""
    rows = [(a.id, a.shown_keys, a.help, a.group) for a in _ordered(actions)]
    if commands:
        # What has been typed may be a whole command already; else it is one to go on with.
        rows += [(f"{_COMMAND}{v}", ":", u, "command") for v, u in USAGE.items() if v != verb]
    words = line.casefold().split()
    found = [row for row in rows if all(w in " ".join(row[1:]).casefold() for w in words)]
    if commands and verb in USAGE:
        usage = USAGE[verb]
        whole = line if len(line.split()) > 1 else verb
        found = [(f"{_COMMAND}{whole}", ":", f"{whole}   ({usage})", "command"), *found]
    columns = ("key", "does")
    return Table(
        "actions",
        tuple(
            Column(name, "text", [row[place] for row in found])
            for place, name in enumerate(columns, start=1)
        ),
        rows=len(found),
        keys=[row[0] for row in found],
    )


def _ordered(actions: Sequence[Action]) -> list[Action]:
    rank = {group: place for place, group in enumerate(_ORDER)}
    seen = {a.id: a for a in actions if a.id != "app.command_palette"}
    return sorted(seen.values(), key=lambda action: rank.get(action.group, -1))


def act(screen: Screen[object], chosen: str | None) -> None:
    """Have a screen do what was chosen; a command that wants a name can be gone on with."""
    if not chosen:
        return
    if not chosen.startswith(_COMMAND):
        screen.post_message(Asked(chosen))
        return
    line = chosen.removeprefix(_COMMAND)
    wants = USAGE.get(line, "").partition(" ")[2]
    if wants and not wants.startswith("["):
        screen.post_message(Asked(f"command('{line} ')"))
    else:
        screen.post_message(Typed("command", line, "done"))
