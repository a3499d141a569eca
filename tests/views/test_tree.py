from __future__ import annotations

import math

import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.things import Thing
from clusterscope.views.tree import children, parent, root
from tests.small import scenario

THREE = {
    "scale_out__tiers": 3,
    "scale_out__su_nodes": 2,
    "scale_out__leaf_down": 2,
    "scale_out__leaf_up": 2,
    "scale_out__pod_sus": 2,
    "scale_out__spine_up": 4,
}
SHAPES = {
    "two tiers": {},
    "three tiers": THREE,
    "rack": {"scale_out__wiring": "rack", "scale_out__su_nodes": 2},
    "planes": {"scale_out__planes": 2, "node__nic_gbps": 200.0},
    "one domain": {"scale_out": None, "scale_up__domain_gpus": 16},
    "one tier": {
        "scale_out": {
            "tiers": 1,
            "wiring": "rail",
            "su_nodes": 8,
            "leaf_switch": "generic-8",
            "leaf_down": 8,
        }
    },
    "dragonfly": {
        "scale_out": None,
        "dragonfly": {
            "groups": 2,
            "switches": 2,
            "nic_ports": 4,
            "global_links": 2,
            "switch": "generic-8",
        },
    },
    "wide domains": {"scale_up__domain_gpus": 8},
    "no scale-up": {"scale_up": None},
}


def grown(**changes):
    built = scenario(**changes)
    return built, Timeline(built).at(0)


def walk(built, frame, thing, depth=0):
    assert depth < 8
    for row in children(built, frame, thing):
        yield thing, row
        if row.children:
            yield from walk(built, frame, row.thing, depth + 1)


@pytest.mark.parametrize("changes", SHAPES.values(), ids=SHAPES)
def test_the_tree_holds_every_device_and_every_row_can_be_found_by_name(changes):
    built, frame = grown(**changes)
    rows = list(walk(built, frame, Thing("cluster")))
    things = {row.thing for _, row in rows}
    for kind, count in (
        ("switch", built.fabric.switches),
        ("node", built.fabric.nodes),
        ("gpu", built.fabric.gpus),
        ("nic", built.fabric.ports),
    ):
        assert {t.index for t in things if t.kind == kind} == set(range(count))
    for above, row in rows:
        assert built.names.find(built.names.thing(row.thing)) == row.thing
        assert row.label
        assert row.children == bool(children(built, frame, row.thing))
        if row.thing.kind != "node":
            assert parent(built, row.thing) == above


@pytest.mark.parametrize("changes", SHAPES.values(), ids=SHAPES)
def test_the_way_out_ends_at_the_cluster(changes):
    built, _ = grown(**changes)
    fabric = built.fabric
    starts = [Thing("gpu", fabric.gpus - 1), Thing("link", fabric.links - 1), Thing("node", 0)]
    for thing in starts:
        steps = 0
        while thing.kind != "cluster":
            thing = parent(built, thing)
            steps += 1
            assert steps < 8
    assert parent(built, Thing("cluster")) is None


def test_two_tiers_read_as_on_paper():
    built, frame = grown()
    top = root(built, frame)
    assert (top.label, top.detail, top.down, top.children) == ("small", "16 GPUs", 0, True)
    rows = children(built, frame, top.thing)
    assert [row.label for row in rows] == ["spines", "leaf0", "leaf1", "leaf2", "leaf3"]
    # Leaf 1 is rail 1 of the first SU: nodes 0 to 3.
    assert [row.label for row in children(built, frame, Thing("switch", 1))] == [
        "node0",
        "node1",
        "node2",
        "node3",
    ]
    inside = children(built, frame, Thing("node", 2))
    assert [row.label for row in inside] == ["nic0", "nic1", "gpu0", "gpu1"]
    assert [row.thing.index for row in inside] == [4, 5, 4, 5]


def test_rows_show_the_worst_link_and_what_is_dead():
    built, _ = grown()
    event = Event.named(built.names, "fail", "leaf1", step=0)
    frame = Timeline(built, [event]).at(0)
    rows = {row.label: row for row in children(built, frame, Thing("cluster"))}
    assert rows["leaf1"].down == 8
    assert math.isnan(rows["leaf1"].worst)
    assert rows["spines"].down == 4
    assert root(built, frame).down == 8
    assert root(built, frame).worst == pytest.approx(
        max(row.worst for row in children(built, frame, Thing("node", 0)) if row.worst >= 0)
    )
