"""Views of two frames: what has changed, by hand on loads that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.export import csv
from clusterscope.fabric.things import Thing
from clusterscope.views import diff, tree
from clusterscope.views.measure import extremes, larger, since
from clusterscope.views.text import fmt
from tests import small
from tests.canned import with_loads


@pytest.fixture(scope="module")
def pair():
    """The small cluster at 50 % everywhere, and with leaf0:u0 dead and leaf0:u1 at 80 %."""
    built = small.scenario()
    timeline = Timeline(built)
    whole = timeline.at(0)
    timeline.inject(Event.named(built.names, "fail", "leaf0:u0", step=1))
    broken = timeline.at(1)
    then = with_loads(whole, 0.5 * whole.network.link_gbps)
    loads = 0.5 * broken.network.link_gbps
    up = 2 * built.names.find("leaf0:u1").index
    loads[up] = 0.8 * broken.network.link_gbps[up]
    down = 2 * built.names.find("leaf1:u0").index
    loads[down] = 0.2 * broken.network.link_gbps[down]
    return built, with_loads(broken, loads), then


def cell(grid, name):
    return float(grid.values[grid.where(name)])


def test_the_map_shows_the_largest_change_of_a_cell_with_its_sign(pair):
    built, now, then = pair
    grid = diff.utilization(built, now, then, built.names.find("leaf0"))
    assert grid.signed
    assert cell(grid, "leaf0:u1>") == pytest.approx(0.3)
    assert cell(grid, "leaf0:u1<") == pytest.approx(0.0)
    assert math.isnan(cell(grid, "leaf0:u0>"))
    assert grid.down[grid.where("leaf0:u0>")]
    whole = diff.utilization(built, now, then)
    assert cell(whole, "leaf0") == pytest.approx(0.3)
    assert whole.down[whole.where("leaf0")]
    assert whole.keys(*whole.where("leaf0")) == "leaf0"
    assert cell(whole, "leaf1") == pytest.approx(-0.3)
    assert "step 0" in whole.title
    assert "most changed" in whole.note


def test_links_that_rose_and_fell_come_largest_first_the_dead_among_them(pair):
    built, now, then = pair
    table = diff.links(built, now, then)
    rows = [[column[row] for column in table.columns[:4]] for row in range(table.rows)]
    assert [row[0] for row in rows] == ["leaf0:u0>", "leaf0:u0<", "leaf0:u1>", "leaf1:u0>"]
    assert [round(float(row[1]), 6) for row in rows] == [-0.5, -0.5, 0.3, -0.3]
    assert math.isnan(rows[0][2])
    assert [float(row[3]) for row in rows] == [0.5] * 4
    assert table.key(2) == "leaf0:u1>"


def test_nothing_moves_between_a_frame_and_itself(pair):
    built, now, _ = pair
    assert diff.links(built, now, now).rows == 0
    assert not np.nanmax(np.abs(diff.utilization(built, now, now).values))
    assert diff.headline(built, now, now) == ("0.0 %", False)
    note = diff.inspector(built, now, now, Thing("cluster"))
    assert note.lines[0] == "nothing about it has changed since step 1."


def test_a_row_of_the_topology_tells_the_change_of_its_worst_link(pair):
    built, now, then = pair
    for name, change in (("leaf0", 0.3), ("leaf2", 0.0)):
        thing = built.names.find(name)
        row = diff.tree_row(tree.row_of(built, now, thing), tree.row_of(built, then, thing))
        assert row.worst == pytest.approx(change)


def test_the_inspector_tells_now_and_then(pair):
    built, now, then = pair
    note = diff.inspector(built, now, then, built.names.find("leaf0:u1>"))
    facts = {fact.label: fact.value for fact in note.facts}
    assert facts["worst now"] == ".80, was .50 (+.30)"
    assert facts["load up"] == "80 Gb/s, was 50 Gb/s (+60.0 %)"
    assert facts["kind"] == "leaf-spine link"
    dead = diff.inspector(built, now, then, built.names.find("leaf0:u0"))
    assert {f.label: f.value for f in dead.facts}["dead cables"] == "1, was 0"


def test_jobs_and_phases_tell_the_change_in_percent():
    built = small.scenario(jobs=small.job("all-to-all"))
    timeline = Timeline(built)
    then = timeline.at(0)
    timeline.inject(Event.named(built.names, "fail", "spine0", step=1))
    now = timeline.at(1)
    jobs = diff.jobs(built, now, then)
    columns = {column.name: column[0] for column in jobs.columns}
    assert columns["busbw ±"] == pytest.approx(columns["busbw now"] / columns["was"] - 1)
    assert columns["busbw ±"] < -0.2
    assert columns["iteration ±"] > 0.2
    words, worse = diff.headline(built, now, then)
    assert words == fmt(columns["busbw ±"], "change")
    assert worse
    phases = diff.phases(built, now, then)
    assert phases.rows == len(built.program[0].phases)
    assert max(phases.columns[2].values) > 0.2


def test_a_signed_grid_is_written_as_changes(pair):
    built, now, then = pair
    text = csv.write(diff.utilization(built, now, then, built.names.find("leaf0")))
    lines = text.splitlines()
    assert lines[0] == "row,column,change,down"
    assert lines[1 + 8] == "to above,0,,true"
    assert lines[1 + 9].startswith("to above,1,0.3")


@pytest.mark.parametrize(
    ("now", "then", "share"),
    [(110, 100, 0.1), (0, 100, -1.0), (100, 100, 0.0), (math.inf, 1, math.inf), (0, 0, 0.0)],
)
def test_growth(now, then, share):
    assert diff.grown(now, then) == pytest.approx(share)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (0.123, "delta", "+.12"), (-0.05, "delta", "−.05"), (-0.001, "delta", "0"),
        (1.0, "delta", "+1.00"), (0.034, "change", "+3.4 %"), (-0.004, "change", "−0.4 %"),
        (-1e-9, "change", "0.0 %"), (math.nan, "delta", "–"), (math.inf, "change", "∞"),
    ],
)  # fmt: skip
def test_changes_in_words(value, kind, text):
    assert fmt(value, kind) == text


def test_what_was_dead_carried_nothing_and_what_is_dead_is_not_known():
    now, then = np.array([0.4, np.nan, np.nan]), np.array([np.nan, 0.4, np.nan])
    assert since(now, then).tolist()[0] == 0.4
    assert np.isnan(since(now, then)).tolist() == [False, True, True]


numbers = st.one_of(st.floats(-1, 1), st.just(math.nan))


@given(arrays(np.float64, 12, elements=numbers), arrays(np.int32, 12, elements=st.integers(0, 4)))
def test_a_cell_shows_its_value_of_largest_size_the_hotter_of_equals(values, cells):
    def best(own):
        return max(own, key=lambda v: (abs(v), v)) if own else math.nan

    expected = [
        best([v for v, c in zip(values, cells, strict=True) if c == k and not math.isnan(v)])
        for k in range(5)
    ]
    assert np.array_equal(extremes(values, cells, 5), expected, equal_nan=True)


@given(arrays(np.float64, 6, elements=numbers), arrays(np.float64, 6, elements=numbers))
def test_the_larger_of_two_changes(one, other):
    for a, b, got in zip(one, other, larger(one, other), strict=True):
        known = [v for v in (a, b) if not math.isnan(v)]
        want = max(known, key=lambda v: (abs(v), v)) if known else math.nan
        assert got == want or (math.isnan(got) and math.isnan(want))
