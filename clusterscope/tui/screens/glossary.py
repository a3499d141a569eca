"""Glossary: the words, what they mean and where they show up; related ones are a key away."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen

from clusterscope.tui.keys import GLOSSARY, bindings
from clusterscope.tui.messages import Asked, Pointed, Typed
from clusterscope.tui.widgets.bars import Bar, KeyBar, Part
from clusterscope.tui.widgets.note import NoteView
from clusterscope.tui.widgets.prompt import Prompt
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.glossary import TERMS, Term, matching
from clusterscope.views.shapes import Column, Fact, Note, Table
from clusterscope.views.text import sanitize


class Glossary(Screen[None]):
    """A list of words beside the one under the cursor.

    Args:
        term: the word to begin with; the first when left out.
    """

    ACTIONS = GLOSSARY
    BINDINGS = bindings(GLOSSARY)

    def __init__(self, term: Term | None = None) -> None:
        super().__init__()
        self._term = term or TERMS[0]
        self._before: list[Term] = []
        self._filter = ""
        self._list, self._note = TableView(id="words"), NoteView(id="word")
        self._prompt = Prompt(id="prompt")
        self._keys = KeyBar(GLOSSARY, ("filter", "close"), id="keys")

    def compose(self) -> ComposeResult:
        """Head line, words and meaning, line to type on, keys."""
        head = Bar(id="head")
        keys = "↑ ↓ word · 1–9 related · backspace the one before"
        head.draw([Part("what the words mean", "head", 0), Part(keys, "dim")])
        yield head
        with Container(id="glossary"):
            with Container(self._list, id="list", classes="pane"):
                pass
            with Container(self._note, id="about", classes="pane"):
                pass
        yield self._prompt
        yield self._keys

    def on_mount(self) -> None:
        """List the words."""
        self._draw()
        self.set_focus(self._list)

    def _draw(self) -> None:
        """Show the words that hold what was typed, the cursor on the current one if it does."""
        terms = matching(self._filter)
        names = [term.name for term in terms]
        if terms and self._term not in terms:
            self._term = terms[0]
        self._list.draw(Table("words", (Column("word", "text", names),), len(names), names))
        if self._term in terms:
            self._list.cursor = terms.index(self._term)
        self._list.touch_up()
        self._list.reveal()
        found = f"{len(terms)} of {len(TERMS)} · /{self._filter}" if self._filter else "words"
        self.query_one("#list").border_title = Content(sanitize(found))
        self._explain()

    def _explain(self) -> None:
        self.query_one("#about").border_title = Content(self._term.name)
        self._note.draw(note(self._term))

    def go(self, term: Term) -> None:
        """Explain another word, whatever the filter."""
        self._before.append(self._term)
        self._term, self._filter = term, ""
        self._draw()

    def on_pointed(self, message: Pointed) -> None:
        """Explain the word under the cursor."""
        term = next((term for term in TERMS if term.name == message.key), None)
        if term is not None and term is not self._term:
            self._term = term
            self._explain()

    def action_see(self, number: int) -> None:
        """Go to a related word."""
        related = related_of(self._term)
        if number <= len(related):
            self.go(related[number - 1])

    def action_before(self) -> None:
        """Go back to the word that led here."""
        if self._before:
            self._term, self._filter = self._before.pop(), ""
            self._draw()

    def action_filter(self) -> None:
        """Type part of a word."""
        self._keys.display = False
        self._prompt.open("filter", self._filter, "part of a word or of what it means")

    def on_typed(self, message: Typed) -> None:
        """Narrow the list while typing."""
        self._filter = message.text.strip()
        self._draw()
        if message.state != "changed":
            self._keys.display = True
            self.set_focus(self._list)

    def action_close(self) -> None:
        """Show all words again, or go back."""
        if self._filter:
            self._filter = ""
            self._draw()
        else:
            self.dismiss()

    async def on_asked(self, message: Asked) -> None:
        """Do what was clicked."""
        await self.run_action(message.action)


def related_of(term: Term) -> tuple[Term, ...]:
    """Terms that a term points to."""
    by_name = {other.name: other for other in TERMS}
    return tuple(by_name[name] for name in term.related if name in by_name)


def note(term: Term) -> Note:
    """A term as a note: what it means, where it shows up, related words by number."""
    facts = [Fact("here", term.where)]
    if term.other:
        facts.append(Fact("also", ", ".join(term.other)))
    related = [(str(n), t.name) for n, t in enumerate(related_of(term), start=1)]
    facts += [Fact("related", "")] if related else []
    facts += [Fact(f"  {number}", name) for number, name in related]
    return Note(term.name, tuple(facts), (term.text,))
