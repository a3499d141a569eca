"""Checkpoints of training jobs: how long they take, how often, and what is left of the time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.step import start
from clusterscope.metrics.checkpoints import checkpoints
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.networks import storage
from clusterscope.metrics.reliability import Checkpointing
from clusterscope.spec.training import CheckpointSpec
from clusterscope.traffic.transformer import parameters
from clusterscope.views.goodput import goodput
from clusterscope.views.summary import summary
from tests.small import scenario

MODEL = {"layers": 8, "hidden": 1024, "heads": 8, "sequence": 512, "vocabulary": 1024}
FRONT = {
    "nics": 1,
    "nic_gbps": 100.0,
    "tiers": 1,
    "switch": "generic-64",
    "storage_nodes": 4,
    "storage_gbps": 50.0,
}


def trained(checkpoint=None, front=FRONT, **job):
    own = {"name": "job", "model": MODEL, "plan": {"tp": 2}} | job
    if checkpoint is not None:
        own["checkpoint"] = checkpoint
    return scenario(jobs=[own], **({"front_end": front} if front else {}))


def test_bytes_go_to_the_nodes_and_on_to_storage():
    built = trained({"copy_gbps": 100.0, "interval_s": 60.0})
    own = checkpoints(built, 0, 1.0)
    size = 14 * parameters(built.program[0].training.model)
    assert own.bytes == size
    assert own.copy_s == pytest.approx(size / 16 * 8e-9 / 100)
    assert own.narrowest == "the storage nodes"
    assert own.write_s == pytest.approx(size * 8e-9 / 200)
    assert own.stall_s == own.copy_s
    assert own.stall_ratio == pytest.approx(own.copy_s / (60 + own.copy_s))
    blocking = checkpoints(trained({"copy_gbps": 100.0, "blocking": True}), 0, 1.0)
    assert blocking.stall_s == pytest.approx(own.copy_s + own.write_s)


def test_some_nodes_have_their_share_of_the_way():
    own = checkpoints(trained(front=FRONT | {"storage_nodes": 40}, ranks=4), 0, 1.0)
    assert (own.narrowest, own.gbps) == ("the nodes' ports", 200.0)
    whole = checkpoints(trained(), 0, 1.0)
    assert whole.gbps == storage(trained()).gbps


def test_without_a_front_end_bytes_take_the_nics_when_the_job_asks():
    assert checkpoints(trained(front=None), 0, 1.0) is None
    own = checkpoints(trained({}, front=None), 0, 1.0)
    assert (own.narrowest, own.gbps) == ("the nodes' scale-out NICs", 8 * 2 * 100.0)


def test_a_front_end_without_storage_nodes_has_enough_of_them():
    front = {key: value for key, value in FRONT.items() if not key.startswith("storage")}
    assert checkpoints(trained(front=front), 0, 1.0) is None
    assert checkpoints(trained({}, front=front), 0, 1.0).narrowest == "the nodes' ports"


def test_failures_and_the_best_interval_are_those_of_young_and_daly():
    own = checkpoints(
        trained({"blocking": True, "mtbf_gpu_hours": 160.0, "restart_s": 300.0}), 0, 1e-3
    )
    assert own.mtbf_s == pytest.approx(10 * 3600)
    model = Checkpointing(own.stall_s, 300.0 + own.stall_s, own.mtbf_s)
    assert own.interval_s == own.best_interval_s == pytest.approx(model.daly_s)
    assert own.goodput == pytest.approx(model.best_efficiency, rel=1e-4)


def test_what_is_on_its_way_when_a_failure_comes_is_lost():
    slow = FRONT | {"storage_gbps": 0.001}
    late = checkpoints(trained({"interval_s": 10.0}, front=slow), 0, 1.0)
    assert late.interval_s == late.write_s > 10.0  # the one before must be in storage
    fast = checkpoints(trained({"interval_s": late.write_s}), 0, 1.0)
    assert late.goodput < fast.goodput


def test_a_collective_has_no_checkpoints_and_a_stalled_job_neither():
    assert checkpoints(scenario(), 0, 1.0) is None
    assert checkpoints(trained(), 0, float("inf")) is None


@given(
    interval=st.floats(1.0, 1e5),
    restart=st.floats(0, 1e4),
    hours=st.floats(1.0, 1e6),
    blocking=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_no_interval_is_better_than_the_best_one(interval, restart, hours, blocking):
    table = {"blocking": blocking, "restart_s": restart, "mtbf_gpu_hours": hours}
    best = checkpoints(BUILT.with_checkpoint(table), 0, 1e-3)
    own = checkpoints(BUILT.with_checkpoint(table | {"interval_s": interval}), 0, 1e-3)
    assert 0 <= own.goodput <= best.goodput * 1.02 <= 1.02  # Daly's interval is an approximation


class _Built:
    """One scenario whose job says other things of checkpoints, without building it anew."""

    def __init__(self):
        self.scenario = trained()

    def with_checkpoint(self, table):
        job = self.scenario.spec.jobs[0].model_copy(update={"checkpoint": CheckpointSpec(**table)})
        spec = self.scenario.spec.model_copy(update={"jobs": (job,)})
        return replace(self.scenario, spec=spec)


BUILT = _Built()


def test_job_facts_and_report_have_them():
    built = trained({"interval_s": 60.0}, stragglers={"count": 2, "speed": 0.5})
    frame = start(built)
    facts = {fact.label: str(fact.value) for fact in summary(built, frame).facts}
    assert "at 50.0 % of its speed" in facts["job: waits for"]
    assert "and 1 more are slow" in facts["job: waits for"]
    assert "held back by the storage nodes" in facts["job: checkpoint"]
    assert facts["job: goodput"].endswith("%")
    table = goodput(built, frame)
    row = {column.name: column[0] for column in table.columns}
    assert row["slow GPUs"] == 2
    assert row["goodput"] == checkpoints(built, 0, job_metrics(built, frame)[0].iteration_s).goodput
