"""Levels are told apart by color and glyph, on any terminal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color, ColorSystem

from clusterscope.tui.settings import Look
from clusterscope.tui.theme import (
    DOWN,
    GLYPHS,
    NO_DATA,
    PARTLY_DOWN,
    THRESHOLDS,
    _palette,
    glyph,
    palette,
)
from clusterscope.views import heat
from clusterscope.views.levels import level_of, levels_of
from tests.tui.apps import CannedApp, settle, text_of


@given(st.floats(0, 2))
def test_a_level_is_the_number_of_thresholds_reached(value):
    reached = sum(value >= edge for edge in THRESHOLDS)
    assert level_of(value) == (heat.LITTLE if reached == 0 and value > 0 else reached)
    assert glyph(level_of(min(value, 0.05))) == ("," if value > 0 else " ")


def test_death_is_shown_beside_the_load_of_what_lives():
    values = np.array([0.5, np.nan, 0.5, np.nan])
    down = np.array([False, False, True, True])
    assert levels_of(values, down).tolist() == [3, NO_DATA, PARTLY_DOWN + 3, DOWN]


def test_glyphs():
    assert "".join(glyph(level) for level in range(8)) == GLYPHS == " .:-=+*#"
    assert glyph(DOWN) == "X"
    assert glyph(NO_DATA) == "?"
    assert {glyph(level) for level in range(PARTLY_DOWN, PARTLY_DOWN + 8)} == {"x"}


@pytest.mark.parametrize("ramp", heat.RAMPS)
def test_a_terminal_of_256_colors_shows_every_ramp_as_it_is(ramp):
    styles = _palette("256", Look(ramp=ramp)).levels
    assert len(styles) == len(_palette("16").levels) == len(_palette("plain").levels) == heat.CODES
    moved = set()
    for style in styles:
        for color in (style.color, style.bgcolor):
            if color is not None:
                shown = color.downgrade(ColorSystem.EIGHT_BIT)
                if shown.get_truecolor() != color.get_truecolor():
                    moved.add(color.name)
    # Light greys become their neighbors, and stay in order.
    assert moved == ({"#afafaf", "#d7d7d7"} if ramp == "mono" else set())


def test_a_terminal_of_16_colors_shows_four_steps_that_are_not_the_color_of_death():
    ramp = [s.bgcolor.downgrade(ColorSystem.STANDARD).number for s in _palette("16").levels[:9]]
    assert len(set(ramp[:8])) == 4
    assert ramp[8] not in ramp[:8]


def test_a_terminal_of_16_colors_tells_cooler_from_hotter_and_both_from_death():
    levels = _palette("16").levels
    ramp = [s.bgcolor.downgrade(ColorSystem.STANDARD).number for s in levels[heat.CHANGE :][:9]]
    cooler, middle, hotter = set(ramp[:4]), {ramp[4]}, set(ramp[5:])
    death = {levels[DOWN].bgcolor.downgrade(ColorSystem.STANDARD).number}
    assert len(cooler | middle | hotter | death) == 2 + 1 + 2 + 1


def test_signs_can_only_be_hidden_where_colors_tell_all():
    look = Look(glyphs=False)
    assert _palette("256", look).sign(7) == " "
    assert _palette("256", look).sign(DOWN) == "X"
    assert _palette("16", look).sign(7) == _palette("plain", look).sign(7) == "#"


@pytest.mark.parametrize("kind", ["256", "16"])
def test_the_ramp_gets_lighter(kind):
    def lightness(color: Color) -> float:
        red, green, blue = color.get_truecolor()
        return 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2

    ramp = [lightness(style.bgcolor) for style in _palette(kind).levels[:8]]
    assert ramp == sorted(ramp)


async def test_no_color_sends_no_color_at_all(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    app = CannedApp()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        assert palette(app) is _palette("plain")
        for strip in app.screen._compositor.render_strips():
            for _, style, _ in strip:
                colors = (style.color, style.bgcolor) if style else ()
                assert all(color.is_default for color in colors if color)
        assert "####" in text_of(app)


async def test_a_terminal_of_16_colors_gets_the_ramp_of_16(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    app = CannedApp()
    async with app.run_test() as pilot:
        await settle(pilot)
        assert palette(app) is _palette("16")


async def test_the_theme_is_ours_whatever_textual_is_told(monkeypatch):
    app = CannedApp()
    async with app.run_test() as pilot:
        await settle(pilot)
        assert app.theme == "clusterscope"
        assert app.animation_level == "none"
