"""What a training job keeps in the memory of a GPU, stage by stage.

Weights, gradients and the state of the optimizer are those of Rajbhandari et al. 2020 (ZeRO,
section 3.1): a parameter takes 2 bytes as weight and 12 in Adam (a copy, momentum and variance, in
four bytes each); its gradient is as wide as the plan says. ZeRO 1, 2 and 3 share out the optimizer,
the gradients and the weights over the ranks that hold the same.

Activations are those of Korthikanti et al. 2022 (section 4), kept in two bytes a value and cut over
tensor and context parallel ranks (sequence parallel). Of a GPT layer with s tokens, b sequences and
width h over t ranks, that is

    s b h / t (34 + 5 a s / h)    nothing computed again; 5 a s / h are scores of a heads
    s b h / t  34                 scores computed again, or inside a kernel (fused attention)
    s b h / t  2                  all of forward computed again

Other layers are counted matrix by matrix in the same way. A stage holds what its schedule has in
flight: p - i microbatches at stage i of p in 1F1B, and in chunks when interleaved.
Axes: P stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64
from clusterscope.fabric.finding import Finding
from clusterscope.spec.models import Transformer
from clusterscope.spec.plans import Plan
from clusterscope.traffic.flows import JobProgram
from clusterscope.traffic.stages import dense_weights, routed_weights, stage_layers
from clusterscope.traffic.task import Training
from clusterscope.traffic.transformer import layer_parameters, routed_parameters
from clusterscope.traffic.volumes import tokens
from clusterscope.units import GIGA

WEIGHT_BYTES = 2
OPTIMIZER_BYTES = 12
_VALUE = 2  # bytes of an activation
_MASK = 1  # bytes of one value of a dropout mask
_LOGIT = 4  # bytes of an output
# Layers whose weights a ZeRO 3 rank has whole at a time: the one at work and the one on its way.
_GATHERED = 2
# What makes the largest part of memory smaller.
_REMEDIES = {
    "weights": ("more tp", "more pp", "a higher zero"),
    "gradients": ("more tp", "more pp", "a higher zero"),
    "optimizer states": ("more tp", "more pp", "a higher zero"),
    "activations": ("more tp", "more cp", "recompute"),
    "attention scores": ("more tp", "more cp", "recompute", 'attention = "fused"'),
}


@dataclass(frozen=True)
class Memory:
    """Bytes on a GPU of the fullest stage.

    Attributes:
        stage: the fullest stage; the first is 1.
        stages: stages of the pipeline.
        weights_bytes: parameters.
        gradients_bytes: their gradients.
        optimizer_bytes: copies and moments of Adam.
        activations_bytes: what backward needs of forward, without attention scores.
        scores_bytes: attention scores, where kernels keep them.
        hbm_bytes: memory of the GPU.
        in_flight: microbatches that the stage holds activations of.
        grad_bytes: width of a gradient.
    """

    stage: int
    stages: int
    weights_bytes: float
    gradients_bytes: float
    optimizer_bytes: float
    activations_bytes: float
    scores_bytes: float
    hbm_bytes: float
    in_flight: float
    grad_bytes: int = 2

    @property
    def parts(self) -> dict[str, float]:
        """Bytes by what they hold."""
        return {
            "weights": self.weights_bytes,
            "gradients": self.gradients_bytes,
            "optimizer states": self.optimizer_bytes,
            "activations": self.activations_bytes,
            "attention scores": self.scores_bytes,
        }

    @property
    def needed_bytes(self) -> float:
        """All of it."""
        return sum(self.parts.values())

    @property
    def full(self) -> float:
        """Needed over what there is."""
        return self.needed_bytes / self.hbm_bytes


def short_of_memory(programs: Iterable[JobProgram]) -> Iterator[Finding]:
    """What is to be said of training jobs that a GPU's memory is too small for."""
    for program in programs:
        if program.training is None:
            continue
        told, where = memory(program.training), f"job {program.name!r}"
        short = sentence(told)
        if short:
            yield Finding("warning", "memory", where, short)


def sentence(told: Memory) -> str:
    """What is to be said of memory that is short; "" when it is not."""
    if told.full <= 1:
        return ""
    largest, held = max(told.parts.items(), key=lambda part: part[1])
    which = f"stage {told.stage} of {told.stages}, the fullest," if told.stages > 1 else ""
    needed, there, most = (
        f"{part / GIGA:.3g} GB" for part in (told.needed_bytes, told.hbm_bytes, held)
    )
    advice = " or ".join(_REMEDIES[largest])
    return (
        f"{f'a GPU of {which}' if which else 'a GPU'} needs {needed} and has {there}: {largest} "
        f"take most, {most}; {advice} would shrink them"
    )


