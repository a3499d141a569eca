"""What must hold in every frame; checked when CLUSTERSCOPE_CHECK=1, and always in tests."""

from __future__ import annotations

import os

import numpy as np

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario

_TOLERANCE = 1e-9


def enabled() -> bool:
    """True when frames are to be checked."""
    return os.environ.get("CLUSTERSCOPE_CHECK") == "1"


def check(scenario: Scenario, frame: Frame) -> None:
    """Check a frame if checking is enabled.

    Raises:
        AssertionError: a link carries more than it can, or bytes were made or lost.
    """
    if not enabled():
        return
    if frame.after.network is frame.state.network:
        capacity = frame.network.link_gbps
        over = np.flatnonzero(frame.link_gbps > capacity * (1 + _TOLERANCE) + _TOLERANCE)
        assert not len(over), f"link {over[0]} over capacity at step {frame.step}"
    for state, loads in zip(frame.jobs, scenario.loads, strict=True):
        for i, left in enumerate(state.left):
            size = loads[state.phase + i].size_bytes
            assert (left >= 0).all(), f"negative bytes at step {frame.step}"
            assert (left <= size).all(), f"bytes were made at step {frame.step}"
