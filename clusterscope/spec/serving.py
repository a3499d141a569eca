"""`[jobs.serve]`: how a model answers requests, and on which GPUs.

Prefill instances read prompts, decode instances write answers token by token; the KV cache of a
prompt goes from the one to the other. A job with this table serves its model. What was left out is
filled in by `clusterscope.spec.services`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from clusterscope.spec.base import Frozen, Name

Exchange = Literal["direct", "forwarded"]

_MANY = Annotated[int, Field(ge=1, le=10**7)]
_NONE_OR_MANY = Annotated[int, Field(ge=0, le=10**7)]
_RATIO = Annotated[float, Field(gt=0, le=1)]


class InstanceSpec(Frozen):
    """What prefill and decode instances have in common."""

    instances: _MANY | None = Field(
        default=None, description="instances of this kind, each with the whole model; 1 if left out"
    )
    gpus: _MANY | None = Field(default=None, description="GPUs of one instance")
    tp: _MANY | None = Field(
        default=None, description="tensor parallel ranks; gpus / tp attend to requests apart (dp)"
    )
    tp_over_nics: bool | None = Field(
        default=None, description="let tensor parallel groups leave their scale-up domain"
    )
    ep: _MANY | None = Field(
        default=None,
        description="expert parallel ranks; all GPUs of the instance when left out, 1 when dense",
    )
    redundant_experts: _NONE_OR_MANY | None = Field(
        default=None, description="copies of busy experts that a layer has besides; 0 if left out"
    )
    microbatches: Annotated[int, Field(ge=1, le=8)] | None = Field(
        default=None,
        description="parts of a batch that take turns, so that the expert exchange of one hides "
        "beside computing of another; 2 with experts, else 1",
    )
    exchange: Exchange | None = Field(
        default=None,
        description="forwarded: a token goes once to each scale-up domain and on inside it; "
        "direct: to each of its experts; when left out, prefill forwards and decode does not",
    )


class PrefillSpec(InstanceSpec):
    """`[jobs.serve.prefill]`: instances that read prompts."""

    batch_tokens: _MANY | None = Field(
        default=None, description="tokens that a GPU reads in one pass; 16,384 if left out"
    )


class DecodeSpec(InstanceSpec):
    """`[jobs.serve.decode]`: instances that write answers."""

    batch: _MANY | None = Field(
        default=None, description="requests that a GPU answers at a time; 64 if left out"
    )


class ServeSpec(Frozen):
    """`[jobs.serve]`: requests and instances; `serve = "deepseek-v3-h800"` is short for a name."""

    name: Name | None = Field(
        default=None, description="service of the catalogue that fills in what is left out"
    )
    input_tokens: _MANY | None = Field(
        default=None, description="tokens of a prompt; 4,096 if left out"
    )
    output_tokens: _MANY | None = Field(
        default=None, description="tokens of an answer; 1,024 if left out"
    )
    cached_ratio: Annotated[float, Field(ge=0, le=0.999)] | None = Field(
        default=None, description="share of a prompt whose KV cache is kept from before; 0"
    )
    kv_bytes: Literal[1, 2] | None = Field(
        default=None, description="bytes of a value in the KV cache; 2 if left out"
    )
    kv_overlap: bool | None = Field(
        default=None,
        description="send the KV cache layer by layer while the prompt is read; true if left out",
    )
    balance: Annotated[float, Field(ge=1, le=1000)] | None = Field(
        default=None, description="tokens of the busiest expert rank over the mean; 1 if left out"
    )
    drafts: Annotated[int, Field(ge=0, le=16)] | None = Field(
        default=None, description="tokens guessed ahead in a step (MTP, speculation); 0"
    )
    accepted: _RATIO | None = Field(
        default=None, description="share of the guesses that hold; 0.85 if left out"
    )
    efficiency: _RATIO | None = Field(
        default=None,
        description="share of peak FLOPS that kernels reach; the fitted constant when left out",
    )
    memory_ratio: _RATIO | None = Field(
        default=None, description="share of GPU memory for weights and KV cache; 0.9 if left out"
    )
    prefill: PrefillSpec | None = Field(default=None, description="instances that read prompts")
    decode: DecodeSpec | None = Field(default=None, description="instances that write answers")