def memory(training: Training) -> Memory:
    """What a GPU of the fullest stage of a training job holds, bytes."""
    model, plan = training.model, training.plan
    weights, gradients, optimizer = _state(model, plan)
    flying = in_flight(plan)
    layers = stage_layers(model, plan).astype(np.float64)
    own = tokens(model, plan) / plan.tp
    kept = flying * layers * own * _kept_bytes(model, plan)
    working = own * layer_bytes(model) if plan.recompute == "full" else 0.0
    activations = kept + working
    # The last stage has the outputs of one microbatch besides, and the first the embedded tokens.
    activations[-1] += own * model.vocabulary * _LOGIT
    activations[0] += flying[0] * own * model.hidden * _VALUE
    scores = np.zeros(plan.pp)
    if plan.recompute == "none" and plan.attention == "stored":
        scores = flying * layers * own * score_bytes(model)
    stage = int((weights + gradients + optimizer + activations + scores).argmax())
    return Memory(
        stage=stage + 1,
        stages=plan.pp,
        weights_bytes=float(weights[stage]),
        gradients_bytes=float(gradients[stage]),
        optimizer_bytes=float(optimizer[stage]),
        activations_bytes=float(activations[stage]),
        scores_bytes=float(scores[stage]),
        hbm_bytes=training.gpu.hbm_gb * GIGA,
        in_flight=float(flying[stage]),
        grad_bytes=plan.grad_bytes,
    )


def in_flight(plan: Plan) -> F64:
    """Microbatches whose activations every stage holds at most, (P,).

    Stage i of p in 1F1B begins p - i microbatches before the first comes back; with v chunks it
    begins 2 (p - i - 1) + (v - 1) p + 1 chunks of v a microbatch. ZB-H1 holds what 1F1B does.
    """
    ahead = np.arange(plan.pp, 0, -1, dtype=np.float64)
    if plan.vp > 1:
        ahead = 2 * (ahead - 1) + (plan.vp - 1) * plan.pp + 1
    return np.minimum(ahead, plan.microbatches * plan.vp) / plan.vp


def layer_bytes(model: Transformer) -> float:
    """Activations of a token in a layer without attention scores, bytes, a mean over all layers.

    >>> from clusterscope.spec.models import model
    >>> layer_bytes(model("gpt3-175b")) == 34 * 12288
    True
    """
    h, moe = model.hidden, model.moe_layers / model.layers
    norms = 2 * _VALUE * h
    dense = _block_bytes(model, model.ffn) + _VALUE * h
    visited = model.top_k + model.shared_experts
    routed = visited * (_block_bytes(model, model.expert_ffn) + _VALUE * h)
    masks = 0 if model.gated else 2 * _MASK * h
    return norms + _attention_bytes(model) + masks + (1 - moe) * dense + moe * routed


def score_bytes(model: Transformer) -> float:
    """Scores of a token in a layer: softmax, its dropout mask and what comes out of it, bytes."""
    kept = 2 * _VALUE + (0 if model.gated else _MASK)
    return float(kept * model.heads * model.sequence)


def _kept_bytes(model: Transformer, plan: Plan) -> float:
    """What is kept of a token in a layer until backward, bytes."""
    if plan.recompute == "full":
        return float(_VALUE * model.hidden)
    return layer_bytes(model)


def _attention_bytes(model: Transformer) -> float:
    """Input, queries, keys, values, and what goes into the output matrix, bytes a token."""
    queries, own = model.heads * model.head_dim, model.kv_heads * model.head_dim
    if not model.latent:
        return float(_VALUE * (model.hidden + queries + 2 * own + queries))
    turned = model.heads * model.rope_dim
    squeezed = model.q_rank + model.kv_rank + model.rope_dim
    return float(_VALUE * (model.hidden + squeezed + 4 * queries + 2 * turned))


def _block_bytes(model: Transformer, width: int) -> float:
    """What is between the matrices of a feed-forward block, bytes a token."""
    return float(_VALUE * width * (3 if model.gated else 2))


def _state(model: Transformer, plan: Plan) -> tuple[F64, F64, F64]:
    """Weights, gradients and optimizer state of a rank of every stage, bytes, (P,) each."""
    dense, routed = dense_weights(model, plan), routed_weights(model, plan)
    # Ranks that hold the same: a shard of ZeRO is one over so many of it.
    shards = dense / (plan.dp * plan.cp) + routed / max(1, plan.stage_ranks // plan.ep)
    whole = dense + routed
    weights = whole if plan.zero < 3 else shards + _gathered(model, plan)
    return (
        weights * WEIGHT_BYTES,
        (whole if plan.zero < 2 else shards) * plan.grad_bytes,
        (whole if plan.zero < 1 else shards) * OPTIMIZER_BYTES,
    )


def _gathered(model: Transformer, plan: Plan) -> float:
    """Weights that a ZeRO 3 rank has gathered at a time."""
    return _GATHERED * (layer_parameters(model) / plan.tp + routed_parameters(model) / plan.ep)
