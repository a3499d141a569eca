"""Memory of a GPU: the published formulas, and schedules played slot by slot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.findings import findings
from clusterscope.metrics.memory import in_flight, layer_bytes, memory, score_bytes, sentence
from clusterscope.spec import parts
from clusterscope.spec.models import model
from clusterscope.spec.plans import resolve_plan
from clusterscope.spec.training import PlanSpec
from clusterscope.traffic.schedule import slots
from clusterscope.traffic.task import Training
from tests import plans

GPT3 = model("gpt3-175b")


def held(name="gpt3-175b", ranks=64, gpu="A100-SXM4-80GB", **cuts):
    own = model(name)
    plan = resolve_plan(PlanSpec(**cuts), own, ranks, "plan")
    return memory(Training(own, plan, parts.gpu(gpu)))


def test_a_gpt_layer_keeps_what_korthikanti_counts():
    s, h, a = GPT3.sequence, GPT3.hidden, GPT3.heads
    assert layer_bytes(GPT3) == 34 * h
    assert layer_bytes(GPT3) + score_bytes(GPT3) == h * (34 + 5 * a * s / h)


def test_a_pipeline_keeps_as_much_as_korthikanti_counts():
    s, h, layers, t, p, v = 2048, 12288, 96, 8, 8, 3
    told = held(tp=t, pp=p, vp=v, microbatches=64)
    published = s * h * layers / t * 34 * (1 + (p - 1) / (p * v))
    embedded = told.in_flight * s * h / t * 2
    assert told.activations_bytes == pytest.approx(published + embedded)
    assert told.stage == 1
    whole = held(tp=t, pp=p, microbatches=64, recompute="full")
    one = s * h / t * 34
    assert whole.activations_bytes == pytest.approx(
        s * h * layers / t * 2 + one + p * s * h / t * 2
    )


def test_stored_attention_keeps_its_scores_and_fused_does_not():
    fused, stored = held(tp=8, pp=8), held(tp=8, pp=8, attention="stored")
    assert fused.scores_bytes == 0
    assert stored.scores_bytes == pytest.approx(5 * 96 * 2048**2 * 12 / 8)
    assert held(tp=8, pp=8, attention="stored", recompute="selective").scores_bytes == 0


def test_zero_shares_out_as_rajbhandari_counts():
    """ZeRO, section 5: 16 bytes a parameter, 4 + 12/N, 2 + 14/N and 16/N of it."""
    states = []
    for zero in range(4):
        told = held("gpt3-175b", ranks=64, tp=1, pp=1, zero=zero)
        states.append(told.weights_bytes + told.gradients_bytes + told.optimizer_bytes)
    weights, n = states[0] / 16, 64
    gathered = 2 * (weights - 2 * 51200 * 12288) / 96 * 2
    assert states[1] == pytest.approx(weights * (4 + 12 / n))
    assert states[2] == pytest.approx(weights * (2 + 14 / n))
    assert states[3] == pytest.approx(weights * 16 / n + gathered, rel=1e-3)


@settings(max_examples=40, deadline=None)
@given(p=st.integers(1, 6), laps=st.integers(1, 3), v=st.integers(1, 3))
def test_what_is_in_flight_is_what_a_played_schedule_holds(p, laps, v):
    v = v if p > 1 else 1
    m = p * laps
    plan = resolve_plan(
        PlanSpec(pp=p, vp=v, microbatches=m), model("gpt3-175b").__class__(
            layers=p * v, hidden=64, heads=4, kv_heads=4, head_dim=16, ffn=256, sequence=16,
            vocabulary=64,
        ), p, "plan",
    )  # fmt: skip
    played = slots(p, m, v, 1.0, 2.0)
    for stage in range(p):
        own = played.stage == stage
        order = np.argsort(played.begin_s[own], kind="stable")
        change = np.where(played.backward[own][order], -1, 1)
        assert int(np.cumsum(change).max()) / v == pytest.approx(in_flight(plan)[stage])


@settings(max_examples=40, deadline=None)
@given(tp=st.sampled_from([1, 2, 4, 8]), pp=st.sampled_from([1, 2, 4, 8]))
def test_more_cuts_never_need_more(tp, pp):
    one = held(ranks=512, tp=tp, pp=pp, microbatches=16)
    more = held(ranks=512, tp=2 * tp, pp=pp, microbatches=16)
    assert more.needed_bytes < one.needed_bytes
    assert one.needed_bytes == pytest.approx(
        one.weights_bytes + one.gradients_bytes + one.optimizer_bytes + one.activations_bytes
    )


def test_a_job_that_does_not_fit_is_a_finding():
    built = plans.scenario(plan={"microbatch": 4096, "microbatches": 1})
    found = [f for f in findings(built, Timeline(built).at(0)) if f.rule == "memory"]
    assert [f.severity for f in found] == ["warning"]
    assert found[0].message.startswith("a GPU of stage 2 of 2, the fullest, needs ")
    assert ": activations take most, " in found[0].message
    assert "has 80 GB" in found[0].message
    fitting = plans.scenario()
    assert not [f for f in findings(fitting, Timeline(fitting).at(0)) if f.rule == "memory"]
    assert sentence(held(tp=8, pp=8)) == ""
