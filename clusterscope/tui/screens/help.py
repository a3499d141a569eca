"""Help: keys, commands and signs, from the tables that the explorer itself uses."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen

from clusterscope.tui.commands import USAGE
from clusterscope.tui.keys import EXPLORER, LINKS, MOVES, NEIGHBORHOOD, OVERLAY, bindings
from clusterscope.tui.settings import Settings
from clusterscope.tui.widgets.note import MARK_WORDS, NoteView
from clusterscope.views import heat
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
        page.draw(note(getattr(self.app, "settings", Settings())))
        page.focus()

    def action_close(self) -> None:
        """Back to the explorer."""
        self.dismiss()


def note(settings: Settings | None = None) -> Note:
    """The whole page, with the keys and thresholds that are in force."""
    settings = settings or Settings()
    facts: list[Fact] = []
    tables = (*EXPLORER, *MOVES, *LINKS, *NEIGHBORHOOD)
    for action in (known.under(settings.keys) for known in tables):
        if not facts or action.group != _group_of(facts):
            facts.append(Fact(f"— {action.group}", ""))
        facts.append(Fact(action.shown_keys, action.help))
    facts.append(Fact("— commands", ""))
    facts += [Fact(f":{usage.split()[0]}", f":{usage}") for usage in USAGE.values()]
    facts.append(Fact("— signs", ""))
    spans = heat.spans_of(settings.look.thresholds)
    facts += [
        Fact(repr(heat.glyph(level)), f"load from {span}") for level, span in enumerate(spans)
    ]
    facts += [
        Fact("X", "dead: nothing in it is alive"),
        Fact("x", "in part: something in it is dead; the color tells how hot the rest is"),
        Fact("?", "no data"),
    ]
    facts.append(Fact("— changes", "against a baseline, in points of load"))
    for size, edge in enumerate(heat.CHANGES, start=1):
        cooler, hotter = (heat.CHANGE_GLYPHS[heat.UNCHANGED + way * size] for way in (-1, 1))
        facts.append(Fact(f"{cooler!r} {hotter!r}", f"cooler, hotter by {edge:.0%} or more"))
    facts += [Fact(mark, words) for mark, words in MARK_WORDS.items()]
    return Note("help", tuple(facts))


def _group_of(facts: list[Fact]) -> str:
    """Heading that the last fact stands under."""
    return next(f.label[2:] for f in reversed(facts) if f.label.startswith("— "))
