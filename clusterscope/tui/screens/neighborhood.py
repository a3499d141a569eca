"""Neighborhood: one device and what it is cabled to, to walk from neighbor to neighbor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from textual.widget import Widget

from clusterscope.engine.frame import Frame
from clusterscope.fabric.things import Thing
from clusterscope.tui import edits
from clusterscope.tui.keys import NEIGHBORHOOD, SIDE, bindings
from clusterscope.tui.panes.base import Framed
from clusterscope.tui.panes.views import legend
from clusterscope.tui.screens.side import Side
from clusterscope.tui.widgets.bars import Bar, Part
from clusterscope.tui.widgets.wires import Band, Where
from clusterscope.tui.widgets.wiring import WiringView
from clusterscope.views import neighborhood
from clusterscope.views.neighborhood import Hood, Look, Tie
from clusterscope.views.text import sanitize
from clusterscope.views.tree import detail_of

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer

_BANDS: tuple[Where, ...] = ("above", "side", "below")
_TRAIL = 200  # steps that can be walked back


class Neighborhood(Side):
    """The selection in the middle of its neighbors."""

    ACTIONS = (*NEIGHBORHOOD, *SIDE)
    BINDINGS = bindings(NEIGHBORHOOD)
    FOOTER = ("fail", "fail_device", "explorer('undo')", "cables", "trail", "close", "help")

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(explorer)
        center, self._pointed = neighborhood.center_of(self.scenario, explorer.selection)
        self._trunks = True
        self._adopt(neighborhood.hood(self.scenario, center))
        self._trail: list[Thing] = []
        self.wiring = WiringView(id="wiring")
        self._pane = Framed(self.wiring)
        self._near = Bar(id="near")

    def body(self) -> Sequence[Widget]:
        """The drawing, and a line about what the cursor is on."""
        return (self._pane, self._near)

    def on_mount(self) -> None:
        """Keys go to the drawing."""
        self.set_focus(self.wiring)

    # What is shown

    @property
    def center(self) -> Thing:
        """What is in the middle."""
        return self._hood.center

    @property
    def name_selected(self) -> str:
        """Name of what the cursor is on."""
        return self.scenario.names.thing(self._tie().thing)

    def redraw(self, frame: Frame) -> None:
        """Draw the center and its neighbors with the loads of a frame."""
        bands = {where: self._band(frame, where) for where in _BANDS}
        look = neighborhood.look(self.scenario, frame, Tie(self.center))
        self.wiring.draw(look, self._facts(look), bands)
        if self._pointed is not None:
            pointed, self._pointed = self._pointed, None
            self._point_at(pointed)
        trail = [self.scenario.names.thing(thing) for thing in [*self._trail[-3:], self.center]]
        way = " › ".join(["…"] * (len(self._trail) > 3) + trail)
        what = "worst cable of each trunk" if self._trunks else "cable by cable"
        self._pane.entitle(f"neighborhood · {way} · {what}")
        self._pane.subtitle(legend(self._pane))

    def _band(self, frame: Frame, where: Where) -> Band:
        ties = self._ties(where)

        @cache
        def look(index: int) -> Look:
            return neighborhood.look(self.scenario, frame, ties[index])

        return Band(self._words[where], len(ties), look, self._widths[where])

    def _facts(self, look: Look) -> str:
        """What the center is and how it fares, in a few words."""
        dead = f"{look.dead:,} cable{'s' if look.dead > 1 else ''} dead" if look.dead else "all up"
        kind = neighborhood.kind_of(self.scenario, self.center)
        detail = detail_of(self.scenario.fabric, self.center)
        state = "failed" if look.failed else dead
        return ", ".join(word for word in (kind, detail if detail != kind else "", state) if word)

    def _ties(self, where: Where) -> tuple[Tie, ...]:
        match where:
            case "above":
                return self._hood.above
            case "side":
                return self._hood.side
            case "below":
                return self._hood.below
            case _:
                return (Tie(self.center),)

    def _tie(self) -> Tie:
        """What the cursor is on."""
        where, index = self.wiring.cursor
        ties = self._ties(where)
        return ties[index] if index < len(ties) else Tie(self.center)

    def on_pointed(self) -> None:
        """Say what the cursor is on."""
        if self.frame is None:
            return
        tie = self._tie()
        if tie.thing == self.center:
            words = f"{self.scenario.names.thing(self.center)}: arrows walk, esc selects it"
        else:
            words = neighborhood.words(self.scenario, self.frame, tie, self.center)
        self._near.draw([Part(sanitize(words), "head")])

    # Walking

    def on_wiring_view_walked(self) -> None:
        """Put the neighbor under the cursor into the middle."""
        self._trail = [*self._trail[1 - _TRAIL :], self.center]
        self._go(self._tie().thing)

    def action_trail(self) -> None:
        """Back to what was in the middle before, with the cursor on what is left."""
        if self._trail:
            self._pointed = self.center
            self._go(self._trail.pop())

    def action_cables(self) -> None:
        """Show cables one by one, or trunks."""
        self._trunks = not self._trunks
        self._pointed = self._tie().thing
        self._show(neighborhood.hood(self.scenario, self.center, trunks=self._trunks))

    def _go(self, center: Thing) -> None:
        self._show(neighborhood.hood(self.scenario, center, trunks=self._trunks))

    def _show(self, hood: Hood) -> None:
        self._adopt(hood)
        self.wiring.cursor = ("center", 0)
        if self.frame is not None:
            self.redraw(self.frame)

    def _adopt(self, hood: Hood) -> None:
        self._hood: Hood = hood
        ties = {where: self._ties(where) for where in _BANDS}
        self._widths = {w: neighborhood.widest(self.scenario, own) for w, own in ties.items()}
        words = {w: neighborhood.summary(self.scenario, own) for w, own in ties.items()}
        self._words = {**words, "side": "scale-up domain"}

    def _point_at(self, thing: Thing) -> None:
        """Put the cursor on a neighbor, if it is one."""
        for where in _BANDS:
            for index, tie in enumerate(self._ties(where)):
                if tie.thing == thing:
                    self.wiring.point(where, index)
                    return

    # Faults

    def action_fail(self) -> None:
        """Fail the cable to the neighbor under the cursor, or restore it; of a trunk, the first."""
        tie, frame = self._tie(), self.frame
        if not tie.cables or frame is None:
            self.action_fail_device()
            return
        scale = frame.health.cable_scale
        cable = next((cable for cable in tie.cables if scale[cable] == 0), tie.cables[0])
        self.explorer.edit(edits.fail_or_restore, Thing("cable", cable))

    def action_fail_device(self) -> None:
        """Fail the neighbor under the cursor, or restore it."""
        self.explorer.edit(edits.fail_or_restore, self._tie().thing)

    def action_close(self) -> None:
        """Back to the explorer, with the center selected there."""
        self.leave_to(self.center)
