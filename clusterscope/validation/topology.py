"""Cases of topology: counts and bandwidths of fabrics that are built for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clusterscope.columns import I32
from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import SPINE_CORE, Fabric
from clusterscope.fabric.build import build
from clusterscope.fabric.counts import counts
from clusterscope.fabric.dragonfly import global_taper
from clusterscope.routing.routes import Policy
from clusterscope.spec import parts
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec
from clusterscope.units import BITS_PER_BYTE, gbps_to_GBps
from clusterscope.validation import hpn
from clusterscope.validation.verdict import Outcome
from clusterscope.validation.worlds import (
    cluster,
    dragonfly,
    fat_tree,
    fewest_tiers,
    leaf_spine,
    played,
    rates,
    worst,
)

Setup = Mapping[str, Any]


def k_ary_fat_tree(setup: Setup) -> Outcome:
    """TOPO-01: hosts, switches and cables of three tiers of k-port switches."""
    built = [counts(build(fat_tree(k))) for k in setup["k"]]
    return {
        "hosts": [c["nodes"] for c in built],
        "core": [c["switches"]["core"] for c in built],
        "switches": [sum(c["switches"].values()) for c in built],
        "inter_switch_links": [
            c["cables"]["leaf-spine"] + c["cables"]["spine-core"] for c in built
        ],
    }


def two_tiers(setup: Setup) -> Outcome:
    """TOPO-02: the most hosts of two tiers, full leaves on as many spines as they have uplinks.

    A leaf fewer than the radix leaves spine ports free, one more finds none.
    """
    hosts = []
    for radix in setup["radix"]:
        leaves = radix
        spec = leaf_spine(leaves, radix // 2, radix // 2)
        fabric = build(spec)
        per_spine = np.bincount(fabric.cable_b[fabric.ports :] - fabric.ports)
        full = per_spine[len(fabric.switches_of(1)) :] == radix
        hosts.append(fabric.nodes if full.all() else 0)
    return {"hosts": hosts}


def superpod(setup: Setup) -> Outcome:
    """TOPO-03: DGX SuperPODs of rail leaves, in the fewest tiers that the ports allow."""
    out = {"su_nodes": 32, "leaf_switch": f"generic-{setup['radix']}"}
    gpus = setup["gpus_per_node"]
    built = [
        counts(build(fewest_tiers(nodes, out, {"pod_sus": 4}, node={"gpus": gpus, "nics": gpus})))
        for nodes in setup["nodes"]
    ]
    return {tier: [c["switches"][tier] for c in built] for tier in ("leaf", "spine", "core")}


def largest_dragonflies(setup: Setup) -> Outcome:
    """TOPO-05: the most groups for which the ports suffice, built to be counted."""
    a, p = setup["a"], setup["p"]
    built = [counts(build(_largest(a, p, h))) for h in setup["h"]]
    return {
        "groups": [c["switches"]["leaf"] // a for c in built],
        "switches": [c["switches"]["leaf"] for c in built],
        "endpoints": [c["nics"] for c in built],
    }


def _largest(a: int, p: int, h: int) -> ClusterSpec:
    """The largest dragonfly that is not refused: its ports suffice, and not for a group more."""
    keys = {"switches": a, "nic_ports": p, "global_links": 1, "switch": f"generic-{p + a - 1 + h}"}
    low, high = 1, 2 * a * h
    while high - low > 1:
        middle = (low + high) // 2
        try:
            derive(dragonfly(middle, **keys))
            low = middle
        except SpecError:
            high = middle
    return dragonfly(low, **keys)


def tapers(setup: Setup) -> Outcome:
    """TOPO-06: what a group of Frontier or Aurora sends over what its global cables carry."""
    frontier, aurora = (_machine(setup[name]) for name in ("frontier", "aurora"))
    tier = frontier.tier_cables(SPINE_CORE)
    carried_gbps = float(frontier.cable_gbps[tier.start : tier.stop].sum())
    return {
        "frontier_blocking": global_taper(frontier),
        "aurora_blocking": global_taper(aurora),
        "frontier_global_TBps_per_dir": carried_gbps / BITS_PER_BYTE / 1e3,
    }


def group_to_group(setup: Setup) -> Outcome:  # noqa: ARG001 - the machine is that of TOPO-06
    """TOPO-09: every group of Frontier sends to the next, around what is full; then NICs nearby.

    The fluid rate inside a group is the NIC's; what keeps MPI at 17.5 GB/s there is in the hosts
    and not modeled, so `max` comes out too high.
    """
    counted = {"groups": 74, "endpoints": 512, "links_per_arc": 4}
    fabric, transport = _machine(counted), parts.transport("slingshot")
    src = np.arange(fabric.ports, dtype=np.int32)
    far, near = (
        rates(fabric, src, np.roll(src, -by), Policy("adaptive"))
        for by in (counted["endpoints"], 1)
    )
    payload = transport.mtu_bytes / (transport.mtu_bytes + transport.header_bytes)
    ends = {"min": far.min(), "max": near.max()}
    return {name: gbps_to_GBps(float(gbps)) * payload for name, gbps in ends.items()}


def _machine(counted: Mapping[str, int]) -> Fabric:
    """A Slingshot dragonfly of 64-port switches, 16 NICs each."""
    nic_ports = 16
    return build(
        dragonfly(
            counted["groups"],
            switches=counted["endpoints"] // nic_ports,
            nic_ports=nic_ports,
            global_links=counted["links_per_arc"],
            switch="generic-64",
        )
    )


def bisection(setup: Setup) -> Outcome:
    """TOPO-07: the cut in the middle, and what flows across it get, by taper."""
    hosts, nic_gbps = setup["hosts"], float(setup["nic_gbps"])
    leaves = 8
    per_leaf = hosts // leaves
    cut, across = [], []
    for taper in setup["oversub"]:
        spec = leaf_spine(
            leaves,
            per_leaf,
            per_leaf,
            node={"nic_gbps": nic_gbps},
            scale_out={"spines": leaves, "link_gbps": nic_gbps / taper},
        )
        fabric = build(spec)
        cut.append(counts(fabric)["bisection_gbps"] / 1e3)
        src = np.arange(hosts, dtype=np.int32)
        dst: I32 = ((src + hosts // 2) % hosts).astype(np.int32)
        rate = rates(fabric, src, dst, Policy("spray"))
        across.append(worst(rate, float(rate.mean())))
    return {"bisection_Tbps_per_dir": cut, "cross_pod_permutation_gbps": across}


def planes_or_rails(setup: Setup) -> Outcome:
    """TOPO-11: DeepSeek-V3 with the NICs of a node in planes of their own, and on rails that meet.

    A plane a NIC is a rail that shares no switch with another. The batch is the 15,360 sequences
    that the published step time and tokens a day come to.
    """
    apart, joined = (_deepseek_step_s(setup["gpus"], w) for w in ("rail-only", "rail"))
    return {"step_time_ratio": apart / joined}


def _deepseek_step_s(gpus: int, wiring: str) -> float:
    """One iteration on H800 nodes, cut as the technical report has it."""
    nics = 8
    plan = {
        "pp": 16,
        "ep": 64,
        "global_batch": 15_360,
        "schedule": "zero-bubble",
        "overlap": ("dp", "ep", "pp"),
    }
    spec = cluster(
        gpus // nics,
        {"tiers": 2, "su_nodes": 32, "leaf_switch": "QM9700", "wiring": wiring},
        node={"gpus": nics, "gpu": "H800-SXM", "nics": nics},
        scale_up={"domain_gpus": nics, "gpu_gbps": 1600.0},
        transport={"name": "infiniband"},
        jobs=[{"name": "train", "model": {"name": "deepseek-v3"}, "plan": plan}],
    )
    return played(spec)[1][0].iteration_s


DERIVATIONS = {
    **hpn.DERIVATIONS,
    "TOPO-01": k_ary_fat_tree,
    "TOPO-02": two_tiers,
    "TOPO-03": superpod,
    "TOPO-05": largest_dragonflies,
    "TOPO-06": tapers,
    "TOPO-09": group_to_group,
    "TOPO-11": planes_or_rails,
    "TOPO-07": bisection,
}
