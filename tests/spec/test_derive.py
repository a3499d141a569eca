"""Counts of published designs, and properties that every derived plan has."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clusterscope.errors import SpecError
from clusterscope.spec import parts
from clusterscope.spec.checks import MEMORY_LIMIT_BYTES, unmet
from clusterscope.spec.derive import ScaleOutPlan, derive
from clusterscope.spec.model import ClusterSpec, ExpectSpec, NodeSpec, ScaleUpSpec
from tests.spec.spec_samples import cluster


def plan_of(spec: ClusterSpec) -> ScaleOutPlan:
    plan = derive(spec)
    assert plan is not None
    return plan


def counts(plan: ScaleOutPlan) -> tuple[int, ...]:
    return plan.leaves, plan.spines_total, plan.nic_leaf_cables, plan.leaf_spine_cables


@pytest.mark.parametrize(
    ("nodes", "leaf", "spine", "with_ufm", "leaf_spine"),
    [
        (31, 8, 4, 252, 256),
        (63, 16, 8, 508, 512),
        (95, 24, 16, 764, 768),
        (127, 32, 16, 1020, 1024),
    ],
)
def test_superpod_h100_table_4(nodes, leaf, spine, with_ufm, leaf_spine):
    plan = plan_of(cluster(nodes, su_nodes=32, management_cables=4))
    assert counts(plan) == (leaf, spine, nodes * 8, leaf_spine)
    assert plan.nic_leaf_cables + plan.management_cables == with_ufm


@pytest.mark.parametrize(
    ("nodes", "leaf", "spine", "core"),
    [
        (64, 16, 8, 0),
        (128, 32, 16, 0),
        (256, 64, 32, 0),
        (512, 128, 128, 64),
        (1024, 256, 256, 128),
        (2048, 512, 512, 256),
    ],
)
def test_superpod_larger_pods(nodes, leaf, spine, core):
    more = {"tiers": 3, "pod_sus": 4} if core else {}
    plan = plan_of(cluster(nodes, su_nodes=32, **more))
    cables = nodes * 8
    assert counts(plan) == (leaf, spine, cables, cables)
    assert plan.cores_total == core
    assert plan.spine_core_cables == (cables if core else 0)


@pytest.mark.parametrize(("sus", "leaf", "spine"), [(1, 16, 8), (2, 32, 16), (4, 64, 32)])
def test_b300_spectrum_x_at_800(sus, leaf, spine):
    spec = cluster(sus * 64, nic_gbps=800.0, su_nodes=64, leaf_switch="SN5600")
    plan = plan_of(spec)
    assert plan.leaf_down == 32
    assert counts(plan) == (leaf, spine, sus * 512, sus * 512)


@pytest.mark.parametrize(
    ("sus", "leaf", "spine"),
    [(1, 16, 8), (2, 32, 16), (4, 64, 32), (8, 128, 64), (16, 256, 128)],
)
def test_b300_spectrum_x_in_two_planes(sus, leaf, spine):
    # beyond 4 SUs two tiers need the two 400 Gb/s ports of a NIC in planes of their own;
    # the published table counts the two as one cable
    spec = cluster(sus * 64, nic_gbps=800.0, su_nodes=64, planes=2, leaf_switch="SN5600")
    assert counts(plan_of(spec)) == (leaf, spine, 2 * sus * 512, 2 * sus * 512)


@pytest.mark.parametrize(
    ("sus", "leaf", "spine"), [(1, 8, 4), (2, 16, 8), (4, 32, 18), (8, 64, 36), (18, 144, 72)]
)
def test_b300_xdr(sus, leaf, spine):
    spec = cluster(sus * 72, nic_gbps=800.0, su_nodes=72, leaf_switch="Q3400")
    assert counts(plan_of(spec)) == (leaf, spine, sus * 576, sus * 576)


@pytest.mark.parametrize("k", [4, 16, 48, 64])
def test_k_ary_fat_tree(k):
    half = k // 2
    spec = cluster(
        k**3 // 4,
        nics=1,
        gpus=1,
        tiers=3,
        wiring="rack",
        su_nodes=half,
        pod_sus=half,
        leaf_switch=f"generic-{k}",
    )
    plan = plan_of(spec)
    assert plan.nic_leaf_cables == k**3 // 4
    assert plan.cores_total == half**2
    assert plan.leaves + plan.spines_total + plan.cores_total == 5 * k**2 // 4
    assert plan.leaf_spine_cables + plan.spine_core_cables == k**3 // 2
    assert plan.core_groups == half
    assert plan.core_down == k


@pytest.mark.parametrize(("radix", "hosts"), [(64, 2048), (128, 8192), (512, 131072)])
def test_two_tier_limit(radix, hosts):
    def spec(nodes):
        return cluster(
            nodes,
            nics=1,
            gpus=1,
            wiring="rack",
            su_nodes=radix // 2,
            leaf_switch=f"generic-{radix}",
        )

    plan = plan_of(spec(hosts))
    assert (plan.leaves, plan.spines_total) == (radix, radix // 2)
    with pytest.raises(SpecError, match=f"at most {radix} leaves"):
        derive(spec(hosts + 1))


def test_hpn_pod():
    spec = cluster(
        15 * 128,
        tiers=3,
        su_nodes=128,
        planes=2,
        leaf_down=128,
        leaf_up=60,
        link_gbps=400.0,
        pod_sus=15,
        spine_up=8,
        leaf_switch="Tomahawk5-64x800",
    )
    plan = plan_of(spec)
    assert spec.gpus == 15_360
    assert plan.port_gbps == 200
    assert plan.leaves == 240
    assert (plan.spines, plan.spines_total) == (60, 120)
    assert plan.spine_down == 120
    assert plan.spine_down / plan.spine_up == 15
    assert plan.leaf_down * plan.port_gbps / (plan.leaf_up * plan.link_gbps) == pytest.approx(
        1.0667, rel=1e-3
    )


@pytest.mark.parametrize(("taper", "tbps"), [(1, 204.8), (2, 102.4), (4, 51.2)])
def test_bisection(taper, tbps):
    spec = cluster(
        1024,
        nics=1,
        gpus=1,
        wiring="rack",
        su_nodes=32,
        leaf_taper=float(taper),
        leaf_switch="generic-64",
    )
    assert plan_of(spec).bisection_gbps == pytest.approx(tbps * 1000)


def test_breakout_fills_a_switch_exactly():
    def spec(up):
        return cluster(
            64,
            nic_gbps=200.0,
            su_nodes=64,
            leaf_down=64,
            leaf_up=up,
            link_gbps=400.0,
            leaf_switch="Tomahawk4-64x400",
        )

    assert plan_of(spec(32)).leaf_up == 32
    with pytest.raises(SpecError, match="leaf_up: 64 ports of 200 Gb/s down and 33 of 400"):
        derive(spec(33))


def test_rails_apart_share_the_cores():
    spec = cluster(256, nics=4, tiers=3, wiring="rail-only", su_nodes=32, pod_sus=4)
    plan = plan_of(spec)
    assert plan.blocks_per_pod_plane == 4
    assert plan.cores % 4 == 0
    with pytest.raises(SpecError, match="multiples of 4"):
        derive(
            cluster(
                256,
                nics=4,
                tiers=3,
                wiring="rail-only",
                su_nodes=32,
                pod_sus=4,
                cores=plan.cores + 1,
            )
        )


def test_no_scale_out_derives_to_nothing():
    node = NodeSpec(count=18, gpus=4, gpu="GB200", nics=0, nic_gbps=400.0)
    up = ScaleUpSpec(domain_gpus=72, gpu_gbps=7200.0)
    assert derive(ClusterSpec(name="rack", node=node, scale_up=up)) is None


def test_built_sus_may_be_empty():
    assert plan_of(cluster(31, su_nodes=32, sus=2)).leaves == 16
    with pytest.raises(SpecError, match="at least 2"):
        derive(cluster(33, su_nodes=32, sus=1))


def test_ten_billion_gpus_are_refused_at_once():
    start = time.perf_counter()
    with pytest.raises(
        SpecError, match=r"would need 2,346 GiB .* allowed is 16 GiB, about [\d,]+ nodes"
    ):
        derive(cluster(1_250_000_000, tiers=3, su_nodes=64, pod_sus=8, leaf_switch="SN5600"))
    assert time.perf_counter() - start < 1
    assert MEMORY_LIMIT_BYTES == 16 * 2**30


def test_unmet_expectations_are_named():
    spec = cluster(31, su_nodes=32)
    plan = plan_of(spec)
    wrong = spec.model_copy(update={"expect": ExpectSpec(leaf=9, nodes=31)})
    assert unmet(wrong, plan) == ("expect.leaf: 9 expected, 8 derived",)


REFUSED = [
    ({"tiers": 1, "su_nodes": 8}, "scale_out.tiers"),
    ({"tiers": 1, "su_nodes": 32, "leaf_up": 4}, "scale_out.leaf_up"),
    ({"su_nodes": 32, "leaf_up": 0}, "scale_out.leaf_up"),
    ({"tiers": 3, "su_nodes": 32}, "scale_out.pod_sus"),
    ({"su_nodes": 32, "pod_sus": 4}, "scale_out.pod_sus"),
    ({"su_nodes": 32, "leaf_down": 65}, "scale_out.leaf_down"),
    ({"su_nodes": 32, "leaf_down": 40, "leaf_up": 30}, "scale_out.leaf_up"),
    ({"su_nodes": 32, "leaf_up": 32, "leaf_taper": 2.0}, "scale_out.leaf_taper"),
    ({"su_nodes": 32, "wiring": "rack", "leaf_down": 12}, "scale_out.leaf_down"),
    ({"su_nodes": 32, "spines": 33}, "scale_out.spines"),
    ({"su_nodes": 8, "spines": 1}, "scale_out.spines"),
    ({"su_nodes": 32, "link_gbps": 300.0}, "scale_out.link_gbps"),
    ({"su_nodes": 32, "planes": 3}, "scale_out.planes"),
    ({"su_nodes": 32, "leaf_switch": "QM970"}, "scale_out.leaf_switch"),
    ({"su_nodes": 32, "management_cables": 1000}, "scale_out.management_cables"),
    ({"tiers": 3, "su_nodes": 8, "pod_sus": 5}, "scale_out.pod_sus"),
    ({"tiers": 3, "su_nodes": 8, "pod_sus": 1, "cores": 1}, "scale_out.cores"),
    ({"tiers": 3, "su_nodes": 8, "pod_sus": 1, "cores": 10_000}, "scale_out.cores"),
    (
        {"tiers": 3, "su_nodes": 8, "pod_sus": 1, "core_switch": "generic-2"},
        "scale_out.core_switch",
    ),
]


@pytest.mark.parametrize(("out", "key"), REFUSED)
def test_what_does_not_fit_is_refused_by_name(out, key):
    with pytest.raises(SpecError) as caught:
        derive(cluster(32, **out), "my.toml")
    assert caught.value.where == f"my.toml: {key}"
    assert "\n" not in str(caught.value)
    assert caught.value.hint


@st.composite
def any_clos(draw):
    radix = draw(st.sampled_from([8, 16, 64]))
    tiers = draw(st.sampled_from([2, 3]))
    return cluster(
        draw(st.integers(1, 200)),
        nics=draw(st.sampled_from([1, 2, 4])),
        planes=draw(st.sampled_from([1, 2])),
        tiers=tiers,
        wiring=draw(st.sampled_from(["rail", "rack", "rail-only"])),
        su_nodes=draw(st.integers(1, 20)),
        pod_sus=draw(st.integers(1, 4)) if tiers == 3 else None,
        spine_up=draw(st.none() | st.integers(1, 8)) if tiers == 3 else None,
        leaf_taper=draw(st.sampled_from([1.0, 2.0, 3.0])),
        leaf_switch=f"generic-{radix}",
    )


@given(any_clos())
def test_every_plan_fits_its_switches(spec):
    try:
        plan = plan_of(spec)
    except SpecError:
        assume(False)
    radix = parts.switch(plan.leaf_switch).radix
    assert plan.leaf_down + plan.leaf_up <= radix
    assert plan.spine_down + plan.spine_up <= radix
    assert plan.core_down <= radix
    assert plan.leaf_up % plan.spines == 0
    assert plan.sus * plan.su_nodes >= plan.nodes
    assert plan.leaves_per_pod % plan.blocks_per_pod_plane == 0
    if plan.tiers == 3:
        cores = plan.cores // plan.blocks_per_pod_plane
        assert plan.spines % plan.core_groups == 0
        assert cores % plan.core_groups == 0
        assert plan.spines * plan.spine_up >= cores


def plan_or_refusal(spec: ClusterSpec) -> ScaleOutPlan | SpecError:
    try:
        return plan_of(spec)
    except SpecError as error:
        return error


_COUNT = st.none() | st.integers(1, 300) | st.sampled_from([10**6, 10**12])


@given(
    nodes=st.integers(1, 3000) | st.sampled_from([10**7, 10**12]),
    nics=st.integers(0, 9),
    su_nodes=st.integers(1, 100) | st.just(10**12),
    tiers=st.sampled_from([1, 2, 3]),
    wiring=st.sampled_from(["rail", "rack", "rail-only"]),
    planes=st.sampled_from([1, 2, 4, 64]),
    link_gbps=st.none() | st.sampled_from([100.0, 400.0, 1e-300]),
    tapers=st.tuples(*[st.floats(1e-300, 1000)] * 2) | st.just((1.0, 1.0)),
    switches=st.sampled_from([("QM9700",), ("SN5600",), ("generic-2",), ("generic-33", "QM9700")]),
    given_counts=st.fixed_dictionaries(
        dict.fromkeys(
            ("sus", "leaf_down", "leaf_up", "pod_sus", "spines", "spine_up", "cores"), _COUNT
        )
    ),
)
def test_any_spec_derives_or_is_refused_in_a_sentence(
    nodes, nics, su_nodes, tiers, wiring, planes, link_gbps, tapers, switches, given_counts
):
    used = {1: ("sus", "leaf_down"), 2: ("sus", "leaf_down", "leaf_up", "spines")}
    spec = cluster(
        nodes,
        nics=nics,
        su_nodes=su_nodes,
        tiers=tiers,
        wiring=wiring,
        planes=planes,
        link_gbps=link_gbps,
        leaf_taper=tapers[0],
        spine_taper=tapers[1],
        leaf_switch=switches[0],
        spine_switch=switches[-1] if tiers > 1 else None,
        **{k: v for k, v in given_counts.items() if k in used.get(tiers, given_counts)},
    )
    found = plan_or_refusal(spec)
    if isinstance(found, SpecError):
        assert str(found).isprintable()
        assert found.hint
    else:
        assert found.cables >= nodes * nics
        assert found.bisection_gbps > 0
