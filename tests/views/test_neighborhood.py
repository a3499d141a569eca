"""Neighborhoods: who is above, below and beside each kind of thing, and what the cables carry."""

from __future__ import annotations

import math

import pytest

from clusterscope.engine.events import Event
from clusterscope.fabric.things import Thing
from clusterscope.views.neighborhood import Tie, center_of, hood, look, summary, words
from tests.canned import CannedTimeline
from tests.small import scenario

THREE = {
    "scale_out__tiers": 3,
    "scale_out__su_nodes": 2,
    "scale_out__leaf_down": 2,
    "scale_out__leaf_up": 2,
    "scale_out__pod_sus": 2,
    "scale_out__spine_up": 4,
}
SMALL = scenario()


def around(name, cluster=SMALL, **more):
    """Names above, beside and below, each with its number of cables."""
    made = hood(cluster, cluster.names.find(name), **more)
    return tuple(
        [f"{cluster.names.thing(tie.thing)} {len(tie.cables)}" for tie in ties]
        for ties in (made.above, made.side, made.below)
    )


@pytest.mark.parametrize(
    ("name", "above", "side", "below"),
    [
        ("leaf1", ["spine0 2", "spine1 2"], [], [f"node{n} 1" for n in range(4)]),
        ("spine1", [], [], [f"leaf{n} 2" for n in range(4)]),
        (
            "node5",
            ["leaf2 1", "leaf3 1"],
            ["domain5 2"],
            ["node5/nic0 0", "node5/nic1 0", "node5/gpu0 0", "node5/gpu1 0"],
        ),
        ("node5/nic1", ["leaf3 1"], [], ["node5 0", "node5/gpu1 0"]),
        ("node5/gpu0", ["node5/nic0 0"], ["domain5 1"], ["node5 0"]),
        ("domain5", [], [], ["node5/gpu0 1", "node5/gpu1 1"]),
        ("spines", ["cluster 0"], [], ["spine0 0", "spine1 0"]),
    ],
)
def test_everything_has_its_neighbors_where_they_belong(name, above, side, below):
    assert around(name) == (above, side, below)


def test_cable_by_cable_a_trunk_is_as_many_neighbors_and_nodes_are_nic_ports():
    above, _, below = around("leaf1", trunks=False)
    assert above == ["spine0 1", "spine0 1", "spine1 1", "spine1 1"]
    assert below == [f"node{n}/nic1 1" for n in range(4)]


def test_a_spine_of_three_tiers_is_between_cores_and_leaves():
    above, side, below = around("pod1/spine0", scenario(**THREE))
    assert {name.rstrip("0123456789 ") for name in above} == {"core"}
    assert side == []
    assert all(name.startswith("pod1/leaf") for name in below)


def test_every_neighbor_that_is_cabled_has_the_center_as_neighbor():
    cluster = scenario(**THREE)
    things = [Thing("switch", s) for s in range(cluster.fabric.switches)]
    for thing in things:
        made = hood(cluster, thing)
        for tie in (*made.above, *made.below):
            back = hood(cluster, tie.thing)
            found = [t for t in (*back.above, *back.below) if t.thing == thing]
            assert [t.cables for t in found] == [tie.cables]


def test_a_domain_of_many_nodes_has_the_nodes_below():
    rack = scenario(scale_out=None, scale_up__domain_gpus=16, jobs=[])
    assert around("domain0", rack) == ([], [], [f"node{n} 2" for n in range(8)])
    assert len(around("domain0", rack, trunks=False)[2]) == 16
    assert around("node1", rack) == ([], ["domain0 2"], ["node1/gpu0 0", "node1/gpu1 0"])


def test_a_cable_is_shown_from_its_lower_end():
    names = SMALL.names
    for name in ("leaf1:u1", "leaf1:u1<"):
        assert center_of(SMALL, names.find(name)) == (names.find("leaf1"), names.find("spine1"))
    assert center_of(SMALL, names.find("leaf1")) == (names.find("leaf1"), None)


def hurt(*things):
    timeline = CannedTimeline(SMALL)
    for thing in things:
        timeline.inject(Event.named(SMALL.names, "fail", thing, step=0))
    return timeline.at(0)


def tie_to(center, neighbor, **more):
    made = hood(SMALL, SMALL.names.find(center), **more)
    thing = SMALL.names.find(neighbor)
    return next(tie for tie in (*made.above, *made.side, *made.below) if tie.thing == thing)


def test_a_look_has_the_worst_cable_of_a_trunk_and_counts_the_dead():
    tie = tie_to("leaf2", "spine0")
    whole = look(SMALL, hurt(), tie)
    assert (whole.label, whole.up, whole.down, whole.dead, whole.failed) == (
        "spine0 ×2", 0.9, 0.9, 0, False,
    )  # fmt: skip
    part = look(SMALL, hurt("leaf2:u0"), tie)
    assert (part.up, part.dead, part.cables) == (0.9, 1, 2)
    gone = look(SMALL, hurt("spine0"), tie)
    assert math.isnan(gone.up)
    assert math.isnan(gone.down)
    assert (gone.dead, gone.failed) == (2, True)


def test_a_part_looks_as_its_own_links_do():
    seen = look(SMALL, hurt(), tie_to("node3", "node3/gpu1"))
    assert (seen.label, seen.up, seen.cables) == ("node3/gpu1", 0.15, 0)
    assert math.isnan(seen.down)


def test_words_name_the_cables_and_what_they_carry_together():
    leaf = SMALL.names.find("leaf2")
    tie = tie_to("leaf2", "spine0")
    assert words(SMALL, hurt(), tie, leaf) == (
        "spine0 by leaf2:u0, u2: ↑ 180.0 ↓ 180.0 of 200.0 Gb/s"
    )
    assert words(SMALL, hurt("leaf2:u0"), tie, leaf) == (
        "spine0 by leaf2:u0, u2, 1 of 2 dead: ↑ 90 ↓ 90 of 100.0 Gb/s"
    )
    assert words(SMALL, hurt("spine0"), tie, leaf) == "spine0 by leaf2:u0, u2: dead"
    many = Tie(tie.thing, (16, 17, 18, 19, 20, 21))
    assert words(SMALL, hurt(), many, leaf).startswith("spine0 by leaf0:u0, u1, u2, u3 and 2 more:")
    node = SMALL.names.find("node3")
    assert words(SMALL, hurt(), tie_to("node3", "node3/nic0"), node) == (
        "node3/nic0, NIC port in node3"
    )


def test_a_summary_counts_neighbors_and_cables():
    made = hood(SMALL, SMALL.names.find("node3"))
    assert summary(SMALL, made.above) == "2 leaves, 2 cables"
    assert summary(SMALL, made.below) == "2 NIC ports, 2 GPUs"
    assert summary(SMALL, made.side) == "1 domain, 2 cables"
    assert summary(SMALL, ()) == ""
