"""What a transformer computes and keeps: parameters and floating point operations.

From the shapes of its matrices alone. With b sequences of s tokens, width h, l layers and V
entries of the vocabulary, a GPT comes to what Narayanan et al. print (SC21, equations 2 and 3):

    parameters    12 l h^2 (1 + ... + V / 12 l h)
    operations    72 b s l h^2 (1 + s / 6h + V / 12 l h)       forward and backward
                  96 b s l h^2 (1 + s / 6h + V / 16 l h)       with all of forward computed again

A matrix product counts two operations a weight and token, backward twice as much as forward.
Attention scores are squares of s x s where they are stored, as these equations have it; fused
kernels skip the half that a causal mask hides. Norms, biases and positions are left out (0.01 % of
the parameters of GPT-3).
"""

from __future__ import annotations

from typing import NamedTuple

from clusterscope.spec.models import Transformer
from clusterscope.spec.training import Attention, Recompute

# Weights are used once forward and twice backward: for the input's and for their own gradient.
_BACKWARD = 2.0


def attention_parameters(model: Transformer) -> int:
    """Weights of the attention of one layer.

    >>> from clusterscope.spec.models import model
    >>> attention_parameters(model("gpt3-175b")) == 4 * 12288**2
    True
    """
    h, d, n = model.hidden, model.head_dim, model.heads
    out = n * d * h
    if not model.latent:
        return h * n * d + 2 * h * model.kv_heads * d + out
    q = h * model.q_rank + model.q_rank * n * (d + model.rope_dim)
    kv = h * (model.kv_rank + model.rope_dim) + model.kv_rank * n * 2 * d
    return q + kv + out


def dense_parameters(model: Transformer) -> int:
    """Weights of a dense feed-forward block."""
    return _block(model, model.ffn)


def expert_parameters(model: Transformer) -> int:
    """Weights of one expert."""
    return _block(model, model.expert_ffn)


def layer_parameters(model: Transformer) -> float:
    """Weights of a layer that are not in routed experts, a mean over all layers."""
    shared = model.shared_experts * expert_parameters(model) + model.hidden * model.experts
    moe, dense = model.moe_layers, model.layers - model.moe_layers
    blocks = dense * dense_parameters(model) + moe * shared
    return attention_parameters(model) + blocks / model.layers


def routed_parameters(model: Transformer) -> float:
    """Weights of all routed experts of a layer, a mean over all layers."""
    return model.experts * expert_parameters(model) * model.moe_layers / model.layers


def embedding_parameters(model: Transformer) -> int:
    """Weights of the embedding; those of the output are as many."""
    return model.vocabulary * model.hidden


def parameters(model: Transformer) -> float:
    """Weights of the whole model."""
    matrices = 1 if model.tied else 2
    inside = model.layers * (layer_parameters(model) + routed_parameters(model))
    return inside + matrices * embedding_parameters(model)


def active_parameters(model: Transformer) -> float:
    """Weights that one token meets."""
    idle = (model.experts - model.top_k) * expert_parameters(model) * model.moe_layers
    return parameters(model) - idle


def score_flops(model: Transformer, attention: Attention = "stored") -> float:
    """Operations of the attention scores of one sequence in one layer, forward.

    With a window of w tokens, w (2 s - w) of the s x s pairs are left, as full as those.
    """
    width = model.heads * (2 * model.head_dim + model.rope_dim)
    window = min(model.window or model.sequence, model.sequence)
    pairs = window * (2 * model.sequence - window) * (0.5 if attention == "fused" else 1.0)
    return 2.0 * pairs * width


def layer_flops(model: Transformer, attention: Attention = "stored") -> float:
    """Operations of one sequence in one layer, forward, a mean over all layers.

    >>> from clusterscope.spec.models import model
    >>> s, h = 2048, 12288
    >>> layer_flops(model("gpt3-175b")) == 24 * s * h**2 + 4 * s**2 * h
    True
    """
    visited = routed_parameters(model) * model.top_k / model.experts if model.experts else 0.0
    weights = layer_parameters(model) + visited
    return 2.0 * model.sequence * weights + score_flops(model, attention)


def output_flops(model: Transformer) -> float:
    """Operations of one sequence in the output (logits), forward."""
    return 2.0 * model.sequence * embedding_parameters(model)


class Again(NamedTuple):
    """What backward computes again, in forwards."""

    weights: float
    scores: float


def recomputed(recompute: Recompute) -> Again:
    """What a way of recomputing repeats."""
    return {"none": Again(0, 0), "selective": Again(0, 1), "full": Again(1, 1)}[recompute]


def backward_ratio(
    model: Transformer, recompute: Recompute, attention: Attention = "stored"
) -> float:
    """Operations of a layer backward over forward, with what is computed again."""
    again = recomputed(recompute)
    scores = score_flops(model, attention) / layer_flops(model, attention)
    return _BACKWARD + again.weights * (1 - scores) + again.scores * scores


def model_flops(model: Transformer, attention: Attention = "stored") -> float:
    """Operations that training on one sequence takes at least; what MFU counts."""
    forward = model.layers * layer_flops(model, attention) + output_flops(model)
    return (1 + _BACKWARD) * forward


def hardware_flops(
    model: Transformer, recompute: Recompute, attention: Attention = "stored"
) -> float:
    """Operations that training on one sequence takes, with what is computed again."""
    more = backward_ratio(model, recompute, attention) - _BACKWARD
    again = more * model.layers * layer_flops(model, attention)
    return model_flops(model, attention) + again


def training_days(parameters: float, tokens: float, gpus: int, flops_per_s: float) -> float:
    """Days of training with all of forward computed again: 8 T P / (n X), SC21 equation 4.

    >>> round(training_days(175e9, 300e9, 1024, 140e12), 2)
    33.91
    """
    return 8.0 * tokens * parameters / (gpus * flops_per_s) / 86_400


def _block(model: Transformer, width: int) -> int:
    return (3 if model.gated else 2) * model.hidden * width
