"""Cases of traffic engineering: routes that are planned, against routes that are hashed.

A planned route keeps its packets in order and never meets another on a link that has an idle
neighbor; in rates that is an even spread over the live links, which the engine knows as spray. What
a plan cannot reach, being made of whole flows, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from clusterscope.columns import F64
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import LEAF_SPINE
from clusterscope.metrics.jobs import JobMetrics
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.presets import load
from clusterscope.units import GIB
from clusterscope.validation.verdict import Outcome
from clusterscope.validation.worlds import cluster, played, varied

Setup = Mapping[str, Any]
Tables = Mapping[str, object]

_NODE: Final = 8
# Draws of hashes and placements that a mean is taken of.
_DRAWS: Final = 8
# GPUs of a job, the least that both sources tell of.
_GPUS: Final = 128
# 16 flows instead of one (Llama 3, section 3.3.1), for each of the channels.
_QPS: Final = 16
_PLANNED: Final = {"load_balancing": "spray", "ordering": "reorder", "qps": 1}
# GPT-22B as Korthikanti et al. 2022 have it (table 3), Llama-7B as Touvron et al. 2023.
_GPT_22B: Final = {
    "layers": 48,
    "hidden": 6144,
    "heads": 64,
    "sequence": 2048,
    "vocabulary": 51200,
}
_LLAMA_7B: Final = {
    "layers": 32,
    "hidden": 4096,
    "heads": 32,
    "ffn": 11008,
    "gated": True,
    "sequence": 2048,
    "vocabulary": 32000,
}
# Batches are those of the models' own papers where the source tells none: a replica of GPT-22B has
# four sequences at once, Llama-7B 2,048 in an iteration. Megatron-LM, which trains the GPTs, waits
# for its gradients unless told otherwise (overlap_grad_reduce).
_TRAINED: Final[dict[str, tuple[Tables, Tables]]] = {
    "gpt22b": (_GPT_22B, {"tp": 8, "dp": 16, "microbatch": 4, "microbatches": 1, "overlap": ()}),
    "llama7b": (_LLAMA_7B, {"global_batch": 2048}),
    "gpt175b": ({"name": "gpt3-175b"}, {"tp": 8, "pp": 8, "microbatches": 16, "overlap": ()}),
}


def racks(setup: Setup) -> Outcome:  # noqa: ARG001 - told in words
    """ROUT-13: hierarchical all-reduce over racks, hashed by channel, by queue pair, and planned.

    The gain is the larger of two placements, packed and fragmented; everything else is fragmented,
    as the source has its trouble. Links are the uplinks of the racks while NICs send.
    """
    base = _zone()
    hashed, spread, planned = ({"qps": 1}, {"qps": _QPS}, _PLANNED)
    gain = {
        placement: _busbw(base, spread, placement) / _busbw(base, hashed, placement) - 1
        for placement in ("packed", "random")
    }
    by_queue, by_plan = _busbw(base, spread, "random"), _busbw(base, planned, "random")
    loads, even = _uplinks(base, spread), _uplinks(base, planned)
    return {
        "eecmp_qp_gain_allreduce_max": max(gain.values()),
        "te_over_eecmp_busbw": by_plan / by_queue - 1,
        "eecmp_link_util": [float(loads.min(axis=1).mean()), float(loads.max(axis=1).mean())],
        "te_link_util": float(even.mean()),
    }


def _zone() -> ClusterSpec:
    """Racks of Meta's RoCE cluster with their cluster switches, as many as a job fills."""
    meta = load("meta-24k-roce")
    assert meta.scale_out is not None  # the preset has a fabric
    keep = ("wiring", "su_nodes", "leaf_switch", "leaf_down", "leaf_up", "spine_switch", "spines")
    out = {key: getattr(meta.scale_out, key) for key in keep}
    node = meta.node.model_dump() | {"count": _GPUS // _NODE}
    scale_up = meta.scale_up.model_dump(exclude_none=True) if meta.scale_up else None
    return cluster(_GPUS // _NODE, {"tiers": 2, **out}, node=node, scale_up=scale_up)


def _drawn(
    base: ClusterSpec, transport: Tables, jobs: Tables, seed: int
) -> tuple[Scenario, JobMetrics]:
    """A job under a transport, one draw."""
    spec = varied(base, transport=transport, jobs=[jobs], sim={"seed": seed})
    scenario, (job,) = played(spec)
    return scenario, job


def _reduced(base: ClusterSpec, own: Tables, placement: str, seed: int) -> tuple[Any, JobMetrics]:
    job = {"name": "reduce", "collective": "all-reduce", "message_bytes": GIB, "algorithm": "ring"}
    return _drawn(base, {"name": "roce-eecmp", **own}, {**job, "placement": placement}, seed)


def _busbw(base: ClusterSpec, own: Tables, placement: str) -> float:
    found = [_reduced(base, own, placement, seed)[1].busbw_GBps for seed in range(_DRAWS)]
    return float(np.mean(found))


def _uplinks(base: ClusterSpec, own: Tables) -> F64:
    """Load over capacity of every uplink of a rack while NICs send, (draws, uplinks)."""
    rows = []
    for seed in range(_DRAWS):
        scenario, _ = _reduced(base, own, "random", seed)
        fabric, phases = scenario.fabric, scenario.loads[0]
        sends = [k for k, phase in enumerate(phases) if (phase.src < fabric.ports).any()]
        share = scenario.healthy.share(((0, sends[0]),))
        cables = fabric.tier_cables(LEAF_SPINE)
        up = 2 * np.arange(cables.start, cables.stop)
        rows.append(share.link_gbps[up] / fabric.link_gbps[up])
    return np.array(rows)


def jobs(setup: Setup) -> Outcome:  # noqa: ARG001 - told in words
    """ROUT-15: three training jobs on dual-homed nodes in two groups, hashed and planned.

    What communication costs is what an iteration waits for it, of the jobs that have a gain.
    """
    base = _two_groups()
    gain, saved = {}, []
    for name in _TRAINED:
        hashed, planned = (_trained(base, name, own) for own in ({"qps": 1}, _PLANNED))
        gain[name] = hashed[0] / planned[0] - 1
        if name != "gpt175b":
            saved.append(1 - planned[1] / hashed[1])
    return {**gain, "comm_cost_reduction": float(np.mean(saved))}


def _two_groups() -> ClusterSpec:
    """Nodes of 8 H800 with NICs of two ports into two planes, rails kept, 1:1, half a group each.

    The node is that of the same company's HPN.
    """
    hpn = load("hpn-15k")
    node = hpn.node.model_dump() | {"count": _GPUS // _NODE}
    group = _GPUS // _NODE // 2
    out = {"tiers": 2, "planes": 2, "su_nodes": group, "leaf_down": group, "leaf_up": group}
    scale_up = hpn.scale_up.model_dump(exclude_none=True) if hpn.scale_up else None
    return cluster(_GPUS // _NODE, out | {"spines": group}, node=node, scale_up=scale_up)


def _trained(base: ClusterSpec, name: str, own: Tables) -> tuple[float, float]:
    """Seconds of an iteration and what of them is waiting for communication, mean over draws."""
    model, plan = _TRAINED[name]
    job = {"name": name, "model": model, "plan": plan, "placement": "random"}
    found = []
    for seed in range(_DRAWS):
        _, metrics = _drawn(base, {"name": "rocev2", **own}, job, seed)
        assert metrics.training is not None
        found.append((metrics.iteration_s, sum(metrics.training.exposed_s.values())))
    seconds, exposed = np.mean(found, axis=0)
    return float(seconds), float(exposed)


DERIVATIONS = {"ROUT-13": racks, "ROUT-15": jobs}
