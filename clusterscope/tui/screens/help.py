"""Help: keys, commands and signs, from the tables that the explorer itself uses."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen

from clusterscope.tui.commands import USAGE
from clusterscope.tui.keys import EXPLORER, MOVES, OVERLAY, bindings
from clusterscope.tui.theme import THRESHOLDS, glyph
from clusterscope.tui.widgets.note import MARK_WORDS, NoteView
from clusterscope.views.shapes import Fact, Note


class Help(ModalScreen[None]):
    """One page over the explorer; scrolls."""

    BINDINGS = bindings(OVERLAY)

    def compose(self) -> ComposeResult:
        """The page."""
        frame = Container(NoteView(id="page"), classes="overlay")
        frame.border_title = Content("help")
        frame.border_subtitle = Content("↑ ↓ scroll · esc back")
        yield frame

    def on_mount(self) -> None:
        """Write the page."""
        page = self.query_one(NoteView)
        page.draw(note())
        page.focus()

    def action_close(self) -> None:
        """Back to the explorer."""
        self.dismiss()


def note() -> Note:
    """The whole page."""
    facts: list[Fact] = []
    for action in (*EXPLORER, *MOVES):
        if not facts or action.group != _group_of(facts):
            facts.append(Fact(f"— {action.group}", ""))
        facts.append(Fact(action.shown_keys, action.help))
    facts.append(Fact("— commands", ""))
    facts += [Fact(f":{usage.split()[0]}", f":{usage}") for usage in USAGE.values()]
    facts.append(Fact("— signs", ""))
    facts += [Fact(repr(glyph(level)), _span(level)) for level in range(8)]
    facts += [
        Fact("X", "dead: nothing in it is alive"),
        Fact("x", "in part: something in it is dead; the color tells how hot the rest is"),
        Fact("?", "no data"),
    ]
    facts += [Fact(mark, words) for mark, words in MARK_WORDS.items()]
    return Note("help", tuple(facts))


def _group_of(facts: list[Fact]) -> str:
    """Heading that the last fact stands under."""
    return next(f.label[2:] for f in reversed(facts) if f.label.startswith("— "))


def _span(level: int) -> str:
    edges = ["0", *(f"{edge:.0%}" for edge in THRESHOLDS), "more"]
    return f"load from {edges[level]} to {edges[level + 1]}"
