from __future__ import annotations

from clusterscope.fabric.build import build
from clusterscope.fabric.counts import bisection_gbps, counts
from tests.fabric.fabric_specs import cluster, hpn_pod, nvlink


def test_counts_of_two_planes() -> None:
    assert counts(build(hpn_pod())) == {
        "gpus": 15_360,
        "nodes": 1_920,
        "nics": 15_360,
        "switches": {"leaf": 240, "spine": 120, "core": 0},
        "cables": {"nic-leaf": 30_720, "leaf-spine": 14_400, "spine-core": 0, "scale-up": 0},
        # the uplinks carry less than the 15,360 NICs of 400 Gb/s could send
        "bisection_gbps": 240 * 60 * 400 / 2,
    }


def test_counts_without_scale_out() -> None:
    have = counts(build(cluster(2, None, scale_up=nvlink())))
    assert (have["nics"], have["bisection_gbps"]) == (0, 0.0)
    assert have["cables"]["scale-up"] == 16


def test_bisection_is_bounded_by_the_nics() -> None:
    out = {"tiers": 2, "su_nodes": 32, "leaf_down": 32, "leaf_up": 32}
    full, half_empty = build(cluster(32, out)), build(cluster(16, out))
    assert bisection_gbps(full) == 32 * 8 * 400 / 2
    assert bisection_gbps(half_empty) == 16 * 8 * 400 / 2


def test_cores_bound_the_bisection_of_several_pods_only() -> None:
    out = {"tiers": 3, "su_nodes": 4, "leaf_down": 4, "spine_up": 1, "spines": 4, "cores": 1}
    two_pods = build(cluster(16, out | {"pod_sus": 2, "cores": 4}))
    assert bisection_gbps(two_pods) == 2 * 4 * 1 * 400 / 2
    one_pod = build(cluster(16, out | {"pod_sus": 4}))
    assert bisection_gbps(one_pod) == 16 * 8 * 400 / 2


def test_one_tier_is_as_wide_as_its_nics() -> None:
    assert bisection_gbps(build(cluster(4, {"tiers": 1, "su_nodes": 4}))) == 4 * 8 * 400 / 2
