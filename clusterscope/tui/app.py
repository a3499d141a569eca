"""The app: theme, palette, and which screen is on; everything else is a screen's."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import App
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.message import Message
from textual.widgets import Input

from clusterscope.errors import ClusterscopeError
from clusterscope.tui import theme
from clusterscope.tui.messages import Pick, Picked, Relook, Reopen
from clusterscope.tui.mishaps import sentence
from clusterscope.tui.screens.loading import Loading
from clusterscope.tui.settings import Settings
from clusterscope.tui.start import Start
from clusterscope.tui.terminal import draw_in_ascii, leave_colors_out
from clusterscope.tui.threads import Threads

if TYPE_CHECKING:
    from clusterscope.engine.timeline import Timeline
    from clusterscope.tui.exports import Exports
    from clusterscope.tui.library import Library, Opened
    from clusterscope.tui.screens.cluster import Explorer

Build = Callable[[], "Opened"]


class ClusterScopeApp(App[None]):
    """ClusterScope in a terminal.

    Args:
        open: builds the timeline to begin with; None begins with the picker.
        shelf: what the picker offers; presets and the files here when left out.
        exports: writers of files; None when there are none.
        what: what `open` opens, in words.
        start: where to begin.
        settings: what the user has set.
        playing: True to run at once.
    """

    TITLE = "ClusterScope"
    CSS_PATH = Path(__file__).with_name("app.tcss")
    ENABLE_COMMAND_PALETTE = False  # ours knows the keys of the settings and the commands
    # A screen that has a use for the key comes first; while a cluster is built none has.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "leave", id="app.quit", show=False)
    ]

    def __init__(
        self,
        open: Callable[[], Timeline] | None = None,  # noqa: A002 - the word for it
        shelf: Library | None = None,
        exports: Exports | None = None,
        *,
        what: str = "the cluster",
        start: Start | None = None,
        settings: Settings | None = None,
        playing: bool = False,
    ) -> None:
        self.settings = settings or Settings()
        self.look = self.settings.look
        # No color has to be known before the filters are made, or Textual paints in grey.
        plain = "NO_COLOR" in os.environ or self.look.theme == "plain"
        super().__init__(ansi_color=True if plain else None)
        if plain:
            leave_colors_out(self)
        if self.settings.ascii:
            draw_in_ascii(self)
        for known in theme.THEMES.values():
            self.register_theme(known)
        self.theme = theme.PLAIN_NAME if plain else theme.THEMES[self.look.theme].name
        self.set_keymap(self.settings.keymap)
        self.animation_level = "none"
        self._open, self._shelf, self._exports = open, shelf, exports
        self._what, self._start, self._playing = what, start or Start(), playing
        self.mistake: ClusterscopeError | None = None

    class _Built(Message):
        """A thread has built an explorer, or could not."""

        def __init__(self, result: Explorer | ClusterscopeError) -> None:
            self.result = result
            super().__init__()

    def on_mount(self) -> None:
        """Show the first screen."""
        asyncio.get_running_loop().set_default_executor(Threads())
        self.begin()

    def begin(self) -> None:
        """Begin with the picker or with the scenario."""
        opened = self._open
        if opened is None:
            self.pick()
        else:
            self._open_at(self._what, opened, self._start)

    def _open_at(self, what: str, build: Callable[[], Timeline], start: Start) -> None:
        def opened() -> Opened:
            from clusterscope.tui.library import Opened

            return Opened(build(), start)

        self._build(what, opened)

    def pick(self, back: str = "") -> None:
        """Show the picker; `back` says what is left open below it."""
        from clusterscope.tui.screens.picker import Picker

        self.push_screen(Picker(self.shelf, back))

    def on_pick(self, message: Pick) -> None:
        """Choose another cluster."""
        self.pick(message.back)

    @property
    def shelf(self) -> Library:
        """What can be opened."""
        from clusterscope.tui.library import library

        self._shelf = self._shelf or library()
        return self._shelf

    def on_picked(self, message: Picked) -> None:
        """Open the cluster that was chosen."""
        build = partial(self.shelf.open, message.name)
        self._build(message.name, build, touring=message.touring)

    def on_reopen(self, message: Reopen) -> None:
        """Put another scenario in the place of this one."""
        self._build(message.what, message.build)

    def on_relook(self, message: Relook) -> None:
        """Paint everything anew in another look."""
        self.look = message.look
        for screen in self.screen_stack:
            for widget in screen.query("*"):
                widget.refresh()
            for pane in screen.query("MapPane"):
                pane.legend()  # type: ignore[attr-defined]
            if relook := getattr(screen, "relook", None):
                relook()

    def _build(self, what: str, build: Build, *, touring: bool = False) -> None:
        """Build an explorer in a thread, with a line on the screen meanwhile."""
        exports, playing = self._exports, self._playing

        def explorer() -> Explorer:
            # The engine is imported here, so that the first line is not kept waiting for it.
            from clusterscope.tui.screens.cluster import Explorer

            say(1, "cabling it")
            timeline, start, pinned = build()
            start.check_in(timeline.scenario.names)
            say(2, "routing its first step")
            first = timeline.at(start.step)
            say(3, "drawing it")
            made = Explorer(timeline, first, exports=exports, playing=playing, touring=touring)
            made.start, made.pinned = start, pinned
            made.stage.prepare(first)
            return made

        def say(done: int, words: str) -> None:
            if self.return_code is None:  # or there is nobody any more to tell
                self.call_from_thread(loading.say, done, words)

        def work() -> None:
            # Nothing that is made here is garbage for long; looking for it takes a tenth of it.
            gc.disable()
            try:
                self.post_message(self._Built(explorer()))
            except ClusterscopeError as error:
                self.post_message(self._Built(error))
            except AssertionError:
                raise  # an invariant of ours: nothing that follows could be trusted
            except Exception as error:  # whatever it is, another cluster may open
                self.post_message(self._Built(ClusterscopeError(sentence(error))))
            finally:
                gc.enable()

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
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        kind = type(message.result)
        living = any(type(screen) is kind for screen in self.screen_stack)
        with self.batch_update():
            while living and type(self.screen) is not kind:
                await self.pop_screen()
            await (self.switch_screen if living else self.push_screen)(message.result)

    def on_key(self, event: Key) -> None:
        """Take a letter to the input that was opened by the key before it.

        Keys go to what has the focus when they arrive: letters of a quick hand, or of a paste, are
        on their way already when the input gets it, and come by here.
        """
        focused = self.focused
        if isinstance(focused, Input) and event.character and event.is_printable:
            focused.insert_text_at_cursor(event.character)
            event.stop()
            event.prevent_default()

    def action_command_palette(self) -> None:
        """Search every action that the screen offers."""
        from clusterscope.tui.screens.palette import Palette, act

        screen = self.screen
        if actions := getattr(screen, "ACTIONS", ()):
            commands = hasattr(screen, "action_command")
            self.push_screen(
                Palette(actions, self.settings.keys, commands=commands), partial(act, screen)
            )
