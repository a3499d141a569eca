"""Frames with hand-made loads, for pictures: no change of physics moves them."""

from __future__ import annotations

import dataclasses
from functools import lru_cache

import numpy as np

from clusterscope.columns import F64
from clusterscope.engine.frame import Frame, Spans
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.shares import Share
from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.things import Thing
from clusterscope.views.shapes import Column, Fact, Grid, Note, Table
from tests import small

# One ratio a level of the ramp; cables take them in turn, four by four, both directions alike.
RATIOS = (0.05, 0.15, 0.30, 0.45, 0.60, 0.75, 0.90, 1.00)


def with_loads(frame: Frame, link_gbps: F64) -> Frame:
    """A frame with other loads, (L,) Gb/s, all of the step long."""
    spans = Spans([(1.0, Share({}, {}, {}, link_gbps))], 1.0)
    return dataclasses.replace(frame, spans=spans)


class CannedTimeline(Timeline):
    """Hand-made loads: cable c carries RATIOS[c // 4 % 8] of what it can."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self._canned: dict[int, tuple[Frame, Frame]] = {}

    def at(self, index: int) -> Frame:
        real = super().at(index)
        kept = self._canned.get(index)
        if kept is None or kept[0] is not real:
            ratios = np.repeat(np.resize(np.repeat(RATIOS, 4), self.scenario.fabric.cables), 2)
            loads = ratios * real.network.link_gbps
            kept = self._canned[index] = real, with_loads(real, loads)
        return kept[1]


def timeline() -> CannedTimeline:
    """The small cluster of 16 GPUs under hand-made loads."""
    return CannedTimeline(_scenario())


_scenario = lru_cache(maxsize=1)(small.scenario)


def jobs(scenario: Scenario, frame: Frame, thing: Thing | None) -> Table:
    """Two jobs with round numbers."""
    return Table(
        "jobs",
        (
            Column("job", "text", ["llama", "moe"]),
            Column("ranks", "int", [12, 4]),
            Column("busbw", "GBps", [40.0, 20.0]),
            Column("iteration", "seconds", [2.0, 0.5]),
        ),
        rows=2,
        note="canned",
    )


def inspector(scenario: Scenario, frame: Frame, thing: Thing | None) -> Note:
    """A few facts of every mark."""
    name = scenario.names.thing(thing or Thing("cluster"))
    facts = (
        Fact("kind", thing.kind if thing else "cluster"),
        Fact("latency", 2e-6, "seconds", "estimate", "nobody published it"),
        Fact("rate", 100.0, "gbps", "source", "the vendor's data sheet, 2024"),
        Fact("uplinks", 4, "int", "derived"),
    )
    return Note(name, facts, ("It is hot because everything else is cold.",))


def grid(rows: int = 3, columns: int = 8, note: str = "") -> Grid:
    """Every level from left to right; the last row has a dead cell, a hurt one and a hole."""
    values = np.tile(np.resize(RATIOS, columns), (rows, 1))
    down = np.zeros((rows, columns), dtype=np.bool_)
    values[-1, :2] = np.nan
    down[-1, 0:3:2] = True
    return Grid(
        "load",
        values,
        down,
        tuple(f"row {r}" for r in range(rows)),
        tuple(f"c{c}" for c in range(columns)),
        keys=lambda row, column: f"cell {row} {column}",
        note=note,
    )


VIEWS = {"jobs": jobs, "inspector": inspector}
