"""The three networks side by side: counts, rates, and the way to storage."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.scenario import build
from clusterscope.errors import SpecError
from clusterscope.fabric.inside import build_inside
from clusterscope.metrics.networks import networks, storage
from clusterscope.spec import presets
from clusterscope.spec.front_end import derive_front_end
from clusterscope.spec.model import ClusterSpec
from clusterscope.units import BITS_PER_BYTE

GIGABYTES = 10**9


def with_front_end(nodes: int = 64, **front) -> ClusterSpec:
    node = {"count": nodes, "gpus": 8, "gpu": "H100-SXM", "nics": 0, "nic_gbps": 400.0}
    table = {"nic_gbps": 100.0, "switch": "generic-64"} | front
    up = {"domain_gpus": 8, "gpu_gbps": 3600.0}
    return ClusterSpec.model_validate(
        {"name": "x", "node": node, "front_end": table, "scale_up": up}
    )


def test_front_end_of_96_ends_is_planned_as_a_clos():
    front = derive_front_end(with_front_end(64, storage_nodes=32))
    assert front is not None
    # 32 ends a leaf and 32 uplinks: three leaves, two spines
    assert (front.plan.leaves, front.plan.leaf_up, front.plan.spines_total) == (3, 32, 2)
    assert front.plan.nic_leaf_cables == 96


@pytest.mark.parametrize(
    ("front", "gbps", "narrowest"),
    [
        ({"storage_nodes": 32}, 32 * 100, "the storage nodes"),
        ({"storage_nodes": 64, "storage_gbps": 20.0}, 64 * 20, "the storage nodes"),
        ({"storage_nodes": 64, "storage_gbps": 500.0}, 64 * 100, "the nodes' ports"),
        ({"storage_nodes": 128, "taper": 3.0}, 2 * 16 * 100, "the leaves' uplinks"),
    ],
)
def test_the_way_to_storage_is_its_narrowest_cut(front, gbps, narrowest):
    spec = with_front_end(64, checkpoint_bytes=30 * GIGABYTES, **front)
    scenario = build(
        spec.model_copy(update={"jobs": (spec.jobs[0].model_copy(update={"ranks": 8}),)})
    )
    found = storage(scenario)
    assert found is not None
    assert found.gbps == pytest.approx(gbps)
    assert found.narrowest == narrowest
    assert found.checkpoint_bytes == 512 * 30 * GIGABYTES
    assert found.seconds == pytest.approx(512 * 30 * BITS_PER_BYTE / gbps)


def test_colossus_has_three_networks_and_the_second_carries_the_most():
    scenario = build(presets.load("xai-colossus-100k"))
    up, out, front = networks(scenario)
    assert [facts.name for facts in (up, out, front)] == ["scale-up", "scale-out", "front-end"]
    assert (up.reached, out.reached, front.reached) == (8, 100_000, 100_000)
    assert (up.each_gbps, out.each_gbps, front.each_gbps) == (3600, 400, 50)
    assert out.switches == 4000
    assert up.each_gbps > out.each_gbps > front.each_gbps
    assert out.usd > front.usd > 0


def test_two_level_bisection_of_gh200():
    up = networks(build(presets.load("gh200-256")))[0]
    assert up.bisection_gbps / BITS_PER_BYTE / 1000 == pytest.approx(57.6)
    assert up.switches == 96 + 36


def test_a_cluster_without_a_front_end_has_no_storage():
    scenario = build(presets.load("hgx-h200-mesh"))
    assert storage(scenario) is None
    assert [facts.name for facts in networks(scenario)] == ["scale-up"]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("front_end.switch=SN56000", "front_end.switch"),
        ("front_end.nic_gbps=300.0", "front_end.nic_gbps"),
        ("front_end.tiers=1", "front_end.tiers"),
    ],
)
def test_what_cannot_be_planned_is_told(setting, words):
    with pytest.raises(SpecError, match=words):
        presets.load("xai-colossus-100k", [setting])


@given(
    st.integers(1, 3000),
    st.integers(1, 4),
    st.sampled_from([2, 3]),
    st.sampled_from([1.0, 1.5, 4.0]),
    st.integers(0, 200),
)
@settings(max_examples=60, deadline=None)
def test_every_end_has_a_port_and_no_cut_is_wider_than_the_ends(nodes, nics, tiers, taper, stores):
    spec = with_front_end(
        nodes,
        nics=nics,
        tiers=tiers,
        taper=taper,
        storage_nodes=stores,
        switch="generic-256",
    )
    try:
        front = derive_front_end(spec)
    except SpecError:
        assert tiers == 2
        return
    assert front is not None
    plan = front.plan
    assert plan.nic_leaf_cables == (nodes + stores) * nics
    assert plan.leaves * plan.leaf_down >= plan.nic_leaf_cables
    assert 0 <= front.to_storage_gbps <= min(nodes, stores) * nics * 100.0 + 1e-6


@pytest.mark.parametrize(
    ("preset", "count", "what"),
    [
        ("hgx-h200-nvswitch", 8 * 4, "GPU-chip links"),
        ("gb200-nvl72", 72 * 18, "GPU-chip links"),
        ("hgx-h200-mesh", 28, "cables"),
        ("gh200-256", 256 + 32, "bundles"),
    ],
)
def test_scale_up_says_what_it_counts(preset, count, what):
    facts = networks(build(presets.load(preset)))[0]
    assert (facts.name, facts.cables, facts.cables_are) == ("scale-up", count, what)


@pytest.mark.parametrize("preset", ["hgx-h200-nvswitch", "hgx-h200-mesh"])
def test_the_inside_of_a_node_has_the_same_links(preset):
    spec = presets.load(preset)
    inner = build_inside(spec)
    assert networks(build(spec))[0].cables == spec.node.count * inner.network.count("scale-up")
