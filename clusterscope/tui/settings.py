"""What a user can set: how things look, the mouse and the keys; and where that is written.

Light to import: the first thing on the screen is painted with it.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from clusterscope.errors import SpecError, nearest
from clusterscope.tui.keys import Keymap
from clusterscope.views.heat import DEFAULT_RAMP, RAMPS, THRESHOLDS

THEMES: Final = ("dark", "light", "high-contrast", "plain")


@dataclass(frozen=True)
class Look:
    """How things are painted.

    Attributes:
        theme: one of THEMES; plain has no colors at all.
        ramp: one of the ramps of `views.heat`.
        thresholds: utilization from which each level but the first is used.
        glyphs: False to leave signs out where there is a color.
    """

    theme: str = "dark"
    ramp: str = DEFAULT_RAMP
    thresholds: tuple[float, ...] = THRESHOLDS
    glyphs: bool = True

    def next_ramp(self) -> Look:
        """The look with the ramp that follows."""
        names = list(RAMPS)
        following = names[(names.index(self.ramp) + 1) % len(names)]
        return dataclasses.replace(self, ramp=following)

    def other_glyphs(self) -> Look:
        """The look with signs where there were none, and the other way round."""
        return dataclasses.replace(self, glyphs=not self.glyphs)


@dataclass(frozen=True)
class Settings:
    """Everything that a user can set.

    Attributes:
        look: how things are painted.
        mouse: False to leave the mouse to the terminal.
        ascii: True to draw with nothing but ASCII.
        keys: keys by action id, for the actions that have others than by default.
    """

    look: Look = field(default_factory=Look)
    mouse: bool = True
    ascii: bool = False
    keys: Keymap = field(default_factory=dict)

    @property
    def keymap(self) -> dict[str, str]:
        """The keys as Textual takes them."""
        return {name: ",".join(keys) for name, keys in self.keys.items()}

    def with_flags(self, *, theme: str | None, mouse: bool, ascii: bool) -> Settings:  # noqa: A002 - the flag's name
        """The settings with what the command line says on top.

        Raises:
            SpecError: no such theme.
        """
        look = self.look
        if theme is not None:
            look = dataclasses.replace(look, theme=one_of("--theme", theme, THEMES))
        return dataclasses.replace(
            self, look=look, mouse=self.mouse and mouse, ascii=self.ascii or ascii
        )


def path() -> Path:
    """Where the settings are, whether there are any or not."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    # The base directory specification has relative paths ignored.
    root = Path(base) if base.startswith("/") else Path("~/.config").expanduser()
    return root / "clusterscope" / "config.toml"


def load() -> Settings:
    """The user's settings.

    Raises:
        SpecError: the file cannot be read, or a key or value in it is not allowed.
    """
    file = path()
    if not file.exists():
        return Settings()
    from clusterscope.tui.config import read

    return read(file)


def one_of(where: str, value: str, allowed: tuple[str, ...]) -> str:
    """A value that has to be one of some words.

    Raises:
        SpecError: it is none of them; names the nearest.
    """
    if value in allowed:
        return value
    near = nearest(value, allowed)
    hint = f"did you mean {near!r}?" if near else f"use {', '.join(allowed)}"
    raise SpecError(where, f"{value[:60]!r} is not allowed", hint)
