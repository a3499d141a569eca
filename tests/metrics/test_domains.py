"""Jobs inside domains of every shape: what a collective gets, and what a failure does."""

from __future__ import annotations

import numpy as np
import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import Scenario, build
from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.arrays import Fabric
from clusterscope.metrics.faults import cut_off
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.links import worst
from clusterscope.spec import presets
from clusterscope.transport.model import SCALE_UP_GOODPUT
from clusterscope.views.tree import children, root

SIZE = 8 * 10**12  # so large that latency does not show


def scenario(preset: str, collective: str, *more: str) -> Scenario:
    settings = [f"jobs.0.collective={collective}", f"jobs.0.message_bytes={SIZE}"]
    settings += ["jobs.0.algorithm=ring", *more]
    return build(presets.load(preset, settings))


def busbw(one: Scenario) -> float:
    """Bus bandwidth over what collectives reach of a line, GB/s."""
    return job_metrics(one, Timeline(one).at(0))[0].busbw_GBps / SCALE_UP_GOODPUT


def test_switch_and_mesh_differ_for_rings_and_not_for_all_to_all():
    assert busbw(scenario("hgx-h200-nvswitch", "all-reduce")) == pytest.approx(450, rel=1e-3)
    assert busbw(scenario("hgx-h200-nvswitch", "all-to-all")) == pytest.approx(450, rel=1e-3)
    assert busbw(scenario("hgx-h200-mesh", "all-reduce")) == pytest.approx(128, rel=1e-3)
    assert busbw(scenario("hgx-h200-mesh", "all-to-all")) == pytest.approx(448, rel=1e-3)
    pair = scenario("hgx-h200-mesh", "incast", "jobs.0.ranks=2")
    assert busbw(pair) == pytest.approx(64, rel=1e-3)


def test_a_torus_ring_follows_its_cables_both_ways():
    ring = scenario("aws-trn2-60k", "all-reduce", "node.count=4", "jobs.0.ranks=64")
    assert busbw(ring) == pytest.approx(2 * 500 / 6, rel=1e-3)


def test_an_all_to_all_of_a_torus_pays_for_its_hops():
    exchange = scenario("aws-trn2-60k", "all-to-all", "node.count=4", "jobs.0.ranks=64")
    # 63 sends of a GPU put 32 on every link: 64 x 64 pairs of mean distance 3 over 384 links.
    assert busbw(exchange) == pytest.approx(500 / 6 * 63 / 32, rel=1e-3)


def test_two_levels_carry_a_ring_at_line_rate_and_a_tapered_one_half_of_an_exchange():
    assert busbw(scenario("gh200-256", "all-reduce")) == pytest.approx(450, rel=1e-3)
    full = busbw(scenario("gh200-256", "all-to-all"))
    half = busbw(scenario("gh200-256", "all-to-all", "scale_up.group_taper=2.0"))
    assert full == pytest.approx(450, rel=1e-3)
    # 248 of 255 peers are in other groups
    assert half == pytest.approx(225 * 255 / 248, rel=1e-3)


def after(one: Scenario, *names: str) -> tuple[Scenario, object]:
    timeline = Timeline(one)
    for name in names:
        timeline.inject(Event.named(one.names, "fail", name, step=0))
    return one, timeline.at(0)


def test_a_dead_cable_stalls_an_all_to_all_on_a_mesh_and_slows_one_on_a_torus():
    one, frame = after(
        scenario("hgx-h200-mesh", "all-to-all", "transport.reroute_s=0.0"), "node0/gpu1:m2"
    )
    assert job_metrics(one, frame)[0].stalled
    torus = scenario(
        "aws-trn2-60k", "all-to-all", "node.count=4", "jobs.0.ranks=64", "transport.reroute_s=0.0"
    )
    one, frame = after(torus, "node0/gpu01:x+")
    assert not job_metrics(one, frame)[0].stalled
    assert busbw(torus) > job_metrics(one, frame)[0].busbw_GBps / SCALE_UP_GOODPUT * 1.2


def test_a_dead_uplink_cuts_its_group_off_and_a_dead_gpu_its_node():
    one, frame = after(scenario("gh200-256", "all-to-all"), "domain0/group03:nv")
    assert job_metrics(one, frame)[0].stalled
    fabric: Fabric = one.fabric
    one, frame = after(scenario("hgx-h200-mesh", "all-reduce"), "node0/gpu3")
    assert np.flatnonzero(cut_off(fabric=one.fabric, health=frame.health)).tolist() == [3]
    state = worst(one, frame)
    assert int(state.cable_dead.sum()) == 7
    assert state.node_down.tolist() == [7]
    assert state.domain_down.tolist() == [7]
    assert fabric.groups == 32


def test_the_tree_of_two_levels_has_groups():
    one = scenario("gb200-nvl576", "all-reduce")
    frame = Timeline(one).at(0)
    domain = children(one, frame, root(one, frame).thing)[0]
    groups = children(one, frame, domain.thing)
    assert [row.label for row in groups[:2]] == ["group0", "group1"]
    assert [row.detail for row in groups[:2]] == ["72 GPUs", "72 GPUs"]
    assert len(children(one, frame, groups[0].thing)) == 18
