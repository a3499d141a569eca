"""A dragonfly in the tree, on maps, in neighborhoods, in words and in rules."""

from __future__ import annotations

import numpy as np
import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.fabric.things import Thing
from clusterscope.metrics.choices import choices
from clusterscope.metrics.crossing import flows_per_link
from clusterscope.metrics.faults import blast, settled
from clusterscope.metrics.links import worst
from clusterscope.metrics.report import report
from clusterscope.metrics.targets import parse
from clusterscope.spec import presets
from clusterscope.views import preview, zoom
from clusterscope.views.catalog import VIEWS
from clusterscope.views.inspector import inspector
from clusterscope.views.neighborhood import center_of, hood, look, summary
from clusterscope.views.summary import switch_words
from clusterscope.views.tree import children, parent, root
from clusterscope.views.zoom import utilization
from tests.dragonflies import spec

JOB = {"name": "job", "collective": "all-to-all", "message_bytes": 10**9}
# 3 groups of 4 switches with 2 NICs each: 2 cables between two groups, 1 between two switches.
FLY = build(spec((3, 4, 2, 2, 1), nics=2, jobs=[JOB]))
FRAME = Timeline(FLY).at(0)


def names(things):
    return [FLY.names.thing(thing) for thing in things]


def facts(note):
    return {fact.label: fact.value for fact in note.facts}


def test_the_tree_goes_from_groups_to_switches_to_nodes():
    top = children(FLY, FRAME, root(FLY, FRAME).thing)
    assert [(row.label, row.detail) for row in top] == [
        (f"group{g}", "4 switches") for g in range(3)
    ]
    inner = children(FLY, FRAME, top[1].thing)
    assert [(row.label, row.detail) for row in inner] == [
        (f"switch{s}", "2 NIC ports") for s in range(4)
    ]
    nodes = children(FLY, FRAME, inner[3].thing)
    assert [row.label for row in nodes] == ["node07"]
    assert names([parent(FLY, nodes[0].thing)]) == ["group1/switch3"]
    assert names([parent(FLY, inner[3].thing)]) == ["group1"]


def test_the_map_has_a_column_a_group_and_rows_to_groups():
    grid = utilization(FLY, FRAME)
    assert grid.column_labels == ("group0", "group1", "group2")
    assert grid.row_labels == ("to 0", "to 1", "to 2", "local", "nic-leaf")
    assert np.isnan(np.diag(grid.values[:3])).all()
    assert not np.isnan(grid.values[~np.eye(5, 3, dtype=bool)]).any()
    assert grid.keys(2, 1).startswith("group1/")
    assert grid.keys(2, 1).endswith(">")
    assert grid.keys(1, 2).startswith("group1/")
    assert grid.keys(1, 2).endswith("<")
    assert grid.where("group1/switch0:g0") == grid.where("group1/switch0:g0>") == (2, 1)
    assert grid.where("group1/switch0:g0<") == (1, 2)
    assert grid.where("node07")[0] == 4


def test_a_group_is_switches_by_switches_and_the_way_in_ends_at_ports():
    cable = FLY.names.find("group1/switch2:l0")
    way = zoom.way(FLY, zoom.place_of(FLY, cable))
    assert names(way) == ["cluster", "group1", "group1/switch2"]
    assert zoom.crumbs(FLY, way[-1]) == "▸ group1 ▸ switch2"
    grid = utilization(FLY, FRAME, way[1])
    assert grid.column_labels == ("switch0", "switch1", "switch2", "switch3", "global")
    assert (grid.keys(2, 3), grid.keys(3, 2)) == ("group1/switch2:l0>", "group1/switch2:l0<")
    assert grid.where("group1/switch2") is not None
    assert grid.where("node00") is None
    assert np.isnan(grid.values[1, 1])
    ports = utilization(FLY, FRAME, way[2])
    assert ports.row_labels == (
        "from NICs", "to NICs", "local out", "local in", "global out", "global in",
    )  # fmt: skip
    assert ports.keys(2, 0) == "group1/switch0:l1<"  # from switch 2 to switch 0
    assert ports.keys(2, 2) == "group1/switch2:l0>"


def test_neighbors_are_nodes_below_and_switches_above_in_the_right_direction():
    made = hood(FLY, FLY.names.find("group1/switch2"))
    above = names(tie.thing for tie in made.above)
    assert above[:1] == ["group0/switch0"] or above[0].startswith("group0/")
    assert {"group1/switch0", "group1/switch1", "group1/switch3"} <= set(above)
    assert names(tie.thing for tie in made.below) == ["node06/nic0", "node06/nic1"]
    assert summary(FLY, made.above) == f"{len(above)} switches, {len(above)} cables"
    for tie in made.above:
        link = 2 * tie.cables[0] + tie.turned
        ends = (FLY.fabric.cable_a, FLY.fabric.cable_b)[link & 1]
        assert ends[tie.cables[0]] == FLY.fabric.ports + FLY.names.find("group1/switch2").index
        assert look(FLY, FRAME, tie).up == pytest.approx(FRAME.utilization[link])
    low, high = center_of(FLY, FLY.names.find("group0/switch0:g0"))
    assert names([low, high]) == ["group0/switch0", "group1/switch2"]


