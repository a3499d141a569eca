"""Checkpoints and failures: worked examples, a simulation as oracle, and what must hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterscope.metrics.reliability import (
    Checkpointing,
    Interruptions,
    after_stall,
    expected_failures,
    job_mtbf_s,
    mtbf_s,
    productive_share,
)

jobs = st.builds(
    Checkpointing,
    write_s=st.floats(1, 600),
    restart_s=st.floats(0, 1800),
    mtbf_s=st.floats(600, 1e6),
)


def simulated(job: Checkpointing, interval_s: float, stretches: int) -> float:
    """Share of time that computes, by playing the stretches with drawn failures."""
    rng, spent = np.random.default_rng(1), 0.0
    for _ in range(stretches):
        while True:
            fails = rng.exponential(job.mtbf_s)
            if fails >= interval_s + job.write_s:
                spent += interval_s + job.write_s
                break
            spent += fails
            # Restarts that fail begin again.
            while (fails := rng.exponential(job.mtbf_s)) < job.restart_s:
                spent += fails
            spent += job.restart_s
    return stretches * interval_s / spent


def test_a_worked_example():
    """60 s to write, 5 minutes to restart, a failure each 3.09 h: Llama 3's interruptions."""
    job = Checkpointing(write_s=60, restart_s=300, mtbf_s=54 * 86_400 / 419)
    assert job.young_s == pytest.approx(1155.95, rel=1e-5)
    assert job.daly_s == pytest.approx(1116.29, rel=1e-5)
    assert job.best_interval_s == pytest.approx(1116.3, rel=1e-4)
    assert job.best_efficiency == pytest.approx(0.875832, rel=1e-5)
    assert job.efficiency(3600) == pytest.approx(0.808711, rel=1e-5)
    assert job.write_share(3600) == pytest.approx(1 / 60)
    assert job.rollback_s(3600) == 1800


@pytest.mark.parametrize(
    ("job", "interval_s"),
    [
        (Checkpointing(60, 300, 11_135), 1116),
        (Checkpointing(60, 300, 11_135), 3600),
        (Checkpointing(20, 900, 2_000), 500),
    ],
)
def test_the_share_of_time_is_that_of_a_simulation(job, interval_s):
    assert job.efficiency(interval_s) == pytest.approx(simulated(job, interval_s, 20_000), rel=0.01)


@given(jobs)
def test_no_interval_is_better_than_the_best_one(job):
    best = job.best_efficiency
    assert 0 < best < 1
    for interval_s in (job.young_s, job.daly_s, *np.geomspace(1, 10 * job.mtbf_s, 40)):
        assert job.efficiency(float(interval_s)) <= best * (1 + 1e-12)


@given(jobs)
def test_a_harder_life_is_less_efficient(job):
    best = job.best_efficiency
    assert Checkpointing(job.write_s * 2, job.restart_s, job.mtbf_s).best_efficiency < best
    assert Checkpointing(job.write_s, job.restart_s + 60, job.mtbf_s).best_efficiency < best
    assert Checkpointing(job.write_s, job.restart_s, job.mtbf_s * 2).best_efficiency > best


@given(jobs)
def test_young_and_daly_come_near_the_best_when_writing_is_short(job):
    short = Checkpointing(job.mtbf_s / 1000, job.restart_s, job.mtbf_s)
    assert short.efficiency(short.young_s) == pytest.approx(short.best_efficiency, rel=1e-3)
    assert short.daly_s == pytest.approx(short.best_interval_s, rel=1e-3)


def test_writing_longer_than_a_failure_lasts():
    hopeless = Checkpointing(1e6, 0, 1e3)
    assert hopeless.daly_s == 1e3
    assert hopeless.efficiency(1e3) == 0.0


def test_rates_add_up():
    assert mtbf_s(100.0, 0) == math.inf
    node_rate = 0.0065 / 86_400
    assert job_mtbf_s(node_rate, 2048) / 3600 == pytest.approx(1.80288, rel=1e-5)
    assert expected_failures(node_rate, 2048, job_mtbf_s(node_rate, 2048)) == pytest.approx(1)
    assert productive_share(18, 10) == pytest.approx(4 / 9)
    assert productive_share(10, 18) == 0


def test_a_job_outlives_a_stall_that_its_timeout_outlasts():
    assert after_stall(3.0, 1.0) == "job aborts"
    assert after_stall(3.0, 3.0) == after_stall(3.0, 600.0) == "stall then resume"


def test_shares_of_causes():
    counted = Interruptions({"gpu": 3, "cable": 1})
    assert counted.total == 4
    assert counted.share(["gpu"]) == 0.75
    assert counted.share(["gpu", "cable"]) == 1
    with pytest.raises(KeyError):
        counted.share(["moon"])
