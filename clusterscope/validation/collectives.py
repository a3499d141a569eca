"""Cases of collectives: bytes, times and bandwidths in nccl-tests words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterscope.metrics.jobs import JobMetrics
from clusterscope.spec.presets import load
from clusterscope.traffic.program import algbw_GBps, busbw_GBps
from clusterscope.units import GBps_to_gbps
from clusterscope.validation.verdict import Outcome
from clusterscope.validation.worlds import (
    WIRE,
    cluster,
    gpu_gbps,
    leaf_spine,
    nic_gbps,
    played,
    sending_s,
    star,
    varied,
)

Setup = Mapping[str, Any]

_MS, _MICRO = 1e3, 1e6
# Nodes at which N / (N - 1) has all but reached 1.
_MANY_NODES = 512
# A switch that reduces, one tree a port.
_REDUCING = "QM9700"


def ring_all_reduce(setup: Setup) -> Outcome:
    """COLL-01: a flat ring over NICs of that payload rate, without latency."""
    spec = star(
        setup["ranks"],
        node={"nic_gbps": nic_gbps(setup["B_GBps"])},
        transport={"name": WIRE},
        jobs=[_plain("all-reduce", setup["S_bytes"], hierarchical=False)],
    )
    scenario, (job,) = played(spec)
    seconds = sending_s(job)
    return {
        "time": seconds * _MS,
        "algbw": algbw_GBps(job.message_bytes, seconds),
        "busbw": busbw_GBps(scenario.program[0], seconds),
    }


def halving_and_doubling(setup: Setup) -> Outcome:
    """COLL-03: halving and doubling between NICs on one switch, alpha a step."""
    return {"time": _alpha_beta_s(setup, "halving-doubling") * _MS}


def recursive_doubling(setup: Setup) -> Outcome:
    """COLL-04: a small message, all of it to a partner in every step."""
    return {"time": _alpha_beta_s(setup, "recursive-doubling") * _MICRO}


def trees(setup: Setup) -> Outcome:
    """COLL-05: one binary tree, and two that carry half each; many chunks, so no latency."""
    bare = {**setup, "alpha_us": 0.0}
    one, two = (_alpha_beta_s(bare, name) for name in ("single-tree", "tree"))
    return {"single_tree_time": one * _MS, "double_tree_time": two * _MS, "ratio": one / two}


def _alpha_beta_s(setup: Setup, algorithm: str) -> float:
    """An iteration by an algorithm whose steps take alpha and bytes, seconds."""
    alpha = {"step_latency_s": setup["alpha_us"] / _MICRO}
    spec = star(
        setup["ranks"],
        node={"nic_gbps": nic_gbps(setup["B_GBps"])},
        transport={"name": WIRE},
        jobs=[_job("all-reduce", setup["S_bytes"], algorithm=algorithm, **alpha)],
    )
    return played(spec)[1][0].iteration_s


def scatter_and_gather(setup: Setup) -> Outcome:
    """COLL-06: reduce-scatter and all-gather inside one scale-up domain."""
    ranks = setup["ranks"]
    seconds = {}
    for collective in ("reduce-scatter", "all-gather", "all-reduce"):
        spec = cluster(
            ranks,
            None,
            node={"nics": 0},
            scale_up={"domain_gpus": ranks, "gpu_gbps": gpu_gbps(setup["B_GBps"])},
            jobs=[_plain(collective, setup["S_bytes"])],
        )
        seconds[collective] = sending_s(played(spec)[1][0]) * _MS
    both = [seconds["reduce-scatter"], seconds["all-gather"]]
    return {"time_each": both, "rs_plus_ag": [sum(both), seconds["all-reduce"]]}


def ring_on_a_tapered_fabric(setup: Setup) -> Outcome:
    """COLL-16: a ring in order of the leaves, and one in random order."""
    shares = {}
    for placement in ("packed", "random"):
        spec = leaf_spine(
            leaves=setup["hosts"] // setup["hosts_per_leaf"],
            hosts=setup["hosts_per_leaf"],
            spines=setup["uplinks_per_leaf"],
            node={"nic_gbps": float(setup["nic_gbps"])},
            transport={"name": "spectrum-x"},
            jobs=[_plain("all-reduce", 2**30, hierarchical=False, placement=placement)],
        )
        scenario, (job,) = played(spec)
        wire_gbps = job.phases[0].rate_gbps / scenario.transport.goodput_ratio
        shares[placement] = wire_gbps / setup["nic_gbps"]
    return {
        "ordered_rate_fraction": shares["packed"],
        "random_order_rate_fraction": shares["random"],
    }


def all_to_all(setup: Setup) -> Outcome:
    """COLL-08: all-to-all of nodes whose GPUs have a NIC each and a fast network inside."""
    busbw = [_all_to_all_busbw(setup, nodes) for nodes in setup["nodes"]]
    return {"busbw": busbw, "asymptote": _all_to_all_busbw(setup, _MANY_NODES)}


def _all_to_all_busbw(setup: Setup, nodes: int) -> float:
    gpus = setup["gpus_per_node"]
    spec = cluster(
        nodes,
        {
            "tiers": 1,
            "wiring": "rack",
            "su_nodes": nodes,
            "leaf_switch": f"generic-{nodes * gpus}",
        },
        node={"gpus": gpus, "nics": gpus, "nic_gbps": nic_gbps(setup["nic_GBps"])},
        scale_up={"domain_gpus": gpus, "gpu_gbps": 1e6},
        transport={"name": WIRE},
        jobs=[_job("all-to-all", 2**30, step_latency_s=0.0)],
    )
    scenario, (job,) = played(spec)
    seconds = max(phase.seconds - phase.latency_s for phase in job.phases)
    return busbw_GBps(scenario.program[0], seconds)


def hierarchical_all_reduce(setup: Setup) -> Outcome:
    """COLL-09: four nodes of eight B200: phases at wire rate, and what a library makes of them."""
    nodes, gpus = setup["nodes"], setup["gpus_per_node"]
    out = {
        "tiers": 1,
        "wiring": "rack",
        "su_nodes": nodes,
        "leaf_switch": f"generic-{nodes * gpus}",
    }
    wire = cluster(
        nodes,
        out,
        node={"gpus": gpus, "nics": gpus, "nic_gbps": nic_gbps(setup["nic_GBps"])},
        scale_up={"domain_gpus": gpus, "gpu_gbps": gpu_gbps(setup["nvlink_GBps"])},
        transport={"name": WIRE},
        jobs=[_plain("all-reduce", setup["S_bytes"])],
    )
    _, (ideal,) = played(wire)
    across = [phase for phase in ideal.phases if phase.network == "scale-out"]
    modeled = cluster(
        nodes,
        out,
        node={
            "gpus": gpus,
            "gpu": "B200-SXM",
            "nics": gpus,
            "nic_gbps": GBps_to_gbps(setup["nic_GBps"]),
        },
        scale_up={"domain_gpus": gpus, "gpu_gbps": GBps_to_gbps(setup["nvlink_GBps"])},
        transport={"name": "srd"},
        jobs=[_job("all-reduce", setup["S_bytes"])],
    )
    _, (real,) = played(modeled)
    return {
        "inter_only(full overlap)": sum(p.seconds - p.latency_s for p in across) * _MS,
        "serial_at_wire_rate": sending_s(ideal) * _MS,
        "measured_total": real.iteration_s * _MS,
        "measured_busbw": real.busbw_GBps,
    }


def switch_trees(setup: Setup) -> Outcome:
    """COLL-12: all-reduce in the switches on its way, against a ring; bytes alone."""
    return {"speedup_switch_tree": [_tree_speedup(setup, ranks) for ranks in setup["ranks"]]}


def _tree_speedup(setup: Setup, ranks: int) -> float:
    """Ring over tree of that many nodes on one switch, or on leaves of 32 nodes and spines."""
    seconds = {}
    for algorithm in ("ring", "sharp"):
        more: dict[str, Any] = {
            "node": {"nic_gbps": GBps_to_gbps(setup["B_GBps"])},
            "scale_out": {"leaf_switch": _REDUCING},
            "transport": {"name": WIRE},
            "jobs": [_plain("all-reduce", 2**30, algorithm=algorithm)],
        }
        spec = star(ranks, **more) if ranks <= 64 else leaf_spine(ranks // 32, 32, 32, **more)
        seconds[algorithm] = sending_s(played(spec)[1][0])
    return seconds["ring"] / seconds["sharp"]


def domain_switches(setup: Setup) -> Outcome:
    """COLL-13: all-reduce in the NVSwitches of an H200 node, by how many of its GPUs take part."""
    ideal, speedup, busbw = [], [], 0.0
    for gpus in setup["gpus"]:
        ring, nvls = (_in_a_node(gpus, setup["S_bytes"], a) for a in ("ring", "nvls"))
        moved = [sum(phase.bytes for phase in job.phases) for job in (ring, nvls)]
        ideal.append(moved[0] / moved[1])
        speedup.append(ring.iteration_s / nvls.iteration_s)
        busbw = nvls.busbw_GBps
    return {"ideal_speedup": ideal, "measured_speedup": speedup, "measured_busbw_8": busbw}


def _in_a_node(gpus: int, message_bytes: int, algorithm: str) -> JobMetrics:
    spec = load("hgx-h200-nvswitch")
    job = _job("all-reduce", message_bytes, algorithm=algorithm, ranks=gpus)
    return played(varied(spec, jobs=[job]))[1][0]


def _plain(collective: str, message_bytes: float, **more: object) -> dict[str, object]:
    """A ring of which only the bytes count, unless said otherwise."""
    return _job(collective, message_bytes, **{"algorithm": "ring", "step_latency_s": 0.0, **more})


def _job(collective: str, message_bytes: float, **more: object) -> dict[str, object]:
    return {
        "name": collective,
        "collective": collective,
        "message_bytes": int(message_bytes),
        **more,
    }


DERIVATIONS = {
    "COLL-01": ring_all_reduce,
    "COLL-03": halving_and_doubling,
    "COLL-04": recursive_doubling,
    "COLL-05": trees,
    "COLL-06": scatter_and_gather,
    "COLL-08": all_to_all,
    "COLL-09": hierarchical_all_reduce,
    "COLL-12": switch_trees,
    "COLL-13": domain_switches,
    "COLL-16": ring_on_a_tapered_fabric,
}
