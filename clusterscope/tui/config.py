"""The settings file: read, checked and written out.

`$XDG_CONFIG_HOME/clusterscope/config.toml` or `~/.config/clusterscope/config.toml`. It is read
before the terminal is touched, without the libraries that draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from clusterscope.errors import SpecError, nearest
from clusterscope.spec.read import read_text, tables
from clusterscope.spec.wording import listed, shown, shown_name
from clusterscope.tui.keymap import keymap
from clusterscope.tui.keynames import shown_key
from clusterscope.tui.keys import Action, contexts
from clusterscope.tui.settings import THEMES, Look, Settings, one_of
from clusterscope.views.heat import DEFAULT_RAMP, LEVELS, RAMPS, THRESHOLDS

KEYS: Final = ("theme", "ramp", "thresholds", "glyphs", "mouse", "keys")


def read(file: Path) -> Settings:
    """Settings of a file.

    Raises:
        SpecError: it cannot be read, or a key or value in it is not allowed.
    """
    where = shown_name(file)
    return parse(tables(read_text(file, where), where), where)


def parse(data: Mapping[str, Any], where: str) -> Settings:
    """Settings of the tables of a file; `where` names it in error messages.

    Raises:
        SpecError: a key or value is not allowed.
    """
    for key in data:
        if key not in KEYS:
            near = nearest(key, KEYS)
            hint = f"did you mean {near!r}?" if near else f"use {listed(KEYS)}"
            raise SpecError(where, f"there is no setting {shown(key)}", hint)
    look = Look(
        theme=_choice(f"{where}: theme", data.get("theme", "dark"), THEMES),
        ramp=_choice(f"{where}: ramp", data.get("ramp", DEFAULT_RAMP), tuple(RAMPS)),
        thresholds=_thresholds(f"{where}: thresholds", data.get("thresholds", THRESHOLDS)),
        glyphs=_flag(f"{where}: glyphs", data.get("glyphs", True)),
    )
    table = data.get("keys", {})
    if not isinstance(table, dict):
        raise SpecError(f"{where}: keys", f"{shown(table)} is not a table", "write [keys]")
    return Settings(
        look, _flag(f"{where}: mouse", data.get("mouse", True)), keys=keymap(table, where)
    )


def _choice(where: str, value: object, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str):
        raise SpecError(where, f"{shown(value)} is not allowed", f"use {listed(allowed)}")
    return one_of(where, value, allowed)


def _flag(where: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise SpecError(where, f"{shown(value)} is not allowed", "use true or false")


def _thresholds(where: str, value: object) -> tuple[float, ...]:
    hint = f"use {LEVELS - 1} numbers that rise from above 0 to at most 1"
    if not isinstance(value, list | tuple) or len(value) != LEVELS - 1:
        raise SpecError(where, f"{shown(value)} does not make {LEVELS} levels", hint)
    low = 0.0
    for number in value:
        real = isinstance(number, int | float) and not isinstance(number, bool)
        if not real or not low < number <= 1:
            raise SpecError(where, f"{shown(number)} is not allowed", hint)
        low = float(number)
    return tuple(float(number) for number in value)


def effective(settings: Settings) -> str:
    """The settings as a file that would give them."""
    look = settings.look
    lines = [
        f'theme = "{look.theme}"',
        f'ramp = "{look.ramp}"',
        f"thresholds = [{', '.join(f'{edge:g}' for edge in look.thresholds)}]",
        f"glyphs = {str(look.glyphs).lower()}",
        f"mouse = {str(settings.mouse).lower()}",
        "",
        "[keys]",
        *(f"{_quoted(name)} = {_keys(keys)}" for name, keys in settings.keys.items()),
    ]
    return "\n".join(lines) + "\n"


def template() -> str:
    """A settings file of comments: every setting with its default, every action with its keys."""
    known: dict[str, Action] = {}
    for actions in contexts().values():
        for action in actions:
            known.setdefault(action.name, action)
    lines = [
        f'# theme = "dark"  # {listed(THEMES)}',
        f'# ramp = "{DEFAULT_RAMP}"  # {listed(RAMPS)}',
        f"# thresholds = [{', '.join(f'{edge:g}' for edge in THRESHOLDS)}]",
        "# glyphs = true  # signs beside colors; g turns them on and off",
        "# mouse = true",
        "",
        "# [keys]  # action = key, or several in an array",
        *(f"# {_quoted(name)} = {_keys(a.keys)}  # {a.help}" for name, a in known.items()),
    ]
    return "\n".join(lines) + "\n"


def _keys(keys: tuple[str, ...]) -> str:
    # Arrows are drawn in help; a file has their names.
    texts = [_quoted(shown_key(key) if shown_key(key).isascii() else key) for key in keys]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
