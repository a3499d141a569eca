"""The explorer's own themes, and the styles in which a look and a terminal show a level.

Levels, their signs and their colors are those of `views.heat`; here they become styles, for
terminals of many colors, of 16, and of none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rich.style import Style
from textual.app import App
from textual.theme import Theme

from clusterscope.tui.settings import Look
from clusterscope.views import heat
from clusterscope.views.heat import DOWN, GLYPHS, NO_DATA, PARTLY_DOWN, THRESHOLDS, glyph

__all__ = ["DOWN", "GLYPHS", "NO_DATA", "PARTLY_DOWN", "THRESHOLDS", "Palette", "glyph", "palette"]

NAME = "clusterscope"
PLAIN_NAME = "ansi-dark"  # with NO_COLOR nothing of its colors is left, as that asks for

Terminal = Literal["256", "16", "plain"]


@dataclass(frozen=True)
class Inks:
    """Colors of words in one theme, on terminals of many colors and of 16.

    Attributes:
        dim: labels and other words of less weight.
        head: headings and names.
        good: what runs.
        alert: what is dead or wrong.
        estimate: the mark of a number that nobody published.
    """

    dim: tuple[str, str]
    head: tuple[str, str]
    good: tuple[str, str]
    alert: tuple[str, str]
    estimate: tuple[str, str]


_INKS = {
    "dark": Inks(
        dim=("#8a8a8a", "#aaaaaa"),
        head=("#ffffff", "#ffffff"),
        good=("#87d75f", "#55ff55"),
        alert=("#ff87ff", "#ff55ff"),
        estimate=("#ffaf00", "#ffff55"),
    ),
    "light": Inks(
        dim=("#585858", "#555555"),
        head=("#000000", "#000000"),
        good=("#005f00", "#00aa00"),
        alert=("#af00af", "#aa00aa"),
        estimate=("#875f00", "#aa5500"),
    ),
    "high-contrast": Inks(
        dim=("#d7d7d7", "#ffffff"),
        head=("#ffffff", "#ffffff"),
        good=("#87ff5f", "#55ff55"),
        alert=("#ff87ff", "#ff55ff"),
        estimate=("#ffff00", "#ffff55"),
    ),
}


def _theme(
    name: str, ground: str, ink: str, line: str, edge: str, panel: str, *, dark: bool = True
) -> Theme:
    """A theme of a ground and an ink, lines between panes, and the edge of the active one."""
    return Theme(
        name=name,
        primary=edge,
        secondary=edge,
        accent="#ffaf00" if dark else "#875f00",
        warning="#ffaf00" if dark else "#875f00",
        error="#ff5f5f" if dark else "#af0000",
        success="#87af5f" if dark else "#005f00",
        foreground=ink,
        background=ground,
        surface=ground,
        panel=panel,
        dark=dark,
        variables={
            "border": edge,
            "border-blurred": line,
            "block-cursor-foreground": ground if not dark else "#000000",
            "block-cursor-background": edge,
            "scrollbar": line,
            "scrollbar-hover": "#808080",
            "scrollbar-active": edge,
            "scrollbar-background": panel if not dark else "#1c1c1c",
            "scrollbar-background-hover": panel if not dark else "#1c1c1c",
            "scrollbar-background-active": panel if not dark else "#1c1c1c",
        },
    )


THEMES = {
    "dark": _theme(NAME, "#121212", "#d0d0d0", "#4e4e4e", "#5fafd7", "#262626"),
    "light": _theme(
        f"{NAME}-light", "#ffffff", "#1c1c1c", "#9e9e9e", "#005f87", "#d7d7d7", dark=False
    ),
    "high-contrast": _theme(
        f"{NAME}-high-contrast", "#000000", "#ffffff", "#d7d7d7", "#ffff00", "#262626"
    ),
}


@dataclass(frozen=True)
class Palette:
    """Styles of everything that widgets draw.

    Attributes:
        levels: style of each level of `views.heat`.
        text: plain words.
        dim: labels and other words of less weight.
        head: headings and names.
        good: what runs.
        alert: what is dead or wrong.
        estimate: the mark of a number that nobody published.
        look: what the user has set.
        signs: False when cells of a map go without the signs of their levels.
    """

    levels: tuple[Style, ...]
    text: Style
    dim: Style
    head: Style
    good: Style
    alert: Style
    estimate: Style
    look: Look
    signs: bool = True

    def cursor(self, style: Style, *, focused: bool) -> Style:
        """Style of words under the cursor; what has a color behind it keeps that."""
        if style.bgcolor is not None:
            return style
        return _CURSOR if focused else style + _CURSOR_ELSEWHERE

    def cell_cursor(self, style: Style, *, focused: bool) -> Style:
        """Style of a cell of a level under the cursor."""
        return style + (_CURSOR if focused else _CURSOR_ELSEWHERE)

    def sign(self, level: int) -> str:
        """Sign of a level on a map: that of what is dead or unknown is always there."""
        sign = glyph(level)
        dead = sign in (heat.DOWN_GLYPH, heat.PARTLY_GLYPH, heat.NO_DATA_GLYPH)
        return sign if self.signs or dead else " "


_CURSOR = Style(reverse=True, bold=True)
_CURSOR_ELSEWHERE = Style(underline=True, bold=True)


def _levels(look: Look, *, sixteen: bool) -> tuple[Style, ...]:
    """Style of every level, in the order of `views.heat`."""
    ramp = heat.SIXTEEN if sixteen else heat.RAMPS[look.ramp]
    diverging = heat.DIVERGING_SIXTEEN if sixteen else heat.DIVERGING
    plain = [_on(color, black=place >= ramp.black_from) for place, color in enumerate(ramp.colors)]
    change = [
        _on(color, black=place in heat.DIVERGING_BLACK) for place, color in enumerate(diverging)
    ]
    down = _on(heat.DOWN_SIXTEEN if sixteen else heat.DOWN_COLOR, black=True) + Style(bold=True)
    none, partly = Style(color="#808080"), Style(bold=True, underline=True)
    return (
        *plain, down, none, *(style + partly for style in plain),
        *change, *(style + partly for style in change), plain[0],
    )  # fmt: skip


def _on(color: str, *, black: bool) -> Style:
    return Style(color="#000000" if black else "#ffffff", bgcolor=color)


def _plain_levels() -> tuple[Style, ...]:
    """Style of every level without a color: what is far from the middle is bold."""
    none, bold, down = Style(), Style(bold=True), Style(bold=True, reverse=True)
    ramp = (*[none] * 6, bold, bold)
    change = (bold, bold, *[none] * 5, bold, bold)
    return (*ramp, down, none, *[bold] * heat.LEVELS, *change, *[bold] * len(change), none)


@lru_cache(maxsize=32)
def _made(terminal: Terminal, look: Look) -> Palette:
    if terminal == "plain":
        bold = Style(bold=True)
        none = Style()
        return Palette(_plain_levels(), none, none, bold, bold, bold, none, look)
    sixteen = terminal == "16"
    inks = _INKS[look.theme]
    return Palette(
        levels=_levels(look, sixteen=sixteen),
        text=Style(),
        dim=Style(color=inks.dim[sixteen]),
        head=Style(color=inks.head[sixteen], bold=True),
        good=Style(color=inks.good[sixteen]),
        alert=Style(color=inks.alert[sixteen], bold=True),
        estimate=Style(color=inks.estimate[sixteen]),
        look=look,
        signs=look.glyphs or sixteen,
    )


_DEFAULT = Look()


def _palette(terminal: Terminal, look: Look = _DEFAULT) -> Palette:
    """Palette for a kind of terminal and a look."""
    return _made(terminal, look)


def palette(app: App[object]) -> Palette:
    """The palette that the app's terminal can show, in the look that the user has set."""
    look: Look = getattr(app, "look", _DEFAULT)
    if app.no_color or look.theme == "plain":
        return _made("plain", look)
    return _made("16" if app.console.color_system == "standard" else "256", look)
