"""One table makes bindings, footer, help and palette."""

from __future__ import annotations

from collections import Counter

import pytest

from clusterscope.tui.keys import (
    COMPARE,
    EXPLORER,
    FAILURES,
    FOOTER,
    GLOSSARY,
    LINKS,
    MOVES,
    NEIGHBORHOOD,
    OVERLAY,
    PANE_HINTS,
    PANES,
    PICKER,
    SHORT_PANES,
    bindings,
)
from clusterscope.tui.panes.stage import Stage
from clusterscope.tui.screens import help as help_screen
from clusterscope.tui.screens.cluster import Explorer
from clusterscope.tui.screens.compare import Compare
from clusterscope.tui.screens.failures import Failures
from clusterscope.tui.screens.glossary import Glossary
from clusterscope.tui.screens.help import Help
from clusterscope.tui.screens.links import Links
from clusterscope.tui.screens.neighborhood import Neighborhood
from clusterscope.tui.screens.picker import Picker
from clusterscope.tui.widgets.grid import HeatMap
from clusterscope.tui.widgets.rows import RowsView

TABLES = [
    (EXPLORER, Explorer),
    (PICKER, Picker),
    (GLOSSARY, Glossary),
    (OVERLAY, Help),
    (FAILURES, Failures),
    (COMPARE, Compare),
    (LINKS, Links),
    (NEIGHBORHOOD, Neighborhood),
    (MOVES, RowsView),
]


@pytest.mark.parametrize(("table", "owner"), [*TABLES, (MOVES, HeatMap)])
def test_every_action_has_a_method(table, owner):
    for action in table:
        name = action.id.partition("(")[0]
        assert name.startswith("app.") or hasattr(owner, f"action_{name}"), action.id


@pytest.mark.parametrize("table", [table for table, _ in TABLES])
def test_no_key_does_two_things(table):
    keys = Counter(key for action in table for key in action.keys)
    assert max(keys.values()) == 1


def test_keys_of_the_explorer_and_of_its_widgets_do_not_meet():
    # A widget's binding would shadow the screen's.
    assert not {k for a in EXPLORER for k in a.keys} & {k for a in MOVES for k in a.keys}


@pytest.mark.parametrize("screen", [Links, Neighborhood])
def test_keys_of_a_side_screen_do_not_meet_each_other_or_those_of_its_widgets(screen):
    keys = Counter(key for action in (*screen.ACTIONS, *MOVES) for key in action.keys)
    assert max(keys.values()) == 1


def test_no_key_belongs_to_a_terminal_multiplexer():
    taken = {"ctrl+a", "ctrl+b", "ctrl+j", "ctrl+s"}
    assert not taken & {key for table, _ in TABLES for action in table for key in action.keys}


def test_bindings_are_made_of_the_table():
    made = {(b.key, b.action) for b in bindings(EXPLORER)}
    assert ("space", "run") in made
    assert ("ctrl+r", "redo") in made
    assert len(made) == sum(len(action.keys) for action in EXPLORER)


def test_the_help_page_names_every_action():
    page = help_screen.note()
    words = {fact.value for fact in page.facts}
    assert {action.help for action in (*EXPLORER, *MOVES)} <= words


def test_every_pane_has_a_number_and_a_short_name():
    assert len(PANES) == len(SHORT_PANES) == len(PANE_HINTS) == 6
    assert {f"pane({n})" for n in range(1, 7)} <= {action.id for action in EXPLORER}
    assert Stage.active is not None


def test_the_footer_names_actions_that_have_a_label():
    assert set(FOOTER) <= {action.id for action in EXPLORER if action.label}
