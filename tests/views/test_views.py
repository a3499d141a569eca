from __future__ import annotations

import gc
import math
import weakref
from functools import cache, lru_cache

import numpy as np
import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import UnknownNameError
from clusterscope.fabric.things import Thing
from clusterscope.spec.presets import load
from clusterscope.views.catalog import VIEWS, view
from clusterscope.views.series import busbw_series, utilization_series
from clusterscope.views.shapes import Grid, Note, Series, Table
from clusterscope.views.text import fmt
from tests.shipped import shipped
from tests.small import job, scenario

STATES = ("healthy", "broken", "idle", "three tiers", "one tier", "planes", "one GPU")
MARKS = ("", "source", "estimate", "doubt", "derived", "set")
# The largest preset is looked at once; more would cost seconds.
LARGE = 50_000


@lru_cache(maxsize=2)
def preset(name):
    built = build(load(name))
    return built, Timeline(built).at(1)


@cache
def small(state):
    if state == "three tiers":
        built = scenario(
            scale_out__tiers=3,
            scale_out__su_nodes=2,
            scale_out__leaf_down=2,
            scale_out__leaf_up=2,
            scale_out__pod_sus=2,
            scale_out__spine_up=4,
        )
    elif state == "planes":
        built = scenario(scale_out__planes=2, node__nic_gbps=200.0)
    elif state == "one GPU":
        node = {"count": 1, "gpus": 1, "gpu": "H100-SXM", "nics": 0, "nic_gbps": 100.0}
        built = scenario(node=node, scale_up=None, scale_out=None, jobs=[])
    elif state == "one tier":
        built = scenario(
            scale_out={
                "tiers": 1,
                "wiring": "rail",
                "su_nodes": 8,
                "leaf_switch": "generic-8",
                "leaf_down": 8,
            }
        )
    else:
        built = scenario(jobs=[] if state == "idle" else job("all-to-all"))
    failed = ["leaf1", "leaf0:u0", "node3", "node5/gpu1"] if state == "broken" else []
    log = [Event.named(built.names, "fail", name, step=0) for name in failed]
    return built, Timeline(built, log).at(1)


def look(shape, built):
    """Read everything a shape says, as a pane or a file would."""
    if isinstance(shape, Table):
        for row in range(min(shape.rows, 50)):
            for column in shape.columns:
                assert fmt(column[row], column.kind).isprintable()
            if shape.key(row):
                built.names.find(shape.key(row))
    elif isinstance(shape, Grid):
        size = (len(shape.row_labels), len(shape.column_labels))
        assert shape.values.shape == shape.down.shape == size
        finite = shape.values[~np.isnan(shape.values)]
        assert ((finite >= 0) & (finite <= 1 + 1e-9)).all()
        for row in range(size[0]):
            for column in (0, size[1] - 1):
                key = shape.keys(row, column)
                assert not key or built.names.find(key)
    elif isinstance(shape, Note):
        for fact in shape.facts:
            assert fact.mark in MARKS
            assert fmt(fact.value, fact.kind).isprintable()
        assert all(line.isprintable() for line in shape.lines)
    else:
        assert isinstance(shape, Series)


def things(built):
    fabric = built.fabric
    found = [None, Thing("cluster"), Thing("node", fabric.nodes - 1), Thing("gpu", fabric.gpus - 1)]
    if fabric.links:
        found += [Thing("link", fabric.links - 1), Thing("cable", 0)]
    if fabric.domains:
        found += [Thing("domain", 0), Thing("domains")]
    if fabric.ports:
        found += [Thing("nic", 3), Thing("switch", 1), Thing("switch", fabric.switches - 1)]
        found += [Thing("pod", fabric.pods - 1)]
    if len(fabric.switches_of(2)):
        found += [Thing("spines", 0)]
    if len(fabric.switches_of(3)):
        found += [Thing("cores")]
    return found


@pytest.mark.parametrize("name", shipped())
def test_every_view_of_every_preset_can_be_read(name):
    built, frame = preset(name)
    for definition in VIEWS:
        selected = [None] if definition.files else things(built)
        if built.fabric.gpus > LARGE:
            selected = selected[:1]
        for thing in selected:
            look(definition.function(built, frame, thing), built)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("definition", VIEWS, ids=lambda v: v.name)
def test_every_view_of_every_state_and_selection_can_be_read(definition, state):
    built, frame = small(state)
    for thing in things(built):
        look(definition.function(built, frame, thing), built)


