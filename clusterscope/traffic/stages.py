"""What the stages of a pipeline hold and compute: layers, weights, seconds.

Axes: P stages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from clusterscope.columns import F64, I32
from clusterscope.spec.models import Transformer
from clusterscope.spec.parts import Gpu
from clusterscope.spec.plans import Plan
from clusterscope.traffic.moving import moved_bytes
from clusterscope.traffic.transformer import (
    embedding_parameters,
    layer_flops,
    layer_parameters,
    output_flops,
    recomputed,
    routed_parameters,
    score_flops,
)
from clusterscope.units import BITS_PER_BYTE, GIGA

# Share of the best matrix product that those of a layer reach; what moves memory comes besides.
# Fitted on case TRAIN-10: H100, GPT-3 175B.
KERNEL_EFFICIENCY = 0.756
# Spread of the speed of GPUs, standard deviation over mean; fitted on the growth from 128 to 2,048
# GPUs of case TRAIN-10.
SPEED_SPREAD = 0.026
# What the best matrix product reaches of the peak where nobody has measured it; estimate: as H100.
_MATMUL_SHARE = 0.80
# Best matrix product in FP8 over that in BF16: H200, 1,453.4 and 794.5 TFLOPS (V2:mamf).
_FP8_SPEED = 1.83
# Their peaks: NVIDIA H100 data sheet, 1,979 and 989 TFLOPS dense.
_FP8_PEAK = 2.0
_TERA = 1e12
Flops = TypeVar("Flops", float, F64)
_LN_2 = 0.6931471805599453


@dataclass(frozen=True)
class Pace:
    """Seconds of one microbatch on the slowest stage, computing alone."""

    forward_s: float
    backward_s: float


def stage_layers(model: Transformer, plan: Plan) -> I32:
    """Layers of every stage, (P,).

    Where they do not divide, the last stage and then the first one hold fewer: they have the
    output and the embedding besides.
    """
    layers = np.full(plan.pp, -(-model.layers // (plan.pp * plan.vp)) * plan.vp, dtype=np.int32)
    for place in range(int(layers.sum()) - model.layers):
        layers[-1 if place % 2 == 0 else 0] -= 1
    return layers


def dense_weights(model: Transformer, plan: Plan) -> F64:
    """Weights of a rank of every stage that are not in routed experts, (P,)."""
    weights = np.asarray(stage_layers(model, plan) * layer_parameters(model), dtype=np.float64)
    weights[0] += embedding_parameters(model)
    if plan.pp > 1 or not model.tied:
        weights[-1] += embedding_parameters(model)
    weights /= plan.tp
    return weights


def routed_weights(model: Transformer, plan: Plan) -> F64:
    """Weights of a rank of every stage that are in routed experts, (P,)."""
    each = routed_parameters(model) / plan.ep
    return np.asarray(stage_layers(model, plan) * each, dtype=np.float64)


def peak_flops(model: Transformer, gpu: Gpu) -> float:
    """Peak operations a second of a GPU in the model's number format."""
    return gpu.bf16_tflops * _TERA * (_FP8_PEAK if model.precision == "fp8" else 1.0)


def kernel_s_of(
    model: Transformer, efficiency: float | None, gpu: Gpu, weights: Flops, others: Flops
) -> Flops:
    """Seconds of operations of weights and of others on one GPU of mean speed.

    In FP8 only products with weights get faster, and only by what their best rate is higher;
    scores and output do not.

    Args:
        model: whose operations they are.
        efficiency: share of the peak that kernels reach; the fitted constant when None.
        gpu: what they run on.
        weights: operations of weights.
        others: all other operations.
    """
    if efficiency is not None:
        return (weights + others) / (peak_flops(model, gpu) * efficiency)
    best = (gpu.matmul_tflops or gpu.bf16_tflops * _MATMUL_SHARE) * _TERA
    products = weights / (_FP8_SPEED if model.precision == "fp8" else 1.0) + others
    lost = (weights + others) * (1 / KERNEL_EFFICIENCY - 1)
    return (products + lost) / best


def kernel_s(
    model: Transformer, plan: Plan, gpu: Gpu, weights: F64, others: F64, moved: F64
) -> F64:
    """Seconds of operations of weights and of others, and of bytes moved (P,), on one GPU, (P,).

    A plan with an efficiency of its own has what moves memory in that.
    """
    products = kernel_s_of(model, plan.efficiency, gpu, weights, others)
    if plan.efficiency is not None:
        return products
    return products + moved / (gpu.hbm_gbps * GIGA / BITS_PER_BYTE)


def slowest_of(ranks: int, spread: float = SPEED_SPREAD) -> float:
    """Time of the slowest of many GPUs over that of a mean one.

    The largest of n normal numbers lies near sqrt(2 ln n) standard deviations above their mean
    (Cramer 1946, section 28.6). The logarithm is a polygon through the powers of two, so that it
    is the same number on any machine.

    >>> slowest_of(1)
    1.0
    """
    whole = ranks.bit_length() - 1
    log2 = whole + ranks / 2**whole - 1
    return 1 + spread * math.sqrt(2 * _LN_2 * log2)


def pace(model: Transformer, plan: Plan, gpu: Gpu, spread: float = SPEED_SPREAD) -> Pace:
    """Seconds of a microbatch on the slowest GPU of the slowest stage.

    A pipeline goes at the pace of its slowest stage; the last one has the output besides. Ranks
    wait for each other in every microbatch, so all go at the pace of the slowest.
    """
    each = plan.microbatch / (plan.tp * plan.cp) * slowest_of(plan.ranks, spread)
    scores, moved = score_flops(model, plan.attention), moved_bytes(model, plan)
    layers, output = stage_layers(model, plan).astype(np.float64), np.zeros(plan.pp)
    output[-1] = output_flops(model)
    weights = layers * (layer_flops(model, plan.attention) - scores)
    again = recomputed(plan.recompute)
    others = layers * scores
    forward = kernel_s(model, plan, gpu, weights, others + output, layers * moved.forward)
    backward = kernel_s(
        model,
        plan,
        gpu,
        weights * (2 + again.weights),
        others * (2 + again.scores) + 2 * output,
        layers * moved.backward,
    )
    slowest = int((forward + backward).argmax())
    return Pace(float(forward[slowest]) * each, float(backward[slowest]) * each)
