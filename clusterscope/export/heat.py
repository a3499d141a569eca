"""Heat as a level from 0 to 7: the same thresholds, glyphs and colors in every file.

The ramp is cividis in eight steps that stay apart for every kind of color vision and on paper;
glyphs carry the same levels where there is no color.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from clusterscope.columns import F64, I8, Bool

THRESHOLDS: Final = (0.10, 0.25, 0.40, 0.55, 0.70, 0.85, 0.95)
GLYPHS: Final = " .:-=+*#"
RAMP: Final = (
    "#00005f", "#005f87", "#626262", "#808080", "#af875f", "#afaf00", "#ffd787", "#ffff00",
)  # fmt: skip
DOWN: Final = -1
NOTHING: Final = -2
DOWN_GLYPH: Final = "X"
DOWN_COLOR: Final = "#ff00ff"


def levels(values: F64, down: Bool) -> I8:
    """Level of every cell, shaped as `values`: 0 to 7, DOWN, or NOTHING where the value is nan."""
    level = np.searchsorted(THRESHOLDS, values, side="right").astype(np.int8)
    level[~np.isfinite(values)] = NOTHING
    level[down] = DOWN
    return level


def glyph(level: int) -> str:
    """Sign for a level."""
    return {DOWN: DOWN_GLYPH, NOTHING: "?"}.get(level) or GLYPHS[level]


def legend() -> str:
    """What the glyphs mean, in one line: " <.10 . .10 : .25 ... X down"."""
    steps = [f"{GLYPHS[i + 1]} ≥{t:.2f}" for i, t in enumerate(THRESHOLDS)]
    return f"blank <{THRESHOLDS[0]:.2f}  " + "  ".join(steps) + f"  {DOWN_GLYPH} down  ? no link"
