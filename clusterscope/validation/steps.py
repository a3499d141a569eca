"""Cases of training whose steps papers and vendors print, on clusters like theirs.

What a source leaves open: one layer a chunk where interleaving is not told, 32-bit gradients where
their width is not, and overlap as the software of its time had it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from clusterscope.metrics.jobs import JobMetrics
from clusterscope.metrics.training import TrainingMetrics
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.models import resolve_model
from clusterscope.spec.presets import load
from clusterscope.spec.training import ModelSpec
from clusterscope.traffic.transformer import model_flops
from clusterscope.validation.verdict import Holds, Outcome
from clusterscope.validation.worlds import fewest_tiers, played, varied

Setup = Mapping[str, Any]
Plan = Mapping[str, object]

_NODE: Final = 8
_PERCENT: Final = 100.0
_ALL: Final = ("tp", "cp", "pp", "dp")
# What Llama 3, table 4, prints; its MFU does not quite follow from it.
_PRINTED_TFLOPS: Final = (430, 400, 380)
# Sequences that each of the two entries of MLPerf takes at a time: the larger one's log says 2,688;
# that of the smaller one is an estimate, 16 for each of its data parallel ranks.
_MLPERF_BATCH: Final = (1792, 2688)
# Tokens that MegaScale's attention looks back; the paper tells that it slides, not how far: half.
_WINDOW: Final = 1024


def hopper(gpus: int, model: Mapping[str, object], plan: Plan) -> JobMetrics:
    """A job on DGX H100 nodes of eight rails of 400 Gb/s InfiniBand."""
    spec = fewest_tiers(
        gpus // _NODE,
        {"su_nodes": 32, "leaf_switch": "QM9700"},
        {"pod_sus": 4},
        node={"gpus": _NODE, "gpu": "H100-SXM", "nics": _NODE, "nic": "CX-7-400"},
        scale_up={"domain_gpus": _NODE, "gpu_gbps": 3600.0, "switch": "NVSwitch3", "switches": 4},
        transport={"name": "infiniband"},
        jobs=[_job(model, plan)],
    )
    return played(spec)[1][0]


def megatron_and_zero(setup: Setup) -> Outcome:
    """TRAIN-05: GPT-3 on A100s, cut three ways, and with nothing but sharded weights.

    ZeRO-3 sends through one ring of all ranks, which leaves a node by one NIC, and fetches weights
    ahead beside computing, as DeepSpeed does (ZeRO-Infinity, SC21, section 6.2).
    """
    old = {"recompute": "full", "attention": "stored"}
    cut = {"tp": 8, "pp": 12, "zero": 0, "global_batch": 1536, "overlap": (), **old}
    ptdp, zero3 = [], []
    for gpus in setup["gpus"]:
        shards = {"zero": 3, "microbatch": 1536 // gpus, "overlap": ("dp",), **old}
        ptdp.append(_trained(_ampere(gpus, cut)).tflops_per_gpu)
        zero3.append(_trained(_ampere(gpus, shards, hierarchical=False)).tflops_per_gpu)
    lost = [1 - rows[-1] / rows[0] for rows in (ptdp, zero3)]
    shown = f"PTD-P loses {lost[0]:.0%}, ZeRO-3 {lost[1]:.0%}"
    return {
        "ptdp_tflops": ptdp,
        "zero3_tflops": zero3,
        "order": Holds(lost[0] < 0.1 and lost[1] > 0.6, shown),
    }


def megascale(setup: Setup) -> Outcome:
    """TRAIN-08: 530B on the preset of the paper, a batch of as many sequences as GPUs.

    MegaScale overlaps all it can, its blocks stand side by side of one norm, and its attention
    slides over a window. Megatron is commit 285068c8 of January 2023, as the paper says, which
    brought FlashAttention, so that neither computes scores again; nothing in it overlaps.
    """
    base = load("bytedance-10k")
    cuts = {key: setup[key] for key in ("tp", "pp")}
    plan = cuts | {"vp": 3, "microbatches": setup["tp"] * setup["pp"], "grad_bytes": 4}
    mfu: dict[bool, list[float]] = {}
    for own in (False, True):
        full = plan | {"overlap": _ALL if own else ()}
        model = {"name": "megascale-530b", "parallel": own, "window": _WINDOW if own else 0}
        runs = [_on(base, gpus, model, full) for gpus in setup["gpus"]]
        mfu[own] = [_PERCENT * _full_squares(run, model) for run in runs]
    drop = mfu[False][0] - mfu[False][-1]
    return {"megatron_mfu": mfu[False], "megascale_mfu": mfu[True], "drop_megatron": drop}


def llama(setup: Setup) -> Outcome:
    """TRAIN-09: 405B on the preset of Meta's RoCE cluster; MFU by the case's own peak."""
    base, runs = load("meta-24k-roce"), []
    for row in setup["rows"]:
        cuts = {key: row[key] for key in ("tp", "cp", "pp", "dp")}
        plan = {**cuts, "vp": 8, "microbatches": row["batch_per_dp"], "zero": 2, "grad_bytes": 4}
        jobs = [_job({"name": "llama3-405b", "sequence": row["seq"]}, {**plan, "overlap": ("dp",)})]
        jobs[0]["ranks"] = row["gpus"]
        runs.append(_trained(played(varied(base, jobs=jobs))[1][0]))
    tflops = [run.tflops_per_gpu for run in runs]
    return {
        "tflops": tflops,
        "mfu_from_tflops": [_PERCENT * printed / setup["peak_tf"] for printed in _PRINTED_TFLOPS],
        "tokens_per_batch": runs[0].tokens,
        "ratio_16k_over_8k": tflops[1] / tflops[0],
    }


def strong_scaling(setup: Setup) -> Outcome:
    """TRAIN-15: 177B on ever more H100s, the batch as it is."""
    plan = {"tp": 8, "pp": 12, "vp": 8, "global_batch": setup["batch"], "grad_bytes": 4}
    model = {"name": "gpt3-177b", "sequence": setup["seq"]}
    runs = [hopper(gpus, model, plan | {"overlap": _ALL}) for gpus in setup["gpus"]]
    return {
        f"mfu_{gpus}": _PERCENT * _full_squares(run, model)
        for gpus, run in zip(setup["gpus"], runs, strict=True)
    }


def mlperf(setup: Setup) -> Outcome:
    """TRAIN-17: GPT-3 in FP8, as many sequences until it has learned, whatever the batch."""
    model = {"name": "gpt3-175b", "precision": "fp8"}
    plan = {"tp": 4, "pp": 8, "vp": 6, "overlap": _ALL}
    speed = [
        _trained(hopper(gpus, model, plan | {"global_batch": batch})).tokens_per_s
        for gpus, batch in zip(setup["gpus"], _MLPERF_BATCH, strict=True)
    ]
    speedup = speed[1] / speed[0]
    return {"speedup": speedup, "efficiency": speedup * setup["gpus"][0] / setup["gpus"][1]}


def _ampere(gpus: int, plan: Plan, *, hierarchical: bool = True) -> JobMetrics:
    """GPT-3 on DGX A100 nodes of eight rails of 200 Gb/s InfiniBand."""
    node = {"gpus": _NODE, "gpu": "A100-SXM4-80GB", "nics": _NODE, "nic_gbps": 200.0}
    spec = fewest_tiers(
        gpus // _NODE,
        {"su_nodes": 20, "leaf_switch": "QM8700"},
        {"pod_sus": 2},
        node=node,
        scale_up={"domain_gpus": _NODE, "gpu_gbps": 2400.0},
        transport={"name": "infiniband"},
        jobs=[_job({"name": "gpt3-175b"}, plan) | {"hierarchical": hierarchical}],
    )
    return played(spec)[1][0]


def _on(base: ClusterSpec, gpus: int, model: Mapping[str, object], plan: Plan) -> JobMetrics:
    """A job on a cluster like a preset, with as many GPUs as the job has."""
    node = base.node.model_dump() | {"count": gpus // base.node.gpus}
    cleared: dict[str, object] = {"expect": {}, "sources": {}}
    return played(varied(base, node=node, jobs=[_job(model, plan)], **cleared))[1][0]


def _job(model: Mapping[str, object], plan: Plan) -> dict[str, object]:
    return {"name": "train", "model": dict(model), "plan": dict(plan)}


def _full_squares(job: JobMetrics, model: Mapping[str, object]) -> float:
    """MFU that counts full squares of scores, as Megatron-LM did until March 2025 (8873b55d6a)."""
    spec = ModelSpec.model_validate(dict(model))
    own = resolve_model(spec, "model")
    whole = model_flops(resolve_model(spec.model_copy(update={"window": 0}), "model"))
    return _trained(job).mfu * whole / model_flops(own, "fused")


def _trained(job: JobMetrics) -> TrainingMetrics:
    assert job.training is not None
    return job.training


DERIVATIONS = {
    "TRAIN-05": megatron_and_zero,
    "TRAIN-08": megascale,
    "TRAIN-09": llama,
    "TRAIN-15": strong_scaling,
    "TRAIN-17": mlperf,
}
