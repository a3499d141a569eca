"""Every action of the explorer: its keys, its words and what it does.

Bindings, footer, help screen and command palette are made from this one table. An action's id is
the Textual action it runs; a screen offers an action by having a method of that name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True)
class Action:
    """One thing a key can do.

    Attributes:
        id: Textual action, with its arguments.
        keys: keys as Textual names them; the first is the one that is shown.
        label: one or two words for the footer; "" keeps it out of there.
        help: what it does, for the help screen and the palette.
        group: heading in the help screen.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    group: str

    @property
    def shown_keys(self) -> str:
        """Keys as a person reads them: "space", "U ctrl+r"."""
        return " ".join(_SHOWN.get(key, key) for key in self.keys)


_SHOWN = {
    "escape": "esc",
    "full_stop": ".",
    "comma": ",",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}

PANES = ("topology", "utilization", "inspector", "jobs", "events", "hottest links")
SHORT_PANES = ("topo", "util", "inspect", "jobs", "events", "links")

EXPLORER: tuple[Action, ...] = (
    Action("run", ("space",), "run", "run or pause", "time"),
    Action("step(1)", ("full_stop", "right_square_bracket"), "step", "one step forward", "time"),
    Action("step(10)", ("comma",), "", "ten steps forward", "time"),
    Action("step(-1)", ("left_square_bracket",), "back", "one step back", "time"),
    Action("speed(2)", ("plus", "equals_sign"), "", "run twice as fast", "time"),
    Action("speed(0.5)", ("minus",), "", "run half as fast", "time"),
    Action("fail", ("x",), "fail", "fail the selection, or restore it when it is dead", "faults"),
    Action("degrade", ("D",), "", "degrade the selected cable to half, or restore it", "faults"),
    Action("undo", ("u",), "undo", "take the last event back", "faults"),
    Action("redo", ("U", "ctrl+r"), "", "put the event back that was undone last", "faults"),
    Action("filter", ("slash",), "filter", "filter the topology by name", "look"),
    Action("command", ("colon",), "command", "type a command", "look"),
    Action("zoom", ("z",), "zoom", "show one pane alone, or all again", "look"),
    Action("view", ("m",), "view", "next view of the pane: now, worst phase, selection", "look"),
    Action("sort", ("s",), "", "sort the table by its next column", "look"),
    Action("reverse", ("S",), "", "turn the order of the table around", "look"),
    *(
        Action(f"pane({number})", (str(number),), "", f"go to {name}", "panes")
        for number, name in enumerate(PANES, start=1)
    ),
    Action("turn(1)", ("tab",), "", "go to the next pane", "panes"),
    Action("turn(-1)", ("shift+tab",), "", "go to the pane before", "panes"),
    Action("out", ("escape",), "", "go out: to the parent, or back to all panes", "panes"),
    Action("copy", ("y",), "", "copy the name of the selection", "app"),
    Action("export", ("e",), "export", "write a report of this run", "app"),
    Action("app.command_palette", ("ctrl+p",), "", "search all actions", "app"),
    Action("help", ("question_mark",), "help", "keys and signs", "app"),
    Action("app.suspend_process", ("ctrl+z",), "", "go to the shell; fg comes back", "app"),
    Action("app.quit", ("q",), "quit", "leave", "app"),
)

PICKER: tuple[Action, ...] = (
    Action("open", ("enter",), "open", "open the cluster under the cursor", "app"),
    Action("app.command_palette", ("ctrl+p",), "", "search all actions", "app"),
    Action("app.suspend_process", ("ctrl+z",), "", "go to the shell; fg comes back", "app"),
    Action("app.quit", ("q",), "quit", "leave", "app"),
)

OVERLAY: tuple[Action, ...] = (
    Action("close", ("escape", "question_mark", "q"), "close", "go back", "app"),
)

# Offered by every widget that has a cursor.
MOVES: tuple[Action, ...] = (
    Action("move('up')", ("up", "k"), "", "up", "cursor"),
    Action("move('down')", ("down", "j"), "", "down", "cursor"),
    Action(
        "move('left')", ("left", "h"), "", "left; in the tree: close, or to the parent", "cursor"
    ),
    Action("move('right')", ("right", "l"), "", "right; in the tree: open", "cursor"),
    Action("move('page_up')", ("pageup",), "", "a page up", "cursor"),
    Action("move('page_down')", ("pagedown",), "", "a page down", "cursor"),
    Action("move('first')", ("home", "g"), "", "to the first", "cursor"),
    Action("move('last')", ("end", "G"), "", "to the last", "cursor"),
    Action("enter", ("enter",), "", "go in: open the row, or inspect it", "cursor"),
)


def bindings(actions: Iterable[Action]) -> list[BindingType]:
    """Textual bindings of actions."""
    return [
        Binding(key, action.id, action.help, id=f"{action.id}:{key}", show=False)
        for action in actions
        for key in action.keys
    ]
