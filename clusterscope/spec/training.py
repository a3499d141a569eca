"""`[jobs.model]` and `[jobs.plan]`: what a training job trains, and how it is cut over GPUs.

A job with both is a training job. What was left out is filled in by `clusterscope.spec.models`
(the model) and `clusterscope.spec.plans` (the plan).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from clusterscope.spec.base import Frozen, Name

Precision = Literal["bf16", "fp8"]
# Share of a rate or speed that `degrade` and stragglers leave at least; less is a failure.
LEAST_LEFT = 0.01
Schedule = Literal["1f1b", "interleaved", "zero-bubble"]
Recompute = Literal["none", "selective", "full"]
Attention = Literal["fused", "stored"]
Overlap = Literal["tp", "cp", "pp", "dp", "ep"]

_MANY = Annotated[int, Field(ge=1, le=10**7)]
_NONE_OR_MANY = Annotated[int, Field(ge=0, le=10**7)]


class ModelSpec(Frozen):
    """`[jobs.model]`: a transformer; `model = "gpt3-175b"` is short for its name alone."""

    name: Name | None = Field(
        default=None, description="catalogue model that fills in what is left out"
    )
    layers: _MANY | None = Field(default=None, description="transformer layers")
    hidden: _MANY | None = Field(default=None, description="width of the residual stream")
    heads: _MANY | None = Field(default=None, description="attention heads (queries)")
    kv_heads: _MANY | None = Field(
        default=None, description="key and value heads; as many as heads when left out"
    )
    head_dim: _MANY | None = Field(
        default=None, description="width of a head; hidden / heads when left out"
    )
    ffn: _MANY | None = Field(
        default=None, description="width of the feed-forward block; 4 x hidden when left out"
    )
    gated: bool | None = Field(
        default=None, description="feed-forward with a gate (SwiGLU): three matrices, not two"
    )
    sequence: _MANY | None = Field(default=None, description="tokens of a sequence")
    vocabulary: _MANY | None = Field(default=None, description="entries of the vocabulary")
    tied: bool | None = Field(
        default=None, description="embedding and output share one matrix; false when left out"
    )
    experts: _NONE_OR_MANY | None = Field(
        default=None, description="routed experts of a layer; 0 is a dense model"
    )
    top_k: _NONE_OR_MANY | None = Field(default=None, description="experts that a token visits")
    shared_experts: _NONE_OR_MANY | None = Field(
        default=None, description="experts that every token visits"
    )
    expert_ffn: _MANY | None = Field(
        default=None, description="width of one expert; ffn when left out"
    )
    dense_layers: _NONE_OR_MANY | None = Field(
        default=None, description="first layers without experts"
    )
    expert_domains: _MANY | None = Field(
        default=None,
        description="most scale-up domains that the experts of a token may be in; any when left "
        "out",
    )
    q_rank: _MANY | None = Field(
        default=None, description="latent attention (MLA): width that queries are squeezed to"
    )
    kv_rank: _MANY | None = Field(
        default=None, description="latent attention (MLA): width that keys and values are kept at"
    )
    rope_dim: _NONE_OR_MANY | None = Field(
        default=None, description="latent attention (MLA): part of a key that carries positions"
    )
    parallel: bool | None = Field(
        default=None,
        description="attention and feed-forward side by side, of one norm (PaLM, MegaScale); false "
        "when left out",
    )
    window: _NONE_OR_MANY | None = Field(
        default=None,
        description="tokens that attention looks back at most (sliding window); all when 0",
    )
    precision: Precision | None = Field(
        default=None, description="number format of the matrix products; bf16 when left out"
    )


class StragglersSpec(Frozen):
    """`[jobs.stragglers]`: GPUs of a training job that compute slower than others."""

    spread: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None,
        description="standard deviation of the speed of GPUs over their mean, for which all wait; "
        "the fitted constant when left out",
    )
    count: _NONE_OR_MANY = Field(default=0, description="GPUs that are slow, drawn by the seed")
    speed: Annotated[float, Field(ge=LEAST_LEFT, le=1)] = Field(
        default=0.9, description="share of its own speed at which a slow GPU computes"
    )


class CheckpointSpec(Frozen):
    """`[jobs.checkpoint]`: how a training job saves its state, over `[front_end]` if any."""

    interval_s: Annotated[float, Field(gt=0, le=10**8)] | None = Field(
        default=None,
        description="time from one checkpoint to the next; the best one for the failures when left "
        "out",
    )
    blocking: bool = Field(
        default=False,
        description="the job waits until a checkpoint is in storage; else only until it is in the "
        "memory of the nodes",
    )
    weight_bytes: Annotated[float, Field(gt=0, le=64)] = Field(
        default=14.0,
        description="bytes of a weight in a checkpoint: 14 with Adam (2 in BF16, and 4 each of its "
        "32-bit copy and two moments), 2 without optimizer",
    )
    copy_gbps: Annotated[float, Field(gt=0, le=100_000)] = Field(
        default=200.0,
        description="rate from a GPU into the memory of its node; about that of PCIe 4 x16, one "
        "direction, when left out",
    )
    mtbf_gpu_hours: Annotated[float, Field(gt=0, le=10**9)] = Field(
        default=50_677.0,
        description="GPU hours between failures that stop the job; those of Llama 3 when left out",
    )
    restart_s: Annotated[float, Field(ge=0, le=10**6)] = Field(
        default=600.0, description="from a failure until the job computes again, but for reading"
    )


class PlanSpec(Frozen):
    """`[jobs.plan]`: how a model is cut; ranks count through tp first, then cp, dp and pp.

    `plan = "llama3-405b-16k"` is short for a name alone.
    """

    name: Name | None = Field(
        default=None,
        description="ready plan of a paper that fills in plan, model and ranks where left out",
    )
    tp: _MANY = Field(default=1, description="tensor parallel ranks")
    cp: _MANY = Field(default=1, description="context parallel ranks: a sequence is cut")
    dp: _MANY | None = Field(
        default=None, description="data parallel ranks; what the others leave when left out"
    )
    pp: _MANY = Field(default=1, description="pipeline stages")
    ep: _MANY = Field(default=1, description="expert parallel ranks, out of those of a stage")
    vp: _MANY = Field(default=1, description="chunks of layers that a stage holds (interleaving)")
    schedule: Schedule | None = Field(
        default=None,
        description="order of forward and backward; interleaved when vp > 1, else 1f1b",
    )
    zero: Annotated[int, Field(ge=0, le=3)] = Field(
        default=1,
        description="what data parallel ranks share out: 0 nothing, 1 optimizer, 2 gradients too, "
        "3 parameters too",
    )
    microbatch: _MANY = Field(default=1, description="sequences of a microbatch")
    microbatches: _MANY | None = Field(
        default=None, description="microbatches of a data parallel rank in one iteration"
    )
    global_batch: _MANY | None = Field(
        default=None, description="sequences of an iteration, instead of microbatches"
    )
    recompute: Recompute = Field(
        default="none",
        description="what backward computes again: nothing, attention scores, or all of forward",
    )
    attention: Attention | None = Field(
        default=None,
        description="fused: scores stay inside a kernel (FlashAttention) that skips what a causal "
        "mask hides; stored: they go through memory, as before 2023; stored with selective "
        "recompute, else fused when left out",
    )
    overlap: tuple[Overlap, ...] = Field(
        default=("dp", "cp"),
        strict=False,
        description="communication that runs beside computing; the rest is waited for",
    )
    grad_bytes: Literal[2, 4] = Field(default=2, description="bytes of a gradient on the network")
    param_bytes: Literal[1, 2, 4] = Field(
        default=2, description="bytes of a parameter on the network"
    )
    tp_over_nics: bool = Field(
        default=False, description="let tensor parallel groups leave their scale-up domain"
    )
    efficiency: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None,
        description="share of peak FLOPS that kernels reach; the fitted constant when left out",
    )
    optimizer_s: Annotated[float, Field(ge=0, le=3600)] = Field(
        default=0.0, description="time of the optimizer step itself"
    )
