"""GPUs that compute slower than others: who waits for whom, and how long."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.events import Event, apply
from clusterscope.engine.network import Network
from clusterscope.engine.step import iteration_parts, start, step
from clusterscope.fabric.things import Thing
from clusterscope.metrics.jobs import job_metrics
from clusterscope.traffic.schedule import slots
from tests.small import scenario

MODEL = {"layers": 8, "hidden": 1024, "heads": 8, "sequence": 512, "vocabulary": 1024}
PLAN = {"tp": 2, "pp": 2, "microbatches": 4, "overlap": [], "efficiency": 0.5}


def training(plan=None, **job):
    own = {"name": "job", "model": MODEL, "plan": PLAN | (plan or {})} | job
    return scenario(jobs=[own])


def degraded(built, name="node1/gpu0", scale=0.5, kind="degrade"):
    return Event.named(built.names, kind, name, step=0, scale=scale)


def seconds(built, *events):
    health = apply(built.whole, events)
    network = Network(built, health, health)
    return sum(part for part, _ in iteration_parts(built, network, 0))


def test_computing_of_the_slowest_gpu_is_what_everybody_waits_for():
    built = training({"tp": 1, "pp": 1, "dp": 16, "overlap": []})
    healthy = job_metrics(built, start(built))[0]
    slow = job_metrics(built, start(built, [degraded(built)]))[0]
    computing = healthy.training.compute_s
    assert slow.training.compute_s == pytest.approx(2 * computing)
    assert slow.iteration_s == pytest.approx(healthy.iteration_s + computing)
    own = slow.training.straggler
    assert (own.rank, own.gpu, own.speed, own.ranks) == (2, 2, 0.5, 1)
    assert own.lost_s == pytest.approx(computing)
    assert healthy.training.straggler is None
    assert slow.slowdown == pytest.approx(slow.iteration_s / healthy.iteration_s)


def test_one_slow_stage_of_a_pipeline_is_as_slow_as_its_slots_say():
    # Stage 1 of 2 takes three times as long; forward 1, backward 2, four microbatches.
    built = training({"tp": 1, "dp": 8})
    place = [phase.name for phase in built.program[0].phases].index("microbatches")
    work = built.healthy.work((0, place))
    slow = apply(built.whole, [degraded(built, "node7/gpu1", 1 / 3)])
    adjusted = Network(built, slow, slow).work((0, place))
    busy = adjusted.seconds(np.zeros(len(adjusted.wire))).max() / work.compute_s
    played = _played(4, forward=(1.0, 3.0), backward=(2.0, 6.0))
    assert busy * 4 * 3 == pytest.approx(played)
    assert _played(4, (1.0, 1.0), (2.0, 2.0)) == slots(2, 4, 1, 1.0, 2.0).end_s.max()


def _played(batches, forward, backward):
    """End of 1f1b on two stages of unequal speed, slot by slot."""
    clock, sent, back = [0.0, 0.0], [], []
    clock[0] += forward[0]
    sent.append(clock[0])
    for batch in range(batches):
        if batch + 1 < batches:
            clock[0] += forward[0]
            sent.append(clock[0])
        clock[1] = max(clock[1], sent[batch]) + forward[1] + backward[1]
        back.append(clock[1])
        clock[0] = max(clock[0], back[batch]) + backward[0]
    return max(clock)


def test_a_gpu_that_no_job_uses_slows_nobody():
    built = training(ranks=8)
    assert seconds(built, degraded(built, "node7/gpu1")) == seconds(built)


def test_a_node_degrades_and_is_restored_whole():
    built = training()
    slow = apply(built.whole, [degraded(built, "node2", 0.25)])
    assert slow.gpu_speed.tolist() == [*[1.0] * 4, 0.25, 0.25, *[1.0] * 10]
    assert slow.node_up.all()
    again = apply(slow, [degraded(built, "node2/gpu1", kind="restore")])
    assert again.gpu_speed[5] == 1.0
    assert not again.healthy
    whole = apply(slow, [degraded(built, "node2", kind="restore")])
    assert whole.healthy
    assert whole.digest() == built.whole.digest()


def test_no_route_has_to_react_to_a_slow_gpu_and_time_goes_on():
    built = training()
    frame = start(built)
    slowed = step(built, frame, [degraded(built)])
    assert slowed.state.reroute_due_s is None
    assert slowed.network.routed is slowed.network.actual
    restored = step(built, slowed, [degraded(built, kind="restore")])
    (then,), (now,) = job_metrics(built, frame), job_metrics(built, restored)
    assert now.iteration_s == then.iteration_s


def test_a_slow_gpu_while_routes_react_leaves_them_to_it():
    built = training()
    dead = Event.named(built.names, "fail", "spine1", step=1)
    waiting = step(built, start(built), [dead])
    due = waiting.state.reroute_due_s
    slowed = step(built, waiting, [degraded(built)])
    assert slowed.state.reroute_due_s in (due, None)
    assert slowed.health.gpu_speed[2] == 0.5


def test_stragglers_of_a_spec_are_drawn_by_the_seed():
    built = training(stragglers={"count": 3, "speed": 0.8, "spread": 0.0})
    speed = built.program[0].speed
    assert sorted(speed.tolist()) == [*[0.8] * 3, *[1.0] * 13]
    assert (training(stragglers={"count": 3, "speed": 0.8}).program[0].speed == speed).all()
    own = job_metrics(built, start(built))[0].training.straggler
    assert own.ranks == 3
    assert own.rank == int(np.flatnonzero(speed < 1)[0])
    assert training(stragglers={}).program[0].speed is None


def test_without_spread_all_gpus_are_alike():
    alike, usual = training(stragglers={"spread": 0.0}), training()
    ratio = usual.program[0].training.pace.forward_s / alike.program[0].training.pace.forward_s
    assert ratio == pytest.approx(1 + 0.026 * np.sqrt(2 * np.log(16)))


@given(
    scales=st.lists(st.floats(0.1, 1.0), min_size=1, max_size=6),
    gpus=st.lists(st.integers(0, 15), min_size=6, max_size=6),
    pp=st.sampled_from([1, 2, 4]),
)
@settings(max_examples=25, deadline=None)
def test_time_is_between_no_slow_gpu_and_all_as_slow_as_the_slowest(scales, gpus, pp):
    built = BUILT[pp]
    events = [
        Event(0, "degrade", Thing("gpu", gpu), "", scale)
        for gpu, scale in zip(gpus, scales, strict=False)
    ]
    slowest = min(apply(built.whole, events).gpu_speed)
    every = [Event(0, "degrade", Thing("gpu", gpu), "", slowest) for gpu in range(16)]
    low, mid, high = seconds(built), seconds(built, *events), seconds(built, *every)
    assert low * (1 - 1e-12) <= mid <= high * (1 + 1e-12)
    if pp == 1 and slowest < 1:
        assert mid == pytest.approx(high)


BUILT = {pp: training({"pp": pp, "overlap": ["dp"]}) for pp in (1, 2, 4)}
