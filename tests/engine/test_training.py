"""A training job on a network: how long it computes, waits and idles."""

from __future__ import annotations

from itertools import pairwise

import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.step import iteration_parts, start, step
from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.arrays import SCALE_UP
from clusterscope.metrics.jobs import job_metrics
from clusterscope.traffic.stages import slowest_of
from clusterscope.traffic.transformer import model_flops, parameters
from clusterscope.transport.model import SCALE_UP_GOODPUT
from tests.small import scenario

MODEL = {"layers": 8, "hidden": 1024, "heads": 8, "sequence": 512, "vocabulary": 1024}
PLAN = {"tp": 2, "pp": 2, "microbatches": 4, "overlap": (), "efficiency": 0.5}


def training(plan=None, **changes):
    job = {"name": "job", "model": MODEL, "plan": PLAN | (plan or {})}
    return scenario(jobs=[job], **changes)


def seconds_by_phase(built, network=None):
    parts = iteration_parts(built, network or built.healthy, 0)
    names = [phase.name for phase in built.program[0].phases]
    return dict(zip(names, [seconds for seconds, _ in parts], strict=True))


def test_an_iteration_is_what_pencil_and_paper_make_it():
    built = training()
    trained = built.program[0].training
    seconds = seconds_by_phase(built)
    # 8 nodes of 2 GPUs: tensor parallel pairs in a node, 4 data parallel copies of 2 stages.
    activations = 512 * 1024 * 2
    own = trained.pace
    tensor_gbit = 4 * 2 * 2 * 4 * (activations * 2 * 1 / 2) * 8e-9  # 4 layers, twice, m = 4
    tensor_s = tensor_gbit / (800 * SCALE_UP_GOODPUT) + 4 * 2 * 2 * 4 * 2 * 1e-6
    computing = 4 * (own.forward_s + own.backward_s)
    bubble = 1 / 4
    assert seconds["microbatches"] == pytest.approx((computing + tensor_s) * (1 + bubble), rel=1e-3)
    goodput = built.transport.goodput_ratio
    # Both directions at once; a stage sends half of the width forward, the other half back.
    sends_s = 4 * activations / 2 * 8e-9 / (100 * goodput)
    index = [phase.name for phase in built.program[0].phases].index("pipeline sends")
    sends_s += built.healthy.phase((0, index)).latency_s.max()
    assert seconds["pipeline sends"] == pytest.approx(sends_s * (1 + bubble))
    # 3/4 of what a rank holds: 4 layers and an embedding, cut in two, two bytes each.
    held = parameters(trained.model) / 4 * 2 * 3 / 4
    assert seconds["gradient reduction"] == pytest.approx(held * 8e-9 / (100 * goodput), rel=0.02)


def test_the_pace_is_that_of_the_slowest_gpu():
    trained = training().program[0].training
    whole = model_flops(trained.model, "fused") / 3  # forward of one sequence
    last = (4 / 8) * (whole - 2 * 512 * 1024 * 1024) + 2 * 512 * 1024 * 1024
    expected = last / 2 / (989e12 * 0.5) * slowest_of(16)
    assert trained.pace.forward_s == pytest.approx(expected)


def test_bytes_beside_computing_cost_nothing_until_they_take_longer():
    alone, hidden = training(), training({"overlap": ("tp", "dp", "pp")})
    waited = sum(seconds_by_phase(alone).values())
    computed = sum(p.work.compute_s * (1 + p.work.bubble_ratio) for p in hidden.program[0].phases)
    total = sum(seconds_by_phase(hidden).values())
    assert computed <= total < waited
    (job,) = job_metrics(hidden, start(hidden))
    assert job.iteration_s == pytest.approx(total)


def test_a_slow_network_slows_the_phases_that_use_it():
    built = training()
    whole = seconds_by_phase(built)
    for kind, slow in (("gpu", {"microbatches"}), ("nic", None)):
        names = built.names
        target = names.cable(int(built.fabric.tier_start[SCALE_UP]) if kind == "gpu" else 0)
        event = Event.named(names, "degrade", target, step=0, scale=0.1)
        now = seconds_by_phase(built, Timeline(built, [event]).at(0).network)
        slower = {name for name in whole if now[name] > whole[name] * 1.01}
        outside = {"parameter all-gather", "pipeline sends", "gradient reduction"}
        assert slower == (slow or outside)


def test_steps_and_the_steady_state_agree():
    built = training(sim={"seed": 1, "dt_s": 0.002, "steps": 10})
    frame = start(built)
    expected = sum(seconds_by_phase(built).values())
    for _ in range(40):
        frame = step(built, frame)
    assert frame.jobs[0].iteration >= 1
    assert frame.jobs[0].last_iteration_s == pytest.approx(expected)


def test_metrics_add_up_to_the_iteration():
    built = training({"overlap": ("dp",), "optimizer_s": 0.001})
    (job,) = job_metrics(built, start(built))
    own = job.training
    parts = own.compute_s + own.bubble_s + sum(own.exposed_s.values())
    assert parts == pytest.approx(job.iteration_s)
    assert own.spans[-1].end_s == pytest.approx(job.iteration_s)
    assert {"tp", "pp"} <= set(own.exposed_s)
    assert own.tokens == 4 * 4 * 512
    flops = 16 * model_flops(built.program[0].training.model, "fused")
    assert own.mfu == pytest.approx(flops / job.iteration_s / (16 * 989e12))
    assert own.tflops_per_gpu == pytest.approx(own.mfu * 989)
    assert 0 < job.ideal_s <= job.iteration_s


def test_spans_lie_in_their_iteration_and_waits_do_not_meet():
    built = training({"overlap": ("dp", "tp")})
    (job,) = job_metrics(built, start(built))
    shown = [s for s in job.training.spans if s.kind != "hidden"]
    assert all(a.end_s == pytest.approx(b.begin_s) for a, b in pairwise(shown))
    hidden = [s for s in job.training.spans if s.kind == "hidden"]
    assert {s.network for s in hidden} == {"scale-up", "scale-out"}
    assert all(0 <= s.begin_s < s.end_s <= job.iteration_s * (1 + 1e-9) for s in hidden)


def test_a_bare_collective_does_not_train():
    built = scenario()
    (job,) = job_metrics(built, start(built))
    assert job.training is None
