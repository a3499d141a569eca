"""Keys as a person reads them."""

from __future__ import annotations

_SHOWN = {
    "escape": "esc",
    "backspace": "bksp",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "full_stop": ".",
    "comma": ",",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "question_mark": "?",
    "slash": "/",
    "at": "@",
    "colon": ":",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


def shown_key(key: str) -> str:
    """A key as a person reads it."""
    return _SHOWN.get(key, key)
