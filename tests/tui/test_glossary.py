"""The glossary on the screen."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from clusterscope.tui.screens.cluster import Explorer
from clusterscope.tui.screens.glossary import Glossary
from tests.tui.apps import CannedApp, settle, text_of
from tests.tui.test_explorer import command, explorer, toasts


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_picture(snap_compare, size):
    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await pilot.press("i", "down", "down")
        await settle(pilot)

    assert snap_compare(CannedApp(), terminal_size=size, run_before=before)


async def test_related_words_are_a_digit_away_and_backspace_comes_back():
    async with explorer() as (app, screen, press, _):
        await press("i")
        assert isinstance(app.screen, Glossary)
        assert "adaptive routing" in text_of(app)
        await press("1")
        assert app.screen._term.name == "spray"
        assert app.screen.listing.key_of(app.screen.listing.cursor) == "spray"
        await press("9")
        assert app.screen._term.name == "spray"
        await press("backspace")
        assert app.screen._term.name == "adaptive routing"
        await press("escape")
        assert app.screen is screen


async def test_filter_and_escape():
    async with explorer() as (app, _, press, _):
        await press("i", "slash", *"pause", "enter")
        assert app.screen._term.name == "PFC"
        await press("escape")
        assert app.screen.listing.rows > 50
        assert app.screen._term.name == "PFC"


async def test_what_explains_a_word_and_names_the_nearest():
    async with explorer() as (app, _, press, _):
        await command(press, "what adaptive routing")
        assert app.screen._term.name == "adaptive routing"
        await press("escape")
        await command(press, "what busbww")
        assert isinstance(app.screen, Explorer)
        assert "did you mean 'busbw'" in toasts(app)
        await command(press, "what")
        assert isinstance(app.screen, Glossary)
