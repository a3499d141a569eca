"""From utilization to levels: the eight steps that colors and glyphs stand for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clusterscope.columns import F64, Bool
from clusterscope.tui.theme import DOWN, NO_DATA, PARTLY_DOWN, THRESHOLDS


def levels_of(values: F64, down: Bool) -> NDArray[np.uint8]:
    """Level of every cell: 0 to 7 by THRESHOLDS, or DOWN, NO_DATA, PARTLY_DOWN + level.

    A cell with a dead member is DOWN when nothing in it is alive, PARTLY_DOWN + its level else.
    """
    known = np.isfinite(values)
    ramp = np.digitize(np.where(known, values, 0.0), THRESHOLDS)
    dead = np.where(known, ramp + PARTLY_DOWN, DOWN)
    return np.where(down, dead, np.where(known, ramp, NO_DATA)).astype(np.uint8)


def level_of(value: float, *, down: bool = False) -> int:
    """Level of one value, as `levels_of` gives it."""
    return int(levels_of(np.array([value]), np.array([down]))[0])
