from __future__ import annotations

import math

import numpy as np
import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.arrays import LEAF_SPINE, NIC_LEAF, SCALE_UP
from clusterscope.metrics.links import (
    hottest,
    peak_utilization,
    pod_of_node,
    switch_utilization,
    tier_levels,
    tier_summaries,
    worst,
)
from clusterscope.metrics.users import flows_on, users_of
from tests.small import job, scenario


def at(step=0, events=(), **changes):
    built = scenario(**changes)
    named = [Event.named(built.names, "fail", name, step=0) for name in events]
    return built, Timeline(built, named).at(step)


@pytest.fixture(scope="module")
def permutation():
    """Every GPU sends to one other, without end within the step."""
    return at(jobs=job("permutation"))


def test_tiers_are_summarized_as_plain_numpy_would(permutation):
    built, frame = permutation
    rows = tier_summaries(built, frame)
    assert [row.tier for row in rows] == ["nic-leaf", "leaf-spine", "scale-up"]
    for row, tier in zip(rows, (NIC_LEAF, LEAF_SPINE, SCALE_UP), strict=True):
        cables = built.fabric.tier_cables(tier)
        level = np.sort(frame.utilization[2 * cables.start : 2 * cables.stop])
        assert (row.links, row.live, row.down) == (len(level), len(level), 0)
        assert row.mean == pytest.approx(level.mean())
        assert row.p50 == level[math.ceil(len(level) * 0.50) - 1]
        assert row.p99 == level[math.ceil(len(level) * 0.99) - 1]
        assert row.max == level[-1] == frame.utilization[row.worst_link]
        assert tier_levels(built, frame)[row.tier] == (row.mean, row.max)


def test_what_nics_send_is_what_nics_receive(permutation):
    built, frame = permutation
    ports = built.fabric.ports
    sent = frame.link_gbps[0 : 2 * ports : 2].sum()
    assert sent > 0
    assert frame.link_gbps[1 : 2 * ports : 2].sum() == pytest.approx(sent)
    # What leaves go up, spines bring down.
    start, stop = (2 * int(built.fabric.tier_start[t]) for t in (LEAF_SPINE, LEAF_SPINE + 1))
    up, down = frame.link_gbps[start:stop:2], frame.link_gbps[start + 1 : stop : 2]
    assert down.sum() == pytest.approx(up.sum())


def test_hottest_links_come_hottest_first_and_ties_by_index(permutation):
    built, frame = permutation
    level = frame.utilization
    expected = sorted(range(len(level)), key=lambda link: (-level[link], link))
    for count in (0, 1, 5, 17, len(level), len(level) + 9):
        assert hottest(built, frame, count).tolist() == expected[:count]
    only = hottest(built, frame, 4, tiers=[LEAF_SPINE])
    assert set(built.fabric.cable_tier[only >> 1].tolist()) == {LEAF_SPINE}


def test_dead_links_are_never_hot_and_always_counted():
    built, frame = at(events=["leaf1"], jobs=job("permutation"))
    leaf = built.names.find("leaf1").index
    state = worst(built, frame)
    # 4 NIC ports and 4 uplinks hang on the leaf, two of these on each spine.
    assert math.isnan(state.switch[leaf])
    assert state.switch_down.tolist() == [0, 8, 0, 0, 2, 2]
    assert state.node_down.tolist() == [1, 1, 1, 1, 0, 0, 0, 0]
    assert state.pod_down.tolist() == [8]
    assert state.domain_down.sum() == 0
    assert {row.tier: row.down for row in tier_summaries(built, frame)} == {
        "nic-leaf": 8,
        "leaf-spine": 8,
        "scale-up": 0,
    }
    assert not np.isnan(frame.utilization[hottest(built, frame, 1000)]).any()


def test_the_worst_link_of_every_thing_is_found(permutation):
    built, frame = permutation
    fabric, state, level = built.fabric, worst(built, frame), frame.utilization
    cable = np.maximum(level[0::2], level[1::2])
    for switch in range(fabric.switches):
        vertex = fabric.ports + switch
        own = cable[(fabric.cable_a == vertex) | (fabric.cable_b == vertex)]
        assert state.switch[switch] == own.max()
    for node in range(fabric.nodes):
        ends = [2 * node, 2 * node + 1]
        gpus = [fabric.gpu_vertex + g for g in ends]
        assert state.node[node] == cable[np.isin(fabric.cable_a, ends + gpus)].max()
        domain = fabric.gpu_domain[2 * node]
        assert state.domain[domain] == cable[np.isin(fabric.cable_a, gpus)].max()
    assert state.pod.tolist() == [cable.max()]
    assert switch_utilization(built, frame) is state.switch
    assert pod_of_node(fabric).tolist() == [0] * fabric.nodes


def test_answers_are_kept_for_a_frame_and_go_with_it(permutation):
    built, frame = permutation
    assert worst(built, frame) is worst(built, frame)
    other = Timeline(built).at(0)
    assert worst(built, other) is not worst(built, frame)


def test_the_peak_is_the_worst_phase_wherever_the_frame_stands():
    built, frame = at()
    peak = peak_utilization(frame.network)
    assert (peak >= frame.utilization - 1e-12).all()
    by_tier = {row.tier: row for row in tier_summaries(built, frame)}
    assert by_tier["scale-up"].peak > 0.8
    assert by_tier["nic-leaf"].peak > 0.9
    assert peak_utilization(frame.network) is peak


def test_flows_on_a_nic_are_its_own():
    built, frame = at(jobs=job("incast", ranks=5))
    # Rank 0 receives on NIC 0 from ranks 2 to 4: rank 1 shares its domain.
    down = flows_on(built, frame, 1)
    assert [(use.job, use.rows, use.entities) for use in down] == [(0, 3, 3)]
    assert down[0].gbps == pytest.approx(100.0, rel=1e-3)
    assert [use.rows for use in flows_on(built, frame, 2 * 2)] == [1]
    assert flows_on(built, frame, 0) == ()
    assert users_of(built, frame, np.array([1, 4, 0], dtype=np.int32)) == ((0,), (0,), ())


def test_a_sprayed_flow_is_on_every_member_of_its_bundle():
    built, frame = at(jobs=job("permutation"))
    fabric = built.fabric
    loaded = np.flatnonzero(frame.link_gbps[2 * fabric.ports : 2 * int(fabric.tier_start[2])])
    for link in (loaded[:3] + 2 * fabric.ports).tolist():
        assert sum(use.rows for use in flows_on(built, frame, link)) > 0
