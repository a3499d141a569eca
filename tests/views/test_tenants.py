"""Tenants and explanations as tables, maps and sentences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.things import Thing
from clusterscope.metrics.tenants import tenants
from clusterscope.views.explain import best_words
from clusterscope.views.slots import COLORS, SIXTEEN, letter, place, slot
from clusterscope.views.tenants import (
    factor,
    isolated,
    job_map,
    lost,
    placed,
    sentences,
    tenant_map,
    tenant_table,
)
from tests import small
from tests.colors import SIGHTS, distance, lab

GB = 1_000_000_000


def shared(transport="spectrum-x", **more):
    """Two permutations on the same GPUs, and a third job that nobody meets."""
    rows = [("llama", 8, 0, "packed"), ("moe", 8, 0, "packed"), ("vision", 4, 12, "packed")]
    jobs = [
        {"name": n, "collective": "permutation", "ranks": r, "first_gpu": f, "placement": p,
         "message_bytes": GB}
        for n, r, f, p in rows
    ]  # fmt: skip
    return small.scenario(jobs=jobs, transport={"name": transport}, **more)


def column(table, name):
    return next(c for c in table.columns if c.name == name)


def test_the_table_has_a_letter_a_row_and_a_factor_a_job():
    built = shared()
    table = tenant_table(built, Timeline(built).at(0))
    names = [c.name for c in table.columns]
    assert names == [
        "", "job", "alone", "A", "B", "C", "all", "now", "worst", "meets it on", "ranks", "placed",
    ]  # fmt: skip
    assert list(column(table, "").values) == ["A", "B", "C"]
    assert column(table, "B")[0] == pytest.approx(2.0, rel=1e-2)
    assert [column(table, "worst")[row] for row in range(3)] == ["B", "A", ""]
    assert table.key(0) == column(table, "meets it on")[0] != ""
    assert table.key(2) == ""
    assert column(table, "placed")[2] == "packed, 2 nodes"
    assert placed(built, 0) == "packed, 4 nodes"


def test_the_map_has_the_share_of_speed_that_is_lost():
    built = shared()
    grid = tenant_map(built, Timeline(built).at(0))
    assert grid.row_labels == ("A llama", "B moe", "C vision")
    assert grid.column_labels == ("A", "B", "C", "all")
    assert grid.values[0, 1] == pytest.approx(0.5, rel=1e-2)
    assert grid.values[2].tolist() == [0, 0, 0, 0]
    assert grid.keys(0, 1) == grid.keys(0, 3) != ""
    assert grid.keys(2, 3) == ""


def test_lost_speed_from_a_factor():
    got = lost(np.array([1.0, 2.0, 4.0, math.inf, math.nan]))
    assert got[:4].tolist() == [0.0, 0.5, 0.75, 1.0]
    assert math.isnan(got[4])


def test_the_links_of_a_job_are_those_of_no_other():
    built = shared()
    frame = Timeline(built).at(0)
    vision = job_map(built, frame, 2, Thing("cluster"))
    llama = job_map(built, frame, 0, Thing("cluster"))
    assert vision.title == "links of C vision" or "utilization" in vision.title
    node = job_map(built, frame, 2, Thing("node", 0))
    assert np.nanmax(node.values) == 0.0
    assert np.nanmax(llama.values) > 0.5


def test_sentences_say_who_where_and_how_much():
    built = shared()
    lines = sentences(built, tenants(built.healthy))
    assert lines[0].startswith("B moe slows A llama most: 2.00 times as long while both send, on ")
    assert "With all of them at once" in lines[1]
    assert lines[2] == "Undisturbed: C vision."
    one = small.scenario()
    assert "AI factory" in sentences(one, tenants(one.healthy))[0]
    none = small.scenario(jobs=[])
    assert sentences(none, tenants(none.healthy)) == ("No job runs here.",)
    apart = [
        {"name": n, "collective": "all-reduce", "ranks": 8, "first_gpu": f, "message_bytes": GB}
        for n, f in (("a", 0), ("b", 8))
    ]
    calm = small.scenario(jobs=apart)
    assert "No job slows another" in sentences(calm, tenants(calm.healthy))[0]


def test_isolation_is_turned_over_and_told():
    jobs = [
        {"name": "burst", "collective": "incast", "ranks": 6, "message_bytes": GB},
        {"name": "victim", "collective": "permutation", "ranks": 10, "first_gpu": 6,
         "message_bytes": GB},
    ]  # fmt: skip
    built = small.scenario(jobs=jobs, transport={"name": "rocev2"}, scale_out__leaf_up=2)
    found = tenants(built.healthy)
    other = isolated(built.healthy, lambda *_: None)
    assert other is not None
    assert (other.together_s <= found.together_s * (1 + 1e-9)).all()
    assert "erformance isolation" in sentences(built, found, other)[-1]
    alone = small.scenario()
    assert isolated(alone.healthy, lambda *_: None) is None


def test_factors_in_words():
    assert factor(1.0) == "as long as alone"
    assert factor(1.8) == "1.80 times as long"
    assert factor(math.inf) == "forever"


def test_letters_and_colors_come_round():
    assert [letter(job) for job in (0, 25, 26, 52)] == ["A", "Z", "AA", "AAA"]
    assert [place(letter(job)) for job in range(60)] == list(range(60))
    assert place("") == place("?") == -1
    assert slot(8) == 0
    assert len(set(COLORS)) == len(COLORS) == len(SIXTEEN) == len(set(SIXTEEN))


def test_colors_of_jobs_stay_apart_under_every_dichromacy():
    for sight in SIGHTS:
        own = [lab(color, sight) for color in COLORS]
        close = min(distance(a, b) for i, a in enumerate(own) for b in own[:i])
        assert close > 16, sight


def test_nothing_that_helps_is_no_sentence():
    assert best_words(()) == ""


def test_a_dead_node_leaves_no_factor():
    built = shared()
    fail = Event.named(built.names, "fail", "node0", step=0)
    table = tenant_table(built, Timeline(built, [fail]).at(0))
    assert math.isnan(column(table, "B")[0])
    assert column(table, "C")[2] == 1.0


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_jobs_that_all_stand_still_are_told_as_that():
    built = small.scenario(
        jobs=[*small.job("incast", name="a"), *small.job("all-reduce", name="b")],
        transport={"name": "rocev2"},
    )
    cables = [built.names.cable(cable) for cable in range(built.fabric.cables)]
    network = Timeline(built, [Event.named(built.names, "fail", c, step=0) for c in cables])
    found = tenants(network.at(0).network)
    other = isolated(network.at(0).network, lambda *_: None)
    assert sentences(built, found, other) == ("No job moves, not even alone.",)
