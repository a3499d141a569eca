"""A screen beside the explorer: on the same timeline, live while time runs.

The explorer stays below and owns the clock and the engine's thread; it hands every new frame to the
side screen on top. A side screen draws, and asks the explorer for whatever changes the timeline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Container
from textual.reactive import var
from textual.widget import Widget

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.fabric.things import Thing
from clusterscope.tui import headline
from clusterscope.tui.keys import SIDE, Action, bindings
from clusterscope.tui.messages import Asked
from clusterscope.tui.screens.help import Help
from clusterscope.tui.screens.taking import Taking
from clusterscope.tui.widgets.bars import Bar, KeyBar

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer


class Side(Taking):
    """Base of the side screens.

    Args:
        explorer: the explorer below.
    """

    ACTIONS: ClassVar[Sequence[Action]] = SIDE
    FOOTER: ClassVar[Sequence[str]] = ()  # ids of actions that the key bar shows first
    BINDINGS = bindings(SIDE)
    AUTO_FOCUS = ""

    frame: var[Frame | None] = var(None, init=False)
    events: var[tuple[Event, ...]] = var((), init=False)

    def __init__(self, explorer: Explorer) -> None:
        super().__init__()
        self.explorer = explorer
        self.scenario = explorer.scenario
        self.exports = explorer.exports
        self._head = Bar(id="head")
        self._keys = KeyBar(self.ACTIONS, self.FOOTER, id="keys")

    def compose(self) -> ComposeResult:
        """Head line, the screen's own widgets, keys."""
        yield self._head
        yield Container(*self.body(), id="body")
        yield self._keys

    @property
    def name_selected(self) -> str:
        """Name of what is selected in the explorer below."""
        return self.explorer.name_selected

    @property
    def frame_shown(self) -> Frame | None:
        """The frame on the screen."""
        return self.frame

    def body(self) -> Sequence[Widget]:
        """The screen's own widgets."""
        raise NotImplementedError

    def redraw(self, frame: Frame) -> None:
        """Draw a frame."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Begin with the log and the frame that the explorer shows; the frame draws both."""
        self.events = self.explorer.events
        self.frame = self.explorer.frame

    def watch_frame(self) -> None:
        """Draw a new frame."""
        if self.frame is not None and self._head.is_attached:
            self.draw_head(self.frame)
            self.redraw(self.frame)

    def draw_head(self, frame: Frame) -> None:
        """Draw the head line."""
        explorer = self.explorer
        self._head.draw(headline.short(self.scenario, frame, explorer.player, explorer.stage.job))

    def action_close(self) -> None:
        """Back to the explorer."""
        self.dismiss()

    def action_explorer(self, action: str) -> None:
        """Have the explorer do one of its actions: time, undo."""
        self.call_later(self.explorer.run_action, action)

    def action_help(self) -> None:
        """Keys and signs, the screen's own first."""
        self.app.push_screen(Help(type(self).__name__.lower()))

    def broke(self, sentence: str) -> None:
        """Say what went wrong, once: time stops, since the next frame would fare no better."""
        super().broke(sentence)
        if self.explorer.player.playing:
            self.explorer.action_run()

    def relook(self) -> None:
        """Draw everything in another look."""
        self.watch_frame()

    def leave_to(self, thing: Thing) -> None:
        """Back to the explorer, with a thing selected there."""
        self.explorer.selection = thing
        self.explorer.stage.topology.reveal(thing)
        self.dismiss()

    async def on_asked(self, message: Asked) -> None:
        """Do what was clicked in the key bar."""
        await self.run_action(message.action)
