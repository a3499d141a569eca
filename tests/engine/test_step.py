"""Steps: phases follow one another, bytes are conserved, failures act."""

from __future__ import annotations

import math

import numpy as np
import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.step import iteration_parts
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from clusterscope.transport.model import SCALE_UP_GOODPUT
from tests.small import job, scenario


def fail(made: Scenario, name: str, step: int = 0) -> Event:
    return Event.named(made.names, "fail", name, step=step)


def seconds(timeline: Timeline, step: int = 0) -> list[float]:
    frame = timeline.at(step)
    return [s for s, _ in iteration_parts(timeline.scenario, frame.network, 0)]


def test_a_hierarchical_all_reduce_takes_its_bytes_over_its_rates_plus_latency():
    alpha = 3e-6
    made = scenario(jobs=job("all-reduce", step_latency_s=alpha))
    inside, between, again = seconds(Timeline(made))
    size = 1e9
    domain_s = size / 2 * 8 / (800e9 * SCALE_UP_GOODPUT) + alpha
    assert inside == pytest.approx(domain_s)
    assert again == pytest.approx(domain_s)
    wire_s = 2 * 7 / 8 * size / 2 * 8 / (100e9 * made.transport.goodput_ratio)
    # A leaf, a spine and a leaf are two switches more than alpha holds for; half of the hops are.
    assert 14 * alpha < between - wire_s < 14 * (alpha + 5e-6)


def test_iterations_follow_at_the_pace_that_the_parts_add_up_to():
    timeline = Timeline(scenario(sim={"seed": 1, "dt_s": 0.5, "steps": 1}))
    length = sum(seconds(timeline))
    job_state = timeline.at(3).jobs[0]
    assert job_state.iteration == math.floor(1.5 / length)
    assert job_state.last_iteration_s == pytest.approx(length, rel=1e-9)


def test_the_step_length_does_not_change_what_a_job_does():
    fine = Timeline(scenario(sim={"seed": 1, "dt_s": 0.001, "steps": 1}))
    coarse = Timeline(scenario(sim={"seed": 1, "dt_s": 0.4, "steps": 1}))
    a, b = fine.at(400).jobs[0], coarse.at(1).jobs[0]
    assert (a.phase, a.iteration) == (b.phase, b.iteration)
    for left_a, left_b in zip(a.left, b.left, strict=True):
        np.testing.assert_allclose(left_a, left_b, rtol=1e-6, atol=1.0)


def test_mean_loads_of_a_whole_iteration_carry_exactly_the_bytes_of_the_job():
    made = scenario(sim={"seed": 1, "dt_s": 0.001, "steps": 1})
    timeline = Timeline(made)
    length = sum(seconds(timeline))
    steps = math.ceil(length / 0.001)
    moved = sum(timeline.at(k).link_gbps for k in range(steps))
    nic_bytes = moved[0] * made.goodput[0] * 1e9 * 0.001 / 8
    per_iteration = 2 * 7 / 8 * 1e9 / 2
    assert nic_bytes == pytest.approx(per_iteration, rel=1e-6)


def test_a_dead_cable_halves_nothing_but_its_own_bundle():
    made = scenario(jobs=job("permutation"))
    timeline = Timeline(made)
    before = timeline.at(0)
    timeline.inject(fail(made, "leaf0:u0", 1))
    after = timeline.at(1)
    down = made.names.find("leaf0:u0").index
    assert before.link_gbps[2 * down] > 0
    assert after.link_gbps[2 * down] == 0
    assert after.link_gbps[2 * down + 1] == 0
    assert np.isnan(after.utilization[2 * down])


