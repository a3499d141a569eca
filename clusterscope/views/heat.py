"""Heat as levels: the thresholds, signs and colors that the explorer and every file share.

A level is a small number. 0 to 7 say how full something is; the levels after them say that it is
dead, that nothing is known, or by how much it has changed. Each is told twice, by a color and by a
sign, so that it survives color blindness, 16 colors and no color at all. All colors but light greys
are exact xterm entries: a terminal of 256 colors shows the very colors of one of 16 million. Levels
that are neighbors stay apart (CIEDE2000 over 11; greys 7.5) under all three dichromacies.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

THRESHOLDS: Final = (0.10, 0.25, 0.40, 0.55, 0.70, 0.85, 0.95)
GLYPHS: Final = " .:-=+*#"
LEVELS: Final = len(GLYPHS)
# Levels above the ramp; PARTLY_DOWN + level of what is alive.
DOWN, NO_DATA, PARTLY_DOWN = 8, 9, 10
DOWN_GLYPH, NO_DATA_GLYPH, PARTLY_GLYPH = "X", "?", "x"
DOWN_COLOR: Final = "#ff00ff"

# A change is small below the first of these, then slight, clear, large; as a share of capacity.
CHANGES: Final = (0.01, 0.05, 0.15, 0.30)
CHANGE_GLYPHS: Final = "v=-. '+*^"  # cooler to the left, hotter to the right
CHANGE = PARTLY_DOWN + LEVELS  # CHANGE + 0 to 8; CHANGE + UNCHANGED is neither
UNCHANGED: Final = len(CHANGES)
PARTLY_CHANGED = CHANGE + len(CHANGE_GLYPHS)
# Of the first level, what is not idle: it has a sign, but no color, of its own.
LITTLE: Final = PARTLY_CHANGED + len(CHANGE_GLYPHS)
LITTLE_GLYPH: Final = ","
CODES: Final = LITTLE + 1

_SIGNS: Final = (
    GLYPHS
    + DOWN_GLYPH
    + NO_DATA_GLYPH
    + PARTLY_GLYPH * LEVELS
    + CHANGE_GLYPHS
    + PARTLY_GLYPH * len(CHANGE_GLYPHS)
    + LITTLE_GLYPH
)


_MORE: Final = "  X down  x partly down  ? no link"


@dataclass(frozen=True)
class Ramp:
    """Colors behind the levels of a ramp, darkest first.

    Attributes:
        colors: one a level.
        black_from: level from which signs are black on them.
    """

    colors: tuple[str, ...]
    black_from: int


RAMPS: Final[dict[str, Ramp]] = {
    "cividis": Ramp(
        ("#00005f", "#005f87", "#626262", "#808080", "#af875f", "#afaf00", "#ffd787", "#ffff00"), 3
    ),
    "inferno": Ramp(
        ("#000000", "#00005f", "#5f00af", "#af005f", "#d70000", "#d78700", "#ffd700", "#ffffaf"), 5
    ),
    "viridis": Ramp(
        ("#00005f", "#5f00af", "#5f5f87", "#5f8787", "#00af87", "#87af5f", "#87d700", "#ffff87"), 3
    ),
    "mono": Ramp(
        ("#121212", "#303030", "#4e4e4e", "#6c6c6c", "#8a8a8a", "#afafaf", "#d7d7d7", "#ffffff"), 4
    ),
}
DEFAULT_RAMP: Final = "cividis"
# Cooler in blue, hotter in orange; the middle is nearly the background of the explorer.
DIVERGING: Final = (
    "#5fffff", "#00afaf", "#005f87", "#00005f", "#262626", "#5f0000", "#af5f00", "#ff8700",
    "#ffff00",
)  # fmt: skip
DIVERGING_BLACK: Final = (0, 1, 6, 7, 8)
# Exact entries of the 16-color palette, in pairs of levels: the signs tell the two apart.
SIXTEEN: Final = Ramp(("#000000",) * 2 + ("#0000aa",) * 2 + ("#00aaaa",) * 2 + ("#ffff55",) * 2, 4)
DIVERGING_SIXTEEN: Final = (
    ("#00aaaa",) * 2 + ("#0000aa",) * 2 + ("#000000",) + ("#aa0000",) * 2 + ("#ffff55",) * 2
)
DOWN_SIXTEEN: Final = "#aa00aa"


def glyph(level: int) -> str:
    """Sign of a level: that of its ramp, "," a little, X down, x partly down, ? no data."""
    return _SIGNS[level]


def spans_of(thresholds: tuple[float, ...] = THRESHOLDS) -> tuple[str, ...]:
    """What each level of the ramp means, in words: "0% to 10%", ...; 0 itself is idle."""
    edges = ["0%", *(f"{edge:.0%}" for edge in thresholds), "more"]
    return tuple(f"{low} to {high}" for low, high in pairwise(edges))


def legend(*, signed: bool = False) -> str:
    """What the signs mean, in one line: "blank idle  , <0.10  . ≥0.10  ...  X down  ? no link"."""
    if signed:
        cooler = [f"{CHANGE_GLYPHS[UNCHANGED - i]} {CHANGE_GLYPHS[UNCHANGED + i]} ≥{edge:.2f}"
                  for i, edge in enumerate(CHANGES, start=1)]  # fmt: skip
        return "cooler, hotter by: " + "  ".join(cooler) + _MORE
    steps = [f"{GLYPHS[i + 1]} ≥{edge:.2f}" for i, edge in enumerate(THRESHOLDS)]
    return f"blank idle  {LITTLE_GLYPH} <{THRESHOLDS[0]:.2f}  " + "  ".join(steps) + _MORE
