"""The palette: our actions and commands in our words."""

from __future__ import annotations

from contextlib import asynccontextmanager

from clusterscope.tui.keys import EXPLORER, LINKS, SIDE
from clusterscope.tui.screens.compare import Compare
from clusterscope.tui.screens.links import Links
from clusterscope.tui.screens.palette import Palette, listed
from clusterscope.tui.settings import Settings
from tests.tui.apps import CannedApp, driven, text_of


@asynccontextmanager
async def palette(settings=None):
    app = CannedApp(settings=settings)
    async with driven(app, (80, 24)) as (press, _):
        await press("ctrl+p")
        assert isinstance(app.screen, Palette)
        yield app, press


def rows(typed, actions=EXPLORER, *, commands=True):
    table = listed(actions, typed, commands=commands)
    return [
        (table.key(row), *(column[row] for column in table.columns)) for row in range(table.rows)
    ]


def test_every_action_is_there_once_screens_first_and_commands_last():
    ids = [row[0] for row in rows("")]
    assert set(ids) >= {action.id for action in EXPLORER} - {"app.command_palette"}
    assert len(ids) == len(set(ids))
    assert ids[0] == "side('links')"
    assert ids[-1] == ":quit"


def test_words_are_found_in_any_order_and_in_keys_and_groups():
    assert [row[0] for row in rows("forward step one")] == ["step(1)"]
    assert ("side('explain')", "W") in [row[:2] for row in rows("explain")]
    assert rows("no such thing") == []


def test_a_command_with_what_it_wants_runs_as_typed():
    assert rows("fail leaf2")[0][0] == ":fail leaf2"
    assert rows(":seek 4")[0][0] == ":seek 4"
    assert not any(row[0].startswith(":") for row in rows("fail", commands=False))


def test_a_side_screen_offers_its_own_actions_first():
    assert rows("", (*LINKS, *SIDE), commands=False)[0][0] == LINKS[0].id


async def test_it_shows_our_words_and_does_what_is_chosen():
    async with palette() as (app, press):
        assert "compare transports side by side" in text_of(app)
        for strange in ("Search for commands", "Screenshot", "Maximize", "theme"):
            assert strange not in text_of(app)
        await press(*"compare", "enter")
        assert isinstance(app.screen, Compare)


async def test_a_command_is_run_or_gone_on_with():
    async with palette() as (app, press):
        await press(*"fail leaf2", "enter")
        assert [event.text() for event in app.explorer.events] == ["fail leaf2"]
        await press("ctrl+p", *"seek", "enter", "3", "enter")
        assert app.explorer.frame.step == 3


async def test_escape_and_side_screens():
    async with palette(Settings(keys={"side('links')": ("f5",)})) as (app, press):
        assert "f5" in text_of(app)
        await press("escape")
        assert app.screen is app.explorer
        await press("f5", "ctrl+p", *"turn the order", "enter")
        assert isinstance(app.screen, Links)
