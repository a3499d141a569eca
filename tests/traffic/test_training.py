"""A training job as phases: what it computes, what it sends, and what overlaps."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.spec import parts
from clusterscope.spec.models import Transformer
from clusterscope.spec.plans import Plan, resolve_plan
from clusterscope.spec.training import PlanSpec
from clusterscope.traffic import volumes
from clusterscope.traffic.stages import (
    KERNEL_EFFICIENCY,
    SPEED_SPREAD,
    dense_weights,
    kernel_s,
    slowest_of,
    stage_layers,
)
from clusterscope.traffic.task import Training
from clusterscope.traffic.training import training_phases
from clusterscope.traffic.transformer import layer_parameters, parameters
from clusterscope.traffic.wires import Site

TINY = Transformer(
    layers=8,
    hidden=256,
    heads=4,
    kv_heads=4,
    head_dim=64,
    ffn=1024,
    sequence=128,
    vocabulary=512,
)
EXPERTS = Transformer(
    layers=8,
    hidden=256,
    heads=4,
    kv_heads=4,
    head_dim=64,
    ffn=1024,
    sequence=128,
    vocabulary=512,
    experts=8,
    top_k=2,
    expert_ffn=512,
)
OVERLAPS = st.sets(st.sampled_from(["tp", "cp", "pp", "dp", "ep"])).map(lambda kinds: (*kinds,))


def planned(model: Transformer = TINY, ranks: int = 32, **keys) -> Training:
    plan = resolve_plan(PlanSpec(**keys), model, ranks, "plan")
    return Training(model, plan, parts.gpu("H100-SXM"))


def phases_of(training: Training, fabric, hierarchical: bool = True):
    gpus = np.arange(training.plan.ranks, dtype=np.int32)
    return training_phases(training, Site("job", fabric, gpus, hierarchical))


def bytes_by_kind(phases) -> dict[str, float]:
    sent: dict[str, float] = defaultdict(float)
    for phase in phases:
        for wire, kind in enumerate(phase.work.kinds):
            own = phase.work.wire[phase.demand.group] == wire if len(phase.demand.src) else []
            sent[kind] += float(phase.demand.size_bytes[own].sum()) if len(own) else 0.0
    return {kind: size for kind, size in sent.items() if size}


@given(
    overlap=OVERLAPS,
    shape=st.sampled_from([(1, 1, 1), (2, 1, 1), (1, 4, 1), (2, 4, 2), (2, 2, 1), (4, 2, 4)]),
    cp=st.sampled_from([1, 2]),
    microbatches=st.integers(1, 4),
    zero=st.integers(0, 3),
    recompute=st.sampled_from(["none", "selective", "full"]),
)
@settings(max_examples=60, deadline=None)
def test_overlap_changes_neither_bytes_nor_computing(
    fabric_of, overlap, shape, cp, microbatches, zero, recompute
):
    tp, pp, vp = shape
    microbatches *= pp if vp > 1 else 1
    keys = {
        "tp": tp,
        "pp": pp,
        "vp": vp,
        "cp": cp,
        "zero": zero,
        "recompute": recompute,
        "microbatches": microbatches,
    }
    fabric = fabric_of(8, 4, nics=4, domain_gpus=4)
    training = planned(**keys, overlap=overlap)
    phases = phases_of(training, fabric)
    alone = phases_of(planned(**keys, overlap=()), fabric)
    assert bytes_by_kind(phases) == pytest.approx(bytes_by_kind(alone))
    own = training.pace
    computing = microbatches * (own.forward_s + own.backward_s)
    assert sum(p.work.compute_s for p in phases) == pytest.approx(computing)
    idle = sum(p.work.compute_s * p.work.bubble_ratio for p in phases)
    assert idle == pytest.approx(computing * training.bubble_ratio)


@pytest.mark.parametrize("recompute", ["none", "full"])
def test_bytes_of_each_cut_are_those_of_the_closed_forms(fabric_of, recompute):
    training = planned(tp=2, cp=2, pp=4, vp=2, microbatches=4, recompute=recompute, zero=1)
    plan = training.plan
    sent = bytes_by_kind(phases_of(training, fabric_of(8, 4, nics=4, domain_gpus=4)))
    m, layers, ranks = 4, 2, 32
    passes = 3 if recompute == "full" else 2
    tensor = passes * volumes.tensor_buffer_bytes(TINY, plan) * layers * m
    assert sent["tp"] == pytest.approx(ranks * 2 * volumes.ring_share(2) * tensor)
    ring = 3 * volumes.context_bytes(TINY, plan) * layers * m
    assert sent["cp"] == pytest.approx(ranks * ring)
    # Of 8 chunks in a row, 7 are sent on to the next one, forward and back.
    pipelines = ranks // 4
    assert sent["pp"] == pytest.approx(2 * 7 * pipelines * volumes.stage_bytes(TINY, plan) * m)
    shards = sum(sum(volumes.data_bytes(weights, 4, plan)) for weights in dense_weights(TINY, plan))
    assert sent["dp"] == pytest.approx(shards * ranks / 4)


def test_data_parallel_ranks_of_a_domain_reduce_inside_first(fabric_of):
    fabric = fabric_of(8, 4, nics=4, domain_gpus=4)
    training = planned(zero=0, overlap=())
    (reduction,) = (p for p in phases_of(training, fabric) if p.name == "gradient reduction")
    by_nic = reduction.demand.src < fabric.ports
    weights = parameters(TINY) * 2
    assert reduction.demand.size_bytes[by_nic] == pytest.approx(2 * 7 / 8 * weights / 4)
    assert reduction.demand.size_bytes[~by_nic] == pytest.approx(2 * 3 / 4 * weights)
    flat = phases_of(training, fabric, hierarchical=False)[-1]
    assert flat.demand.size_bytes == pytest.approx(2 * 31 / 32 * weights)


def test_parameters_of_zero_3_are_gathered_every_microbatch(fabric_of):
    fabric = fabric_of(8, 4, nics=4, domain_gpus=4)
    once, twice = (
        bytes_by_kind(phases_of(planned(zero=3, microbatches=m, overlap=()), fabric))["dp"]
        for m in (1, 2)
    )
    assert twice == pytest.approx(2 * once)
    whole = parameters(TINY) * 2 * 3  # two gathers and a reduction, two bytes each
    assert once == pytest.approx(32 * whole * (3 / 4 + 7 / 8 / 4))


def test_experts_are_reached_over_nics_once_a_domain(fabric_of):
    fabric = fabric_of(8, 4, nics=4, domain_gpus=4)
    training = planned(EXPERTS, ep=8, overlap=())
    (exchange,) = (p for p in phases_of(training, fabric) if p.name == "expert exchange")
    away, inside = volumes.expert_bytes(EXPERTS, training.plan, inside=4)
    by_nic = exchange.demand.src < fabric.ports
    assert exchange.demand.size_bytes[by_nic].sum() == pytest.approx(32 * 8 * away)
    assert exchange.demand.size_bytes[~by_nic].sum() == pytest.approx(32 * 8 * inside)
    # Experts of a rank are held by 4 ranks in all, which reduce their gradients among themselves.
    assert "gradient reduction" in [p.name for p in phases_of(training, fabric)]


@pytest.mark.parametrize("zero", range(4))
@pytest.mark.parametrize("overlap", [(), ("ep", "dp")])
def test_what_has_no_bytes_is_no_wire(fabric_of, zero, overlap):
    training = planned(replace(EXPERTS, dense_layers=8), ep=8, zero=zero, overlap=overlap)
    phases = phases_of(training, fabric_of(8, 4, nics=4, domain_gpus=4))
    assert all((p.demand.size_bytes > 0).all() for p in phases)
    assert "expert exchange" not in [p.name for p in phases]


def test_a_lone_gpu_only_computes(fabric_of):
    training = planned(ranks=1, microbatches=3, optimizer_s=0.5)
    phases = phases_of(training, fabric_of(1, 1))
    assert [p.name for p in phases] == ["microbatches", "optimizer"]
    assert [len(p.demand.src) for p in phases] == [0, 0]
    assert phases[1].work.compute_s == 0.5


def test_layers_that_do_not_divide_leave_room_at_the_ends():
    llama = Transformer(
        layers=126,
        hidden=128,
        heads=2,
        kv_heads=2,
        head_dim=64,
        ffn=512,
        sequence=8,
        vocabulary=16,
    )
    plan = resolve_plan(PlanSpec(pp=16), llama, 16, "plan")
    assert stage_layers(llama, plan).tolist() == [7, *[8] * 14, 7]
    assert stage_layers(llama, plan).sum() == 126


def test_weights_of_all_stages_are_the_model():
    plan: Plan = planned(pp=4, tp=2).plan
    assert dense_weights(TINY, plan).sum() * 2 == pytest.approx(parameters(TINY))
    assert dense_weights(TINY, plan)[1] == 2 * layer_parameters(TINY) / 2


def test_kernels_reach_a_share_of_the_best_matrix_product():
    h100, a100 = parts.gpu("H100-SXM"), parts.gpu("A100-SXM4-80GB")
    plan, work, none = planned().plan, np.array([1e15]), np.zeros(1)
    alone = kernel_s(TINY, plan, h100, work, none, none)
    assert alone == pytest.approx(1e15 / (792.1e12 * KERNEL_EFFICIENCY))
    assert kernel_s(TINY, plan, a100, none, work, none) == pytest.approx(
        1e15 / (267.9e12 * KERNEL_EFFICIENCY)
    )
    told = planned(efficiency=0.5).plan
    assert kernel_s(TINY, told, h100, work, none, work) == pytest.approx(1e15 / (989e12 / 2))


def test_what_moves_memory_takes_its_bytes_over_the_rate_of_the_memory():
    plan, none = planned().plan, np.zeros(1)
    h100 = parts.gpu("H100-SXM")
    assert kernel_s(TINY, plan, h100, none, none, np.array([3.35e12])) == pytest.approx(1.0)


def test_fp8_makes_only_products_with_weights_faster():
    h100, plan = parts.gpu("H100-SXM"), planned().plan
    small = replace(TINY, precision="fp8")
    work, none = np.array([1e15]), np.zeros(1)
    wide = kernel_s(TINY, plan, h100, work, none, none)
    assert kernel_s(small, plan, h100, none, work, none) == wide
    products = KERNEL_EFFICIENCY * wide
    assert kernel_s(small, plan, h100, work, none, none) == pytest.approx(
        products / 1.83 + (wide - products)
    )
    assert kernel_s(small, plan, h100, none, none, work) == kernel_s(
        TINY, plan, h100, none, none, work
    )


def test_the_slowest_of_many_is_slower():
    assert slowest_of(1) == 1
    assert slowest_of(1024) == pytest.approx(1 + SPEED_SPREAD * np.sqrt(2 * np.log(1024)))
    times = [slowest_of(n) for n in range(1, 5000)]
    assert times == sorted(times)
