"""Values as cells of a text table that a spreadsheet may open."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

# What makes a spreadsheet take a cell for a formula, in full width too.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def number(value: float) -> str:
    """A number in the fewest digits that read back as the same number; "" for nan."""
    if isinstance(value, int):
        return str(value)
    return "" if math.isnan(value) else repr(value).removesuffix(".0")


def cell(value: object, text: Callable[[str], str]) -> str:
    """One value: numbers and truth values as such, nothing for nan and None, all else by `text`."""
    if isinstance(value, np.generic):
        value = value.item()
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return number(value)
        case _:
            return text(str(value))


def guard(text: str) -> str:
    """What to put before a text so that no spreadsheet takes it for a formula."""
    return "'" if text.startswith(_FORMULA) else ""
