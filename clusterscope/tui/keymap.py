"""Other keys for actions: read from the settings, checked, and applied to the key table."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

from clusterscope.errors import SpecError, nearest
from clusterscope.tui.keynames import shown_key
from clusterscope.tui.keys import Keymap, contexts

_NAMED: Final = {
    "space", "enter", "escape", "tab", "backspace", "delete", "insert", "home", "end",
    "pageup", "pagedown", "up", "down", "left", "right", *(f"f{n}" for n in range(1, 13)),
}  # fmt: skip
_SHORT: Final = {"esc": "escape", "pgup": "pageup", "pgdn": "pagedown", "bksp": "backspace",
                 "return": "enter"}  # fmt: skip
_ALLOWED: Final = "use a character, a name as space or f5, or ctrl+ and a letter"
# What Unicode calls differently than Textual does.
_UNICODE: Final = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}


def _shown(value: object) -> str:
    """A value of the file, fit to be printed."""
    # Only what is wrong is shown, and what shows it takes its time to import.
    from clusterscope.spec.wording import shown

    return shown(value)


def keymap(table: Mapping[str, Any], where: str) -> Keymap:
    """Keys by action id, of a table of the settings; `where` names the file in error messages.

    Raises:
        SpecError: an action that is not there, a key that is none, or a key that two actions have.
    """
    known = {action.name: action for actions in contexts().values() for action in actions}
    given: Keymap = {}
    for name, value in table.items():
        spot = f"{where}: keys.{_shown(name)}"
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near!r}?" if near else "'clusterscope config --default' has all"
            raise SpecError(spot, "there is no such action", hint)
        texts = value if isinstance(value, list) and value else [value]
        given[name] = tuple(key_of(text, spot) for text in texts)
    for name in given:
        _refuse_conflict(name, given, where)
    return given


def key_of(text: object, where: str) -> str:
    """A key as Textual names it, from a character ("p", "[") or a name ("space", "ctrl+p").

    Raises:
        SpecError: no such key.
    """
    if not isinstance(text, str):
        raise SpecError(where, f"{_shown(text)} is not a key", _ALLOWED)
    if len(text) == 1 and text.isprintable() and text != " ":
        return text if text.isalnum() else _punctuation(text)
    name = _SHORT.get(text.casefold(), text.casefold())
    if name in _NAMED or re.fullmatch(r"ctrl\+[a-z]|shift\+(tab|f[1-9]|up|down|left|right)", name):
        return name
    near = nearest(text, [*_NAMED, *_SHORT])
    raise SpecError(where, f"{_shown(text)} is not a key", _ALLOWED if near is None else
                    f"did you mean {near!r}?")  # fmt: skip


def _punctuation(character: str) -> str:
    name = unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")
    return _UNICODE.get(name, name)


def _refuse_conflict(name: str, given: Keymap, where: str) -> None:
    """Refuse a key that another action has where both can be pressed.

    Raises:
        SpecError: it has; names both.
    """
    tables = contexts().values()
    defaults: dict[str, set[str]] = {}
    for action in chain(*tables):
        defaults.setdefault(action.name, set()).update(action.keys)
    for actions in tables:
        present = any(action.name == name for action in actions)
        for action in actions:
            if action.name == name or not present:
                continue
            shared = set(given[name]) & set(action.under(given).keys)
            # Some have shared a key from the start, in this table or another.
            shared -= defaults[name] & defaults[action.name]
            if shared:
                key = shown_key(min(shared))
                raise SpecError(
                    f"{where}: keys.{_shown(name)}",
                    f"{key!r} is the key of {action.name!r} ({action.help}) as well",
                    f"use another, or give {action.name!r} another",
                )
