"""What an explorer does besides breaking: compare with a baseline, jump, save, look different."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.reactive import var

from clusterscope.engine import replay
from clusterscope.engine.events import nearest
from clusterscope.engine.frame import Frame
from clusterscope.fabric.things import Thing
from clusterscope.tui.messages import Picked, Relook
from clusterscope.tui.panes.stage import UTILIZATION
from clusterscope.tui.screens.side import Side
from clusterscope.tui.screens.taking import Taking
from clusterscope.tui.settings import Look
from clusterscope.tui.start import Pinned, Start

if TYPE_CHECKING:
    from clusterscope.engine.events import Event
    from clusterscope.engine.timeline import Timeline
    from clusterscope.tui.edits import Request
    from clusterscope.tui.panes.stage import Stage
    from clusterscope.tui.player import Player


class Session(Taking):
    """Base of the explorer: what it shows, and what does not depend on how."""

    frame: var[Frame | None] = var(None, init=False)
    selection: var[Thing] = var(Thing("cluster"), init=False)
    baseline: var[Frame | None] = var(None, init=False)
    events: var[tuple[Event, ...]] = var((), init=False)

    stage: Stage
    player: Player
    start = Start()
    first_filter = ""  # of the links, when they are opened for the first time
    pinned: Pinned | None = None  # the baseline, and the log that goes with it

    def draw_bars(self) -> None:
        """Draw the lines above and below the panes."""
        raise NotImplementedError

    def go_to(self, step: int) -> None:
        """Go to a step and stay there."""
        raise NotImplementedError

    def ask(self, request: Request) -> None:
        """Have something done to the timeline, after what waits already."""
        raise NotImplementedError

    def action_speed(self, factor: float) -> None:
        """Run faster or slower."""
        raise NotImplementedError

    def action_side(self, name: str) -> None:
        """Open a side screen."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Begin on the selection and the side screen that were asked for."""
        if self.pinned is not None:
            self.baseline = self.pinned.frame
            on = self.scenario.transport.name
            self.say(f"the baseline is step {self.pinned.frame.step:,} under {on} now")
        if self.start.select:
            self.show(self.scenario.names.find(self.start.select))
            self.first_filter = self.start.select if self.start.side == "links" else ""
        if self.start.side:
            self.call_after_refresh(self.action_side, self.start.side)

    def show(self, thing: Thing) -> None:
        """Select a thing and reveal it."""
        self.selection = thing
        self.stage.topology.reveal(thing)

    # Baseline

    def action_baseline(self) -> None:
        """Compare with the frame of now from here on, or no longer."""
        if self.baseline is not None:
            self.pinned = self.baseline = None
            self.say("no baseline any more")
        elif self.frame is not None:
            self.pinned = Pinned(self.frame, self.events)
            self.baseline = self.frame
            self.say(f"step {self.frame.step:,} is the baseline: everything shows the change since")

    def watch_baseline(self) -> None:
        """Say against what the job is measured."""
        self.draw_bars()

    # Time

    def action_event(self, way: int) -> None:
        """Go to the next event of the time line, or to the one before, and select its target."""
        events = (*self.scenario.schedule, *self.player.timeline.log)
        event = nearest(events, self.player.step, way)
        if event is None:
            self.say(f"no event {'after' if way > 0 else 'before'} step {self.player.step:,}")
            return
        self.go_to(event.step)
        self.show(event.target)

    def action_slower(self) -> None:
        """Run half as fast; out of a zoomed map when that is where one is."""
        if not self.stage.out_of_map():
            self.action_speed(0.5)

    def into(self) -> None:
        """Go into what enter was pressed on: further into the map, or to the inspector."""
        if not (self.stage.active == UTILIZATION and self.stage.map.into(self.selection)):
            self.stage.inspect()

    # Files

    def action_write(self) -> None:
        """Write a replay file that reopens here."""
        self.write("")

    def write(self, name: str) -> None:
        """Write a replay file, called so or after the cluster; never over another file."""
        self.afterwards(lambda: self._ask_for_replay(name))

    def _ask_for_replay(self, name: str) -> None:
        screen = self.app.screen
        side = type(screen).__name__.lower() if isinstance(screen, Side) else ""
        selection = "" if self.selection == Thing("cluster") else self.name_selected

        def request(timeline: Timeline, step: int) -> int:
            path = replay.save(timeline, step, name, selection=selection, screen=side)
            self.app.call_from_thread(self.say, f"wrote {path}: clusterscope replay reopens it")
            return step

        self.ask(request)

    def open_named(self, name: str) -> None:
        """Open a preset, a spec or a replay file in the place of this one."""
        self.post_message(Picked(name))

    # Looks

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

    def action_ramp(self) -> None:
        """Next ramp of colors."""
        self._relook(Look.next_ramp, lambda look: f"ramp {look.ramp}")

    def action_glyphs(self) -> None:
        """Hide the signs of the heat map, or show them."""
        self._relook(Look.other_glyphs, lambda look: f"signs {'on' if look.glyphs else 'off'}")

    def _relook(self, change: Callable[[Look], Look], words: Callable[[Look], str]) -> None:
        look = change(getattr(self.app, "look", Look()))
        self.post_message(Relook(look))
        self.say(words(look))
