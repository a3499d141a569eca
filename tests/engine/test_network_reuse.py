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
    scenario = build(load("gb200-superpod"))
    first, last = (0, 0), (0, 2)
    assert scenario.loads[0][0] is scenario.loads[0][2]
    assert scenario.twin(last) == first
    network = Network(scenario, scenario.whole, scenario.whole)
    assert network.phase(last) is network.phase(first)
    assert network.share((last,)).link_gbps is network.share((first,)).link_gbps
    assert list(network.share((last,)).rate_gbps) == [last]
