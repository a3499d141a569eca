"""What widgets tell the screen above them; the screen alone acts on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from clusterscope.engine.timeline import Timeline


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


class Afterwards(Message):
    """Something to do once every `Pointed` that was sent before has arrived.

    A key acts at once, a selection travels from widget to screen; so what acts on the selection
    has to travel behind it, or a quick hand would hit what was selected before.
    """

    def __init__(self, do: Callable[[], None]) -> None:
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


class Reopen(Message):
    """Another timeline shall take the place of this one, at a step."""

    def __init__(self, build: Callable[[], Timeline], step: int) -> None:
        self.build, self.step = build, step
        super().__init__()


class Picked(Message):
    """A preset was chosen."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__()
