"""A pane: a titled, numbered frame that shows one view while it can be seen."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.reactive import var
from textual.widget import Widget

from clusterscope.engine.frame import Frame
from clusterscope.fabric.things import Thing
from clusterscope.tui.keys import PANE_HINTS
from clusterscope.tui.messages import OutOfSight
from clusterscope.tui.terminal import write_on_border
from clusterscope.tui.theme import palette
from clusterscope.tui.widgets.rows import Span
from clusterscope.tui.widgets.table import TableView
from clusterscope.views.text import sanitize

_CORNERS = 6  # cells of a frame's top that are no words
_BREAKS = re.compile(r" · |; |, |: | \(| ▸ ")


def headed(ways: Sequence[str], room: int) -> str:
    """The first of several ways to say a thing that fits, or else the first one's beginning.

    Words are left out where a sentence has a joint, never within a word; a name that is too long by
    itself ends in "…".
    """
    for words in ways:
        if cell_len(words) <= room:
            return words
    words = ways[0]
    ends = [match.start() for match in _BREAKS.finditer(words)]
    kept = [words[:end] for end in reversed(ends) if cell_len(words[:end]) <= room]
    if kept:
        return kept[0]
    return set_cell_size(ways[-1], max(0, room - 1)).rstrip() + "…"


class Framed(Container):
    """A frame with words on its border, of which only what changes is painted.

    Args:
        widgets: what is in it.
        id: id of the widget.
    """

    TELLS = True  # of columns out of sight

    def __init__(self, *widgets: Widget, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(*widgets, id=id, classes="pane")
        self._ways: tuple[str, ...] = ("",)
        self._said = ""
        self._below: list[Span] = []

    def entitle(self, *ways: str) -> None:
        """Put words into the frame's top: the first of several ways to say it that fits."""
        self._ways = tuple(sanitize(words) for words in ways)
        self._head()

    def on_resize(self) -> None:
        """There may be room for other words now."""
        self._head()

    def _head(self) -> None:
        width = self.outer_size.width
        words = headed(self._ways, width - _CORNERS) if width > _CORNERS else self._ways[0]
        if words != self._said:
            self._said = words
            write_on_border(self, Content(words))

    def subtitle(self, spans: list[Span]) -> None:
        """Put styled words into the frame's bottom."""
        if spans == self._below:
            return
        self._below = spans
        self._foot()

    def on_out_of_sight(self, message: OutOfSight) -> None:
        """Say which key shows the columns of a table that are out of sight."""
        message.stop()
        self._foot()

    def _foot(self) -> None:
        """Write the bottom line; how to see more of a table comes first, since it may be cut."""
        tables = [own for own in self.children if isinstance(own, TableView) and own.display]
        ways = [(own.beyond, palette(self.app).dim) for own in tables if self.TELLS and own.beyond]
        spans = [*ways, *([(" · ", ways[0][1])] if ways and self._below else []), *self._below]
        parts = [Content.styled(text, _content_style(style)) for text, style in spans if text]
        write_on_border(self, Content("").join(parts) if parts else None, below=True)


class Pane(Framed):
    """Base of all panes: follows frame, selection and baseline, draws only while displayed.

    Args:
        number: key that goes to it.
        name: its name in the frame.
        widget: what draws it.
    """

    TELLS = False  # its hint is worth more, and what is large can be looked at closer

    frame: var[Frame | None] = var(None, init=False)
    selection: var[Thing] = var(Thing("cluster"), init=False)
    baseline: var[Frame | None] = var(None, init=False)

    def __init__(self, number: int, name: str, widget: Widget) -> None:
        super().__init__(id=f"pane{number}")
        self.number = number
        self.label = name
        self.inner = widget
        self._stale = True

    def compose(self) -> ComposeResult:
        """The widget."""
        yield self.inner

    def on_mount(self) -> None:
        """Title before the first frame."""
        self.caption("")
        self.hint(PANE_HINTS[self.number - 1])

    def hint(self, words: str) -> None:
        """Say in the frame what keys do here."""
        if words:
            self.subtitle([(words, palette(self.app).dim)])

    def caption(self, words: str, short: str = "", *, named: bool = False) -> None:
        """Put the number key, the name and some words into the frame.

        Args:
            words: what the pane shows.
            short: the same in fewer words, where there is no room for those.
            named: True when the words are a name, which says more than the pane's own.
        """
        head = f"{self.number} {self.label}"
        ways = [f"{head} · {said}" for said in (words, short) if said] or [head]
        self.entitle(*ways, *([f"{self.number} {words}"] if named else []))

    def watch_frame(self) -> None:
        """Draw a new frame."""
        self._follow()

    def watch_selection(self) -> None:
        """Draw a new selection."""
        self._follow()

    def watch_baseline(self) -> None:
        """Draw what has changed since another frame, or no longer."""
        self._follow()

    def on_show(self) -> None:
        """Catch up with what happened while the pane was hidden."""
        if self._stale:
            self._follow()

    def _follow(self) -> None:
        self._stale = not (self.is_mounted and self.display)
        if self.frame is not None and not self._stale:
            self.redraw(self.frame)

    def redraw(self, frame: Frame) -> None:
        """Draw the frame and the selection."""
        raise NotImplementedError


def _content_style(style: Style) -> str:
    """A rich style as Content takes it."""
    words = [word for word in ("bold", "reverse", "underline") if getattr(style, word)]
    if style.color is not None:
        words.append(style.color.name)
    if style.bgcolor is not None:
        words.append(f"on {style.bgcolor.name}")
    return " ".join(words)
