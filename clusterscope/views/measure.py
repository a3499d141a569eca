"""What a heat map measures: a ratio of every link, or how much that has changed.

A cell of a map stands for many cables. It shows the one that matters most: the fullest, or the one
that has changed most, and of two that changed alike the one that got hotter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I32, Bool
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.metrics.links import peak_utilization, worst
from clusterscope.metrics.memo import per_pair


@dataclass(frozen=True, eq=False)
class Measure:
    """One number a link.

    Attributes:
        title: what it is.
        link: of every directed link, (L,); nan where that is dead.
        cable: of every cable, from the direction that matters more, (C,).
        dead: cables that carry nothing, (C,).
        signed: True for changes.
    """

    title: str
    link: F64
    cable: F64
    dead: Bool
    signed: bool = False

    @property
    def word(self) -> str:
        """What the link that stands for others is called."""
        return "most changed" if self.signed else "worst"


def load(scenario: Scenario, frame: Frame) -> Measure:
    """Utilization, mean over the step."""
    state = worst(scenario, frame)
    return Measure("utilization", frame.utilization, state.cable, state.cable_dead)


def peak(scenario: Scenario, frame: Frame) -> Measure:
    """Utilization in the worst phase of an iteration, for each link its own."""
    ratio = peak_utilization(frame.network)
    cable = np.fmax(ratio[0::2], ratio[1::2])
    return Measure("peak utilization", ratio, cable, worst(scenario, frame).cable_dead)


@per_pair
def load_change(scenario: Scenario, frame: Frame, baseline: Frame) -> Measure:
    """Change of utilization since a baseline."""
    link = since(frame.utilization, baseline.utilization)
    return _signed(scenario, frame, f"utilization, {_since(baseline)}", link)


@per_pair
def peak_change(scenario: Scenario, frame: Frame, baseline: Frame) -> Measure:
    """Change of peak utilization since a baseline."""
    link = since(peak_utilization(frame.network), peak_utilization(baseline.network))
    return _signed(scenario, frame, f"peak utilization, {_since(baseline)}", link)


def since(now: F64, then: F64) -> F64:
    """Change of ratios, (n,); what was dead carried nothing, what is dead now is nan."""
    change: F64 = now - np.where(np.isnan(then), 0.0, then)
    return change


def _since(baseline: Frame) -> str:
    return f"change since step {baseline.step:,}"


def _signed(scenario: Scenario, frame: Frame, title: str, link: F64) -> Measure:
    cable = larger(link[0::2], link[1::2])
    return Measure(title, link, cable, worst(scenario, frame).cable_dead, signed=True)


def larger(one: F64, other: F64) -> F64:
    """Of each pair the change that is larger either way, the hotter of equals; nan gives way."""
    high, low = np.fmax(one, other), np.fmin(one, other)
    return np.where(-low > high, low, high)


def extremes(values: F64, cell: I32, cells: int) -> F64:
    """Of the values in each cell the one of largest size, the hotter of equals, (cells,)."""
    high = np.full(cells, np.nan)
    np.fmax.at(high, cell, values)
    if not (values < 0).any():
        return high
    low = np.full(cells, np.nan)
    np.fmin.at(low, cell, values)
    return larger(high, low)


def pick(values: F64) -> int:
    """Place of the value of largest size, what is dead before all others."""
    size = np.abs(values)
    return int(np.where(np.isnan(size), np.inf, size).argmax())
