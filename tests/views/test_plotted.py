"""A series as a chart: scales at round numbers, a sign a line, every point in its place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.views.plotted import plotted
from clusterscope.views.shapes import Series
from clusterscope.views.text import fmt


def series(**lines):
    sizes = 8.0 * 2.0 ** np.arange(len(next(iter(lines.values()))))
    y = {name: np.array(values, dtype=float) for name, values in lines.items()}
    return Series("by size", sizes, "size", y, "GB/s", kind="GBps")


def test_a_curve_has_scales_and_a_sign_a_line():
    chart = plotted(series(busbw=[0, 50, 100], algbw=[0, 25, 50]), 33, 7, "bytes")
    assert [a + b for a, b in zip(chart.scale, chart.rows, strict=True)] == [
        "100.0 GB/s ┤                  ***",
        "           │             *****   ",
        "           │        *****  oooooo",
        "           │   *****ooooooo      ",
        "    0 GB/s ┤***ooo               ",
    ]
    assert chart.below.split() == ["╵8", "B", "╵16", "B"]
    assert chart.legend == "* busbw  o algbw"


def test_nothing_known_is_an_empty_chart():
    chart = plotted(series(busbw=[np.nan, np.nan]), 30, 6, "bytes")
    assert "".join(chart.rows).strip() == ""
    assert chart.scale[-1].startswith("0 GB/s")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.integers(8, 200), st.integers(1, 40)
)
def test_a_chart_keeps_to_its_room(values, width, height):
    chart = plotted(series(a=values), width, height, "bytes")
    assert len(chart.rows) == len(chart.scale) == max(3, height - 2)
    assert len({len(row) for row in chart.rows}) == 1
    assert len(chart.scale[0]) + len(chart.rows[0]) <= max(width, len(chart.scale[0]) + 1)
    if max(values) > 1e-9:
        assert any("*" in row for row in chart.rows)


@pytest.mark.parametrize(
    ("value", "words"),
    [(5.22e-5, "52.2 KB/s"), (0.0032, "3.2 MB/s"), (0.9, "0.9 GB/s"), (371, "371.0 GB/s"),
     (0, "0 GB/s")],
)  # fmt: skip
def test_small_bandwidths_have_units_of_their_own(value, words):
    assert fmt(value, "GBps") == words


def test_a_point_without_neighbors_is_drawn_at_its_place():
    lone = [np.nan] * 31
    lone[20], lone[27] = 50.0, 90.0
    rows = plotted(series(busbw=[100.0] * 31, measured=lone), 105, 14, "bytes").rows
    marks = sorted(at for cells in rows for at, sign in enumerate(cells) if sign == "o")
    assert marks == [round(place * (len(rows[0]) - 1) / 30) for place in (20, 27)]
