"""Specs for tests of the fabric: shorthand, published designs, and any small Clos."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from clusterscope.spec.model import ClusterSpec
from clusterscope.validation.worlds import fat_tree

Tables = dict[str, Any]

__all__ = ["cluster", "colossus", "fat_tree", "hpn_pod", "nvlink", "small_specs"]


def cluster(nodes: int, out: Tables | None, **more: Any) -> ClusterSpec:
    """A cluster of 8-GPU, 8-NIC nodes unless said otherwise, with generic 64-port switches."""
    node = {
        "count": nodes,
        "gpus": 8,
        "gpu": "generic",
        "nics": 8,
        "nic": "generic",
        "nic_gbps": 400.0,
    }
    node |= more.pop("node", {})
    tables = {"name": "test", "node": node, **more}
    if out is not None:
        tables["scale_out"] = {"leaf_switch": "generic-64", "wiring": "rail"} | out
    return ClusterSpec.model_validate(tables)


def nvlink(domain_gpus: int = 8) -> Tables:
    return {"domain_gpus": domain_gpus, "gpu_gbps": 3600.0}


def colossus() -> ClusterSpec:
    """100,000 GPUs on three tiers of 128-port switches, in 25 pods of 8 SUs, the last not full."""
    out = {
        "tiers": 3,
        "leaf_switch": "generic-128",
        "su_nodes": 64,
        "sus": 200,
        "pod_sus": 8,
        "spines": 64,
        "cores": 800,
    }
    return cluster(12_500, out, scale_up=nvlink())


def hpn_pod(pods: int = 1, **out: Any) -> ClusterSpec:
    """Pods of Alibaba HPN 7.0: 15 segments of 128 nodes, dual ToR, dual plane (SIGCOMM 2024)."""
    design = {
        "tiers": 2,
        "planes": 2,
        "leaf_switch": "generic-512",
        "su_nodes": 128,
        "leaf_down": 128,
        "leaf_up": 60,
        "spines": 60,
        "link_gbps": 400.0,
    }
    return cluster(15 * 128 * pods, design | out)


@st.composite
def small_specs(draw: st.DrawFn) -> ClusterSpec:
    """Any Clos of up to some hundred NIC ports, in every wiring, depth and number of planes."""
    tiers = draw(st.sampled_from([1, 2, 3]))
    wiring = draw(st.sampled_from(["rail", "rack", "rail-only"]))
    nics, su_nodes = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    gpus = draw(st.integers(1, 4))
    sus = 1 if tiers == 1 else draw(st.integers(1, 5))
    nodes = (sus - 1) * su_nodes + draw(st.integers(1, su_nodes))
    down = su_nodes if tiers == 1 else draw(st.integers(1, su_nodes))
    out: Tables = {
        "tiers": tiers,
        "wiring": wiring,
        "leaf_switch": "generic-256",
        "su_nodes": su_nodes,
        "planes": draw(st.integers(1, 2)),
        "leaf_down": down * nics if wiring == "rack" else down,
    }
    if tiers > 1:
        out["sus"] = sus + draw(st.integers(0, 2))
        out["leaf_up"] = draw(st.integers(1, 6))
        out["spines"] = draw(st.integers(1, out["leaf_up"]))
    if tiers == 3:
        out["pod_sus"] = draw(st.integers(1, out["sus"]))
        out["spine_up"] = draw(st.integers(1, 4))
        rails = nics if wiring == "rail-only" else 1
        out["cores"] = rails * draw(st.integers(1, out["spines"] * out["spine_up"]))
    domain = draw(st.sampled_from([0, 1, gpus, gpus * nodes]))
    more = {"scale_up": nvlink(domain)} if domain else {}
    return cluster(nodes, out, node={"gpus": gpus, "nics": nics}, **more)
