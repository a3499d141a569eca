"""From ratios and changes to levels: see `views.heat` for what a level stands for."""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from clusterscope.columns import F64, Bool
from clusterscope.views.heat import (
    CHANGE,
    CHANGES,
    DOWN,
    LITTLE,
    NO_DATA,
    PARTLY_CHANGED,
    PARTLY_DOWN,
    THRESHOLDS,
    UNCHANGED,
)
from clusterscope.views.shapes import Grid


def levels_of(
    values: F64, down: Bool, thresholds: tuple[float, ...] = THRESHOLDS
) -> NDArray[np.uint8]:
    """Level of every ratio: 0 to 7 by thresholds, or LITTLE, DOWN, NO_DATA, PARTLY_DOWN + level.

    LITTLE is what the first level holds besides 0.
    A cell with a dead member is DOWN when nothing in it is alive, PARTLY_DOWN + its level else.
    """
    known = np.isfinite(values)
    ramp = np.digitize(np.where(known, values, 0.0), thresholds)
    levels = _with_dead(ramp, known, down, PARTLY_DOWN)
    levels[(levels == 0) & (values > 0)] = LITTLE
    return levels


def changes_of(values: F64, down: Bool) -> NDArray[np.uint8]:
    """Level of every change: CHANGE + 0 to 8, or DOWN, NO_DATA, PARTLY_CHANGED + 0 to 8."""
    known = np.isfinite(values)
    change = np.where(known, values, 0.0)
    size = np.digitize(np.abs(change), CHANGES)
    ramp = np.where(change < 0, UNCHANGED - size, UNCHANGED + size)
    return _with_dead(ramp + CHANGE, known, down, PARTLY_CHANGED - CHANGE)


def levels_of_grid(grid: Grid, thresholds: tuple[float, ...] = THRESHOLDS) -> NDArray[np.uint8]:
    """Level of every cell of a grid, (R, C)."""
    if grid.signed:
        return changes_of(grid.values, grid.down)
    return levels_of(grid.values, grid.down, thresholds)


def _with_dead(ramp: NDArray[np.intp], known: Bool, down: Bool, partly: int) -> NDArray[np.uint8]:
    dead = np.where(known, ramp + partly, DOWN)
    return np.where(down, dead, np.where(known, ramp, NO_DATA)).astype(np.uint8)


def level_of(
    value: float,
    *,
    down: bool = False,
    signed: bool = False,
    thresholds: tuple[float, ...] = THRESHOLDS,
) -> int:
    """Level of one ratio, or of one change when `signed`."""
    if signed:
        return int(changes_of(np.array([value]), np.array([down]))[0])
    # As `levels_of`, without the price of arrays: rows and cells ask for one value at a time.
    if not math.isfinite(value):
        return DOWN if down else NO_DATA
    level = bisect_right(thresholds, value)
    if down:
        return level + PARTLY_DOWN
    return LITTLE if level == 0 and value > 0 else level