def test_until_routes_react_what_is_sent_over_a_dead_path_is_lost():
    made = scenario(
        transport={"name": "rocev2", "reroute_s": 0.025},
        jobs=job("permutation"),
        sim={"seed": 1, "dt_s": 0.01, "steps": 1},
    )
    timeline = Timeline(made)
    frame = timeline.at(0)
    busy = np.flatnonzero(frame.link_gbps[: 2 * made.fabric.cables] > 0)
    uplinks = [x for x in busy if made.fabric.cable_tier[x // 2] == 1 and x % 2 == 0]
    cable = made.names.cable(int(uplinks[0]) // 2)
    timeline.inject(fail(made, cable, 1))
    stalled = timeline.at(1).network.share(((0, 0),)).rate_gbps[0, 0]
    assert (stalled == 0).sum() >= 1
    assert (timeline.at(2).network.share(((0, 0),)).rate_gbps[0, 0] == 0).sum() >= 1
    settled = timeline.at(4).network.share(((0, 0),)).rate_gbps[0, 0]
    assert (settled > 0).all()


def test_a_dead_node_stalls_its_ring_and_nothing_raises():
    made = scenario()
    timeline = Timeline(made)
    timeline.inject(fail(made, "node3", 2))
    frame = timeline.at(2)
    assert math.inf in seconds(timeline, 2)
    frozen = timeline.at(60)
    assert frozen.jobs[0].iteration == frame.jobs[0].iteration
    assert timeline.at(60).after.jobs[0].phase <= 1


def test_restore_brings_every_rate_back():
    made = scenario(jobs=job("permutation"))
    timeline = Timeline(made)
    timeline.inject(fail(made, "spine0", 1))
    timeline.inject(Event.named(made.names, "restore", "spine0", step=2))
    first = timeline.at(0).network.share(((0, 0),)).rate_gbps[0, 0]
    hurt = timeline.at(1).network.share(((0, 0),)).rate_gbps[0, 0]
    again = timeline.at(2).network.share(((0, 0),)).rate_gbps[0, 0]
    np.testing.assert_allclose(first, again)
    assert hurt.sum() <= first.sum()


def test_degrading_a_cable_caps_its_flows():
    made = scenario(jobs=job("permutation"))
    timeline = Timeline(made)
    timeline.inject(Event.named(made.names, "degrade", "node0/nic0:u0", step=1, scale=0.25))
    link = 2 * made.names.find("node0/nic0:u0").index
    assert timeline.at(1).link_gbps[link] <= 25.0 * (1 + 1e-9)
    assert timeline.at(1).network.link_gbps[link] == 25.0


def test_overlapped_phases_end_each_at_its_own_time():
    made = scenario(jobs=job("all-to-all"), sim={"seed": 1, "dt_s": 1.0, "steps": 1})
    assert made.program[0].overlapped
    timeline = Timeline(made)
    frame = timeline.at(0)
    inside = 2 * int(made.fabric.tier_start[3])
    length = sum(seconds(timeline))
    sent = frame.link_gbps[inside] * SCALE_UP_GOODPUT * 1e9 / 8 * length
    assert sent == pytest.approx(1e9 / 16, rel=0.05)


def test_two_jobs_share_the_links_that_both_use():
    both = [
        {"name": "a", "collective": "incast", "message_bytes": 10**9, "ranks": 8},
        {"name": "b", "collective": "incast", "message_bytes": 10**9, "ranks": 8},
    ]
    alone = Timeline(scenario(jobs=both[:1])).at(0)
    shared = Timeline(scenario(jobs=both)).at(0)
    one = alone.network.share(((0, 0),)).rate_gbps[0, 0]
    two = shared.network.share(((0, 0), (1, 0))).rate_gbps[0, 0]
    assert two.sum() < one.sum()


@pytest.mark.parametrize("transport", ["spectrum-x", "rocev2"])
def test_jobs_meet_on_the_uplinks_that_both_use(transport):
    exchanges = [
        {"name": name, "collective": "all-to-all", "message_bytes": 10**9} for name in ("a", "b")
    ]
    changes = {"transport__name": transport, "scale_out__leaf_up": 2}
    alone = Timeline(scenario(jobs=exchanges[:1], **changes)).at(0)
    shared = Timeline(scenario(jobs=exchanges, **changes)).at(0)
    one = alone.network.share(((0, 0),)).rate_gbps[0, 0]
    both = shared.network.share(((0, 0), (1, 0))).rate_gbps
    np.testing.assert_allclose(both[0, 0] + both[1, 0], one, rtol=1e-9)
    uplink = 2 * int(alone.network.scenario.fabric.up_start[0])
    assert alone.utilization[uplink] == pytest.approx(1.0, rel=0.05)


def test_a_step_with_too_many_phases_is_refused_with_a_better_step():
    many = [
        {"name": name, "collective": "all-gather", "message_bytes": 1, "ranks": 4}
        for name in ("a", "b")
    ]
    made = scenario(jobs=many, sim={"seed": 1, "dt_s": 3600.0, "steps": 1})
    with pytest.raises(SpecError, match=r"sim\.dt_s: .*use at most"):
        Timeline(made).at(0)


def test_a_cluster_without_jobs_is_idle():
    frame = Timeline(scenario(jobs=[])).at(3)
    assert frame.link_gbps.sum() == 0


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-30])
@pytest.mark.parametrize("name", ["node0/nic0:u0", "node0/gpu0:nv"])
def test_a_cable_that_is_left_next_to_nothing_is_as_good_as_dead(scale, name):
    timeline = Timeline(scenario())
    event = Event.named(timeline.scenario.names, "degrade", name, step=0, scale=scale)
    timeline.inject(event)
    frame = timeline.at(1)
    assert np.isfinite(frame.link_gbps).all()
    assert frame.jobs[0].iteration == 0


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("transport", ["rocev2", "infiniband", "uec", "tcp"])
def test_senders_to_what_is_dead_pause_nobody(transport):
    made = scenario(
        transport={"name": transport},
        jobs=[*job("incast", name="a"), *job("all-reduce", name="b")],
    )
    timeline = Timeline(made)
    for cable in range(made.fabric.cables):
        timeline.inject(fail(made, made.names.cable(cable)))
    frame = timeline.at(1)
    assert frame.link_gbps.max() == 0.0
