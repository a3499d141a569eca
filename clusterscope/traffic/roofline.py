"""How long a GPU computes for one pass of prefill or one step of decode, and what it holds.

Each kind of work takes the longer of its operations and of its bytes from memory:

    attention weights   2 T A L operations                  A L / tp weights
    scores              2 T c n (2 d + r) L                 KV cache of all requests
                        2 T c n (2 k + r) L   latent, decode: weights folded into the cache
    feed-forward        2 T D L                             D L / tp weights
    routed experts      2 T b top_k E M                     those of a rank that any token visits
    output              2 T V h                             V h / tp weights, in two bytes
    activations                                             what norms, sums and the like move

for T tokens a GPU, L layers of which M have experts, width h, n heads of d, positions r, latent
width k, context c, A, D and E weights of attention, of feed-forward and shared blocks, of an
expert, and the busiest expert rank with b times the mean. A batch in m parts reads weights m times.

    KV cache of a token    L x 2 kv_heads d values, or L x (k + r) latent

Operations take what `stages.kernel_s_of` says: the best matrix product of the GPU, FP8 for weights
alone, and the fitted kernel efficiency. Memory gives 0.9 of its rate; what moves between products
is that of training (`traffic.moving`), unless an efficiency of the service's own has it in itself.
Sources: Pope et al. 2022 (arXiv:2211.05102, section 2); DeepSeek-V2 (arXiv:2405.04434, section 2.1
and appendix C); Williams et al. 2009 (roofline).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.spec.models import Transformer
from clusterscope.spec.parts import Gpu
from clusterscope.spec.services import Instance, Service
from clusterscope.traffic.moving import VALUE_BYTES, values_moved
from clusterscope.traffic.stages import kernel_s_of, slowest_of
from clusterscope.traffic.transformer import (
    attention_parameters,
    embedding_parameters,
    expert_parameters,
    layer_parameters,
)
from clusterscope.units import BITS_PER_BYTE, GIGA

# Share of the memory's rate that kernels reach: 3,000 of the 3,350 GB/s of an H800 (FlashMLA
# README, dense decoding, memory-bound).
HBM_RATIO = 0.9
# Share of a GPU's cores that forwarding kernels take: 20 of 132 (DeepSeek-V3 report, section 3.2).
# Direct exchanges take none (DeepEP, low-latency kernels; DeepSeek profile-data).
EXCHANGE_CORES = 20 / 132
_OUTPUT_BYTES = 2  # embedding and output stay in BF16 (DeepSeek-V3 report, section 3.3)


@dataclass(frozen=True)
class Part:
    """One kind of work in a step.

    Attributes:
        name: what it is.
        compute_s: its operations.
        memory_s: its bytes from memory.
    """

    name: str
    compute_s: float
    memory_s: float

    @property
    def seconds(self) -> float:
        """The longer of both."""
        return max(self.compute_s, self.memory_s)


@dataclass(frozen=True)
class Holds:
    """Bytes in the memory of one GPU: weights, and KV cache of one request."""

    weights_bytes: float
    request_bytes: float


@dataclass(frozen=True)
class Step:
    """One pass or step on one GPU.

    Attributes:
        tokens: that a GPU computes in it.
        requests: whose tokens these are.
        context: tokens that each of them looks at.
    """

    tokens: float
    requests: float
    context: float


def step_of(own: Instance, service: Service) -> Step:
    """What a GPU has to do in one pass of prefill, or one step of decode."""
    if own.kind == "decode":
        return Step(own.batch * (1.0 + service.drafts), float(own.batch), service.context)
    fresh = service.input_tokens * (1 - service.cached_ratio)
    return Step(float(own.batch), own.batch / fresh, float(service.input_tokens))


def token_cache_bytes(model: Transformer, kv_bytes: int) -> float:
    """KV cache of one token in all layers, bytes.

    >>> from clusterscope.spec.models import model
    >>> token_cache_bytes(model("deepseek-v3"), 2), token_cache_bytes(model("llama3-405b"), 2)
    (70272.0, 516096.0)
    """
    width = model.kv_rank + model.rope_dim if model.latent else 2 * model.kv_heads * model.head_dim
    return float(model.layers * width * kv_bytes)


def cache_copies(model: Transformer, tp: int) -> float:
    """Times that tensor parallel ranks keep a KV cache together: latent ones and lone heads."""
    return float(tp if model.latent else max(1.0, tp / model.kv_heads))


def holds(model: Transformer, service: Service, own: Instance) -> Holds:
    """What one GPU of an instance holds: weights, and the cache of one of its requests."""
    matrices = 1 if model.tied else 2
    output = matrices * embedding_parameters(model) * _OUTPUT_BYTES / own.tp
    dense = model.layers * layer_parameters(model) / own.tp
    weights = (dense + _experts(model, own)) * weight_bytes(model) + output
    context = service.context if own.kind == "decode" else service.input_tokens
    copies = cache_copies(model, own.tp)
    return Holds(weights, context * token_cache_bytes(model, service.kv_bytes) * copies)


def weight_bytes(model: Transformer) -> int:
    """Bytes of a weight."""
    return 1 if model.precision == "fp8" else 2


def work(model: Transformer, service: Service, own: Instance, gpu: Gpu) -> tuple[Part, ...]:
    """All work of one pass or step on one GPU, slowed to the slowest GPU of the instance."""
    step, layers = step_of(own, service), model.layers
    attention = layers * attention_parameters(model)
    dense = layers * layer_parameters(model) - attention
    reads = own.microbatches * weight_bytes(model) / own.tp
    visited = service.balance * model.top_k * expert_parameters(model) * model.moe_layers
    experts = _experts(model, own) * _visited_ratio(model, own, step.tokens)
    cache = step.requests * step.context * cache_copies(model, own.tp)
    output = embedding_parameters(model)
    words = step.tokens if own.kind == "decode" else step.requests
    rows: tuple[tuple[str, float, float, float], ...] = (
        ("attention weights", step.tokens * attention, 0.0, attention * reads),
        ("scores", 0.0, step.tokens * layers * _score_width(model, own) * step.context,
         cache * token_cache_bytes(model, service.kv_bytes)),
        ("feed-forward", step.tokens * dense, 0.0, dense * reads),
        ("routed experts", step.tokens * visited, 0.0,
         experts * own.microbatches * weight_bytes(model)),
        ("output", 0.0, words * output, output * own.microbatches * _OUTPUT_BYTES / own.tp),
    )  # fmt: skip
    if service.efficiency is None:
        moved = step.tokens * layers * values_moved(model) * VALUE_BYTES
        rows = (*rows, ("activations", 0.0, 0.0, moved))
    names, products, others, sizes = zip(*(row for row in rows if row[3]), strict=True)
    operations = kernel_s_of(
        model, service.efficiency, gpu, 2 * np.array(products), 2 * np.array(others)
    )
    memory = np.array(sizes) * BITS_PER_BYTE / (gpu.hbm_gbps * GIGA * HBM_RATIO)
    slow = slowest_of(own.gpus)
    return tuple(
        Part(name, slow * float(operations[place]), slow * float(memory[place]))
        for place, name in enumerate(names)
    )


def _score_width(model: Transformer, own: Instance) -> int:
    """Products of a token with one token of its context, in one layer."""
    inner = model.kv_rank if model.latent and own.kind == "decode" else model.head_dim
    return model.heads * (2 * inner + model.rope_dim)


def _experts(model: Transformer, own: Instance) -> float:
    """Weights of the routed experts that one GPU holds, in all layers."""
    if not model.experts:
        return 0.0
    copies = (model.experts + own.redundant_experts) / own.ep
    return copies * expert_parameters(model) * model.moe_layers


def _visited_ratio(model: Transformer, own: Instance, tokens: float) -> float:
    """Share of the experts that some token of a part of the batch visits.

    Model: every token chooses its experts alike and alone.
    """
    if not model.experts:
        return 0.0
    together = max(1, round(tokens / own.microbatches * own.ep))
    return 1.0 - _power(1.0 - model.top_k / model.experts, together)


def _power(base: float, exponent: int) -> float:
    """A whole power by multiplication alone, so that every machine gives the same last bit."""
    result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result
