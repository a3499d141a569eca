"""The blast radius in words."""

from __future__ import annotations

import pytest

from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.choices import choices
from clusterscope.metrics.faults import blast, settled, worst_next
from clusterscope.metrics.rules import events_of, read
from clusterscope.views.blast import blast_note, meant, quick_choices
from clusterscope.views.shapes import Note
from tests.small import job, scenario

BUILT = scenario(jobs=job("permutation"), scale_out__leaf_up=2)
SLOW = scenario(jobs=job("permutation"), transport={"name": "rocev2", "reroute_s": 0.2})


def facts(line, built=BUILT, log=()) -> dict[str, str]:
    network = settled(Timeline(built, log).at(0).network)
    events = events_of(read(line), built, network.actual, 0)
    radius = blast(network, events)
    following = () if radius.all_stalled else worst_next(network, events, 1)
    note = blast_note(built, events, radius, following)
    assert isinstance(note, Note)
    return {fact.label: str(fact.value) for fact in note.facts}


def test_a_spine():
    got = facts("spine0")
    assert got["fail"] == "spine0 (generic-8), at step 0"
    assert got["job"].endswith("an iteration, +100.0 %")
    assert got["cables"].startswith("4 of ")
    assert got["cables"].endswith("gone: 4 leaf-spine")
    assert got["leaf uplinks"] == "leaf0 keeps 1 of 2, fewest of all"
    assert got["unreached"].startswith("nothing")
    assert got["reroute"] == "spectrum-x: at once"
    assert "a job stands still" in got["worst next"]


def test_a_leaf_cuts_ranks_off_and_nothing_worse_can_follow():
    got = facts("leaf0")
    assert got["job"].endswith("→ stands still for good")
    assert got["unreached"].startswith("4 of 16 ranks, ")
    assert got["worst next"] == "every job stands still already"


def test_what_waits_for_the_reroute():
    got = facts("spine0", SLOW)
    assert "waits 200 ms for the reroute" in got["job"]
    assert got["reroute"] == "rocev2: 200 ms; 1 job stands still until then"


def test_a_repair_brings_links_back():
    log = events_of(read("leaf0"), BUILT, BUILT.whole, 0)
    got = facts("restore all", log=log)
    assert got["restore"] == "leaf0 (generic-8), at step 0"
    assert "come back: 4 nic-leaf, 2 leaf-spine" in got["cables"]
    assert got["job"].startswith("stands still → ")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("spine0", "fail 1 spine: spine0"),
        ("spine0, leaf1", "fail 1 spine and 1 leaf: spine0, leaf1"),
        ("leaves", "fail 4 leaves: leaf0, leaf1, leaf2, leaf3"),
        ("nodes", "fail 8 nodes: node0, node1, node2 … node7"),
        ("degrade leaf0:u1 to 0.25", "degrade 1 cable to 0.25: leaf0:u1"),
        ("node1/gpu0, node1/nic0", "fail 1 GPU and 1 NIC port: node1/gpu0, node1/nic0"),
    ],
)
def test_what_is_meant_in_a_line(line, words):
    assert meant(BUILT, events_of(read(line), BUILT, BUILT.whole, 0)) == words


def test_before_the_answer_is_there():
    events = events_of(read("spine0"), BUILT, BUILT.whole, 0)
    note = blast_note(BUILT, events, None, None, "computing …")
    assert [str(fact.value) for fact in note.facts][-1] == "computing …"
    assert facts("spine0", scenario(jobs=[]))["jobs"] == "there are none"


@pytest.mark.parametrize(
    "built",
    [BUILT, SLOW, scenario(jobs=[]), scenario(scale_out=None, scale_up__domain_gpus=16)],
    ids=["spray", "hash", "no jobs", "no scale-out"],
)
def test_every_quick_choice_is_a_rule_that_can_be_done(built):
    for log in ((), events_of(read("node3"), built, built.whole, 0)):
        frame = Timeline(built, log).at(0)
        found = choices(built, frame)
        assert found
        for choice in found:
            assert events_of(read(choice.rule), built, frame.health, 0)
        assert any(choice.rule == "restore all" for choice in found) == bool(log)
        table = quick_choices(built, frame)
        assert [table.key(row) for row in range(table.rows)] == [c.rule for c in found]
