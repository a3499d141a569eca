"""One place for thresholds, signs and colors; levels can be told apart by anyone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from clusterscope.views import heat
from clusterscope.views.levels import changes_of, level_of, levels_of, levels_of_grid
from clusterscope.views.shapes import Grid
from tests.colors import SIGHTS, distance, lab


def test_the_distance_of_colors_is_that_of_its_authors():
    # Sharma, Wu, Dalal (2005), pairs 1, 7, 14 and 25 of table 1.
    pairs = [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, -0.001, 2.49), (50, 0.0011, -2.49), 4.7461),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ]
    for one, other, expected in pairs:
        assert distance(one, other) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("name", [*heat.RAMPS, "diverging"])
def test_neighboring_levels_are_apart_for_every_kind_of_eye(name, sight):
    colors = heat.DIVERGING if name == "diverging" else heat.RAMPS[name].colors
    seen = [lab(color, sight) for color in colors]
    least = 7.5 if name == "mono" else 11.0
    assert min(distance(one, other) for one, other in pairwise(seen)) >= least
    death = lab(heat.DOWN_COLOR, sight)
    assert min(distance(color, death) for color in seen) >= 14.0


@pytest.mark.parametrize("name", heat.RAMPS)
def test_ramps_get_lighter_and_the_diverging_one_from_its_middle_to_both_ends(name):
    for colors in (heat.RAMPS[name].colors, heat.DIVERGING[5:], heat.DIVERGING[3::-1]):
        light = [lab(color)[0] for color in colors]
        assert light == sorted(light)


@pytest.mark.parametrize("sight", SIGHTS)
def test_cooler_and_hotter_are_apart_at_every_size(sight):
    for size in range(1, len(heat.CHANGES) + 1):
        cooler, hotter = (heat.DIVERGING[heat.UNCHANGED + way * size] for way in (-1, 1))
        assert distance(lab(cooler, sight), lab(hotter, sight)) >= 12.0


def test_levels_change_at_the_thresholds():
    values = np.array([0.0, 0.0999, 0.1, 0.949, 0.95, 1.0, np.nan, 0.5, np.nan])
    down = np.arange(9) >= 7
    expected = [0, heat.LITTLE, 1, 6, 7, 7, heat.NO_DATA, heat.PARTLY_DOWN + 3, heat.DOWN]
    assert levels_of(values, down).tolist() == expected
    assert "".join(map(heat.glyph, expected)) == " ,.*##?xX"


def test_changes_have_a_side_and_a_size():
    values = np.array([-1.0, -0.3, -0.15, -0.05, -0.01, -0.009, 0.0, 0.009, 0.01, 0.05, 0.15, 0.3])
    levels = changes_of(values, np.zeros(12, dtype=np.bool_)).tolist()
    assert "".join(map(heat.glyph, levels)) == "vv=-.   '+*^"
    dead = changes_of(np.array([np.nan, 0.2, np.nan]), np.array([True, True, False])).tolist()
    assert dead == [heat.DOWN, heat.PARTLY_CHANGED + heat.UNCHANGED + 3, heat.NO_DATA]
    assert "".join(map(heat.glyph, dead)) == "Xx?"
    assert level_of(-0.2, signed=True) == heat.CHANGE + 1


def test_every_code_has_a_sign():
    assert [heat.glyph(code) for code in range(heat.CODES)]
    with pytest.raises(IndexError):
        heat.glyph(heat.CODES)


def test_a_grid_says_which_kind_it_is():
    values = np.array([[0.5, -0.5]])
    down = np.zeros((1, 2), dtype=np.bool_)
    plain = Grid("g", np.abs(values), down, ("r",), ("a", "b"))
    signed = Grid("g", values, down, ("r",), ("a", "b"), signed=True)
    assert levels_of_grid(plain).tolist() == [[3, 3]]
    assert levels_of_grid(plain, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)).tolist() == [[5, 5]]
    assert levels_of_grid(signed).tolist() == [[heat.CHANGE + 8, heat.CHANGE]]
    assert (plain.kind, signed.kind) == ("ratio", "delta")


def test_legends_name_every_sign():
    for sign in heat.GLYPHS.strip():
        assert f"{sign} ≥" in heat.legend()
    assert ". ' ≥0.01  - + ≥0.05  = * ≥0.15  v ^ ≥0.30" in heat.legend(signed=True)
    assert heat.spans_of()[:2] == ("0% to 10%", "10% to 25%")
    assert heat.spans_of()[-1] == "95% to more"
