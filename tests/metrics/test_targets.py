"""The rule language: what a line names, counted by hand on small fabrics."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterscope.engine.events import apply
from clusterscope.errors import ClusterscopeError, SpecError
from clusterscope.metrics import targets
from clusterscope.metrics.rules import Deed, at_step, broken, events_of, health_at, read
from clusterscope.metrics.targets import is_rule, parse
from tests.small import scenario

# 8 nodes x 2 GPUs x 2 NICs, rails; leaf0 and leaf1 serve nodes 0-3, leaf2 and leaf3 nodes 4-7.
SMALL = scenario()
# Two pods of two leaves and two spines each, cabled to cores.
PODS = scenario(
    node={"count": 8, "gpus": 2, "gpu": "H100-SXM", "nics": 2, "nic_gbps": 100.0},
    scale_out={
        "tiers": 3, "wiring": "rail", "su_nodes": 4, "leaf_switch": "generic-8", "leaf_down": 4,
        "leaf_up": 4, "spine_switch": "generic-8", "spines": 2, "pod_sus": 1, "spine_up": 4,
        "core_switch": "generic-8", "cores": 2,
    },
)  # fmt: skip
RAIL = "node0/nic0:u0"


def named(text, built=SMALL, **more):
    return [built.names.thing(thing) for thing in parse(text, built, **more)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("spine0", ["spine0"]),
        ("leaf1:u3<", ["leaf1:u3"]),
        ("spine0, leaf3,spine0", ["spine0", "leaf3"]),
        ("spines", ["spine0", "spine1"]),
        ("all the spines", ["spine0", "spine1"]),
        ("spine 1", ["spine1"]),
        ("leaf leaf2", ["leaf2"]),
        ("every uplink of leaf1", ["leaf1:u0", "leaf1:u1", "leaf1:u2", "leaf1:u3"]),
        ("leaves of rail 1", ["leaf1", "leaf3"]),
        ("leaves of node 5", ["leaf2", "leaf3"]),
        ("spines of leaf0", ["spine0", "spine1"]),
        ("nodes of leaf0 of rail 0", ["node0", "node1", "node2", "node3"]),
        ("GPUs of node 2", ["node2/gpu0", "node2/gpu1"]),
        ("gpu 1 of node 2", ["node2/gpu1"]),
        ("nics of leaf3", ["node4/nic1", "node5/nic1", "node6/nic1", "node7/nic1"]),
        ("nodes of domain 3", ["node3"]),
        ("scale-up cables of node 0", ["node0/gpu0:nv", "node0/gpu1:nv"]),
    ],
)
def test_names_kinds_and_places(text, names):
    assert named(text) == names


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("cables", 16 + 16 + 16),
        ("leaf-spine cables", 16),
        ("scale-out cables", 32),
        ("nic-leaf links of leaf0", 4),
        ("cables of leaf0", 8),
        ("cables of all leaves", 32),
        ("all cables of all uplinks of leaf0", 4 * 4 + 4),
        ("3 random leaf-spine cables", 3),
        ("a random node", 1),
        ("random node", 1),
        ("25% of leaf-spine cables", 4),
        ("0.1% of cables", 1),
        ("2 random nodes seed 5, 1 random spine", 3),
        ("optics", 32),
    ],
)
def test_how_many(text, count):
    assert len(named(text)) == count


def test_pods_and_cores():
    assert named("spine of pod 1", PODS) == ["pod1/spine0", "pod1/spine1"]
    assert named("pod1/spines", PODS) == ["pod1/spine0", "pod1/spine1"]
    assert named("leaf 1 of pod 0", PODS) == ["pod0/leaf1"]
    assert len(named("uplinks of leaf 1 of pod 0", PODS)) == 4
    assert named("cores", PODS) == named("cores of pod 0", PODS) == ["core0", "core1"]
    assert len(named("spine-core cables of pod 1", PODS)) == 8
    assert len(named("uplinks of spines of pod 1", PODS)) == 8
    assert len(named("downlinks of all spines of pod 1", PODS)) == 8
    assert len(named("nodes of pod 1", PODS)) == 4


def test_planes():
    planes = scenario(scale_out__planes=2, node__nic_gbps=200.0)
    assert named("spines of plane 1", planes) == ["plane1/spine0", "plane1/spine1"]
    assert named("nics of node 0 in plane 1", planes) == ["node0/nic0/p1", "node0/nic1/p1"]


@given(st.integers(0, 2**64), st.integers(1, 16))
def test_a_draw_depends_on_the_seed_alone_and_draws_each_thing_once(seed, count):
    drawn = parse(f"{count} random leaf-spine cables", SMALL, seed)
    assert drawn == parse(f"{count} random leaf-spine cables", SMALL, seed)
    assert len(set(drawn)) == count
    fewer = parse(f"{max(1, count - 1)} random leaf-spine cables", SMALL, seed)
    assert set(fewer) <= set(drawn)


def test_draws_are_even_and_differ_by_seed():
    hits: dict[str, int] = {}
    for seed in range(800):
        (name,) = named("1 random spine", PODS, seed=seed)
        hits[name] = hits.get(name, 0) + 1
    assert set(hits) == {f"pod{p}/spine{s}" for p in (0, 1) for s in (0, 1)}
    assert all(150 < count < 250 for count in hits.values())
    assert named("1 random spine seed 3", PODS, seed=9) == named("1 random spine", PODS, seed=3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing was typed"),
        (" , ", "nothing was typed"),
        ("3 randon cables", "did you mean 'random'"),
        ("all spinse", "did you mean 'spine'"),
        ("spine9", "spines there: spine0 to spine1"),
        ("spines of pod 7", "pods there: 0 to 0"),
        ("spines of pod", "'pod' needs a number"),
        ("pod 0", "all spines of pod 0"),
        ("pod0", "all spines of pod0"),
        ("9 random spines", "asks for 9 spines: there are only 2 to choose from"),
        ("spine-core cables", "there is none here"),
        ("leaf-spine spines", "say 'leaf-spine cables'"),
        ("leaf spine0", "is no leaf"),
        ("all", "says how many, but not of what"),
        ("0 cables", "0 of them is nothing"),
        ("200% of cables", "is no share"),
        ("spines leaf0", "'leaf0' is no spine"),
        ("3 spines leaf0", "cannot follow a number"),
        ("spines of leaf0 leaf1", "cannot be read here"),
        ("2 random nodes seed x", "'x' is not a seed"),
        ("seed 5", "names nothing"),
        ("gpu 1", "there are 8 of them; say of which pod, plane or node"),
        ("spine 7", "there is none"),
    ],
)
def test_mistakes_are_one_sentence_with_the_nearest_word(text, words):
    with pytest.raises(ClusterscopeError) as caught:
        parse(text, SMALL)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="alspine of3%,0123random cble:podseed@/", max_size=40))
def test_any_line_is_read_or_refused(text):
    try:
        found = parse(text, SMALL)
    except ClusterscopeError:
        return
    assert found


def test_at_most_ten_thousand(monkeypatch):
    monkeypatch.setattr(targets, "MOST", 20)
    with pytest.raises(SpecError, match=r"'cables' is 48 things; at most 20"):
        parse("cables", SMALL)
    with pytest.raises(SpecError, match="at most 20"):
        parse("16 random cables, 16 random cables seed 2", SMALL)


@pytest.mark.parametrize("name", ["spine1", "node3", "leaf0:u3", "plane1/core3", "Spine1", "x"])
def test_a_plain_name_is_no_rule(name):
    assert not is_rule(name)


@pytest.mark.parametrize("text", ["spines", "all", "a b", "spine0,spine1", "pod1/spines", "cables"])
def test_several_words_or_a_word_of_the_language_are_a_rule(text):
    assert is_rule(text)


@pytest.mark.parametrize(
    ("line", "deed"),
    [
        ("spine1", Deed("fail", "spine1")),
        ("fail all spines", Deed("fail", "all spines")),
        ("Restore  all", Deed("restore", "all")),
        ("degrade 5 random cables to 0.25", Deed("degrade", "5 random cables", 0.25)),
        ("degrade spine0:u1", Deed("degrade", "spine0:u1")),
        ("spine1@5", Deed("fail", "spine1", step=5)),
        ("3 random cables @ 7", Deed("fail", "3 random cables", step=7)),
        ("degrade leaf0:u1 to 1 at step 0", Deed("degrade", "leaf0:u1", 1.0, 0)),
    ],
)
def test_lines_say_what_is_done_and_when(line, deed):
    assert read(line) == deed


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("spine1 @x", "'x' is not a step"),
        ("spine1 @", "'' is not a step"),
        ("spine1 @99999999999", "is not a step"),
        ("degrade leaf0:u1 to 2", "'2' is not a share"),
        ("degrade leaf0:u1 to 0", "'0' is not a share of the line rate; use 0.01 to 1"),
        ("degrade leaf0:u1 to 0.001", "use 0.01 to 1"),
        ("degrade leaf0:u1 to 1e-7", "use 0.01 to 1"),
        ("degrade leaf0:u1 to nan", "'nan' is not a share"),
        ("degrade all spines to 0.5", "a switch cannot degrade"),
        ("restore all", "nothing is broken"),
        ("restore all spines", "none that would change"),
    ],
)
def test_wrong_lines(line, words):
    with pytest.raises(ClusterscopeError, match=words):
        events_of(read(line), SMALL, SMALL.whole, 0)


def test_what_would_not_change_is_left_out():
    events = events_of(read("all spines"), SMALL, SMALL.whole, 3)
    assert [event.text() for event in events] == ["fail spine0", "fail spine1"]
    assert {event.step for event in events} == {3}
    health = apply(SMALL.whole, events[:1])
    assert [e.name for e in events_of(read("all spines"), SMALL, health, 0)] == ["spine1"]
    assert [e.text() for e in events_of(read("restore all"), SMALL, health, 0)] == [
        "restore spine0"
    ]
    assert [e.name for e in events_of(read("restore spines"), SMALL, health, 0)] == ["spine0"]


def test_everything_broken_is_restored():
    rules = ("spine0", "node3", "node1/nic0", "node0/gpu0", "degrade leaf0:u1 to 0.5")
    events = [event for rule in rules for event in events_of(read(rule), SMALL, SMALL.whole, 0)]
    health = apply(SMALL.whole, events)
    assert len(broken(health)) == 5
    assert apply(health, events_of(read("restore all"), SMALL, health, 1)).healthy


def test_health_at_a_step_is_that_of_the_frame():
    from clusterscope.engine.timeline import Timeline

    built = scenario(events=[{"step": 2, "kind": "fail", "target": "spine1"}])
    log = at_step(events_of(read("spine1, node3"), built, built.whole, 0), 4)
    log += events_of(read("restore spine1"), built, built.whole, 3)
    timeline = Timeline(built, log)
    for step in (1, 2, 3, 5):
        assert health_at(built, log, step).digest() == timeline.at(step).health.digest()
