"""What widgets tell the screen above them; the screen alone acts on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from clusterscope.tui.library import Opened
    from clusterscope.tui.settings import Look


class Pointed(Message):
    """The cursor of a widget came to something.

    Attributes:
        key: its name, or whatever the widget was drawn with as key; "" for nothing.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__()


class Entered(Message):
    """Enter was pressed on something."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__()


class OutOfSight(Message):
    """Other columns of a table than before are beyond its edges."""


class Afterwards(Message):
    """Something to do once every `Pointed` that was sent before has arrived.

    A key acts at once, a selection travels from widget to screen; so what acts on the selection
    has to travel behind it, or a quick hand would hit what was selected before.
    """

    def __init__(self, do: Callable[[], object]) -> None:
        self.do = do
        super().__init__()


class Asked(Message):
    """A click asks for an action of the key table."""

    def __init__(self, action: str) -> None:
        self.action = action
        super().__init__()


class SoughtStep(Message):
    """A click on the time line asks for a step."""

    def __init__(self, step: int) -> None:
        self.step = step
        super().__init__()


class Typed(Message):
    """A line of text was entered, changed or given up in the prompt.

    Attributes:
        mode: what the prompt was opened for: "filter" or "command".
        text: the text so far.
        state: "changed", "done" or "cancelled".
    """

    def __init__(self, mode: str, text: str, state: str) -> None:
        self.mode, self.text, self.state = mode, text, state
        super().__init__()


class Wanting(Message):
    """A pane needs a view that is too slow for the event loop."""


class Reopen(Message):
    """Another timeline shall take the place of this one.

    Attributes:
        what: what is opened, in words.
        build: gives it, with where to begin.
    """

    def __init__(self, what: str, build: Callable[[], Opened]) -> None:
        self.what, self.build = what, build
        super().__init__()


class Relook(Message):
    """Things shall look different from now on."""

    def __init__(self, look: Look) -> None:
        self.look = look
        super().__init__()


class Pick(Message):
    """Another cluster shall be chosen; what is open stays open.

    Attributes:
        back: what is open, in words.
    """

    def __init__(self, back: str) -> None:
        self.back = back
        super().__init__()


class Picked(Message):
    """A cluster was chosen, by preset name or path; perhaps with a tour."""

    def __init__(self, name: str, *, touring: bool = False) -> None:
        self.name, self.touring = name, touring
        super().__init__()
