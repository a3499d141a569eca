"""Clusters beside each other: the same jobs, on what the smallest has room for."""

from __future__ import annotations

import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from clusterscope.metrics.compare import same_jobs
from clusterscope.metrics.contest import Contest
from clusterscope.metrics.jobs import job_metrics
from tests import small


def test_every_cluster_runs_the_first_ones_jobs_with_its_seed():
    big = small.spec(sim__seed=9)
    other = small.spec(node__count=4, jobs=small.job("incast"))
    first, second = same_jobs([big, other])
    assert [job.ranks for job in (*first.jobs, *second.jobs)] == [8, 8]
    assert second.jobs[0].collective == "all-reduce"
    assert second.sim.seed == 9


def test_a_job_without_room_is_refused():
    late = small.spec(jobs=small.job("permutation", first_gpu=12))
    with pytest.raises(SpecError, match="begins at GPU 12, and the smallest cluster has 8 GPUs"):
        same_jobs([late, small.spec(node__count=4)])


@pytest.mark.parametrize("nodes", [4, 8])
def test_sides_are_what_each_cluster_shows_alone(nodes):
    built = small.scenario(jobs=small.job("permutation"), transport={"name": "rocev2"})
    other = small.spec(name="other", node__count=nodes, scale_out__leaf_up=2)
    log = (Event.named(built.names, "fail", "spine0", step=1),)
    contest = Contest(built, [other])
    frame = Timeline(built, log).at(30)
    got = contest.compare(frame, log, ("rocev2", "uec"), lambda *_: None)
    assert [side.label for side in got.sides] == [
        "rocev2 on small", "uec on small", "spectrum-x on other",
    ]  # fmt: skip
    for side, scenario in zip(got.sides, contest.sides(("rocev2", "uec")), strict=True):
        fail = Event.named(scenario.names, "fail", "spine0", step=1)
        alone = job_metrics(scenario, Timeline(scenario, [fail]).at(30))
        assert [job.metrics.busbw_GBps for job in side.jobs] == [job.busbw_GBps for job in alone]
        assert side.jobs[0].metrics.ranks == min(16, 2 * nodes)