def test_the_inspector_tells_the_group_and_the_kinds_of_cables():
    told = facts(inspector(FLY, FRAME, FLY.names.find("group1/switch2")))
    assert told["kind"] == "switch"
    assert told["group"] == "group1"
    assert (told["NIC cables"], told["local cables"], told["global cables"]) == (2, 3, 1)
    assert facts(inspector(FLY, FRAME, FLY.names.find("group0/switch0:g0")))["kind"] == (
        "global cable"
    )
    assert facts(inspector(FLY, FRAME, FLY.names.find("group1")))["kind"] == "group"
    assert facts(inspector(FLY, FRAME, FLY.names.find("node06")))["switches"] == "group1/switch2"


def test_words_about_the_whole():
    assert switch_words(FLY) == "12 switches in 3 groups, generic-64"
    told = facts(preview.preview(presets.load("frontier")))
    assert told["groups"] == "74 of 32"
    assert told["global cables"] == "10,804, 4 between two groups"
    assert told["global taper"].startswith("1.75:1")
    assert told["expect global"] == "10,804"


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("group1/switch2", ["group1/switch2"]),
        ("switch 2 of group 1", ["group1/switch2"]),
        ("all switches of group 1", [f"group1/switch{s}" for s in range(4)]),
        ("all switches of group1", [f"group1/switch{s}" for s in range(4)]),
        ("nodes of group 2", [f"node{n:02d}" for n in range(8, 12)]),
        ("all global cables of group1/switch2", None),
    ],
)
def test_rules_know_groups(rule: str, wanted: list[str] | None) -> None:
    found = parse(rule, FLY)
    if wanted is None:
        tiers = {int(FLY.fabric.cable_tier[thing.index]) for thing in found}
        assert (len(found), tiers) == (1, {2})
    else:
        assert names(found) == wanted


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("3 random leaf-spine cables", "no leaf-spine cables here; tiers are nic-leaf, local"),
        ("group1", "is a group"),
        ("switches of pod 1", "no pods"),
    ],
)
def test_rules_that_say_nothing_here(rule: str, message: str) -> None:
    with pytest.raises((SpecError, UnknownNameError), match=message):
        parse(rule, FLY)


def test_choices_are_of_this_fabric():
    rules = [choice.rule for choice in choices(FLY, FRAME)]
    assert "3 random global cables" in rules
    assert not [rule for rule in rules if "leaf" in rule]
    for rule in rules:
        assert parse(rule.removeprefix("degrade ").split(" to ")[0], FLY)


def test_a_dead_switch_marks_its_group_and_the_ends_of_its_cables():
    timeline = Timeline(FLY)
    switch = FLY.names.find("group1/switch2")
    timeline.inject(Event(0, "fail", switch, "group1/switch2"))
    frame = timeline.at(0)
    state = worst(FLY, frame)
    assert state.switch_down[switch.index] == 6
    assert state.pod_down.tolist()[1] == 6
    assert state.pod_down.sum() == 7  # its global cable is of another group too
    assert frame.jobs
    told = facts(inspector(FLY, frame, switch))
    assert told["dead cables"] == 6


def test_the_blast_of_a_global_cable_counts_cables_to_other_switches():
    event = Event(0, "fail", FLY.names.find("group0/switch0:g0"), "group0/switch0:g0")
    found = blast(settled(FRAME.network), (event,))
    assert found.gone_by_tier == {"global": 2}
    assert found.uplinks is not None
    assert names([Thing("switch", found.uplinks.leaf)]) == ["group0/switch0"]
    assert (found.uplinks.left, found.uplinks.of) == (3, 4)
    assert found.unreached == 0


@pytest.mark.parametrize("transport", ["rocev2", "infiniband", "spectrum-x", "slingshot"])
@pytest.mark.parametrize("routing", [None, "minimal", "valiant", "adaptive"])
def test_every_view_and_the_report_work(transport: str, routing: str | None) -> None:
    keys = {"routing": routing} if routing else {}
    jobs = [JOB, {**JOB, "name": "ring", "collective": "all-reduce", "hierarchical": False}]
    jobs.append({**JOB, "name": "pairs", "collective": "permutation"})
    more = {"transport": {"name": transport, "reroute_s": 0.0}}
    built = build(spec((3, 4, 2, 2, 1), nics=2, jobs=jobs, dragonfly=keys, **more))
    timeline = Timeline(built)
    timeline.inject(Event(1, "fail", built.names.find("group0/switch0:g0"), "group0/switch0:g0"))
    frame = timeline.at(3)
    for view in VIEWS:
        view.function(built, frame, built.names.find("group1/switch2"))
    done = report(timeline, 3)
    assert done["fabric"]["switches"] == {"leaf": 12, "spine": 0, "core": 0}
    assert {"nic-leaf", "leaf-spine", "spine-core", "local", "global"} <= set(
        done["fabric"]["cables"]
    )
    assert set(done["links"]["by_tier"]) == {"nic-leaf", "local", "global"}
    assert flows_per_link(frame.network).max() > 0
    assert not any(job["stalled"] for job in done["jobs"])
