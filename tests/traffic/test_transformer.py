"""Parameters, operations and bytes of transformers against what papers print."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.spec.models import Transformer, model, models
from clusterscope.spec.plans import Plan, resolve_plan
from clusterscope.spec.training import PlanSpec
from clusterscope.traffic import volumes
from clusterscope.traffic.transformer import (
    active_parameters,
    backward_ratio,
    hardware_flops,
    layer_flops,
    model_flops,
    parameters,
    training_days,
)

PUBLISHED_BILLIONS = {
    "gpt3-175b": 174.6,  # Narayanan et al., SC21, table 1
    "gpt-1t": 1008.0,
    "gpt3-177b": 177.0,  # Megatron-LM README
    "megascale-530b": 530.0,  # MegaScale, table 1
    "megascale-175b": 175.0,
    "llama3-70b": 70.6,  # model cards
    "llama3-405b": 405.9,
    "deepseek-v3": 671.0,  # technical report
    "qwen3-30b": 30.5,  # technical report
}


def plan_of(name: str, ranks: int, **keys) -> Plan:
    return resolve_plan(PlanSpec(**keys), model(name), ranks, "plan")


@pytest.mark.parametrize("name", models())
def test_parameters_are_those_that_were_published(name):
    assert parameters(model(name)) / 1e9 == pytest.approx(PUBLISHED_BILLIONS[name], rel=2e-3)


def test_a_token_of_deepseek_meets_37_billion_parameters():
    assert active_parameters(model("deepseek-v3")) / 1e9 == pytest.approx(37.0, rel=0.02)


@given(
    layers=st.integers(1, 200),
    hidden=st.integers(1, 200).map(lambda n: 128 * n),
    sequence=st.integers(1, 10_000),
    vocabulary=st.integers(1, 200_000),
)
@settings(max_examples=60, deadline=None)
def test_a_gpt_computes_what_narayanan_et_al_say(layers, hidden, sequence, vocabulary):
    gpt = Transformer(
        layers=layers,
        hidden=hidden,
        heads=hidden // 128,
        kv_heads=hidden // 128,
        head_dim=128,
        ffn=4 * hidden,
        sequence=sequence,
        vocabulary=vocabulary,
    )
    lsh2 = layers * sequence * hidden**2
    again = 1 + sequence / (6 * hidden) + vocabulary / (16 * layers * hidden)
    once = 1 + sequence / (6 * hidden) + vocabulary / (12 * layers * hidden)
    assert hardware_flops(gpt, "full") == pytest.approx(96 * lsh2 * again)
    assert model_flops(gpt) == hardware_flops(gpt, "none") == pytest.approx(72 * lsh2 * once)


def test_backward_takes_twice_forward_and_what_is_computed_again():
    gpt = model("gpt3-175b")
    assert backward_ratio(gpt, "none") == 2
    assert backward_ratio(gpt, "full") == 3
    scores = 4 * gpt.sequence**2 * gpt.hidden / layer_flops(gpt)
    assert backward_ratio(gpt, "selective") == pytest.approx(2 + scores)


def test_llama_operations_are_six_a_weight_and_twelve_a_score():
    llama = model("llama3-70b")
    weights = parameters(llama) - llama.vocabulary * llama.hidden
    a_token = 6 * weights + 12 * llama.layers * llama.sequence * llama.hidden
    assert model_flops(llama) == pytest.approx(a_token * llama.sequence)


@pytest.mark.parametrize(
    ("billions", "tokens", "gpus", "tflops", "days"),
    [(175, 300, 1024, 140, 33.9084), (1000, 450, 3072, 163, 83.2108)],
)
def test_training_takes_the_days_that_narayanan_et_al_estimate(
    billions, tokens, gpus, tflops, days
):
    got = training_days(billions * 1e9, tokens * 1e9, gpus, tflops * 1e12)
    assert got == pytest.approx(days, rel=1e-5)


def test_bytes_of_gpt3_are_those_of_narayanan_et_al():
    gpt, plan = model("gpt3-175b"), plan_of("gpt3-175b", 1024, tp=8, pp=8)
    assert volumes.tensor_buffer_bytes(gpt, plan) == 2 * 2048 * 12288 * 2 == 100_663_296
    assert volumes.stage_bytes(gpt, plan) == 2048 * 12288 / 8 * 2
    zero0 = plan_of("gpt3-175b", 1024, tp=8, pp=8, zero=0)
    grads, params = volumes.data_bytes(174.6e9 / 64, 16, zero0)
    assert (grads, params) == (pytest.approx(1.02305e10, rel=1e-4), 0)


@pytest.mark.parametrize(
    ("zero", "grads", "params"),
    [(0, 2.0, 0.0), (1, 1.0, 1.0), (2, 4.0, 1.0), (3, 4.0, 8.0)],
)
def test_zero_stages_scatter_and_gather_more_often(zero, grads, params):
    plan = plan_of("gpt3-175b", 64, tp=4, zero=zero, microbatches=4)
    once = volumes.shard_bytes(1e9, 16, 2)
    assert volumes.data_bytes(1e9, 16, plan) == (grads * once, params * once)


def test_a_token_visits_few_domains():
    assert volumes.domains_visited(1, 8, 0) == 1
    assert volumes.domains_visited(32, 8, 0) == pytest.approx(32 * (1 - (31 / 32) ** 8))
    assert volumes.domains_visited(32, 8, 4) == 4


def test_experts_in_one_domain_use_no_nic():
    deepseek = model("deepseek-v3")
    plan = plan_of("deepseek-v3", 64, ep=64)
    away, inside = volumes.expert_bytes(deepseek, plan, inside=64)
    assert away == 0
    # Dispatch in one byte, combine and both gradients in two, to 8 experts of 63 other ranks.
    assert inside == pytest.approx(4096 * 7168 * 7 * 8 * 63 / 64)


@pytest.mark.parametrize(
    ("line", "step_us", "token_ms"), [(50, 120.96, 14.7571), (900, 6.72, 0.81984)]
)
def test_decoding_waits_for_experts_as_deepseek_estimate(line, step_us, token_ms):
    step = volumes.expert_step_s(32, 7000, 9, 3, line)
    assert step * 1e6 == pytest.approx(step_us)
    assert volumes.decode_token_s(61, step) * 1e3 == pytest.approx(token_ms, rel=1e-4)
