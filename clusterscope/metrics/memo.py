"""Keep a metric for as long as the thing it was computed from.

Frames, networks and scenarios are compared by identity and never change, so they are keys of their
own; an entry goes when its key does. A result must not hold the key, or neither ever goes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario

T = TypeVar("T")
K = TypeVar("K")


def per_frame(metric: Callable[[Scenario, Frame], T]) -> Callable[[Scenario, Frame], T]:
    """The metric, computed once a frame."""
    kept: WeakKeyDictionary[Frame, T] = WeakKeyDictionary()

    @wraps(metric)
    def memoized(scenario: Scenario, frame: Frame) -> T:
        if frame not in kept:
            kept[frame] = metric(scenario, frame)
        return kept[frame]

    return memoized


def per_pair(
    metric: Callable[[Scenario, Frame, Frame], T],
) -> Callable[[Scenario, Frame, Frame], T]:
    """The metric, computed once for each two frames."""
    kept: WeakKeyDictionary[Frame, WeakKeyDictionary[Frame, T]] = WeakKeyDictionary()

    @wraps(metric)
    def memoized(scenario: Scenario, frame: Frame, other: Frame) -> T:
        row = kept.setdefault(frame, WeakKeyDictionary())
        if other not in row:
            row[other] = metric(scenario, frame, other)
        return row[other]

    return memoized


def per_key(metric: Callable[[K], T]) -> Callable[[K], T]:
    """The metric, computed once for each fabric, network or scenario."""
    kept: WeakKeyDictionary[K, T] = WeakKeyDictionary()

    @wraps(metric)
    def memoized(key: K) -> T:
        if key not in kept:
            kept[key] = metric(key)
        return kept[key]

    return memoized
