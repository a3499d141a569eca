"""Cases of training: schedules, byte counts, and published steps of real jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from clusterscope.spec.models import model
from clusterscope.spec.plans import resolve_plan
from clusterscope.spec.training import PlanSpec
from clusterscope.traffic.schedule import bubble_of_step, slots
from clusterscope.traffic.transformer import training_days
from clusterscope.traffic.volumes import (
    data_bytes,
    stage_bytes,
    tensor_buffer_bytes,
)
from clusterscope.validation import served, steps
from clusterscope.validation.verdict import Outcome

Setup = Mapping[str, Any]

_MICRO, _MS = 1e-6, 1e3
_GPT3, _LLAMA = {"name": "gpt3-175b"}, {"name": "llama3-70b"}
# The recipes of both H100 cases overlap all kinds of communication with computing.
_OVERLAP: Final = ("tp", "cp", "pp", "dp")


def pipeline_bubble(setup: Setup) -> Outcome:
    """TRAIN-01: one forward, one backward, played slot by slot."""
    stages, batches = setup["p"], setup["m"]
    forward, backward = 1.0, float(setup["tb_over_tf"])
    played_slots = slots(stages, batches, 1, forward, backward)
    work = batches * (forward + backward)
    bubble = float(played_slots.end_s.max()) / work - 1.0
    return {"bubble_over_ideal": bubble, "bubble_fraction_of_step": bubble_of_step(bubble)}


def days_of_training(setup: Setup) -> Outcome:
    """TRAIN-03: days from parameters, tokens, GPUs and what each of them computes."""
    return {
        f"days_{name}": training_days(
            setup[name]["P"], setup[name]["T"], setup[name]["n"], setup[name]["X"]
        )
        for name in ("a", "b")
    }


def expert_decode(setup: Setup) -> Outcome:
    """TRAIN-16: the exchanges of experts alone, as a bound on decoding.

    A service whose batch is in two parts, decoding on GPUs with a NIC each of the lower rate, and
    in one scale-up domain of the higher one.
    """
    slow, fast = setup["B_GBps"]
    stages = [served.decoding(setup, slow, domain=1), served.decoding(setup, fast, domain=64)]
    tokens = [stage.formula_s for stage in stages]
    return {
        "per_step_us": [seconds / (2 * setup["layers"]) / _MICRO for seconds in tokens],
        "tpot_ms": [seconds * _MS for seconds in tokens],
        "tok_per_s": [1.0 / seconds for seconds in tokens],
    }


def byte_counts(setup: Setup) -> Outcome:
    """TRAIN-18: what tensor, pipeline and data parallel ranks send."""
    trained = model("gpt3-175b")
    cuts = {key: setup[key] for key in ("tp", "pp", "dp")}
    ranks = setup["tp"] * setup["pp"] * setup["dp"]
    written = PlanSpec(
        **cuts, zero=0, grad_bytes=setup["grad_bytes"], microbatch=setup["b"], microbatches=1
    )
    plan = resolve_plan(written, trained, ranks, "plan")
    weights = setup["params"] / (plan.tp * plan.pp)
    return {
        "tp_allreduce_bytes_per_layer_fwd": tensor_buffer_bytes(trained, plan),
        "pp_p2p_bytes_scatter_gather": stage_bytes(trained, plan),
        "dp_bytes_sent_per_gpu": data_bytes(weights, plan.dp, plan)[0],
    }


def gpt3_on_h100(setup: Setup) -> Outcome:
    """TRAIN-10: GPT-3 175B on H100s, the batch growing with the GPUs."""
    cuts = {key: setup[key] for key in ("tp", "pp")}
    plan = cuts | {"vp": 12, "microbatches": setup["ga"], "overlap": _OVERLAP}
    found = [steps.hopper(gpus, _GPT3, plan).iteration_s for gpus in setup["gpus"]]
    return {"step_s": found, "growth_128_to_2048": found[-1] / found[0] - 1.0}


def llama_on_h100(setup: Setup) -> Outcome:
    """TRAIN-13: Llama 3.1 70B on H100s, the batch growing with the GPUs."""
    cuts = {key: setup[key] for key in ("tp", "pp", "cp", "vp")}
    plan = cuts | {"microbatches": setup["ga"], "overlap": _OVERLAP}
    found = [steps.hopper(gpus, _LLAMA, plan).iteration_s for gpus in setup["gpus"]]
    return {"step_s": found, "growth_64_to_1024": found[-1] / found[0] - 1.0}


DERIVATIONS = {
    "TRAIN-01": pipeline_bubble,
    "TRAIN-03": days_of_training,
    "TRAIN-10": gpt3_on_h100,
    "TRAIN-13": llama_on_h100,
    "TRAIN-16": expert_decode,
    "TRAIN-18": byte_counts,
    **steps.DERIVATIONS,
}
