"""Cases of reliability: how often large jobs fail, and what that leaves of their time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterscope.metrics.reliability import (
    Checkpointing,
    Interruptions,
    expected_failures,
    job_mtbf_s,
    mtbf_s,
    productive_share,
)
from clusterscope.validation import failures
from clusterscope.validation.verdict import Holds, Outcome

Setup = Mapping[str, Any]

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86_400.0
_GPUS_PER_NODE = 8
_PERCENT = 100.0

# MegaScale (NSDI 2024), section 6.3: more than 100 restarts in several weeks, four of them here;
# found and diagnosed within 10 minutes, and caught up within 15.
_MEGASCALE_RESTARTS, _MEGASCALE_DAYS = 100, 28
_MEGASCALE_STALL_S = (10 + 15) * _MINUTE
# Llama 3 (arXiv:2407.21783), section 3.3.4: unexpected interruptions, as in REL-01.
_LLAMA_FAILURES, _LLAMA_DAYS, _LLAMA_GPUS = 419, 54, 16_384
_BYTEROBUST_GPUS = 9_600


def llama_mtbf(setup: Setup) -> Outcome:
    """REL-01: mean times from the interruptions of a run that was counted."""
    period_s, unexpected = setup["days"] * _DAY, setup["unexpected"]
    whole = mtbf_s(period_s, unexpected)
    nodes = setup["gpus"] / setup["gpus_per_node"]
    per_node_s = mtbf_s(period_s * nodes, unexpected)
    return {
        "mtbf_unexpected": whole / _HOUR,
        "mtbf_all": mtbf_s(period_s, unexpected + setup["planned"]) / _HOUR,
        "per_gpu_mtbf": mtbf_s(period_s * setup["gpus"], unexpected) / _HOUR,
        "failures_per_1000_node_days": expected_failures(1 / per_node_s, 1000, _DAY),
    }


def llama_causes(setup: Setup) -> Outcome:
    """REL-02: shares of causes, by the printed counts; two printed shares are misprints."""
    counted = Interruptions(setup["table"])
    gpu = [
        *(cause for cause in counted.by_cause if "GPU" in cause),
        "SDC",  # silent data corruption happens in GPUs
    ]
    network = ["Network switch/cable"]
    return {
        "sum": counted.total,
        "faulty_gpu_share": _PERCENT * counted.share(["Faulty GPU"]),
        "gpu_share": _PERCENT * counted.share(gpu),
        "network_share": _PERCENT * counted.share(network),
        "nic_plus_network": _PERCENT * counted.share([*network, "NIC"]),
    }


def rsc_projection(setup: Setup) -> Outcome:
    """REL-04: mean time to failure of large jobs, from the rate of a node."""
    rate = setup["node_failures_per_node_day"] / _DAY
    return {"mttf_h": [job_mtbf_s(rate, gpus / _GPUS_PER_NODE) / _HOUR for gpus in setup["gpus"]]}


def rsc_small_jobs(setup: Setup) -> Outcome:
    """REL-05: the rate of a node against what small jobs measured, which it does not give."""
    small, large = setup["gpus"]
    rate = 0.0065 / _DAY  # of REL-04, which the same paper projects with
    model = [job_mtbf_s(rate, gpus / _GPUS_PER_NODE) / _HOUR for gpus in (small, large)]
    return {
        "model_1024": model[1],
        "measured_1024": Holds(False, f"{model[1]:.1f} h by the rate of a node"),
        "ratio_8_to_1024": model[0] / model[1],
    }


def checkpoint_interval(setup: Setup) -> Outcome:
    """REL-07: how often to write a checkpoint, and what is left of the time."""
    job = Checkpointing(setup["delta_s"], setup["restart_s"], setup["mtbf_s"])
    return {
        "young": job.young_s,
        "daly": job.daly_s,
        "exact_efficiency_at_optimum": job.best_efficiency,
        "efficiency_at_1h_interval": job.efficiency(_HOUR),
    }


def llama_effective_time(setup: Setup) -> Outcome:
    """REL-08: how short a checkpoint must block for nine tenths of the time to compute."""
    slow, fast = (
        Checkpointing(delta, setup["restart_s"], setup["mtbf_h"] * _HOUR).best_efficiency
        for delta in setup["delta_s"]
    )
    return {"eff_delta60": slow, "eff_delta20": fast, "published": fast}


def fault_tolerant_training(setup: Setup) -> Outcome:
    """REL-09: a failure each 18 minutes, with long stalls and with short ones."""
    interval_s = setup["failure_interval_min"] * _MINUTE
    left = [productive_share(interval_s, stall * _MINUTE) for stall in setup["stall_min"]]
    return {"sync_fraction": left[0], "ft_fraction_simple": left[1], "published": left}


def links_and_leaves(setup: Setup) -> Outcome:
    """REL-10: NIC links and leaves that fail under a job in a month."""
    links = expected_failures(setup["link_fail_per_month"], setup["gpus"], 1)
    leaves = expected_failures(setup["tor_fail_per_month"], setup["tors"], 1)
    return {
        "expected_link_failures": links,
        "with_tors": links + leaves,
        "published_crashes": links + leaves,
    }


def checkpoint_practice(setup: Setup) -> Outcome:
    """REL-17: what checkpoints each few hours cost, written and lost."""
    intervals = [hours * _HOUR for hours in setup["interval_h"]]
    job = Checkpointing(setup["ckpt_s"], 0.0, 1.0)
    rollback_h = [job.rollback_s(interval) / _HOUR for interval in intervals]
    usd = [hours * setup["cost_per_hour"] for hours in rollback_h]
    return {
        "pure_write_overhead": [job.write_share(interval) for interval in intervals],
        "expected_rollback_h": rollback_h,
        "cost_per_failure_usd": usd,
        "published_cost": sum(usd) / len(usd),
    }


def goodput_reports(setup: Setup) -> Outcome:  # noqa: ARG001 - it says nothing
    """REL-18: goodput from how often a job is interrupted and how long each time costs it.

    MegaScale tells both. ByteRobust's jobs are taken to fail as often as Llama 3's GPUs did and to
    come back as fast as MegaScale's. Gemini, TPU v4, C4 and Unicron publish results without how
    often and for how long, so there is nothing to derive them from.
    """
    interval_s = mtbf_s(_MEGASCALE_DAYS * _DAY, _MEGASCALE_RESTARTS)
    gpu_s = mtbf_s(_LLAMA_DAYS * _DAY * _LLAMA_GPUS, _LLAMA_FAILURES)
    return {
        "megascale_effective": productive_share(interval_s, _MEGASCALE_STALL_S),
        "byterobust_ettr_9600_gpus": productive_share(
            job_mtbf_s(1.0 / gpu_s, _BYTEROBUST_GPUS), _MEGASCALE_STALL_S
        ),
    }


def aegis_causes(setup: Setup) -> Outcome:
    """REL-19: shares of failure types.

    What a diagnosis system saves depends on how long people took before it, which is not told.
    """
    counted = Interruptions(setup["types_pct"])
    gpu = [kind for kind in counted.by_cause if kind.startswith(("gpu", "cuda", "nvlink"))]
    return {
        "gpu_share": _PERCENT * counted.share(gpu),
        "network_share_nic_plus_optics": _PERCENT * counted.share(["nic", "optics_fiber"]),
        "sum": counted.total,
    }


DERIVATIONS = {
    **failures.DERIVATIONS,
    "REL-01": llama_mtbf,
    "REL-02": llama_causes,
    "REL-04": rsc_projection,
    "REL-05": rsc_small_jobs,
    "REL-07": checkpoint_interval,
    "REL-08": llama_effective_time,
    "REL-09": fault_tolerant_training,
    "REL-10": links_and_leaves,
    "REL-17": checkpoint_practice,
    "REL-18": goodput_reports,
    "REL-19": aegis_causes,
}
