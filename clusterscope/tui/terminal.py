"""What is asked of the terminal itself; the only place that uses Textual's private parts."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

from textual._xterm_parser import XTermParser
from textual.app import App
from textual.content import Content
from textual.events import Key
from textual.filter import NoColor
from textual.geometry import Region, Size
from textual.message import Message
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.widget import Widget

from clusterscope.errors import SpecError
from clusterscope.tui.ascii import Ascii

_ESCAPE = "\x1b"
GATHERING_S = 0.003  # longer than a message takes from a widget to the screen


def backlog(app: App[object]) -> int:
    """Writes that wait for a slow terminal; 0 when there is no writer (headless).

    Textual's writer takes 30 writes and then blocks the event loop, keys and all. A frame that is
    not painted while something waits costs nothing; one that is queued costs every key after it.
    """
    writer = getattr(app._driver, "_writer_thread", None)
    return writer._queue.qsize() if writer is not None else 0


def leave_colors_out(app: App[None]) -> None:
    """Paint without colors, as if NO_COLOR were set; before anything is painted."""
    if not app.no_color:
        app.no_color = True
        app._filters.append(NoColor())


def draw_in_ascii(app: App[None]) -> None:
    """Paint in ASCII; before anything is painted."""
    app._filters.append(Ascii())


class Gathering(Screen[None]):
    """A screen that paints what one key has touched at once, not piece by piece.

    A selection travels from widget to screen, and what it changes from there to other widgets;
    Textual paints the first of them before the last is touched, and the rest a frame later.
    """

    _gathering = False

    def _on_timer_update(self) -> None:
        now = self._layout_required or self._scroll_required or self._repaint_required
        if now or self.app.is_headless:
            super()._on_timer_update()
            return
        self._update_timer.pause()
        if not self._gathering:
            self._gathering = True
            self.set_timer(GATHERING_S, self._paint_gathered)

    def _paint_gathered(self) -> None:
        self._gathering = False
        super()._on_timer_update()


def write_on_border(widget: Widget, words: Content | None, *, below: bool = False) -> None:
    """Write on a widget's border and paint that line alone.

    Setting `border_title` itself paints the widget and all that it holds.
    """
    if not widget.is_mounted:
        if below:
            widget.border_subtitle = words
        else:
            widget.border_title = words
        return
    setattr(widget, "_border_subtitle" if below else "_border_title", words)
    left, top = widget.content_offset
    y = widget.outer_size.height - 1 if below else 0
    widget.refresh(Region(-left, y - top, widget.outer_size.width, 1))


def set_virtual_size(view: ScrollView, size: Size) -> None:
    """Let a view scroll over another size, painting the view alone.

    Setting `virtual_size` itself lays the screen out anew and paints all of it: 27 kB at 120x36.
    """
    if size != view.virtual_size:
        view.set_reactive(Widget.virtual_size, size)
        view._scroll_update(size)


class _Escapes(XTermParser):
    """Reads an escape that a key follows at once as the two keys that they are.

    Textual takes them for one key with alt, which types its letter into an input, or for "^".
    """

    _last = ""

    def parse(self, token_callback: Callable[[Message], None]) -> Generator[Any, str, None]:
        """Hand on what was typed."""

        def tell(token: Message) -> None:
            mistaken = isinstance(token, Key) and token.key == "circumflex_accent"
            if mistaken and self._last == _ESCAPE:
                token = Key("escape", _ESCAPE)
            token_callback(token)

        return super().parse(tell)

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterator[Key]:
        self._last = sequence
        # These two begin the sequences of other keys, which a slow line may cut in two.
        if alt and sequence not in ("[", "O"):
            yield Key("escape", _ESCAPE)
            alt = False
        yield from super()._sequence_to_key_events(sequence, alt)


def tell_escapes_apart() -> None:
    """Have the driver know escape and a quick key from a key with alt; before the app runs."""
    if sys.platform != "win32":
        from textual.drivers import linux_driver

        vars(linux_driver)["XTermParser"] = _Escapes


def end_with_terminal() -> None:
    """End the program when its terminal is gone, even where the signal for that is ignored.

    Under nohup, Textual would go on reading from what is closed, without a pause.
    """
    poll = getattr(select, "poll", None)
    if poll is None or not sys.stdin.isatty():
        return

    def watch() -> None:
        waiting = poll()
        waiting.register(sys.stdin.fileno(), 0)  # hanging up is told without being asked for
        if any(what & select.POLLHUP for _, what in waiting.poll()):
            os._exit(128 + signal.SIGHUP)

    threading.Thread(target=watch, name="terminal", daemon=True).start()


def require_terminal() -> None:
    """Refuse to draw where nobody can see it.

    Raises:
        SpecError: stdin or stderr is no terminal, or TERM is dumb; a web driver is welcome.
    """
    if os.environ.get("TEXTUAL_DRIVER"):
        return
    hint = "use --export DIR for a run without a screen"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise SpecError("terminal", "stdin or stderr is not a terminal", hint)
    if os.environ.get("TERM", "dumb") in ("dumb", ""):
        raise SpecError("terminal", "TERM=dumb cannot show a screen", hint)
