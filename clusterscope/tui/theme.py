"""Colors and glyphs: the explorer's own theme, and what a level of utilization looks like.

A level is shown twice, as a color and as a glyph, so that it survives color blindness, 16 colors
and no color at all. The 256-color ramp is cividis on exact xterm entries, with lightness strictly
rising: neighbouring levels stay apart (CIEDE2000 over 11) under all three dichromacies, and a
terminal of 256 colors shows the very colors of one of 16 million.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rich.style import Style
from textual.app import App
from textual.theme import Theme

THRESHOLDS = (0.10, 0.25, 0.40, 0.55, 0.70, 0.85, 0.95)
GLYPHS = " .:-=+*#"
DOWN, NO_DATA, PARTLY_DOWN = 8, 9, 10  # levels above the ramp; PARTLY_DOWN + level

NAME = "clusterscope"
PLAIN_NAME = "ansi-dark"  # with NO_COLOR nothing of its colors is left, as that asks for

THEME = Theme(
    name=NAME,
    primary="#5fafd7",
    secondary="#5f87af",
    accent="#ffaf00",
    warning="#ffaf00",
    error="#ff5f5f",
    success="#87af5f",
    foreground="#d0d0d0",
    background="#121212",
    surface="#121212",
    panel="#262626",
    dark=True,
    variables={
        "border": "#5fafd7",
        "border-blurred": "#4e4e4e",
        "block-cursor-foreground": "#000000",
        "block-cursor-background": "#5fafd7",
        "scrollbar": "#4e4e4e",
        "scrollbar-hover": "#808080",
        "scrollbar-active": "#5fafd7",
        "scrollbar-background": "#1c1c1c",
        "scrollbar-background-hover": "#1c1c1c",
        "scrollbar-background-active": "#1c1c1c",
    },
)


@dataclass(frozen=True)
class Palette:
    """Styles of everything that widgets draw.

    Attributes:
        levels: style of each level: 8 of the ramp, down, no data, then 8 partly down.
        text: plain words.
        dim: labels and other words of less weight.
        head: headings and names.
        good: what runs.
        alert: what is dead or wrong.
        estimate: the mark of a number that nobody published.
    """

    levels: tuple[Style, ...]
    text: Style
    dim: Style
    head: Style
    good: Style
    alert: Style
    estimate: Style

    def cursor(self, style: Style, *, focused: bool) -> Style:
        """Style of words under the cursor; what has a color behind it keeps that."""
        if style.bgcolor is not None:
            return style
        return _CURSOR if focused else style + _CURSOR_ELSEWHERE

    def cell_cursor(self, style: Style, *, focused: bool) -> Style:
        """Style of a cell of a level under the cursor."""
        return style + (_CURSOR if focused else _CURSOR_ELSEWHERE)


_CURSOR = Style(reverse=True, bold=True)
_CURSOR_ELSEWHERE = Style(underline=True, bold=True)

_CIVIDIS = ["#00005f", "#005f87", "#626262", "#808080", "#af875f", "#afaf00", "#ffd787", "#ffff00"]
# Exact entries of the 16-color palette, in pairs of levels: the glyphs tell the two apart.
_SIXTEEN = ["#000000"] * 2 + ["#0000aa"] * 2 + ["#00aaaa"] * 2 + ["#ffff55"] * 2
_MAGENTA = {"256": "#ff00ff", "16": "#aa00aa"}


def _ramp(colors: list[str], black_from: int, magenta: str) -> tuple[Style, ...]:
    """Level styles from background colors; text turns black at level `black_from`."""
    inks = ["#ffffff" if level < black_from else "#000000" for level in range(8)]
    plain = [Style(color=ink, bgcolor=back) for ink, back in zip(inks, colors, strict=True)]
    down = Style(color="#000000", bgcolor=magenta, bold=True)
    none = Style(color="#808080")
    part = [style + Style(bold=True, underline=True) for style in plain]
    return (*plain, down, none, *part)


@lru_cache(maxsize=4)
def _palette(kind: str) -> Palette:
    """Palette for "256", "16" or "plain" terminals."""
    if kind == "plain":
        bold, down = Style(bold=True), Style(bold=True, reverse=True)
        levels = (*[Style()] * 6, bold, bold, down, Style(), *[bold] * 8)
        return Palette(levels, Style(), Style(), bold, bold, bold, Style())
    colors, black_from = (_CIVIDIS, 3) if kind == "256" else (_SIXTEEN, 4)
    return Palette(
        levels=_ramp(colors, black_from, _MAGENTA[kind]),
        text=Style(),
        dim=Style(color="#8a8a8a" if kind == "256" else "#aaaaaa"),
        head=Style(color="#ffffff", bold=True),
        good=Style(color="#87d75f" if kind == "256" else "#55ff55"),
        alert=Style(color="#ff87ff" if kind == "256" else "#ff55ff", bold=True),
        estimate=Style(color="#ffaf00" if kind == "256" else "#ffff55"),
    )


def palette(app: App[object]) -> Palette:
    """The palette that the app's terminal can show."""
    if app.no_color:
        return _palette("plain")
    return _palette("16" if app.console.color_system == "standard" else "256")


def glyph(level: int) -> str:
    """Sign of a level: the ramp, X down, x partly down, ? no data."""
    return (GLYPHS + "X?" + "x" * 8)[level]
