"""Note: facts with how far they can be trusted, and sentences."""

from __future__ import annotations

import textwrap
from itertools import zip_longest

from rich.cells import cell_len
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from clusterscope.tui.terminal import set_virtual_size
from clusterscope.tui.theme import Palette, palette
from clusterscope.tui.widgets.rows import Span, ground, room, strip_of
from clusterscope.views.shapes import Fact, Mark, Note
from clusterscope.views.text import fmt, sanitize

MARKS: dict[Mark, str] = {
    "": "",
    "estimate": "~",
    "doubt": "?",
    "source": "§",
    "derived": "=",
    "set": "*",
}
MARK_WORDS = {
    "~": "estimate",
    "?": "in doubt",
    "§": "published",
    "=": "derived",
    "*": "set by the spec",
}
_SHAKY = ("estimate", "doubt")
_WIDEST_LABEL = 18
_NUMBER = 3  # words of a number, its unit and a sign
_LITTLE = 24  # cells that a sentence needs to be read under others
_ROOM_FOR_SOURCES = 64


class NoteView(ScrollView, can_focus=True):
    """Draws a Note; long values wrap under themselves."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._note = Note("")
        self._lines: list[list[Span]] = []

    def draw(self, note: Note) -> None:
        """Show a note."""
        if note.title != self._note.title:
            self.scroll_to(y=0, animate=False)
        self._note = note
        self._layout()

    @property
    def shape(self) -> Note | None:
        """What is shown."""
        return self._note

    def on_resize(self) -> None:
        """Wrap anew."""
        self._layout()

    def render_line(self, y: int) -> Strip:
        """One line of the widget."""
        width, row = room(self).width, y + self.scroll_offset.y
        if row >= len(self._lines):
            return Strip.blank(width, ground(self))
        strip = strip_of(self._lines[row]).crop(0, width).apply_style(ground(self))
        return strip.extend_cell_length(width, ground(self)).simplify()

    def _layout(self) -> None:
        width, colors = max(12, room(self).width), palette(self.app)
        old, self._lines = self._lines, lines_of(self._note, width, colors)
        set_virtual_size(self, Size(width, len(self._lines)))
        for row, (was, now) in enumerate(zip_longest(old, self._lines)):
            if was != now:
                self.refresh_line(row)


def lines_of(note: Note, width: int, colors: Palette) -> list[list[Span]]:
    """A note as lines of a width: sentences, facts, then the meaning of the marks in it."""
    labels = [cell_len(fact.label) for fact in note.facts]
    indent = min(_WIDEST_LABEL, max(labels, default=0), width * 3 // 5) + 1
    lines: list[list[Span]] = []
    for text in note.lines:
        lines += [[(line, colors.text)] for line in _wrap(sanitize(text), width)]
    if note.facts and note.lines:
        lines.append([])
    for fact in note.facts:
        lines += _fact_lines(fact, indent, width, colors)
    if width < _ROOM_FOR_SOURCES:
        lines += _source_lines(note, width, colors)
    marks = dict.fromkeys(MARKS[fact.mark] for fact in note.facts if fact.mark)
    if marks:
        words = "  ".join(f"{mark} {MARK_WORDS[mark]}" for mark in marks)
        lines += [[], *([(line, colors.dim)] for line in _wrap(words, width))]
    return lines


def _fact_lines(fact: Fact, indent: int, width: int, colors: Palette) -> list[list[Span]]:
    """Label, value and mark; the source below it where there is room for it."""
    label = sanitize(fact.label)
    lines: list[list[Span]] = []
    if cell_len(label) >= indent:
        # A name that has no room beside its value stands above it: cut, it could be any other.
        lines, label = [[(line, colors.dim)] for line in _wrap(label, width)], ""
    value = sanitize(fmt(fact.value, fact.kind))
    # What is short stays in one piece, at the cost of its place; so does all where room is little.
    whole = len(value.split()) <= _NUMBER or width - indent < _LITTLE
    if whole and cell_len(value) > width - indent - 1 > cell_len(value) + cell_len(label) - indent:
        indent = width - 1 - cell_len(value)
    longest = max(map(cell_len, value.split()), default=0)
    below = longest > width - indent - 1
    if below:  # a name in two pieces is no name: it has lines of its own
        indent = max(1, width - 1 - longest)
    first, *rest = [""] * below + _wrap(value, width - indent - 1) or [""]
    mark_style = colors.estimate if fact.mark in _SHAKY else colors.dim
    lines.append(
        [
            (label + " " * (0 if below else indent - cell_len(label)), colors.dim),
            (first, colors.text),
            (MARKS[fact.mark] if not rest else "", mark_style),
        ]
    )
    for number, text in enumerate(rest, start=1):
        mark = MARKS[fact.mark] if number == len(rest) else ""
        lines.append([(" " * indent + text, colors.text), (mark, mark_style)])
    if fact.source and width >= _ROOM_FOR_SOURCES:
        texts = _wrap(sanitize(fact.source), width - indent - 2)
        lines += [[(" " * (indent + 2) + text, colors.dim)] for text in texts]
    return lines


def _source_lines(note: Note, width: int, colors: Palette) -> list[list[Span]]:
    """Where numbers come from, below them where there is no room beside: each source once."""
    labels: dict[tuple[str, Mark], list[str]] = {}
    for fact in note.facts:
        if fact.source:
            labels.setdefault((fact.source, fact.mark), []).append(fact.label)
    lines: list[list[Span]] = [[]] if labels else []
    for (source, mark), names in labels.items():
        style = colors.estimate if mark in _SHAKY else colors.dim
        first, *rest = _wrap(sanitize(f"{', '.join(names)}: {source}"), width - 2)
        lines.append([(f"{MARKS[mark]:<2}", style), (first, colors.dim)])
        lines += [[("  " + text, colors.dim)] for text in rest]
    return lines


def _wrap(text: str, width: int) -> list[str]:
    # A percent sign belongs to its number.
    text = text.replace(" %", "\N{NO-BREAK SPACE}%")
    lines = textwrap.wrap(text, max(4, width), break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
