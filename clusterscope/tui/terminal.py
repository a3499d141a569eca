"""What is asked of the terminal itself; the only place that uses Textual's private parts."""

from __future__ import annotations

import os
import sys

from textual.app import App
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget

from clusterscope.errors import SpecError


def backlog(app: App[object]) -> int:
    """Writes that wait for a slow terminal; 0 when there is no writer (headless).

    Textual's writer takes 30 writes and then blocks the event loop, keys and all. A frame that is
    not painted while something waits costs nothing; one that is queued costs every key after it.
    """
    writer = getattr(app._driver, "_writer_thread", None)
    return writer._queue.qsize() if writer is not None else 0


def set_virtual_size(view: ScrollView, size: Size) -> None:
    """Let a view scroll over another size, painting the view alone.

    Setting `virtual_size` itself lays the screen out anew and paints all of it: 27 kB at 120x36.
    """
    if size != view.virtual_size:
        view.set_reactive(Widget.virtual_size, size)
        view._scroll_update(size)


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
