"""The explorer: one cluster, one selection, one frame; what keys do to them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import ClusterscopeError, UnknownNameError
from clusterscope.fabric.things import Thing
from clusterscope.tui import edits, headline
from clusterscope.tui.completion import Completer
from clusterscope.tui.deck import Deck
from clusterscope.tui.exports import Exports
from clusterscope.tui.keys import EXPLORER, FOOTER, WAYS, bindings
from clusterscope.tui.messages import Asked, Entered, Pick, Pointed, SoughtStep, Typed
from clusterscope.tui.panes.stage import HUGE, TOPOLOGY, Stage
from clusterscope.tui.player import Player
from clusterscope.tui.screens.guide import Guide
from clusterscope.tui.screens.help import Help
from clusterscope.tui.screens.obey import obey, select
from clusterscope.tui.screens.session import Session
from clusterscope.tui.screens.side import Side
from clusterscope.tui.screens.sides import glossary, open_side, validation
from clusterscope.tui.widgets.bars import Bar, KeyBar
from clusterscope.tui.widgets.prompt import Prompt
from clusterscope.tui.widgets.scrubber import Scrubber
from clusterscope.units import counted
from clusterscope.views.catalog import View
from clusterscope.views.shapes import Shape

NARROW, LOW = 60, 16  # below this nothing useful fits
ROOMY = 22  # lines from which the keys of other screens have one of their own


class Explorer(Session):
    """All of one cluster.

    Args:
        timeline: what is explored.
        first: its frame at the step to begin with, computed already.
        exports: writers of files; None when there are none.
        views: view functions to use instead of the catalogue's, by name.
        playing: True to run at once.
        touring: True to begin with the tour.
    """

    ACTIONS = EXPLORER
    BINDINGS = bindings(EXPLORER)
    HORIZONTAL_BREAKPOINTS = [(0, "-thin"), (NARROW, "-wide"), (HUGE, "-huge")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (LOW, "-low"), (ROOMY, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = ""

    def __init__(
        self,
        timeline: Timeline,
        first: Frame,
        *,
        exports: Exports | None = None,
        views: Mapping[str, View] | None = None,
        playing: bool = False,
        touring: bool = False,
    ) -> None:
        super().__init__()
        self.scenario = timeline.scenario
        self.player = Player(timeline, first.step)
        self._first = first
        self._preparing = False
        self.exports = exports
        self._play_at_once, self._tour_at_once = playing, touring
        self.stage = Stage(self.scenario, views)
        self._deck = Deck(self.player, self.stage.preparing)
        self._head, self._job = Bar(id="head"), Bar(id="job")
        self._scrubber = Scrubber(id="scrubber")
        self._prompt = Prompt(id="prompt")
        screens = {action.id for action in EXPLORER if action.group == "screens"} | {"tour"}
        deeds = [action for action in EXPLORER if action.id not in screens]
        self._keys = KeyBar(deeds, FOOTER, id="keys")
        self._where = KeyBar([a for a in EXPLORER if a.id in screens], WAYS, id="screens")
        self.guide = Guide(self)

    def compose(self) -> ComposeResult:
        """Bars, panes, time line, keys."""
        yield self._deck
        yield self._head
        yield self._job
        yield self.guide.strip
        yield self.stage.data_bind(
            Explorer.frame, Explorer.selection, Explorer.events, Explorer.baseline
        )
        yield self._scrubber
        yield self._prompt
        yield self._keys
        yield self._where
        yield Static(f"too small: needs {NARROW}×{LOW}; q quits", id="tiny", markup=False)

    def on_mount(self) -> None:
        """Show the first frame, in the layout that the first resize would bring anyway."""
        rooms = zip(
            self.app.size, (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), strict=True
        )
        self.add_class(*(max(s for s in steps if s[0] <= room)[1] for room, steps in rooms))
        self.frame = self._first
        self.events = self.player.timeline.log
        if self._play_at_once:
            self.action_run()
        if self._tour_at_once:
            self.guide.next()

    # What is shown

    def watch_frame(self) -> None:
        """Draw what is not a pane, and hand the frame to the side screen on top."""
        self.draw_bars()
        if isinstance(self.app.screen, Side):
            self.app.screen.frame = self.frame

    def watch_events(self) -> None:
        """Mark what was done on the time line."""
        self.draw_bars()
        if isinstance(self.app.screen, Side):
            self.app.screen.events = self.events

    def watch_selection(self) -> None:
        """Say what is selected."""
        self.draw_bars()

    def on_stage_turned(self) -> None:
        """Bars differ between one pane and all."""
        self.draw_bars()

    def draw_bars(self) -> None:
        """Draw the lines above and below the panes."""
        if self.frame is None:
            return
        scenario, frame, job, single = self.scenario, self.frame, self.stage.job, self.stage.single
        if single:
            self._head.draw(headline.short(scenario, frame, self.player, job, self.baseline))
        else:
            self._head.draw(headline.head(scenario, frame, self.player))
            self._job.draw(headline.jobs(scenario, frame, job, self.baseline))
        self._job.display = not single
        marks = edits.marks(self.player.timeline)
        new = self.selection.kind == "cluster" and not marks and not self.guide.on
        hint = "▸ new here? t: a tour" if new else f"▸ {self.name_selected}"
        self._scrubber.draw(frame.step, self.player.last, marks, hint)
        self._keys.draw(self.stage.active if single else None)
        self._where.dense = single
        self.guide.look()
        if isinstance(self.app.screen, Side):
            self.app.screen.draw_head(self.frame)

    # Selection

    @property
    def name_selected(self) -> str:
        """Name of the selection."""
        return self.scenario.names.thing(self.selection)

    @property
    def frame_shown(self) -> Frame | None:
        """The frame on the screen."""
        return self.frame

    def in_sight(self) -> tuple[str, Shape] | None:
        """Name and shape of the active pane."""
        return self.stage.in_sight

    def on_pointed(self, message: Pointed) -> None:
        """Select what a cursor came to; keys that name no thing (a job) select nothing."""
        try:
            self.selection = self.scenario.names.find(message.key)
        except UnknownNameError:
            self.draw_bars()  # the row of a job, which the job bar then tells of
        self.guide.look()

    def on_entered(self, message: Entered) -> None:
        """Select and inspect."""
        self.on_pointed(Pointed(message.key))
        self.stage.topology.reveal(self.selection)
        self.into()

    # Time

    @on(Deck.Shown)
    def _shown(self, message: Deck.Shown) -> None:
        if message.frame is self.frame:
            self.draw_bars()
        self.frame = message.frame
        self._preparing = False
        self.stage.catch_up()
        before, self.events = self.events, self.player.timeline.log
        if words := edits.told(before, self.events):
            self.say(words)

    def on_wanting(self) -> None:
        """Have a thread compute what panes wait for, once for all that ask meanwhile."""
        if not self._preparing:
            self._preparing = True
            self._deck.prepare()

    @on(Deck.Working)
    def _working(self) -> None:
        self.draw_bars()
        self.stage.admit()

    @on(Deck.Refused)
    def _refused(self, message: Deck.Refused) -> None:
        self._preparing = False
        self.draw_bars()
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
        self.draw_bars()

    def action_step(self, steps: int) -> None:
        """Go some steps forward or back and stay there."""
        self._deck.play(playing=False)
        self._deck.go(steps)

    def action_speed(self, factor: float) -> None:
        """Run faster or slower."""
        self.player.faster(factor)
        self.draw_bars()

    # Faults

    def action_fail(self) -> None:
        """Fail the selection, or restore it."""
        self.afterwards(lambda: self._edit(edits.fail_or_restore))

    def action_degrade(self) -> None:
        """Degrade the selected cable, or restore it."""
        self.afterwards(lambda: self._edit(edits.degrade_or_restore))

    def _edit(self, make: edits.Make) -> None:
        self.edit(make, self.selection)

    def edit(self, make: edits.Make, thing: Thing) -> None:
        """Inject what `make` gives for a thing, once what was asked before is done."""
        if self.frame is None:
            return
        scenario = self.scenario
        try:
            make(scenario, self.frame.health, thing, self.frame.step)
        except ClusterscopeError as error:
            self.say(str(error), wrong=True)
            return
        self._deck.ask(edits.injecting(lambda health, step: make(scenario, health, thing, step)))

    def ask(self, request: edits.Request) -> None:
        """Have something done to the timeline, after what waits already."""
        self._deck.ask(request)

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

    def action_command(self, begun: str = "") -> None:
        """Type a command, or go on with one."""
        hint = "fail NAME, seek N, transport NAME, help …  tab completes"
        self._open("command", begun, hint, Completer(self.scenario.names))

    def _open(self, mode: str, text: str, hint: str, helper: Completer | None = None) -> None:
        self._keys.display = False
        self._prompt.open(mode, text, hint, helper)

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
        if self.guide.on:
            self.guide.end()
        elif self.stage.out_of_map():
            return
        elif self.stage.zoomed:
            self.stage.zoom()
        elif topology.branches.filtered:
            topology.filter("")
        elif not self.stage.leave_inspector() and self.stage.active == TOPOLOGY:
            topology.branches.out()

    def action_view(self) -> None:
        """Show the next view of the active pane."""
        if not self.stage.other_view():
            self.say("this pane has one view only: 2 and 4 have more")

    # The rest

    def action_export(self) -> None:
        """Write a report of this run."""
        exports = self.exports
        if exports is None:
            self.say("no report writer here", wrong=True)
            return

        def said(path: Path) -> None:
            self.app.call_from_thread(self.say, f"wrote {path}: report.html shows it all")
            self.app.call_from_thread(self.guide.reported)

        self.say(f"writing a report of {counted(self.player.step + 1, 'step')} …")
        self._deck.ask(edits.exporting(exports, said))

    def action_side(self, name: str) -> None:
        """Open a side screen, once the selection that was made before has arrived."""
        self.guide.opened(name)
        self.afterwards(lambda: self.app.push_screen(open_side(name, self)))

    def action_tour(self) -> None:
        """Begin the tour, or skip a step of it."""
        self.guide.next()

    def action_validation(self) -> None:
        """Derive published numbers again."""
        self.app.push_screen(validation())

    def action_glossary(self, word: str = "") -> None:
        """What the words mean."""
        self.app.push_screen(glossary(word))

    def action_picker(self) -> None:
        """Choose another cluster; this one stays open below."""
        self.post_message(Pick(self.scenario.spec.name))

    def action_help(self) -> None:
        """Keys and signs."""
        self.app.push_screen(Help())

    async def on_asked(self, message: Asked) -> None:
        """Do what was clicked."""
        await self.run_action(message.action)
