"""The words of the trade and of this program, each in a sentence or two.

They are in glossary.txt, one paragraph a term: name (other spellings), what it means, where it
shows up, related terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from clusterscope.errors import UnknownNameError


@dataclass(frozen=True)
class Term:
    """One word.

    Attributes:
        name: the word.
        text: what it means.
        where: where it shows up here.
        related: names of other terms.
        other: other spellings that are looked up as well.
    """

    name: str
    text: str
    where: str
    related: tuple[str, ...] = ()
    other: tuple[str, ...] = ()


def find(word: str) -> Term:
    """Term of that name or spelling, whatever the case.

    Raises:
        UnknownNameError: no such term; names the nearest.
    """
    wanted = word.casefold().strip()
    for term in TERMS:
        if wanted in (term.name.casefold(), *(other.casefold() for other in term.other)):
            return term
    known = [spelling for term in TERMS for spelling in (term.name, *term.other)]
    raise UnknownNameError("word", word[:60], known, "press i for the whole list")


def matching(text: str) -> tuple[Term, ...]:
    """Terms whose name, spellings or sentences hold the text; those whose name does come first."""
    part = text.casefold().strip()
    named = [t for t in TERMS if part in " ".join((t.name, *t.other)).casefold()]
    told = [t for t in TERMS if t not in named and part in t.text.casefold()]
    return (*named, *told)


def _term(paragraph: str) -> Term:
    """Term of a paragraph of the file."""
    name, rest = paragraph.split("\n", 1)
    name, _, other = name.rstrip(")").partition(" (")
    words = " ".join(rest.split())
    words, _, related = words.partition(" see: ")
    text, _, where = words.partition(" here: ")
    return Term(name, text, where, _listed(related), _listed(other))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(", ")) if text else ()


_TEXT = files("clusterscope.views").joinpath("glossary.txt").read_text("utf-8")
TERMS: tuple[Term, ...] = tuple(
    sorted(map(_term, _TEXT.strip().split("\n\n")), key=lambda term: term.name.casefold())
)
