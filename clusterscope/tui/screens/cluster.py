"""The explorer: one cluster, one selection, one frame; what keys do to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.notifications import SeverityLevel
from textual.reactive import var
from textual.screen import Screen
from textual.widgets import Static

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import ClusterscopeError, UnknownNameError
from clusterscope.fabric.things import Thing
from clusterscope.tui import edits, headline
from clusterscope.tui.deck import Deck
from clusterscope.tui.edits import Export
from clusterscope.tui.keys import EXPLORER, bindings
from clusterscope.tui.messages import Afterwards, Asked, Entered, Pointed, SoughtStep, Typed
from clusterscope.tui.panes.stage import HUGE, TOPOLOGY, Stage
from clusterscope.tui.player import Player
from clusterscope.tui.screens.help import Help
from clusterscope.tui.screens.obey import obey, select
from clusterscope.tui.widgets.bars import Bar, KeyBar
from clusterscope.tui.widgets.prompt import Prompt
from clusterscope.tui.widgets.scrubber import Scrubber
from clusterscope.views.catalog import View
from clusterscope.views.text import sanitize

NARROW, LOW = 60, 16  # below this nothing useful fits


class Explorer(Screen[None]):
    """All of one cluster.

    Args:
        timeline: what is explored.
        first: its frame at the step to begin with, computed already.
        export: writes a report into a directory; None when there is no writer.
        views: view functions to use instead of the catalogue's, by name.
        playing: True to run at once.
    """

    ACTIONS = EXPLORER
    BINDINGS = bindings(EXPLORER)
    HORIZONTAL_BREAKPOINTS = [(0, "-thin"), (NARROW, "-wide"), (HUGE, "-huge")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (LOW, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = ""

    frame: var[Frame | None] = var(None, init=False)
    selection: var[Thing] = var(Thing("cluster"), init=False)
    events: var[tuple[Event, ...]] = var((), init=False)

    def __init__(
        self,
        timeline: Timeline,
        first: Frame,
        *,
        export: Export | None = None,
        views: Mapping[str, View] | None = None,
        playing: bool = False,
    ) -> None:
        super().__init__()
        self.scenario = timeline.scenario
        self.player = Player(timeline, first.step)
        self._first = first
        self._export = export
        self._play_at_once = playing
        self.stage = Stage(self.scenario, views)
        self._deck = Deck(self.player, self.stage.preparing)
        self._head, self._job = Bar(id="head"), Bar(id="job")
        self._scrubber = Scrubber(id="scrubber")
        self._prompt = Prompt(id="prompt")
        self._keys = KeyBar(EXPLORER, id="keys")

    def compose(self) -> ComposeResult:
        """Bars, panes, time line, keys."""
        yield self._deck
        yield self._head
        yield self._job
        yield self.stage.data_bind(Explorer.frame, Explorer.selection, Explorer.events)
        yield self._scrubber
        yield self._prompt
        yield self._keys
        yield Static(f"too small: needs {NARROW}×{LOW}; q quits", id="tiny", markup=False)

    def on_mount(self) -> None:
        """Show the first frame, in the layout that the first resize would bring anyway."""
        width, height = self.app.size
        for room, steps in (
            (width, self.HORIZONTAL_BREAKPOINTS),
            (height, self.VERTICAL_BREAKPOINTS),
        ):
            self.add_class(max(step for step in steps if step[0] <= room)[1])
        self.frame = self._first
        self.events = self.player.timeline.log
        if self._play_at_once:
            self.action_run()

    # What is shown

    def watch_frame(self) -> None:
        """Draw what is not a pane."""
        self._draw_bars()

    def watch_events(self) -> None:
        """Mark what was done on the time line."""
        self._draw_bars()

    def watch_selection(self) -> None:
        """Say what is selected."""
        self._draw_bars()

    def on_stage_turned(self) -> None:
        """Bars differ between one pane and all."""
        self._draw_bars()

    def _draw_bars(self) -> None:
        if self.frame is None:
            return
        top = headline.head(self.scenario, self.frame, self.player)
        below = headline.jobs(self.scenario, self.frame)
        single = self.stage.single
        self._head.draw([top[0], *below, *top[1:]] if single else top)
        self._job.draw(below)
        self._job.display = not single
        marks = edits.marks(self.player.timeline)
        self._scrubber.draw(self.frame.step, self.player.last, marks, f"▸ {self.name_selected}")
        self._keys.draw(self.stage.active if single else None)

    # Selection

    @property
    def name_selected(self) -> str:
        """Name of the selection."""
        return self.scenario.names.thing(self.selection)

    def on_pointed(self, message: Pointed) -> None:
        """Select what a cursor came to; keys that name no thing (a job) select nothing."""
        try:
            self.selection = self.scenario.names.find(message.key)
        except UnknownNameError:
            return

    def on_entered(self, message: Entered) -> None:
        """Select and inspect."""
        self.on_pointed(Pointed(message.key))
        self.stage.topology.reveal(self.selection)
        self.stage.inspect()

    def _afterwards(self, do: Callable[[], None]) -> None:
        (self.focused or self).post_message(Afterwards(do))

    def on_afterwards(self, message: Afterwards) -> None:
        """Do what had to wait for the selection."""
        message.do()

    # Time

    @on(Deck.Shown)
    def _shown(self, message: Deck.Shown) -> None:
        if message.frame is self.frame:
            self._draw_bars()
        self.frame = message.frame
        self.events = self.player.timeline.log

    @on(Deck.Working)
    def _working(self) -> None:
        self._draw_bars()

    @on(Deck.Refused)
    def _refused(self, message: Deck.Refused) -> None:
        self._draw_bars()
        self.say(message.sentence, wrong=True)

    def on_sought_step(self, message: SoughtStep) -> None:
        """Go to the step that was clicked."""
        self.go_to(message.step)

    def go_to(self, step: int) -> None:
        """Go to a step and stay there."""
        self._deck.play(playing=False)
        self._deck.ask(lambda _, __: step)

    def action_run(self) -> None:
        """Run or pause."""
        self._deck.play(not self.player.playing)
        self._draw_bars()

    def action_step(self, steps: int) -> None:
        """Go some steps forward or back and stay there."""
        self._deck.play(playing=False)
        self._deck.go(steps)

    def action_speed(self, factor: float) -> None:
        """Run faster or slower."""
        self.player.faster(factor)
        self._draw_bars()

    # Faults

    def action_fail(self) -> None:
        """Fail the selection, or restore it."""
        self._afterwards(lambda: self._edit(edits.fail_or_restore))

    def action_degrade(self) -> None:
        """Degrade the selected cable, or restore it."""
        self._afterwards(lambda: self._edit(edits.degrade_or_restore))

    def _edit(self, make: edits.Make) -> None:
        """Inject what `make` gives for the selection, once what was asked before is done."""
        if self.frame is None:
            return
        scenario, thing = self.scenario, self.selection
        try:
            make(scenario, self.frame.health, thing, self.frame.step)
        except ClusterscopeError as error:
            self.say(str(error), wrong=True)
            return
        self._deck.ask(edits.injecting(lambda health, step: make(scenario, health, thing, step)))

    def inject(self, event: Event) -> None:
        """Inject an event at the step that time has come to by then."""
        self._deck.ask(edits.injecting(lambda _, step: edits.at_step(event, step)))

    def action_undo(self) -> None:
        """Take the last event back."""
        if self.player.timeline.can_undo:
            self._deck.ask(edits.undo)
        else:
            self.say("nothing to undo")

    def action_redo(self) -> None:
        """Put back what was undone last."""
        if self.player.timeline.can_redo:
            self._deck.ask(edits.redo)
        else:
            self.say("nothing to redo")

    # Typing

    def action_filter(self) -> None:
        """Type a filter for the topology."""
        if self.stage.single:
            self.stage.go(TOPOLOGY)
        self._open("filter", self.stage.topology.branches.filtered, "part of a name; enter selects")

    def action_command(self) -> None:
        """Type a command."""
        self._open("command", "", "fail NAME, seek N, help …")

    def _open(self, mode: str, text: str, hint: str) -> None:
        self._keys.display = False
        self._prompt.open(mode, text, hint)

    def on_typed(self, message: Typed) -> None:
        """Filter while typing; run a command once it is typed."""
        if message.mode == "filter":
            self.stage.topology.filter(message.text)
        if message.state == "changed":
            return
        self._keys.display = True
        self.stage.go(TOPOLOGY if message.mode == "filter" else self.stage.active)
        if message.state == "done":
            try:
                (obey if message.mode == "command" else select)(self, message.text)
            except ClusterscopeError as error:
                self.say(str(error), wrong=True)

    # Panes

    def action_pane(self, number: int) -> None:
        """Go to a pane."""
        self.stage.go(number)

    def action_turn(self, places: int) -> None:
        """Go to the next pane, or the one before."""
        self.stage.turn(places)

    def action_zoom(self) -> None:
        """Show one pane alone, or all again."""
        self.stage.zoom()

    def action_out(self) -> None:
        """Out of the zoom, the filter, the inspector or a branch of the tree."""
        topology = self.stage.topology
        if self.stage.zoomed:
            self.stage.zoom()
        elif topology.branches.filtered:
            topology.filter("")
        elif not self.stage.leave_inspector() and self.stage.active == TOPOLOGY:
            topology.branches.out()

    def action_view(self) -> None:
        """Show the next view of the active pane."""
        if not self.stage.other_view():
            self.say("this pane has one view only: 2 and 4 have more")

    def action_sort(self) -> None:
        """Sort the table of the active pane by its next column."""
        if table := self.stage.table:
            table.sort_next()
        else:
            self.say("no table here: go to 4, 5 or 6 to sort one")

    def action_reverse(self) -> None:
        """Turn the order of the table of the active pane around."""
        if table := self.stage.table:
            table.turn_around()

    # The rest

    def action_copy(self) -> None:
        """Copy the name of the selection, through the terminal (OSC 52)."""
        self._afterwards(self._copy)

    def _copy(self) -> None:
        self.app.copy_to_clipboard(self.name_selected)
        self.say(f"copied {self.name_selected}")

    def action_export(self) -> None:
        """Write a report of this run."""
        export = self._export
        if export is None:
            self.say("no report writer here", wrong=True)
            return

        def said(path: Path) -> None:
            self.app.call_from_thread(self.say, f"wrote {path}")

        self._deck.ask(edits.exporting(export, said))

    def action_help(self) -> None:
        """Keys and signs."""
        self.app.push_screen(Help())

    async def on_asked(self, message: Asked) -> None:
        """Do what was clicked."""
        await self.run_action(message.action)

    def say(self, sentence: str, *, wrong: bool = False) -> None:
        """Show one sentence for a few seconds."""
        severity: SeverityLevel = "error" if wrong else "information"
        self.app.notify(sanitize(sentence), severity=severity, timeout=5, markup=False)