def test_views_are_found_by_name_with_a_hint():
    assert view("links").title == "hottest links"
    with pytest.raises(UnknownNameError, match="did you mean 'links'"):
        view("link")
    assert len({definition.name for definition in VIEWS}) == len(VIEWS)


def test_the_map_of_two_sus_has_a_column_an_su_and_a_row_a_leaf():
    built, frame = small("broken")
    grid = view("utilization").function(built, frame, None)
    assert grid.column_labels == ("su0", "su1")
    assert grid.row_labels == ("leaf 0", "leaf 1", "nic-leaf", "scale-up")
    # leaf 1 is dead; a cable of leaf 0 is; node 3 is; GPU 1 of node 5 is.
    assert grid.down.tolist() == [[True, False], [True, False], [True, False], [True, True]]
    assert math.isnan(grid.values[1, 0])
    assert grid.keys(1, 0) == "leaf1"
    assert grid.keys(3, 1) == "node5/gpu1"


def test_the_map_of_three_tiers_has_a_column_a_pod():
    built, frame = small("three tiers")
    grid = view("peaks").function(built, frame, None)
    assert grid.column_labels == ("pod0", "pod1")
    assert grid.row_labels[-3:] == ("spine-core", "nic-leaf", "scale-up")
    assert grid.keys(0, 1).startswith("pod1/leaf")
    assert grid.keys(len(grid.row_labels) - 3, 0).startswith("pod0/spine")


def test_focus_on_a_pod_is_its_leaves_by_its_spines():
    built, frame = small("broken")
    grid = view("focus").function(built, frame, Thing("pod", 0))
    assert grid.row_labels == ("leaf0", "leaf1", "leaf2", "leaf3")
    assert grid.column_labels == ("spine0", "spine1")
    assert grid.down.tolist() == [[True, False], [True, True], [False, False], [False, False]]
    assert grid.keys(0, 0) == "leaf0:u0"


def test_focus_on_a_switch_shows_its_ports_both_ways():
    built, frame = small("broken")
    grid = view("focus").function(built, frame, built.names.find("leaf0"))
    assert grid.row_labels == ("from below", "to below", "to above", "from above")
    assert grid.values.shape == (4, 4)
    assert grid.down[2].tolist() == [True, False, False, False]
    assert grid.keys(0, 3) == "node3/nic0:u0>"


def test_the_inspector_says_why():
    built, frame = small("broken")
    leaf = view("inspector").function(built, frame, built.names.find("leaf0"))
    assert leaf.title == "leaf0"
    assert leaf.lines[0] == "1 of 4 uplinks are down: 3 carry what 4 should."
    dead = view("inspector").function(built, frame, built.names.find("leaf1"))
    assert dead.lines == ("no link of it is live: leaf1 has failed.",)
    cable = view("inspector").function(built, frame, built.names.find("leaf0:u0"))
    assert cable.lines == ("it is dead: the cable itself has failed.",)
    gpu = view("inspector").function(built, frame, built.names.find("node2/gpu1"))
    facts = {fact.label: fact for fact in gpu.facts}
    assert facts["jobs"].value == "job rank 5"
    assert facts["NIC"].value == "node2/nic1"
    assert facts["power"].mark in ("source", "estimate")
    assert facts["power"].source


def test_names_from_files_are_printed_without_control_characters():
    built = scenario(name="evil\x1b[2J", jobs=[{**job("incast")[0], "name": "a\x07b"}])
    frame = Timeline(built).at(0)
    for definition in VIEWS:
        look(definition.function(built, frame, None), built)


def test_what_is_kept_for_a_frame_goes_with_it():
    built = scenario()
    frame = Timeline(built).at(0)
    for definition in VIEWS:
        for thing in things(built):
            definition.function(built, frame, thing)
    gone = [weakref.ref(frame), weakref.ref(frame.network), weakref.ref(built)]
    del built, frame
    gc.collect()
    assert [ref() for ref in gone] == [None, None, None]


def test_series_follow_the_timeline():
    built = scenario()
    timeline = Timeline(built, [Event.named(built.names, "fail", "leaf1", step=2)])
    levels = utilization_series(timeline, 3)
    assert levels.x.tolist() == [0, 1, 2, 3]
    assert set(levels.y) == {"nic-leaf", "leaf-spine", "scale-up"}
    speed = busbw_series(timeline, 3, first=1).y["job"]
    assert len(speed) == 3
    assert speed[0] > 0
    assert speed[1:].tolist() == [0.0, 0.0]
