"""Cases of Alibaba HPN: how far two tiers reach, and how few paths there are to choose from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import LEAF_SPINE, SPINE_CORE, Fabric
from clusterscope.fabric.build import build
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.presets import load
from clusterscope.validation.verdict import Outcome
from clusterscope.validation.worlds import cluster, fat_tree

Setup = Mapping[str, Any]

_PRESET: Final = "hpn-15k"
# 51.2 Tb/s as 64 x 800, 128 x 400 or 256 x 200 Gb/s.
_SWITCH: Final = "Tomahawk5-64x800"


def pod(setup: Setup) -> Outcome:
    """TOPO-04: a pod of dual-homed segments, as built and with rails kept apart."""
    whole = build(load(_PRESET))
    down = np.bincount(whole.cable_b[_span(whole, LEAF_SPINE)] - whole.ports)
    below, above = (whole.cable_gbps[_span(whole, tier)].sum() for tier in (LEAF_SPINE, SPINE_CORE))
    segments = setup["gpus_per_segment"] // setup["rails"]
    apart = {
        "wiring": "rail-only",
        "spine_switch": f"generic-{setup['agg_ports']}",
        "spine_up": setup["agg_ports"] - setup["segments"] * setup["rails"],
    }
    most = _most(lambda sus: _segments(sus, segments, spines=60, leaf_up=60, **apart))
    return {
        "gpus_per_pod": whole.gpus,
        "agg_down_ports": int(down.max()),
        "agg_to_core_oversub": float(below / above),
        "rail_only_pod": most.gpus,
    }


def scaling(setup: Setup) -> Outcome:  # noqa: ARG001 - the preset has the counts
    """TOPO-12: what each of the design's steps adds to a segment and to a pod.

    Bases are one ToR of 51.2 Tb/s, half of it down, and two tiers of such switches as 64 x 800.
    A second ToR halves the rate of a port and doubles the GPUs of a ToR; its own plane halves the
    ToRs that a spine sees; spines that taper 15:1 see 120 ToRs, not 64.
    """
    whole = build(load(_PRESET))
    ports = np.bincount(whole.port_leaf)[0]
    uplinks = whole.cable_gbps[whole.up_start[0] : whole.up_start[1]]
    return {
        "tor_oversub": float(ports * whole.cable_gbps[0] / uplinks.sum()),
        "tier1_gpus": [_behind_a_leaf(1, 1), _behind_a_leaf(1, 2), _behind_a_leaf(8, 2)],
        "tier2_gpus": [_two_tiers(), *(_in_a_pod(*step) for step in ((1, 64), (2, 64), (2, 8)))],
        "path_search": [
            choices(whole, 0, 40),
            choices(_superpod(), 0, 40),
            choices(_jupiter(), 0, 40),
            _switch_ports(build(fat_tree(48))),
        ],
    }


def choices(fabric: Fabric, a: int, b: int) -> int:
    """Ways to choose from at each switch between leaves a and b of a plane, multiplied."""
    up, block = np.diff(fabric.up_start), fabric.switch_block
    first = slice(fabric.up_start[a], fabric.up_start[a + 1])
    spine = int(fabric.cable_b[first][0]) - fabric.ports
    if block[a] == block[b]:
        return int(up[a])
    second = slice(fabric.up_start[spine], fabric.up_start[spine + 1])
    core = int(fabric.cable_b[second][0])
    below = fabric.cable_a[np.flatnonzero(fabric.cable_b == core)] - fabric.ports
    return int(up[a] * up[spine] * (block[below] == block[b]).sum())


def _switch_ports(fabric: Fabric) -> int:
    """Ports of a leaf times those of a spine.

    The source counts so for the k-ary fat tree alone; only half of the ports of each lead up.
    """
    ends = np.concatenate([fabric.cable_a, fabric.cable_b]) - fabric.ports
    ports = np.bincount(ends[ends >= 0], minlength=fabric.switches)
    return int(ports[0] * ports[fabric.switches_of(2).start])


def _superpod() -> Fabric:
    """2,048 nodes of 8 rails in SUs of 32, 4 SUs a pod, of 64-port switches."""
    out = {"tiers": 3, "su_nodes": 32, "pod_sus": 4, "leaf_switch": "generic-64"}
    return build(cluster(2048, out, node={"gpus": 8, "nics": 8}))


def _jupiter() -> Fabric:
    """ToRs with 8 uplinks into blocks of 8 switches, each of which has 256 uplinks."""
    out = {
        "tiers": 3,
        "su_nodes": 8,
        "leaf_switch": "generic-16",
        "leaf_up": 8,
        "pod_sus": 32,
        "spine_switch": "generic-512",
        "spines": 8,
        "spine_up": 256,
        "cores": 8 * 256,
        "core_switch": "generic-64",
    }
    return build(cluster(2 * 32 * 8, out))


def _behind_a_leaf(rails: int, tors: int) -> int:
    """GPUs that share a set of leaves, one a rail and ToR, half of each switch down."""
    out = {"tiers": 2, "planes": tors, "su_nodes": 128, "link_gbps": 400.0}
    plan = derive(cluster(8, out | {"leaf_switch": _SWITCH}, node={"gpus": rails, "nics": rails}))
    assert plan is not None  # the spec has a scale_out table
    return plan.leaf_down * rails


def _two_tiers() -> int:
    """The most endpoints of two tiers of 64 x 800 Gb/s."""

    def endpoints(leaves: int) -> ClusterSpec:
        out = {"tiers": 2, "su_nodes": 32, "leaf_switch": _SWITCH}
        return cluster(32 * leaves, out, node={"nic_gbps": 800.0})

    return _most(endpoints).gpus


def _in_a_pod(planes: int, spine_up: int) -> int:
    """The most GPUs behind two ToRs each, in one or two planes of spines with that many uplinks."""
    if planes == 2:
        return _most(lambda sus: _segments(sus, 128, leaf_up=64, spines=64, spine_up=spine_up)).gpus

    def beside(sus: int) -> ClusterSpec:
        """Both ToRs under the same spines: as two NICs of a GPU, a rail each."""
        out = _design(sus, 128, leaf_up=64, spines=64, spine_up=spine_up) | {"planes": 1}
        return cluster(128 * sus, out, node={"gpus": 1, "nics": 2, "nic_gbps": 200.0})

    return _most(beside).gpus


def _segments(sus: int, nodes: int, **out: object) -> ClusterSpec:
    """Segments of one rail, or of all eight when rails are kept apart, two ToRs a rail."""
    rails = 8 if out.get("wiring") == "rail-only" else 1
    return cluster(nodes * sus, _design(sus, nodes, **out), node={"gpus": rails, "nics": rails})


def _design(sus: int, nodes: int, **out: object) -> dict[str, object]:
    return {
        "tiers": 3,
        "planes": 2,
        "leaf_switch": _SWITCH,
        "su_nodes": nodes,
        "leaf_down": nodes,
        "link_gbps": 400.0,
        "pod_sus": sus,
        "core_switch": "generic-4096",
        **out,
    }


def _most(spec_of: Callable[[int], ClusterSpec]) -> ClusterSpec:
    """The largest of a family of specs whose switches have ports enough."""
    low, high = 1, 1024
    while high - low > 1:
        middle = (low + high) // 2
        try:
            derive(spec_of(middle))
            low = middle
        except SpecError:
            high = middle
    return spec_of(low)


def _span(fabric: Fabric, tier: int) -> slice:
    cables = fabric.tier_cables(tier)
    return slice(cables.start, cables.stop)


DERIVATIONS = {"TOPO-04": pod, "TOPO-12": scaling}
