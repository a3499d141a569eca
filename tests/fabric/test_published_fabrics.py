"""Switch and cable counts that vendors and papers print, through `build`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clusterscope.fabric.arrays import SWITCH_TIERS, Fabric
from clusterscope.fabric.build import build
from clusterscope.fabric.counts import counts
from clusterscope.spec import parts
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec
from tests.fabric.fabric_specs import cluster, fat_tree

PRESETS = sorted((Path(__file__).parents[2] / "presets").glob("*.toml"))


def sizes(fabric: Fabric) -> tuple[int, ...]:
    """Leaf, spine, core; NIC-leaf, leaf-spine, spine-core cables."""
    have = counts(fabric)
    cables = [have["cables"][tier] for tier in ("nic-leaf", "leaf-spine", "spine-core")]
    return (*(have["switches"][tier] for tier in SWITCH_TIERS), *cables)


def within_radix(spec: ClusterSpec, fabric: Fabric) -> bool:
    """No switch uses more than the whole of its ports, each at its own rate."""
    plan = derive(spec)
    assert plan is not None
    used = np.zeros(fabric.switches)
    names = (plan.leaf_switch, plan.spine_switch, plan.core_switch)
    for ends in (fabric.cable_a, fabric.cable_b):
        for gbps in np.unique(fabric.cable_gbps):
            which = ends[(fabric.cable_gbps == gbps) & (fabric.cable_tier < 3)] - fabric.ports
            at_rate = np.bincount(which[which >= 0], minlength=fabric.switches)
            for tier, name in enumerate(names, start=1):
                members = slice(fabric.switches_of(tier).start, fabric.switches_of(tier).stop)
                if at_rate[members].any():
                    ports = parts.switch(name).ports_at(float(gbps))
                    assert ports is not None
                    used[members] += at_rate[members] / ports
    return bool((used <= 1 + 1e-9).all())


@pytest.mark.parametrize(
    ("nodes", "spines", "leaves"), [(31, 4, 8), (63, 8, 16), (95, 16, 24), (127, 16, 32)]
)
def test_superpod_h100_scalable_units(nodes: int, spines: int, leaves: int) -> None:
    # DGX SuperPOD H100 reference architecture, network fabrics, Table 4
    spec = cluster(nodes, {"tiers": 2, "su_nodes": 32, "leaf_switch": "QM9700", "spines": spines})
    fabric = build(spec)
    assert sizes(fabric) == (leaves, spines, 0, nodes * 8, leaves * 32, 0)
    assert within_radix(spec, fabric)


@pytest.mark.parametrize(
    ("nodes", "switches"),
    [
        (64, (16, 8, 0)),
        (128, (32, 16, 0)),
        (256, (64, 32, 0)),
        (512, (128, 128, 64)),
        (1024, (256, 256, 128)),
        (2048, (512, 512, 256)),
    ],
)
def test_superpod_b200_larger_pods(nodes: int, switches: tuple[int, int, int]) -> None:
    # DGX SuperPOD B200 reference architecture: cables equal GPUs at every tier
    tiers = 3 if switches[2] else 2
    out: dict[str, Any] = {"tiers": tiers, "su_nodes": 32, "leaf_switch": "QM9700"}
    if tiers == 3:
        out["pod_sus"] = 4
    spec = cluster(nodes, out)
    fabric = build(spec)
    gpus = nodes * 8
    assert sizes(fabric) == (*switches, gpus, gpus, gpus if tiers == 3 else 0)
    assert within_radix(spec, fabric)


@pytest.mark.parametrize(
    ("sus", "leaves", "spines"),
    [(1, 16, 8), (2, 32, 16), (4, 64, 32), (8, 128, 64), (16, 256, 128)],
)
def test_superpod_b300_on_spectrum_x(sus: int, leaves: int, spines: int) -> None:
    # DGX SuperPOD B300 reference architecture: 800 Gb/s in two 400 Gb/s planes, counted together
    nodes = sus * 64
    out = {"tiers": 2, "su_nodes": 64, "leaf_switch": "SN5600", "planes": 2}
    spec = cluster(nodes, out, node={"nic_gbps": 800.0})
    fabric = build(spec)
    assert sizes(fabric)[:3] == (leaves, spines, 0)
    # one cable of the table is one 800 Gb/s NIC, here two ports
    assert sizes(fabric)[3:5] == (2 * nodes * 8, 2 * nodes * 8)
    assert within_radix(spec, fabric)


@pytest.mark.parametrize(
    ("sus", "leaves", "spines"), [(1, 8, 4), (2, 16, 8), (4, 32, 18), (8, 64, 36), (18, 144, 72)]
)
def test_superpod_b300_on_xdr(sus: int, leaves: int, spines: int) -> None:
    # DGX SuperPOD B300 XDR reference architecture; its GPU count of the last row is a misprint
    nodes = sus * 72
    out = {"tiers": 2, "su_nodes": 72, "leaf_switch": "Q3400", "spines": spines}
    spec = cluster(nodes, out, node={"nic_gbps": 800.0})
    fabric = build(spec)
    assert sizes(fabric) == (leaves, spines, 0, nodes * 8, nodes * 8, 0)
    assert within_radix(spec, fabric)


@pytest.mark.parametrize("k", [4, 16, 48, pytest.param(64, marks=pytest.mark.slow)])
def test_k_ary_fat_tree(k: int) -> None:
    # Al-Fares et al., SIGCOMM 2008
    spec = fat_tree(k)
    fabric = build(spec)
    leaves, spines, cores, hosts, leaf_spine, spine_core = sizes(fabric)
    assert hosts == k**3 // 4
    assert cores == (k // 2) ** 2
    assert leaves + spines + cores == 5 * k**2 // 4
    assert leaf_spine + spine_core == k**3 // 2
    assert within_radix(spec, fabric)


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_presets_build_to_the_counts_they_expect(path: Path) -> None:
    spec = ClusterSpec.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    fabric = build(spec)
    keys = ("leaf", "spine", "core", "nic_leaf_cables", "leaf_spine_cables", "spine_core_cables")
    built = dict(zip(keys, sizes(fabric), strict=True))
    built |= {"gpus": fabric.gpus, "nodes": fabric.nodes, "switches": fabric.switches}
    if fabric.dragonfly:
        cables = counts(fabric)["cables"]
        built |= {"groups": fabric.pods}
        built |= {f"{tier}_cables": cables[tier] for tier in ("local", "global")}
    wanted = spec.expect.model_dump(exclude_none=True)
    assert {key: built[key] for key in wanted} == wanted
    if spec.scale_out:
        assert within_radix(spec, fabric)
