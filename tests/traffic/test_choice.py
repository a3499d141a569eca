"""The cost of an algorithm: NCCL's own figures, the engine's time, and what is chosen by it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.jobs import job_metrics
from clusterscope.spec import library
from clusterscope.spec.model import JobSpec
from clusterscope.traffic.choice import Reach, candidates, choose, cost
from clusterscope.validation.worlds import cluster

NODE = Reach(1, 8, 364.5, 364.5, 50.0, 0.85, "Hopper", direct=False, rail_only=False)
MANY = Reach(64, 8, 364.5, 364.5, 50.0, 0.85, "Hopper", direct=False, rail_only=False)


def job(collective="all-reduce", size=2**30, **more):
    base = {"name": "j", "collective": collective, "message_bytes": size}
    return JobSpec.model_validate(base | more)


def test_a_ring_of_eight_is_what_nccl_writes_down():
    # tuning.cc: LL 6.6 + 14 x 0.6 us; LL at most 141 GB/s of busbw on Hopper, and launching it.
    found = cost("all-reduce", "ring", NODE, 2**20)
    assert found.protocol == "LL"
    assert found.start_s - library.LAUNCH_S == pytest.approx(6.6e-6)
    assert found.inside_s == pytest.approx(0.6e-6)
    sent = 2**20 * 1.75 / 141e9
    assert found.seconds == pytest.approx(library.LAUNCH_S + 15e-6 + sent, rel=0.01)


def test_nvls_takes_a_pass_of_25_us_and_two_rounds_to_fill():
    found = cost("all-reduce", "nvls", NODE, 2**30)
    assert 2 * found.inside_s == pytest.approx(25e-6)
    # 16 channels x 8 GPUs x 128 KiB a round, at (g + 1) / g bytes over 0.85 of a ring's rate.
    one = 16 * 8 * 128 * 1024 * 9 / 8 / (0.85 * 364.5e9)
    assert found.fill_s == pytest.approx(2 * one)


def test_plain_steps_cost_alpha_and_nothing_else():
    found = cost("all-reduce", "tree", MANY, 2**20, 5e-6)
    assert (found.start_s, found.fill_s, found.wire) == (0.0, 0.0, 1.0)
    assert found.inside_s == found.between_s == 5e-6


def test_small_messages_take_few_steps_and_large_ones_few_bytes():
    names = [choose(job(size=size), MANY) for size in (2**10, 2**22, 2**33)]
    assert names[0] == "tree"
    assert names[-1] in ("nvls-tree", "rail-ring")
    assert choose(job(size=2**10), NODE) == "ring"
    assert choose(job(size=2**33), NODE) == "nvls"
    assert choose(job(algorithm="ring"), NODE) == "ring"
    assert choose(job("incast"), NODE) == "auto"


def test_a_mesh_uses_all_its_cables_and_a_rail_only_fabric_hands_over_inside():
    mesh = Reach(1, 8, 103.7, 363.0, 50.0, 0.0, "Hopper", direct=True, rail_only=False)
    assert choose(job(), mesh) == "direct"
    rails = Reach(4, 8, 364.5, 364.5, 50.0, 0.0, "Hopper", direct=False, rail_only=True)
    assert candidates("all-to-all", rails) == ("pxn",)
    assert candidates("all-to-all", MANY) == ("direct",)


@given(
    size=st.integers(3, 36).map(lambda power: 2**power),
    collective=st.sampled_from(["all-reduce", "all-gather", "broadcast", "all-to-all", "sendrecv"]),
    algorithm=st.sampled_from(["auto", "ring", "tree", "rail-ring", "nvls-tree"]),
)
@settings(max_examples=25, deadline=None)
def test_an_uncontended_engine_takes_the_time_that_was_estimated(size, collective, algorithm):
    """On one big switch, with headers aside, the estimate is the engine's time."""
    if collective in ("broadcast", "all-to-all", "sendrecv") and algorithm != "auto":
        algorithm = "ring"
    if collective == "all-gather" and algorithm in ("tree", "nvls-tree"):
        algorithm = "rail-ring"
    spec = cluster(
        4,
        {"tiers": 1, "wiring": "rack", "su_nodes": 4, "leaf_switch": "generic-32"},
        node={"gpus": 8, "nics": 8, "gpu": "H100-SXM"},
        scale_up={"domain_gpus": 8, "gpu_gbps": 3600.0, "switch": "NVSwitch3"},
        jobs=[job(collective, size, algorithm=algorithm).model_dump(exclude_unset=True)],
    )
    built = build(spec)
    (row,) = job_metrics(built, Timeline(built).at(0))
    reach = Reach(4, 8, 364.5, 364.5, 50.0, 0.85, "Hopper", direct=False, rail_only=False)
    name = choose(spec.jobs[0], reach)
    assert built.program[0].algorithm == name
    assert row.iteration_s == pytest.approx(cost(collective, name, reach, size).seconds, rel=0.02)
