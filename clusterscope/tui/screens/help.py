"""Help: keys, commands and signs, from the tables that the explorer itself uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen

from clusterscope.tui.commands import USAGE
from clusterscope.tui.keys import (
    COMPARE,
    EXPLAIN,
    EXPLORER,
    FAILURES,
    GLOSSARY,
    INSIDE,
    LINKS,
    MOVES,
    NEIGHBORHOOD,
    NETWORKS,
    OVERLAY,
    PICKER,
    SIDE,
    TENANTS,
    VALIDATION,
    Action,
    Keymap,
    bindings,
)
from clusterscope.tui.screen_keys import CURVE, JOBS
from clusterscope.tui.settings import Settings
from clusterscope.tui.widgets.note import MARK_WORDS, NoteView
from clusterscope.views import heat
from clusterscope.views.shapes import Fact, Note

# Keys that a screen has besides those of the explorer.
SCREENS: Final[Mapping[str, Sequence[Action]]] = {
    "links": LINKS,
    "failures": FAILURES,
    "compare": COMPARE,
    "jobs": JOBS,
    "tenants": TENANTS,
    "curves": CURVE,
    "inside": INSIDE,
    "networks": NETWORKS,
    "explain": EXPLAIN,
    "neighborhood": NEIGHBORHOOD,
    "glossary": GLOSSARY,
    "validation": VALIDATION,
    "picker": PICKER,
}


class Help(ModalScreen[None]):
    """One page over the explorer; scrolls.

    Args:
        here: name of the screen that asks, whose own keys come first; "" for the explorer.
    """

    BINDINGS = bindings(OVERLAY)

    def __init__(self, here: str = "") -> None:
        super().__init__()
        self._here = here

    def compose(self) -> ComposeResult:
        """The page."""
        frame = Container(NoteView(id="page"), classes="overlay")
        frame.border_title = Content(f"help · {self._here}" if self._here else "help")
        frame.border_subtitle = Content("↑ ↓ scroll · esc back")
        yield frame

    def on_mount(self) -> None:
        """Write the page."""
        page = self.query_one(NoteView)
        page.draw(note(getattr(self.app, "settings", Settings()), self._here))
        page.focus()

    def action_close(self) -> None:
        """Back to the screen below."""
        self.dismiss()


def note(settings: Settings | None = None, here: str = "") -> Note:
    """The whole page, with the keys and thresholds that are in force.

    Args:
        settings: what the user has set; all defaults when left out.
        here: name of the screen whose own keys come first; "" for the explorer.
    """
    settings = settings or Settings()
    facts: list[Fact] = []
    for heading, way, actions in _sections(here, settings.keys):
        facts.append(Fact(f"— {heading}", way))
        facts += _facts(action.under(settings.keys) for action in actions)
        if heading == here and f"side('{here}')" in _openers():
            keys = (action.under(settings.keys).shown_keys for action in SIDE)
            facts.append(Fact("as elsewhere", " ".join(keys)))
    facts.append(Fact("— commands", ""))
    facts += [Fact(f":{usage.split()[0]}", f":{usage}") for usage in USAGE.values()]
    return Note("help", (*facts, *_signs(settings)))


def _openers() -> dict[str, Action]:
    """Actions of the explorer by name: some of them open the other screens."""
    return {action.name: action for action in EXPLORER}


def _sections(here: str, keymap: Keymap) -> Iterator[tuple[str, str, Sequence[Action]]]:
    """Headings, how one gets there, and actions: the screen's own, the explorer's, the others'."""
    if here:
        yield here, "", SCREENS[here]
    groups: dict[str, list[Action]] = {}
    for action in (*EXPLORER, *MOVES):
        groups.setdefault(action.group, []).append(action)
    yield from ((group, "", actions) for group, actions in groups.items())
    openers = _openers()
    for name, actions in SCREENS.items():
        if name != here:
            opener = openers.get(name) or openers[f"side('{name}')"]
            yield name, f"{opener.under(keymap).shown_keys} opens it", actions


def _facts(actions: Iterable[Action]) -> Iterator[Fact]:
    """Keys and what they do; keys that differ in a number alone share a line."""
    lines: dict[str, list[str]] = {}
    for action in actions:
        number = action.id.partition("(")[2].rstrip(")")
        same = number.isdigit() and f" {number}" in action.help
        words = action.help.replace(f" {number}", " N") if same else action.help
        lines.setdefault(words, []).append(action.shown_keys)
    for words, keys in lines.items():
        yield Fact(keys[0] if len(keys) == 1 else f"{keys[0]}–{keys[-1]}", words)


def _signs(settings: Settings) -> Iterator[Fact]:
    """Signs of loads, changes and trust."""
    yield Fact("— signs", "")
    spans = heat.spans_of(settings.look.thresholds)
    yield Fact(repr(heat.glyph(0)), "idle")
    levels = (heat.LITTLE, *range(1, heat.LEVELS))
    for level, span in zip(levels, spans, strict=True):
        yield Fact(repr(heat.glyph(level)), f"load from {span}")
    yield Fact("X", "dead: nothing in it is alive")
    yield Fact("x", "in part: something in it is dead; the color tells how hot the rest is")
    yield Fact("?", "no data")
    yield Fact("— changes", "against a baseline, in points of load")
    for size, edge in enumerate(heat.CHANGES, start=1):
        cooler, hotter = (heat.CHANGE_GLYPHS[heat.UNCHANGED + way * size] for way in (-1, 1))
        yield Fact(f"{cooler!r} {hotter!r}", f"cooler, hotter by {edge:.0%} or more")
    for mark, words in MARK_WORDS.items():
        yield Fact(mark, words)
