"""The side screens by name; each is imported when it is first opened."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from clusterscope.errors import UnknownNameError

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer
    from clusterscope.tui.screens.glossary import Glossary
    from clusterscope.tui.screens.side import Side
    from clusterscope.tui.screens.validation import Validation

# Module and class of each.
_CLASSES = {
    "links": ("links", "Links"),
    "failures": ("failures", "Failures"),
    "compare": ("compare", "Compare"),
    "neighborhood": ("neighborhood", "Neighborhood"),
    "jobs": ("jobs", "Jobs"),
    "tenants": ("tenants", "Tenants"),
    "curves": ("curve", "Curves"),
    "explain": ("explain", "Explain"),
    "inside": ("inside", "Inside"),
    "networks": ("networks", "Networks"),
}
NAMES = tuple(_CLASSES)


def glossary(word: str = "") -> Glossary:
    """The glossary, at a word or at its beginning.

    Raises:
        UnknownNameError: there is no such word.
    """
    from clusterscope.tui.screens.glossary import Glossary
    from clusterscope.views.glossary import find

    return Glossary(find(word) if word.strip() else None)


def validation() -> Validation:
    """The published numbers that can be derived again."""
    from clusterscope.tui.screens.validation import Validation

    return Validation()


def open_side(name: str, explorer: Explorer) -> Side:
    """A side screen on an explorer.

    Raises:
        UnknownNameError: there is no such screen.
    """
    if name not in _CLASSES:
        raise UnknownNameError("screen", name, NAMES)
    room, kind = _CLASSES[name]
    screen: type[Side] = getattr(import_module(f"clusterscope.tui.screens.{room}"), kind)
    return screen(explorer)
