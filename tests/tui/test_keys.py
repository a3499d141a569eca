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
    VALIDATION,
    WAYS,
    bindings,
    contexts,
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
from clusterscope.tui.screens.validation import Validation
from clusterscope.tui.settings import Settings
from clusterscope.tui.widgets.grid import HeatMap
from clusterscope.tui.widgets.rows import RowsView

# Keys of these are to be in sight in every explorer.
MUST = ("side('explain')", "side('tenants')", "validation", "picker")
TABLES = [
    (EXPLORER, Explorer),
    (PICKER, Picker),
    (GLOSSARY, Glossary),
    (VALIDATION, Validation),
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


def words_of(action):
    """What the help page says: keys that differ in a number alone share a line."""
    number = action.id.partition("(")[2].rstrip(")")
    return action.help.replace(f" {number}", " N") if number.isdigit() else action.help


@pytest.mark.parametrize("here", ["", *help_screen.SCREENS])
def test_the_help_page_names_every_action_of_every_screen(here):
    words = {fact.value for fact in help_screen.note(here=here).facts}
    tables = (EXPLORER, MOVES, LINKS, FAILURES, COMPARE, NEIGHBORHOOD, GLOSSARY, PICKER)
    assert {words_of(action) for table in tables for action in table} <= words


def test_the_help_page_knows_every_screen():
    assert set(help_screen.SCREENS) == set(contexts()) - {"explorer", "overlay"}


@pytest.mark.parametrize("here", help_screen.SCREENS)
def test_the_help_page_begins_with_the_screen_that_asks(here):
    first, second, *rest = help_screen.note(here=here).facts
    assert first.label == f"— {here}"
    assert second.value == words_of(help_screen.SCREENS[here][0])
    assert sum(fact.label.startswith("— ") and here in fact.label for fact in rest) == 0


def test_the_help_page_has_every_group_once():
    labels = [fact.label for fact in help_screen.note().facts if fact.label.startswith("— ")]
    assert len(labels) == len(set(labels))
    assert "— failures" in labels


def test_keys_of_a_screen_that_come_from_settings_are_in_its_heading():
    settings = Settings(keys={"side('links')": ("f5",)})
    assert ("— links", "f5 opens it") in [
        (fact.label, fact.value) for fact in help_screen.note(settings).facts
    ]


@pytest.mark.parametrize("word", ["compare", "links", "failures", "neighborhood", "glossary"])
def test_the_palette_finds_a_screen_by_its_name(word):
    assert any(word in action.help for action in EXPLORER)


@pytest.mark.parametrize("screen", [Links, Failures, Compare, Neighborhood])
def test_a_side_screen_of_a_small_terminal_shows_its_own_keys_and_the_way_out(screen):
    by_id = {action.id: action for action in screen.ACTIONS}
    shown = [by_id[name] for name in screen.FOOTER]
    assert {"close", "help", "explorer('undo')"} <= set(screen.FOOTER)
    cells = sum(len(f"{a.shown_keys.split()[0]} {a.label}  ") for a in shown)
    assert cells <= 80
    assert all(action.label for action in shown)


def test_every_pane_has_a_number_and_a_short_name():
    assert len(PANES) == len(SHORT_PANES) == len(PANE_HINTS) == 6
    assert {f"pane({n})" for n in range(1, 7)} <= {action.id for action in EXPLORER}
    assert Stage.active is not None


def test_the_footer_names_actions_that_have_a_label():
    assert {*FOOTER, *WAYS} <= {action.id for action in EXPLORER if action.label}


@pytest.mark.parametrize(("width", "gap"), [(80, 1), (120, 2)])
def test_the_ways_to_the_other_screens_fit(width, gap):
    by_id = {action.id: action for action in EXPLORER}
    first = WAYS[: 1 + max(WAYS.index(name) for name in MUST)]
    shown = [by_id[name] for name in first]
    assert sum(len(f"{a.shown_keys.split()[0]} {a.label}") + gap for a in shown) < width
