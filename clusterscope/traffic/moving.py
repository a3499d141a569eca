"""Bytes that the kernels between matrix products move in a layer of a transformer.

No product waits for its operands from memory while it runs well, but norms, sums, activations and
what keeps attention scores do nothing else than read and write. With width h, n heads of width d (k
of them with keys and values), a feed-forward block of width f and two bytes an activation, a token
and layer forward come to

    norms 2 x 2h, residual sums 2 x 3h      one of each where both blocks stand side by side
    queries, keys, values and output        2n d + 2k d; turned by positions 2 (n + k) d more
    between the products of the block       2f, with a gate 3f; of an expert for each that it visits
    to experts and back                     4h for each that it visits
    attention scores, where they are stored 13 bytes for each head and token of the sequence

Backward moves twice that. All of it is cut by tensor parallelism, with sequence parallelism between
the blocks. Kernels that are fused further move less, fine-grained ones more.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from clusterscope.spec.models import Transformer
from clusterscope.spec.plans import Plan
from clusterscope.traffic.transformer import recomputed

VALUE_BYTES: Final = 2  # bytes of an activation
# A stored score is written, read and written by mask and softmax, read and written with a byte of
# mask by dropout, and read by the product with the values.
_SCORE_BYTES: Final = 2 + 4 + 5 + 2
# Passes of backward over what forward moves: each kernel reads a gradient besides and writes one.
_BACKWARD_PASSES: Final = 2.0


class Moved(NamedTuple):
    """Bytes that one layer moves for one sequence, all tensor parallel ranks together."""

    forward: float
    backward: float


def moved_bytes(model: Transformer, plan: Plan) -> Moved:
    """Bytes of a layer, a mean over all layers, with what is computed again.

    >>> from clusterscope.spec.models import model
    >>> from clusterscope.spec.plans import resolve_plan
    >>> from clusterscope.spec.training import PlanSpec
    >>> gpt = model("gpt3-175b")
    >>> moved_bytes(gpt, resolve_plan(PlanSpec(), gpt, 1, "plan")).forward / gpt.sequence
    540672.0
    """
    again = recomputed(plan.recompute)
    values = float(VALUE_BYTES * values_moved(model) * model.sequence)
    scores = 0.0
    if plan.attention == "stored":
        scores = float(_SCORE_BYTES * model.heads * model.sequence**2)
    return Moved(
        values + scores,
        values * (_BACKWARD_PASSES + again.weights) + scores * (_BACKWARD_PASSES + again.scores),
    )


def values_moved(model: Transformer) -> float:
    """Values that a token's way through a layer reads and writes, without scores."""
    h, n, k, d = model.hidden, model.heads, model.kv_heads, model.head_dim
    residual = (1 if model.parallel else 2) * (2 * h + 3 * h)
    attention = (2 * n + 2 * k) * d + (2 * (n + k) * d if model.gated else 0)
    width, experts = (3 if model.gated else 2), model.moe_layers / model.layers
    visits = model.top_k + model.shared_experts
    routed = width * model.expert_ffn * visits + 4 * h * model.top_k
    return residual + attention + (1 - experts) * width * model.ffn + experts * routed
