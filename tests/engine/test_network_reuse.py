"""What a network takes over from the one before it, against the same network from nothing."""

from __future__ import annotations

import numpy as np
import pytest

from clusterscope.engine.events import Event, apply
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import build
from clusterscope.spec.presets import load

CASES = [
    ("gb200-superpod", "spine3", "fail", ()),
    ("gb200-superpod", "node003", "fail", ()),
    ("gb200-superpod", "node003/gpu1", "fail", ()),
    ("gb200-superpod", "spine3", "fail", ('transport.name="spectrum-x"',)),
    ("gb200-superpod", "leaf02:u1", "degrade", ('transport.name="spectrum-x"',)),
]


@pytest.mark.parametrize(("name", "target", "kind", "sets"), CASES)
def test_shares_are_those_of_a_network_from_nothing(name, target, kind, sets):
    scenario = build(load(name, sets))
    try:
        event = Event.named(scenario.names, kind, target, step=0)
    except LookupError:
        pytest.skip(f"{name} has no {target}")
    health = apply(scenario.whole, [event])
    before = scenario.healthy
    phases = [(job, p) for job, loads in enumerate(scenario.loads) for p in range(len(loads))]
    for key in phases:
        before.share((key,))
    during = before.with_actual(health)
    for made, routed in ((during, scenario.whole), (during.rerouted, health)):
        fresh = Network(scenario, routed, health)
        for key in phases:
            share, other = made.share((key,)), fresh._solve((key,), {})
            np.testing.assert_array_equal(share.link_gbps, other.link_gbps)
            np.testing.assert_array_equal(share.pace_gbps[key], other.pace_gbps[key])
            np.testing.assert_array_equal(share.bottleneck[key], other.bottleneck[key])


def test_a_dead_spine_leaves_the_shares_inside_domains_alone():
    scenario = build(load("gb200-superpod"))
    up = next(
        (job, p)
        for job, program in enumerate(scenario.program)
        for p, phase in enumerate(program.phases)
        if phase.network == "scale-up"
    )
    share = scenario.healthy.share((up,))
    event = Event.named(scenario.names, "fail", "spine3", step=0)
    network = scenario.healthy.with_actual(apply(scenario.whole, [event]))
    assert network.share((up,)) is share
    assert network.rerouted.share((up,)) is share
    assert network.rerouted is network.rerouted
    assert scenario.healthy.rerouted is scenario.healthy


def test_phases_that_ask_for_the_same_are_routed_and_shared_once():
    scenario = build(load("gb200-superpod", ["jobs.0.algorithm=ring"]))
    first, last = (0, 0), (0, 2)
    assert scenario.loads[0][0] is scenario.loads[0][2]
    assert scenario.twin(last) == first
    network = Network(scenario, scenario.whole, scenario.whole)
    assert network.phase(last) is network.phase(first)
    assert network.share((last,)).link_gbps is network.share((first,)).link_gbps
    assert list(network.share((last,)).rate_gbps) == [last]


BOTH = [
    ("gb200-superpod", ()),
    ("gb200-superpod", ("jobs.0.algorithm=tree",)),
    ("gb200-superpod", ("jobs.0.algorithm=nvls-tree",)),
    ("superpod-h100-1016", ("jobs.0.algorithm=rail-ring",)),
    ("superpod-h100-1016", ('transport.name="rocev2"', "jobs.0.algorithm=tree")),
    ("ai-cloud", ()),
]


@pytest.mark.parametrize(("name", "sets"), BOTH)
def test_phases_apart_get_what_they_get_when_they_are_solved_at_once(name, sets):
    scenario = build(load(name, sets))
    keys = tuple(
        (job, p)
        for job, program in enumerate(scenario.program)
        for p in range(len(program.phases) if program.overlapped else 1)
    )
    network = Network(scenario, scenario.whole, scenario.whole)
    apart, once = network.share(keys), network._solve(keys, {})
    np.testing.assert_array_equal(apart.link_gbps, once.link_gbps)
    assert set(apart.rate_gbps) == set(once.rate_gbps) == set(keys)
    assert set(apart.free_gbps) == set(once.free_gbps)
    for key in keys:
        np.testing.assert_array_equal(apart.rate_gbps[key], once.rate_gbps[key])
        np.testing.assert_array_equal(apart.pace_gbps[key], once.pace_gbps[key])
        np.testing.assert_array_equal(apart.bottleneck[key], once.bottleneck[key])


def test_phases_are_apart_only_where_no_link_is_shared():
    scenario = build(load("gb200-superpod", ["jobs.0.algorithm=nvls-tree"]))
    out, up = (0, 0), (0, 1)
    assert scenario.crossed[0] == ({"out"}, {"up"})
    assert scenario.apart((out, up)) == ((out,), (up,))
    assert scenario.apart((out,)) == scenario.apart((up,)) == ()


def test_what_runs_beside_a_dead_spine_inside_domains_is_not_solved_again(monkeypatch):
    scenario = build(load("gb200-superpod", ["jobs.0.algorithm=nvls-tree"]))
    keys = (0, 0), (0, 1)
    scenario.healthy.share(keys)
    event = Event.named(scenario.names, "fail", "spine3", step=0)
    solved = []
    solve = Network._solve
    monkeypatch.setattr(
        Network, "_solve", lambda self, *a, **k: solved.append(a[0]) or solve(self, *a, **k)
    )
    scenario.healthy.with_actual(apply(scenario.whole, [event])).share(keys)
    assert solved == [((0, 0),)]
