"""The app: theme, palette, and which screen is on; everything else is a screen's."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import App, SystemCommand
from textual.message import Message
from textual.screen import Screen

from clusterscope.errors import ClusterscopeError
from clusterscope.tui import theme
from clusterscope.tui.messages import Picked, Reopen
from clusterscope.tui.screens.loading import Loading

if TYPE_CHECKING:
    from clusterscope.engine.timeline import Timeline
    from clusterscope.tui.edits import Export
    from clusterscope.tui.screens.cluster import Explorer
    from clusterscope.tui.screens.picker import PresetRow


class ClusterScopeApp(App[None]):
    """ClusterScope in a terminal.

    Args:
        open: builds the timeline to begin with; None begins with the picker.
        presets: rows of the picker.
        load: builds the timeline of a preset.
        export: writes a report of a timeline, up to a step, into a directory.
        what: what `open` opens, in words.
        step: where to begin.
        playing: True to run at once.
    """

    TITLE = "ClusterScope"
    CSS_PATH = Path(__file__).with_name("app.tcss")
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        open: Callable[[], Timeline] | None = None,  # noqa: A002 - the word for it
        presets: Callable[[], Sequence[PresetRow]] = tuple,
        load: Callable[[str], Timeline] | None = None,
        export: Export | None = None,
        *,
        what: str = "the cluster",
        step: int = 0,
        playing: bool = False,
    ) -> None:
        # NO_COLOR has to be known before the filters are made, or Textual paints in grey.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.register_theme(theme.THEME)
        self.theme = theme.PLAIN_NAME if self.no_color else theme.NAME
        self.animation_level = "none"
        self._open, self._presets, self._load, self._export = open, presets, load, export
        self._what, self._step, self._playing = what, step, playing
        self.mistake: ClusterscopeError | None = None

    class _Built(Message):
        """A thread has built an explorer, or could not."""

        def __init__(self, result: Explorer | ClusterscopeError) -> None:
            self.result = result
            super().__init__()

    def on_mount(self) -> None:
        """Show the first screen."""
        self.begin()

    def begin(self) -> None:
        """Begin with the picker or with the scenario."""
        if self._open is None:
            from clusterscope.tui.screens.picker import Picker

            self.push_screen(Picker(self._presets))
        else:
            self._build(self._what, self._open, self._step)

    def on_picked(self, message: Picked) -> None:
        """Open the preset that was chosen."""
        if self._load is not None:
            self._build(message.name, partial(self._load, message.name), 0)

    def on_reopen(self, message: Reopen) -> None:
        """Put another scenario in the place of this one."""
        self._build("again", message.build, message.step)

    def _build(self, what: str, build: Callable[[], Timeline], step: int) -> None:
        """Build an explorer in a thread, with a line on the screen meanwhile."""
        export, playing = self._export, self._playing

        def work() -> None:
            # The engine is imported here, so that the first line is not kept waiting for it.
            from clusterscope.tui.screens.cluster import Explorer

            try:
                timeline = build()
                self.call_from_thread(loading.say, "routing the first step …")
                result = partial(Explorer, timeline, timeline.at(step))
            except ClusterscopeError as error:
                self.post_message(self._Built(error))
            else:
                self.post_message(self._Built(result(export=export, playing=playing)))

        loading = Loading(what, partial(self.run_worker, work, thread=True, group="building"))
        self.push_screen(loading)

    @on(_Built)
    async def _built(self, message: _Built) -> None:
        """Show the explorer; a mistake of the user's goes where the user can mend it."""
        await self.pop_screen()
        if isinstance(message.result, ClusterscopeError):
            if len(self.screen_stack) == 1:
                self.mistake = message.result
                self.exit(return_code=message.result.exit_code)
            else:
                self.notify(str(message.result), severity="error", markup=False)
            return
        # What was built stays for good: the collector need not look at it again.
        gc.collect()
        gc.freeze()
        is_explorer = type(self.screen) is type(message.result)
        with self.batch_update():
            await (self.switch_screen if is_explorer else self.push_screen)(message.result)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action of the key table that the screen offers."""
        for action in getattr(screen, "ACTIONS", ()):
            if action.id != "app.command_palette":
                title = f"{action.help} ({action.shown_keys})".replace("[", "\\[")
                yield SystemCommand(title, action.group, partial(screen.run_action, action.id))
