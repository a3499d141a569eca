"""The side screens by name; each is imported when it is first opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterscope.errors import UnknownNameError

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer
    from clusterscope.tui.screens.glossary import Glossary
    from clusterscope.tui.screens.side import Side
    from clusterscope.tui.screens.validation import Validation

NAMES = ("links", "failures", "compare", "neighborhood", "tenants", "explain", "inside", "networks")


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
    match name:
        case "links":
            from clusterscope.tui.screens.links import Links

            return Links(explorer)
        case "failures":
            from clusterscope.tui.screens.failures import Failures

            return Failures(explorer)
        case "compare":
            from clusterscope.tui.screens.compare import Compare

            return Compare(explorer)
        case "neighborhood":
            from clusterscope.tui.screens.neighborhood import Neighborhood

            return Neighborhood(explorer)
        case "tenants":
            from clusterscope.tui.screens.tenants import Tenants

            return Tenants(explorer)
        case "explain":
            from clusterscope.tui.screens.explain import Explain

            return Explain(explorer)
        case "inside":
            from clusterscope.tui.screens.inside import Inside

            return Inside(explorer)
        case "networks":
            from clusterscope.tui.screens.networks import Networks

            return Networks(explorer)
        case _:
            raise UnknownNameError("screen", name, NAMES)
