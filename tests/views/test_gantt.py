"""An iteration as lanes: every row keeps its place and a cell at least."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.metrics.training import Span
from clusterscope.views import gantt

SPANS = (
    Span("first", "compute", "", 0.0, 0.2),
    Span("first: dp", "hidden", "scale-out", 0.0, 0.2),
    Span("first: dp", "communication", "scale-out", 0.2, 0.4),
    Span("steady", "compute", "", 0.4, 0.8),
    Span("steady: tp", "communication", "scale-up", 0.8, 0.9),
    Span("steady", "bubble", "", 0.9, 1.0),
)


def test_a_chart_has_a_lane_a_kind_and_network():
    assert gantt.text(SPANS, 33) == [
        "             ╵0",
        "computing    ████    ████████  ··",
        "dp scale-out ────××××",
        "tp scale-up                  ××",
        "             █ computing  × exposed: waited for  ─ hidden: nobody waits for it  "
        "· bubble: stage idles",
    ]


def test_a_collective_has_a_lane_a_phase_and_no_word_for_computing():
    spans = (
        Span("reduce-scatter", "communication", "scale-up", 0.0, 0.5),
        Span("all-gather", "communication", "scale-up", 0.5, 1.0),
    )
    lanes = gantt.chart(spans, 35).lanes
    assert [lane.label for lane in lanes] == ["reduce-scatter", "all-gather"]
    assert lanes[0].text == "×" * 10 + " " * 10


def test_a_window_shows_a_part_of_it():
    whole = gantt.chart(SPANS, 33, (0.8, 1.0))
    assert [lane.text.strip() for lane in whole.lanes] == ["··········", "", "××××××××××"]


def test_the_axis_has_round_numbers_that_do_not_touch():
    assert gantt.axis(60, 0.0, 2.0).split() == ["╵0", "╵500", "ms", "╵1", "s", "╵1.5", "s"]
    assert gantt.axis(30, 1.93, 1.96).split()[0] == "╵1.94"


def test_nothing_that_can_be_finished_says_so():
    assert gantt.text((), 80) == ["nothing of it can be finished"]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 10), st.floats(1e-9, 10), st.sampled_from(list(gantt.SIGNS))),
        min_size=1,
        max_size=12,
    ),
    st.integers(20, 200),
)
def test_no_row_disappears_and_no_lane_is_longer_than_the_chart(rows, width):
    spans = [
        Span(f"p{i}: k{i}", kind, "", at, at + long) for i, (at, long, kind) in enumerate(rows)
    ]
    drawn = gantt.chart(spans, width)
    for lane in drawn.lanes:
        assert len(lane.text) + drawn.label + 1 == max(width, drawn.label + 2)
        assert lane.text.strip()
    assert len(drawn.axis) == len(drawn.lanes[0].text)
    kinds = {kind for lane in drawn.lanes for kind, _ in lane.runs if kind}
    assert kinds <= {span.kind for span in spans}


def test_what_is_waited_for_wins_a_cell():
    spans = (
        Span("p", "compute", "", 0.0, 1.0),
        Span("p: dp", "hidden", "scale-out", 0.0, 1.0),
        Span("p: dp", "communication", "scale-out", 0.999, 1.0),
    )
    assert gantt.chart(spans, 23).lanes[1].text == pytest.approx("─" * 9 + "×")
