"""The small worlds that cases are played in: specs in short, and flows on their fabrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from clusterscope.columns import F64, I32
from clusterscope.engine.rates import max_min_entries
from clusterscope.engine.scenario import Scenario, build
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import Fabric
from clusterscope.fabric.build import build as build_fabric
from clusterscope.metrics.jobs import JobMetrics, job_metrics
from clusterscope.routing.hashing import entropy
from clusterscope.routing.route import route
from clusterscope.routing.routes import Policy, Routes
from clusterscope.spec import parts
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.validate import validate
from clusterscope.transport.model import SCALE_UP_GOODPUT
from clusterscope.units import BITS_PER_BYTE

Tables = Mapping[str, Any]

# The transport of cases that give payload rates and leave headers and latency out.
WIRE: Final = "infiniband"


def cluster(nodes: int, out: Tables | None, **more: Any) -> ClusterSpec:  # noqa: ANN401 - tables of a spec
    """A cluster of nodes with one GPU and one 400 Gb/s NIC each, unless said otherwise.

    Args:
        nodes: how many.
        out: keys of `[scale_out]`; None leaves the nodes unconnected.
        more: other tables; `node` is merged into the usual one.
    """
    node = {
        "count": nodes,
        "gpus": 1,
        "gpu": "generic",
        "nics": 1,
        "nic": "generic",
        "nic_gbps": 400.0,
    } | more.pop("node", {})
    tables: dict[str, Any] = {"name": "case", "node": node, **more}
    if out is not None:
        tables["scale_out"] = {"leaf_switch": "generic-64", "wiring": "rail", **out}
    return validate(tables, "case")


def star(nodes: int, **more: Any) -> ClusterSpec:  # noqa: ANN401 - tables of a spec
    """Nodes on one switch; `scale_out` is merged in."""
    out = {"tiers": 1, "su_nodes": nodes, "leaf_switch": f"generic-{max(2, nodes)}"}
    return cluster(nodes, out | dict(more.pop("scale_out", {})), **more)


def leaf_spine(leaves: int, hosts: int, spines: int, **more: Any) -> ClusterSpec:  # noqa: ANN401 - tables of a spec
    """Leaves of `hosts` nodes each, one cable to every spine; `scale_out` is merged in."""
    radix = max(2 * hosts, hosts + spines, leaves, 2)
    out = {
        "tiers": 2,
        "su_nodes": hosts,
        "leaf_switch": f"generic-{radix}",
        "leaf_down": hosts,
        "leaf_up": spines,
        "spines": spines,
    }
    return cluster(leaves * hosts, out | dict(more.pop("scale_out", {})), **more)


def fat_tree(k: int) -> ClusterSpec:
    """The k-ary fat tree of k-port switches: k pods, k^3 / 4 nodes (Al-Fares et al. 2008)."""
    half = k // 2
    out = {
        "tiers": 3,
        "leaf_switch": f"generic-{k}",
        "su_nodes": half,
        "pod_sus": half,
        "cores": half**2,
        "spines": half,
    }
    return cluster(k**3 // 4, out)


def dragonfly(groups: int, **keys: Any) -> ClusterSpec:  # noqa: ANN401 - keys of a spec
    """A full dragonfly of nodes with one 200 Gb/s NIC each; keys as in `[dragonfly]`."""
    nodes = groups * keys["switches"] * keys["nic_ports"]
    node = {"nic_gbps": 200.0}
    return cluster(nodes, None, node=node, dragonfly={"groups": groups, **keys})


def fewest_tiers(nodes: int, out: Tables, deeper: Tables, **more: Any) -> ClusterSpec:  # noqa: ANN401 - tables of a spec
    """Two tiers where the ports suffice for the nodes, else three with `deeper` as well."""
    try:
        spec = cluster(nodes, {"tiers": 2, **out}, **more)
        build_fabric(spec)
    except SpecError:
        return cluster(nodes, {"tiers": 3, **out, **deeper}, **more)
    return spec


def varied(spec: ClusterSpec, **tables: Any) -> ClusterSpec:  # noqa: ANN401 - tables of a spec
    """The same spec with other tables."""
    return validate(spec.model_dump(exclude_unset=True) | tables, "case")


def routes(
    fabric: Fabric, src: I32, dst: I32, policy: Policy, seed: int = 0, qp: I32 | None = None
) -> tuple[Routes, F64]:
    """Routes of flows (F,) between NIC ports, and what each resource carries, (L + B,) Gb/s."""
    qp = np.zeros(len(src), dtype=np.int32) if qp is None else qp
    found, bundles = route(fabric, fabric.cable_gbps, src, dst, entropy(src, dst, qp, seed), policy)
    return found, np.concatenate([fabric.link_gbps, bundles.gbps])


def rates(fabric: Fabric, src: I32, dst: I32, policy: Policy, seed: int = 0) -> F64:
    """Max-min rate of flows (F,) between NIC ports in an otherwise idle fabric, (F,) Gb/s."""
    found, gbps = routes(fabric, src, dst, policy, seed)
    entries = (found.entry_flow, found.entry_link, found.entry_weight)
    return max_min_entries(*entries, len(src), gbps).flow_gbps


def permutation_shares(fabric: Fabric, policy: Policy, trials: int) -> F64:
    """Share of the NIC rate that each flow of random permutations gets, (trials, N).

    Permutations are plain: one port in N draws itself and meets nobody but at its leaf.
    """
    src = np.arange(fabric.ports, dtype=np.int32)
    found = np.empty((trials, fabric.ports))
    for trial in range(trials):
        dst = np.random.default_rng(trial).permutation(fabric.ports).astype(np.int32)
        found[trial] = rates(fabric, src, dst, policy, trial) / fabric.cable_gbps[src]
    return found


def played(spec: ClusterSpec) -> tuple[Scenario, tuple[JobMetrics, ...]]:
    """A spec compiled, and its jobs at the first step."""
    scenario = build(spec)
    return scenario, job_metrics(scenario, Timeline(scenario).at(0))


def sending_s(job: JobMetrics) -> float:
    """Seconds of an iteration that are bytes, not latency, of phases that follow one another."""
    return sum(phase.seconds - phase.latency_s for phase in job.phases)


def nic_gbps(payload_GBps: float) -> float:  # noqa: N803 - the unit's own spelling
    """Line rate of a NIC that carries so much payload under the transport `WIRE`, Gb/s."""
    part = parts.transport(WIRE)
    return _gbps(payload_GBps) * (part.mtu_bytes + part.header_bytes) / part.mtu_bytes


def gpu_gbps(payload_GBps: float) -> float:  # noqa: N803 - the unit's own spelling
    """Line rate of a GPU into its scale-up domain that carries so much payload, Gb/s."""
    return _gbps(payload_GBps) / SCALE_UP_GOODPUT


def _gbps(rate_GBps: float) -> float:  # noqa: N803 - the unit's own spelling
    return rate_GBps * BITS_PER_BYTE


def worst(values: F64, best: float) -> float:
    """The value that is farthest from `best`, so that one bad flow cannot hide in a mean."""
    return float(values[np.abs(values - best).argmax()]) if len(values) else math.nan
