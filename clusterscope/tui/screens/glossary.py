"""Glossary: the words, what they mean and where they show up; related ones are a key away."""

from __future__ import annotations

from clusterscope.tui.keys import GLOSSARY, bindings
from clusterscope.tui.messages import Pointed
from clusterscope.tui.screens.beside import Beside
from clusterscope.tui.widgets.bars import Part
from clusterscope.views.glossary import TERMS, Term, matching
from clusterscope.views.shapes import Column, Fact, Note, Table


class Glossary(Beside):
    """A list of words beside the one under the cursor.

    Args:
        term: the word to begin with; the first when left out.
    """

    ACTIONS = GLOSSARY
    BINDINGS = bindings(GLOSSARY)
    FOOTER = ("filter", "before", "close")
    HINT = "part of a word or of what it means"

    def __init__(self, term: Term | None = None) -> None:
        super().__init__()
        self._term = term or TERMS[0]
        self._before: list[Term] = []
        keys = "↑ ↓ word · 1–9 related · backspace the one before"
        self.head.draw([Part("what the words mean", "head", 0), Part(keys, "dim")])

    def draw(self) -> None:
        """Show the words that hold what was typed, the cursor on the current one if it does."""
        terms = matching(self.typed)
        names = [term.name for term in terms]
        if terms and self._term not in terms:
            self._term = terms[0]
        self.listing.draw(Table("words", (Column("word", "text", names),), len(names), names))
        if self._term in terms:
            self.listing.cursor = terms.index(self._term)
        self.listing.touch_up()
        self.listing.reveal()
        found = f"{len(terms)} of {len(TERMS)} · /{self.typed}" if self.typed else "words"
        self.entitle(found)
        self.explain(note(self._term))

    def go(self, term: Term) -> None:
        """Explain another word, whatever the filter."""
        self._before.append(self._term)
        self._term, self.typed = term, ""
        self.draw()

    def on_pointed(self, message: Pointed) -> None:
        """Explain the word under the cursor."""
        term = next((term for term in TERMS if term.name == message.key), None)
        if term is not None and term is not self._term:
            self._term = term
            self.explain(note(term))

    def action_see(self, number: int) -> None:
        """Go to a related word."""
        related = related_of(self._term)
        if number <= len(related):
            self.go(related[number - 1])

    def action_before(self) -> None:
        """Go back to the word that led here."""
        if self._before:
            self._term, self.typed = self._before.pop(), ""
            self.draw()


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
