"""Bytes that each cut of a training job sends: tensor, context, pipeline, data, expert parallel.

Per rank and one direction, as rings send them: all-reduce 2 (n-1)/n of its buffer, reduce-scatter
and all-gather (n-1)/n (nccl-tests doc/PERFORMANCE.md). Activations are two bytes wide.
Sources: Narayanan et al. SC21, sections 3.2 and 4.1 (tensor, pipeline, scatter-gather);
Korthikanti et al. 2022 (sequence parallel: the same bytes); Rajbhandari et al. 2020 (ZeRO) and
2021 (ZeRO-Infinity, section 4.1: parameters are loaded once more where forward is computed again);
DeepSeek-V3 technical report, section 3.2 (dispatch and combine).
"""

from __future__ import annotations

from clusterscope.spec.models import Transformer
from clusterscope.spec.plans import Plan
from clusterscope.units import GIGA

ACTIVATION_BYTES = 2


def ring_share(ranks: int) -> float:
    """Share of a buffer that a rank sends when it is gathered or reduced and scattered once."""
    return (ranks - 1) / ranks


def tokens(model: Transformer, plan: Plan) -> float:
    """Tokens of a microbatch on one context parallel rank."""
    return plan.microbatch * model.sequence / plan.cp


def layer_buffer_bytes(model: Transformer, plan: Plan) -> float:
    """Activations between two layers of one microbatch, all tensor parallel ranks together."""
    return tokens(model, plan) * model.hidden * ACTIVATION_BYTES


def tensor_buffer_bytes(model: Transformer, plan: Plan) -> float:
    """What tensor parallel ranks all-reduce in a layer, forward, one microbatch."""
    return tensor_reduces(model) * layer_buffer_bytes(model, plan)


def tensor_reduces(model: Transformer) -> float:
    """All-reduces of tensor parallel ranks in a layer forward, a mean over all layers.

    One after attention and one after the feed-forward block, one for both where they stand side by
    side; experts are not cut, so a layer with experts only has the first.
    """
    return 1.0 if model.parallel else 2.0 - model.moe_layers / model.layers


def tensor_passes(plan: Plan) -> int:
    """Times that `tensor_buffer_bytes` is all-reduced: forward, backward, and forward again."""
    return 3 if plan.recompute == "full" else 2


def context_bytes(model: Transformer, plan: Plan) -> float:
    """What a rank sends around its context parallel ring in a layer, forward, one microbatch.

    Keys and values of all other ranks; backward sends them again and their gradients too.
    """
    width = model.kv_rank + model.rope_dim
    if not model.latent:
        width = 2 * model.kv_heads * model.head_dim // plan.tp or 1
    return (plan.cp - 1) * tokens(model, plan) * width * ACTIVATION_BYTES


def stage_bytes(model: Transformer, plan: Plan) -> float:
    """What a rank sends to the next stage for one microbatch and chunk: its share of the width."""
    return layer_buffer_bytes(model, plan) / plan.tp


def shard_bytes(weights: float, ranks: int, width: int) -> float:
    """What a rank sends to scatter or gather `weights` of `width` bytes once among ranks."""
    return ring_share(ranks) * weights * width


def data_bytes(weights: float, ranks: int, plan: Plan) -> tuple[float, float]:
    """What a rank sends in one iteration for its weights: (gradients, parameters).

    ZeRO 0 all-reduces gradients; 1 scatters them once and gathers parameters once; 2 scatters
    them every microbatch; 3 gathers parameters before every pass of every microbatch too.
    """
    grads = shard_bytes(weights, ranks, plan.grad_bytes)
    params = shard_bytes(weights, ranks, plan.param_bytes)
    match plan.zero:
        case 0:
            return 2 * grads, 0.0
        case 1:
            return grads, params
        case 2:
            return grads * plan.microbatches, params
    return grads * plan.microbatches, parameter_gathers(plan) * params * plan.microbatches


def parameter_gathers(plan: Plan) -> int:
    """Times that ZeRO 3 gathers parameters a microbatch: forward, backward, and forward again."""
    return tensor_passes(plan) if plan.zero == 3 else 0


def domains_visited(domains: int, top_k: int, most: int) -> float:
    """Domains that hold the experts of a token, a mean over uniform choices.

    Args:
        domains: domains that the experts are spread over.
        top_k: experts of a token.
        most: most domains that they may be in, 0 when any.
    """
    hit = domains * (1 - (1 - 1 / domains) ** top_k)
    return min(hit, most) if most else hit


def expert_bytes(model: Transformer, plan: Plan, inside: int) -> tuple[float, float]:
    """What a rank sends for the experts of one layer, forward and backward, one microbatch.

    A token goes once to each domain that has experts of it, and on from there inside the domain.

    Args:
        model: what is trained.
        plan: how it is cut.
        inside: ranks of an expert parallel group that share a scale-up domain.

    Returns:
        Bytes over NICs, and bytes inside the domain.
    """
    domains = plan.ep // inside
    own = tokens(model, plan) / plan.tp * model.hidden
    dispatch = 1 if model.precision == "fp8" else ACTIVATION_BYTES
    # Dispatch and combine forward; their gradients, in two bytes, backward.
    each = own * (dispatch + 3 * ACTIVATION_BYTES)
    visited = domains_visited(domains, model.top_k, model.expert_domains)
    away = visited * ring_share(domains)
    return each * away, each * model.top_k * ring_share(inside)


def expert_step_s(
    tokens: float, hidden: int, paths: int, bytes_each: int, gigabytes_per_s: float
) -> float:
    """Seconds that one expert exchange takes at least: every path of every token at line rate.

    >>> round(expert_step_s(32, 7000, 9, 3, 50) * 1e6, 2)
    120.96
    """
    return tokens * paths * hidden * bytes_each / (gigabytes_per_s * GIGA)


def decode_token_s(layers: int, step_s: float, parts: int = 2) -> float:
    """Seconds a token when the exchanges of each part of a batch are all that a decoder awaits."""
    return parts * layers * step_s
