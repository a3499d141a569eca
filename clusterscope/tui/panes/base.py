"""A pane: a titled, numbered frame that shows one view while it can be seen."""

from __future__ import annotations

from rich.style import Style
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.reactive import var
from textual.widget import Widget

from clusterscope.engine.frame import Frame
from clusterscope.fabric.things import Thing
from clusterscope.tui.widgets.rows import Span
from clusterscope.views.text import sanitize


class Pane(Container):
    """Base of all panes; follows `frame` and `selection`, draws only while it is displayed.

    Args:
        number: key that goes to it.
        name: its name in the frame.
        widget: what draws it.
    """

    frame: var[Frame | None] = var(None, init=False)
    selection: var[Thing] = var(Thing("cluster"), init=False)

    def __init__(self, number: int, name: str, widget: Widget) -> None:
        super().__init__(id=f"pane{number}", classes="pane")
        self.number = number
        self.label = name
        self.inner = widget
        self._stale = True
        self._said = ""

    def compose(self) -> ComposeResult:
        """The widget."""
        yield self.inner

    def on_mount(self) -> None:
        """Title before the first frame."""
        self.caption("")

    def caption(self, words: str) -> None:
        """Put the number key, the name and some words into the frame."""
        text = f"{self.number} {self.label}" + (f" · {sanitize(words)}" if words else "")
        if text != self._said:
            self._said = text
            self.border_title = Content(text)

    def subtitle(self, spans: list[Span]) -> None:
        """Put styled words into the frame's bottom."""
        parts = [Content.styled(text, _content_style(style)) for text, style in spans]
        self.border_subtitle = Content("").join(parts) if parts else None

    def watch_frame(self) -> None:
        """Draw a new frame."""
        self._follow()

    def watch_selection(self) -> None:
        """Draw a new selection."""
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
