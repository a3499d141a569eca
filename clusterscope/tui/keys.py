"""Every action of the explorer: its keys, its words and what it does.

Bindings, footer, help screen and command palette are made from this one table. An action's id is
the Textual action it runs; a screen offers an action by having a method of that name.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.binding import BindingType

Keymap = dict[str, tuple[str, ...]]  # keys by name of an action


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
        return " ".join(shown_key(key) for key in self.keys)

    @property
    def name(self) -> str:
        """What settings call it: the id, that in the explorer of what is handed on to it."""
        handed = re.fullmatch(r"explorer\('(.*)'\)", self.id)
        return handed[1] if handed else self.id

    def under(self, keymap: Mapping[str, tuple[str, ...]]) -> Action:
        """The action with the keys that a keymap gives it."""
        keys = keymap.get(self.name)
        return self if keys is None else dataclasses.replace(self, keys=keys)


_SHOWN = {
    "escape": "esc",
    "backspace": "bksp",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "full_stop": ".",
    "comma": ",",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "question_mark": "?",
    "slash": "/",
    "at": "@",
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
SHORT_PANES = ("topo", "util", "insp", "jobs", "evts", "hot")

# What each pane is good for, in its frame; narrow frames cut it off at the right.
PANE_HINTS = (
    "→ opens · x fails · / finds",
    "",  # the legend is there
    "n neighbors · i words",
    "e saves a report · m phases",
    "u undoes · F failures",
    "enter inspects · s sorts · L all",
)

# What can be taken along from any screen that shows numbers.
TAKING: tuple[Action, ...] = (
    Action("copy", ("y",), "", "copy the name of the selection", "app"),
    Action("copy_view", ("Y",), "", "copy the active pane as a table", "app"),
    Action("export_view", ("E",), "", "write the active pane as CSV", "app"),
    Action("picture", ("P",), "", "write a picture of the screen (SVG)", "app"),
)

EXPLORER: tuple[Action, ...] = (
    Action("run", ("space",), "run", "run or pause", "time"),
    Action("step(1)", ("full_stop", "right_square_bracket"), "step", "one step forward", "time"),
    Action("step(10)", ("comma",), "", "ten steps forward", "time"),
    Action("step(-1)", ("left_square_bracket",), "back", "one step back", "time"),
    Action("speed(2)", ("plus", "equals_sign"), "", "run twice as fast", "time"),
    Action("slower", ("minus",), "", "run half as fast; in a zoomed map: out again", "time"),
    Action("event(1)", ("right_curly_bracket",), "", "go to the next event", "time"),
    Action("event(-1)", ("left_curly_bracket",), "", "go to the event before", "time"),
    Action("baseline", ("b",), "base", "compare with now from here on, or stop that", "time"),
    Action("fail", ("x",), "fail", "fail the selection, or restore it when it is dead", "faults"),
    Action("degrade", ("D",), "", "degrade the selected cable to half, or restore it", "faults"),
    Action("undo", ("u",), "undo", "take the last event back", "faults"),
    Action("redo", ("U", "ctrl+r"), "", "put the event back that was undone last", "faults"),
    Action("filter", ("slash",), "filter", "filter the topology by name", "look"),
    Action("command", ("colon",), "command", "type a command", "look"),
    Action("side('links')", ("L",), "links", "every link, to sort and filter", "screens"),
    Action("side('failures')", ("F",), "failures", "choose what fails, see the blast", "screens"),
    Action("side('compare')", ("v",), "compare", "transports side by side", "screens"),
    Action("side('neighborhood')", ("n",), "near", "the selection and its neighbors", "screens"),
    Action("zoom", ("z",), "zoom", "show one pane alone, or all again", "look"),
    Action("view", ("m",), "view", "next view of the pane: now, worst phase, selection", "look"),
    Action("sort", ("s",), "", "sort the table by its next column", "look"),
    Action("reverse", ("S",), "", "turn the order of the table around", "look"),
    Action("ramp", ("c",), "", "next ramp of colors", "look"),
    Action("glyphs", ("g",), "", "hide the signs of the heat map, or show them", "look"),
    *(
        Action(f"pane({number})", (str(number),), "", f"go to {name}", "panes")
        for number, name in enumerate(PANES, start=1)
    ),
    Action("turn(1)", ("tab",), "", "go to the next pane", "panes"),
    Action("turn(-1)", ("shift+tab",), "", "go to the pane before", "panes"),
    Action("out", ("escape",), "", "go out: to the parent, or back to all panes", "panes"),
    Action("glossary", ("i",), "words", "what the words mean", "app"),
    Action("tour", ("t",), "tour", "a guided tour; in it: skip a step", "app"),
    Action("picker", ("o",), "open", "open another cluster", "app"),
    Action("export", ("e",), "export", "write a report of this run", "app"),
    Action("write", ("w",), "", "write a replay file that reopens here", "app"),
    *TAKING,
    Action("app.command_palette", ("ctrl+p",), "", "search all actions", "app"),
    Action("help", ("question_mark",), "help", "keys and signs", "app"),
    Action("app.suspend_process", ("ctrl+z",), "", "go to the shell; fg comes back", "app"),
    Action("app.quit", ("q",), "quit", "leave", "app"),
)

# Footer of the explorer, the most useful first: a narrow one ends where its room does.
FOOTER = (
    "fail",
    "undo",
    "side('compare')",
    "side('failures')",
    "help",
    "run",
    "step(1)",
    "filter",
    "command",
    "export",
    "tour",
    "glossary",
    "picker",
    "zoom",
    "view",
    "side('links')",
    "side('neighborhood')",
    "app.quit",
)

# What a side screen hands on to the explorer below, and the way back.
SIDE: tuple[Action, ...] = (
    Action("explorer('run')", ("space",), "run", "run or pause", "time"),
    Action(
        "explorer('step(1)')", ("full_stop", "right_square_bracket"), "step", "one step", "time"
    ),
    Action("explorer('step(-1)')", ("left_square_bracket",), "back", "one step back", "time"),
    Action("explorer('undo')", ("u",), "undo", "take the last event back", "faults"),
    Action("explorer('redo')", ("U", "ctrl+r"), "", "put the last event back", "faults"),
    *TAKING,
    Action("explorer('write')", ("w",), "", "write a replay file that reopens here", "app"),
    Action("help", ("question_mark",), "help", "keys and signs", "app"),
    Action("app.command_palette", ("ctrl+p",), "", "search all actions", "app"),
    Action("close", ("escape", "q"), "back", "back to the explorer", "app"),
)

LINKS: tuple[Action, ...] = (
    Action(
        "filter", ("slash",), "filter", "links that touch a name, or are hot, slow, down", "links"
    ),
    Action("sort", ("s",), "sort", "sort by the next column", "links"),
    Action("reverse", ("S",), "reverse", "turn the order around", "links"),
    Action("again", ("r",), "sort again", "sort anew by the numbers of now", "links"),
    Action("fail", ("x",), "fail", "fail the cable under the cursor, or restore it", "links"),
)

NEIGHBORHOOD: tuple[Action, ...] = (
    Action(
        "fail",
        ("x",),
        "fail cable",
        "fail the cable to the neighbor, or restore it",
        "neighborhood",
    ),
    Action(
        "fail_device",
        ("X",),
        "fail device",
        "fail the neighbor itself, or restore it",
        "neighborhood",
    ),
    Action(
        "cables",
        ("c",),
        "cables",
        "cables one by one, or those of a trunk together",
        "neighborhood",
    ),
    Action(
        "trail",
        ("minus", "backspace"),
        "step back",
        "back to what was in the middle",
        "neighborhood",
    ),
)

FAILURES: tuple[Action, ...] = (
    Action(
        "confirm", ("enter",), "do it", "do what is looked at; on a choice: look at it", "faults"
    ),
    Action("at_step", ("at",), "at step", "do it at another step", "faults"),
    Action("rule", ("slash",), "rule", "type what fails, in one line", "faults"),
    Action("remove", ("d",), "delete", "take the event under the cursor out of the log", "faults"),
    SIDE[-1],  # the way back stays in sight on a narrow screen
    *SIDE[:-1],
)

COMPARE: tuple[Action, ...] = (
    Action("switch", ("enter",), "switch", "go on under the marked transport", "compare"),
    Action("base", ("b",), "base", "differences against the marked transport", "compare"),
    *(
        Action(
            f"choose({number})",
            (str(number),),
            "",
            f"show transport {number}, or leave it out",
            "compare",
        )
        for number in range(1, 10)
    ),
    *SIDE,
)

PICKER: tuple[Action, ...] = (
    Action("open", ("enter",), "open", "open the cluster under the cursor", "app"),
    Action("filter", ("slash",), "filter", "filter the list by name", "app"),
    Action("path", ("colon",), "path", "type the path of a TOML or replay file", "app"),
    Action("tour", ("t",), "tour", "open it with a guided tour", "app"),
    Action("glossary", ("i",), "words", "what the words mean", "app"),
    Action("close", ("escape",), "back", "back to the explorer, if one is open", "app"),
    Action("app.command_palette", ("ctrl+p",), "", "search all actions", "app"),
    Action("app.suspend_process", ("ctrl+z",), "", "go to the shell; fg comes back", "app"),
    Action("app.quit", ("q",), "quit", "leave", "app"),
)

GLOSSARY: tuple[Action, ...] = (
    Action("filter", ("slash",), "filter", "filter the words", "app"),
    *(
        Action(f"see({number})", (str(number),), "", f"go to related word {number}", "app")
        for number in range(1, 10)
    ),
    Action("before", ("backspace", "left_square_bracket"), "before", "the word before", "app"),
    Action("close", ("escape", "i", "q"), "back", "go back", "app"),
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
    Action("move('first')", ("home",), "", "to the first", "cursor"),
    Action("move('last')", ("end", "G"), "", "to the last", "cursor"),
    Action("enter", ("enter",), "", "go in: open the row, or inspect it", "cursor"),
)


def shown_key(key: str) -> str:
    """A key as a person reads it."""
    return _SHOWN.get(key, key)


def contexts() -> dict[str, tuple[Action, ...]]:
    """Actions that can be pressed at the same time, by the screen where that is."""
    return {
        "explorer": (*EXPLORER, *MOVES),
        "links": (*LINKS, *SIDE, *MOVES),
        "neighborhood": (*NEIGHBORHOOD, *SIDE, *MOVES),
        "failures": (*FAILURES, *MOVES),
        "compare": (*COMPARE, *MOVES),
        "picker": (*PICKER, *MOVES),
        "glossary": (*GLOSSARY, *MOVES),
        "overlay": OVERLAY,
    }


def bindings(actions: Iterable[Action]) -> list[BindingType]:
    """Textual bindings of actions; settings know each by its action's name."""
    # Settings are checked before anything is drawn, without the library that draws.
    from textual.binding import Binding

    return [
        Binding(key, action.id, action.help, id=action.name, show=False)
        for action in actions
        for key in action.keys
    ]
