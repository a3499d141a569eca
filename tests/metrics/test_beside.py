"""Before a job has finished an iteration beside others: one number, wherever it is shown."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.step import iteration_parts
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics import beside
from clusterscope.metrics.causes import causes
from clusterscope.metrics.compare import side_of
from clusterscope.metrics.explain import explain
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.report import report
from clusterscope.metrics.subject import subject_of
from clusterscope.metrics.tenants import tenants
from tests import small

COLLECTIVES = ("all-reduce", "all-gather", "all-to-all", "permutation", "incast")


def crowd(*rows, **more):
    """A small cluster with jobs of (collective, ranks, first GPU, placement)."""
    keys = ("collective", "ranks", "first_gpu", "placement")
    tables = [
        {"name": f"j{i}", "message_bytes": 1_000_000_000, **dict(zip(keys, row, strict=True))}
        for i, row in enumerate(rows)
    ]
    return small.scenario(jobs=tables, scale_out__leaf_up=2, **more)


def halved():
    """Two all-reduces whose second phase shares every NIC, and whose first shares nothing."""
    rows = ("all-reduce", 16, 0, "packed"), ("all-reduce", 16, 0, "packed")
    return crowd(*rows, transport={"name": "spectrum-x"})


def test_a_job_that_runs_in_its_domain_first_is_not_shown_undisturbed():
    built = halved()
    frame = Timeline(built).at(0)
    for job in job_metrics(built, frame):
        assert math.isnan(job.last_iteration_s)
        # Rings over the NICs are most of an iteration, and get half of them.
        assert job.iteration_s > 1.6 * job.alone_s


placed = st.tuples(
    st.sampled_from(COLLECTIVES),
    st.sampled_from([4, 8, 12]),
    st.sampled_from([0, 4]),
    st.sampled_from(["packed", "random"]),
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(placed, min_size=2, max_size=4),
    st.sampled_from(["spectrum-x", "rocev2", "infiniband"]),
)
def test_header_matrix_explain_compare_and_report_agree_before_a_first_iteration(rows, transport):
    built = crowd(*rows, transport={"name": transport}, sim={"dt_s": 1e-6, "steps": 1})
    timeline = Timeline(built)
    frame = timeline.at(0)
    metrics, matrix = job_metrics(built, frame), tenants(frame.network)
    side, told = side_of(built, frame), report(timeline, 0)
    for index, job in enumerate(metrics):
        assert job.iteration_s == pytest.approx(matrix.together_s[index], rel=1e-12)
        found = explain(subject_of(built, frame.network, job.name), frame.network)
        assert found.value == pytest.approx(job.busbw_GBps, rel=1e-12)
        assert side.jobs[index].metrics.busbw_GBps == job.busbw_GBps
        assert told["jobs"][index]["iteration_s"] == job.iteration_s
        assert told["tenants"][index]["all"] == pytest.approx(job.iteration_s / job.alone_s)
        split = causes(built, frame)[index]
        assert sum(split.values()) == pytest.approx(job.iteration_s - job.ideal_s, rel=1e-9)
        assert split["congestion spreading"] >= 0
        assert split["other jobs"] >= 0


@settings(max_examples=20, deadline=None)
@given(st.lists(placed, min_size=2, max_size=2))
def test_of_two_jobs_the_slowest_part_is_found(rows):
    built = crowd(*rows, transport={"name": "spectrum-x"})
    network = built.healthy
    found = beside.together(network)
    for job, other in ((0, 1), (1, 0)):
        parts = iteration_parts(built, network, other)
        tried = [
            sum(s for s, _ in iteration_parts(built, network, job, tuple(share.rate_gbps)))
            for _, share in parts
        ]
        alone = sum(s for s, _ in iteration_parts(built, network, job))
        assert found[job].seconds == pytest.approx(max(alone, *tried), rel=1e-9)


def test_without_trials_the_part_with_the_fullest_links_is_taken(monkeypatch):
    by_trial = beside.together(halved().healthy)
    monkeypatch.setattr(beside, "_TRIED_LINKS", 0)
    assert beside.together(halved().healthy) == by_trial


def test_once_an_iteration_is_finished_it_is_what_is_shown():
    built = halved()
    timeline = Timeline(built)
    frame = next(f for f in map(timeline.at, range(1000)) if f.jobs[0].iteration)
    job = job_metrics(built, frame)[0]
    assert job.iteration_s == max(job.alone_s, frame.jobs[0].last_iteration_s)


def test_pauses_of_a_first_iteration_are_told_from_lost_shares():
    # The permutation's flows wait behind an incast that floods one receiver.
    built = crowd(
        ("incast", 12, 0, "random"), ("permutation", 12, 0, "random"),
        transport={"name": "infiniband"},
    )  # fmt: skip
    frame = Timeline(built).at(0)
    found = beside.together(frame.network)
    for job, own in enumerate(found):
        split = causes(built, frame)[job]
        assert split["congestion spreading"] == pytest.approx(own.paused_s, rel=1e-9)
    assert any(own.paused_s > 0 for own in found)
