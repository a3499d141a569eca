"""Every action of the explorer: its keys, its words and what it does.

Bindings, footer, help screen and command palette are made from this one table. An action's id is
the Textual action it runs; a screen offers an action by having a method of that name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING

from clusterscope.tui.action import Action, Keymap
from clusterscope.tui.screen_keys import CURVE, JOBS

if TYPE_CHECKING:
    from textual.binding import BindingType

__all__ = ["CURVE", "JOBS", "Action", "Keymap"]  # found here by all who use the tables

PANES = ("topology", "utilization", "inspector", "jobs", "events", "hottest links")
SHORT_PANES = ("topo", "util", "insp", "jobs", "evts", "hot")

# What each pane is good for, in its frame; narrow frames cut it off at the right.
PANE_HINTS = (
    "enter in · x fails · / finds",
    "",  # the legend is there
    "n neighbors · i words",
    "W why · T who slows whom · m phases",
    "u undoes · F failures",
    "L lists all · s sorts",
)

# What can be taken along from any screen that shows numbers.
TAKING: tuple[Action, ...] = (
    Action("copy", ("y",), "", "copy the name of the selection", "app"),
    Action("copy_view", ("Y",), "", "copy the active pane as a table", "app"),
    Action("export_view", ("E",), "", "write the active pane as CSV", "app"),
    Action("picture", ("P",), "", "write a picture of the screen (SVG)", "app"),
)

# What changes the look of every screen that shows loads.
LOOKS: tuple[Action, ...] = (
    Action("ramp", ("c",), "", "next ramp of colors", "look"),
    Action("glyphs", ("g",), "", "hide the signs beside colors, or show them", "look"),
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
    Action(
        "baseline", ("b",), "baseline", "baseline: show the change since now, or stop that", "time"
    ),
    Action("fail", ("x",), "fail", "fail the selection, or restore it when it is dead", "faults"),
    Action(
        "degrade",
        ("D",),
        "",
        "slow the selected cable, GPU or node to half, or restore it",
        "faults",
    ),
    Action("undo", ("u",), "undo", "take the last event back", "faults"),
    Action("redo", ("U", "ctrl+r"), "", "put the event back that was undone last", "faults"),
    Action("side('links')", ("L",), "links", "links: all of them, to sort and filter", "screens"),
    Action(
        "side('failures')",
        ("F",),
        "failures",
        "failures: choose what fails, see the blast radius",
        "screens",
    ),
    Action("side('compare')", ("v",), "compare", "compare transports side by side", "screens"),
    Action(
        "side('neighborhood')",
        ("n",),
        "near",
        "neighborhood: the selection and what it is cabled to",
        "screens",
    ),
    Action("side('inside')", ("I",), "inside", "inside: a node as a fabric of its own", "screens"),
    Action("side('networks')", ("M",), "networks", "networks: the three side by side", "screens"),
    Action(
        "side('tenants')",
        ("T",),
        "tenants",
        "tenants: which job slows which, what isolation changes",
        "screens",
    ),
    Action(
        "side('jobs')",
        ("J",),
        "job",
        "jobs: an iteration as a chart, what bounds it, its plan to be changed",
        "screens",
    ),
    Action(
        "side('curves')",
        ("B",),
        "curve",
        "curves: a collective by message size, as nccl-tests measures it",
        "screens",
    ),
    Action(
        "side('explain')",
        ("W",),
        "why",
        "explain: what holds the selection back, and what would help",
        "screens",
    ),
    Action("glossary", ("i",), "words", "glossary: what the words mean", "screens"),
    Action("validation", ("V",), "proof", "validation: published numbers derived again", "screens"),
    Action("picker", ("o",), "open", "open another cluster", "screens"),
    Action("filter", ("slash",), "find", "filter the topology by name", "look"),
    Action("command", ("colon",), "cmd", "type a command; tab completes it", "look"),
    Action("zoom", ("z",), "zoom", "show one pane alone, or all again", "look"),
    Action("view", ("m",), "view", "next view of the pane: now, worst phase, selection", "look"),
    Action("sort", ("s",), "", "sort the table by its next column", "look"),
    Action("reverse", ("S",), "", "turn the order of the table around", "look"),
    *LOOKS,
    *(
        Action(f"pane({number})", (str(number),), "", f"go to {name}", "panes")
        for number, name in enumerate(PANES, start=1)
    ),
    Action("turn(1)", ("tab",), "", "go to the next pane", "panes"),
    Action("turn(-1)", ("shift+tab",), "", "go to the pane before", "panes"),
    Action("out", ("escape",), "", "go out: to the parent, or back to all panes", "panes"),
    Action("tour", ("t",), "tour", "a guided tour; in it: skip a step", "app"),
    Action("export", ("e",), "report", "write a report of this run", "app"),
    Action("write", ("w",), "", "write a replay file that reopens here", "app"),
    *TAKING,
    Action("app.command_palette", ("ctrl+p",), "", "search all actions", "app"),
    Action("help", ("question_mark",), "help", "keys and signs", "app"),
    Action("app.suspend_process", ("ctrl+z",), "", "go to the shell; fg comes back", "app"),
    Action("app.quit", ("q",), "quit", "leave", "app"),
)

# Footer of the explorer: what can be done, the most useful first; a narrow one ends where its room
# does. Below it, where else one can go.
FOOTER = (
    "fail",
    "undo",
    "filter",
    "command",
    "help",
    "app.quit",
    "run",
    "step(1)",
    "baseline",
    "export",
    "zoom",
    "view",
    "step(-1)",
)
WAYS = (
    "side('failures')",
    "side('compare')",
    "side('links')",
    "side('explain')",
    "side('jobs')",
    "side('tenants')",
    "side('curves')",
    "validation",
    "picker",
    "side('neighborhood')",
    "side('inside')",
    "side('networks')",
    "glossary",
    "tour",
)

# What a side screen hands on to the explorer below, and the way back.
SIDE: tuple[Action, ...] = (
    Action("explorer('run')", ("space",), "run", "run or pause", "time"),
    Action(
        "explorer('step(1)')", ("full_stop", "right_square_bracket"), "step", "one step", "time"
    ),
    Action("explorer('step(-1)')", ("left_square_bracket",), "", "one step back", "time"),
    Action("explorer('undo')", ("u",), "undo", "take the last event back", "faults"),
    Action("explorer('redo')", ("U", "ctrl+r"), "", "put the last event back", "faults"),
    *(dataclasses.replace(action, id=f"explorer('{action.id}')") for action in LOOKS),
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
        ("m",),
        "cables",
        "cables one by one, or those of a trunk together",
        "neighborhood",
    ),
    Action(
        "trail",
        ("minus", "backspace"),
        "before",
        "back to what was in the middle",
        "neighborhood",
    ),
)

FAILURES: tuple[Action, ...] = (
    Action(
        "confirm", ("enter",), "do it", "do what is looked at; on a choice: look at it", "failures"
    ),
    Action("at_step", ("at",), "at step", "do it at another step", "failures"),
    Action("rule", ("slash",), "rule", "type what fails, in one line", "failures"),
    Action(
        "remove", ("d",), "delete", "take the event under the cursor out of the log", "failures"
    ),
)

COMPARE: tuple[Action, ...] = (
    Action(
        "other", ("slash",), "choose", "type a transport to show it, or leave it out", "compare"
    ),
    Action(
        "switch", ("enter",), "switch", "go on under the transport that ← → have marked", "compare"
    ),
    Action("base", ("b",), "base", "differences against the transport that is marked", "compare"),
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
)

TENANTS: tuple[Action, ...] = (
    Action("why", ("W",), "why", "explain the job under the cursor", "tenants"),
    Action("map", ("m",), "map", "map of the job's links, or what the matrix says", "tenants"),
)

EXPLAIN: tuple[Action, ...] = (
    Action("do", ("enter",), "do it", "make the change under the cursor", "explain"),
    Action("ask", ("slash",), "ask", "type what to explain: a job, a link, a flow", "explain"),
)

INSIDE: tuple[Action, ...] = (
    Action("build", ("m",), "build", "links of the node if it were built otherwise", "inside"),
)

NETWORKS: tuple[Action, ...] = (
    Action("inside", ("I",), "inside", "the inside of a node", "networks"),
)

PICKER: tuple[Action, ...] = (
    Action("open", ("enter",), "open", "open the cluster under the cursor", "picker"),
    Action("filter", ("slash",), "find", "filter the list by name; letters of one do so", "picker"),
    Action("path", ("colon",), "path", "type the path of a TOML or replay file", "picker"),
    Action("tour", ("t",), "tour", "open it with a guided tour", "picker"),
    Action("glossary", ("i",), "words", "glossary: what the words mean", "picker"),
    Action("validation", ("V",), "proof", "validation: published numbers derived again", "picker"),
    Action("help", ("question_mark",), "help", "keys and signs", "picker"),
    Action("close", ("escape",), "back", "back to the explorer, if one is open", "picker"),
    Action("app.command_palette", ("ctrl+p",), "", "search all actions", "picker"),
    Action("app.suspend_process", ("ctrl+z",), "", "go to the shell; fg comes back", "picker"),
    Action("app.quit", ("q",), "quit", "leave", "picker"),
)

GLOSSARY: tuple[Action, ...] = (
    Action("filter", ("slash",), "find", "filter the words", "glossary"),
    *(
        Action(f"see({number})", (str(number),), "", f"go to related word {number}", "glossary")
        for number in range(1, 10)
    ),
    Action("before", ("backspace", "left_square_bracket"), "before", "the word before", "glossary"),
    Action("help", ("question_mark",), "help", "keys and signs", "glossary"),
    Action("close", ("escape", "i", "q"), "back", "go back", "glossary"),
)

VALIDATION: tuple[Action, ...] = (
    Action("all", ("space",), "all", "derive all cases that are listed, or stop", "validation"),
    Action("one", ("r",), "one", "derive the case under the cursor, as enter does", "validation"),
    Action("filter", ("slash",), "find", "filter by id, title, role or verdict", "validation"),
    Action("sort", ("s",), "sort", "sort by the next column", "validation"),
    Action("help", ("question_mark",), "help", "keys and signs", "validation"),
    Action("app.command_palette", ("ctrl+p",), "", "search all actions", "validation"),
    Action("close", ("escape", "V", "q"), "back", "go back", "validation"),
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
    Action(
        "enter",
        ("enter",),
        "",
        "go in: open the row, or show what is inside or around it",
        "cursor",
    ),
)


def contexts() -> dict[str, tuple[Action, ...]]:
    """Actions that can be pressed at the same time, by the screen where that is."""
    return {
        "explorer": (*EXPLORER, *MOVES),
        "links": (*LINKS, *SIDE, *MOVES),
        "neighborhood": (*NEIGHBORHOOD, *SIDE, *MOVES),
        "failures": (*FAILURES, *SIDE, *MOVES),
        "compare": (*COMPARE, *SIDE, *MOVES),
        "inside": (*INSIDE, *SIDE, *MOVES),
        "networks": (*NETWORKS, *SIDE, *MOVES),
        "jobs": (*JOBS, *SIDE, *MOVES),
        "tenants": (*TENANTS, *SIDE, *MOVES),
        "curves": (*CURVE, *SIDE, *MOVES),
        "explain": (*EXPLAIN, *SIDE, *MOVES),
        "picker": (*PICKER, *MOVES),
        "glossary": (*GLOSSARY, *MOVES),
        "validation": (*VALIDATION, *MOVES),
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
