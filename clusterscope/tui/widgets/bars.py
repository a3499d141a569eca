"""One-line bars: a summary that drops what does not fit, and the keys that work now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from clusterscope.tui.keys import SHORT_PANES, Action
from clusterscope.tui.messages import Asked
from clusterscope.tui.theme import Palette, palette
from clusterscope.tui.widgets.rows import Span, ground, strip_of

Tone = Literal["text", "dim", "head", "good", "alert"]


@dataclass(frozen=True)
class Part:
    """One piece of a bar.

    Attributes:
        text: words.
        tone: how it looks.
        rank: parts of higher rank are dropped first when room is short.
        right: at the right end.
    """

    text: str
    tone: Tone = "text"
    rank: int = 1
    right: bool = False


def fitting(parts: Sequence[Part], width: int) -> list[Part]:
    """The parts that fit side by side, those of higher rank given up first."""
    kept = [part for part in parts if part.text]
    while len(kept) > 1 and sum(cell_len(part.text) + 2 for part in kept) > width:
        worst = max(part.rank for part in kept)
        kept.remove([part for part in kept if part.rank == worst][-1])
    return kept


class Bar(Widget):
    """A line of parts."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._parts: tuple[Part, ...] = ()

    def draw(self, parts: Sequence[Part]) -> None:
        """Show parts; nothing is painted when they are what is there already."""
        if tuple(parts) != self._parts:
            self._parts = tuple(parts)
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - there is but one
        """The line."""
        width, colors = self.size.width, palette(self.app)
        kept = fitting(self._parts, width)
        left = [(f" {part.text} ", getattr(colors, part.tone)) for part in kept if not part.right]
        right = [(f" {part.text} ", getattr(colors, part.tone)) for part in kept if part.right]
        used = sum(cell_len(text) for text, _ in [*left, *right])
        gap = (" " * max(0, width - used), colors.text)
        strip = strip_of([*left, gap, *right]).crop(0, width).apply_style(ground(self))
        return strip.extend_cell_length(width, ground(self))


class KeyBar(Widget):
    """What can be pressed now, from the key table; each entry can be clicked.

    Args:
        actions: the table.
        order: ids of actions, the most useful first; the others follow in the table's order.
    """

    ALLOW_SELECT = False

    def __init__(
        self,
        actions: Sequence[Action],
        order: Sequence[str] = (),
        *,
        id: str | None = None,  # noqa: A002 - Textual's word
    ) -> None:
        super().__init__(id=id)
        rank = {name: place for place, name in enumerate(order)}
        labelled = [action for action in actions if action.label]
        self._actions = tuple(sorted(labelled, key=lambda a: rank.get(a.id, len(rank))))
        self._single: int | None = None
        self._dense = False
        self._places: list[tuple[int, int, str]] = []

    def draw(self, single: int | None) -> None:
        """Show the panes to switch to as well, the active one marked; None for no panes."""
        if single != self._single:
            self._single = single
            self.refresh()

    @property
    def dense(self) -> bool:
        """True when entries stand close together, as they do beside the panes."""
        return self._dense or self._single is not None

    @dense.setter
    def dense(self, dense: bool) -> None:
        if dense != self._dense:
            self._dense = dense
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - there is but one
        """The line."""
        width, colors = self.size.width, palette(self.app)
        entries = self._pane_entries(colors) + self._action_entries(colors)
        spans: list[Span] = [(" ", colors.text)]
        used, self._places = 1, []
        for action, pieces in entries:
            size = sum(cell_len(text) for text, _ in pieces)
            if used + size > width + 1 + (not self.dense):  # the last one may lose its gap
                continue
            self._places.append((used, used + size, action))
            spans += pieces
            used += size
        strip = strip_of(spans).crop(0, width).apply_style(ground(self))
        return strip.extend_cell_length(width, ground(self))

    def on_click(self, event: events.Click) -> None:
        """Ask for the action under the mouse."""
        for start, end, action in self._places:
            if start <= event.x < end and action:
                self.post_message(Asked(action))

    def _pane_entries(self, colors: Palette) -> list[tuple[str, list[Span]]]:
        if self._single is None:
            return []
        entries: list[tuple[str, list[Span]]] = []
        for number, name in enumerate(SHORT_PANES, start=1):
            here = number == self._single
            style = colors.cursor(colors.head, focused=True) if here else colors.dim
            pieces = [(str(number), colors.head), (name, style), (" ", colors.text)]
            entries.append((f"pane({number})", pieces))
        return [*entries, ("", [("│ ", colors.dim)])]

    def _action_entries(self, colors: Palette) -> list[tuple[str, list[Span]]]:
        entries: list[tuple[str, list[Span]]] = []
        settings = getattr(self.app, "settings", None)
        for action in self._actions:
            if settings is not None:
                action = action.under(settings.keys)
            key = action.shown_keys.split()[0]
            gap = " " if self.dense else "  "
            pieces = [(key, colors.head), (f" {action.label}{gap}", colors.dim)]
            entries.append((action.id, pieces))
        return entries
