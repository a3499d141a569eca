"""Who slows whom: worked out by hand, rebuilt as clusters of two jobs, and never below 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.step import iteration_parts
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.tenants import tenants
from tests import small

COLLECTIVES = ("all-reduce", "all-gather", "all-to-all", "permutation", "incast")


def jobs(*rows):
    """(name, collective, ranks, first_gpu, placement) -> tables."""
    keys = ("name", "collective", "ranks", "first_gpu", "placement")
    more = {"message_bytes": 1_000_000_000, "algorithm": "ring"}
    return [dict(zip(keys, row, strict=True)) | more for row in rows]


def two_rings(**more):
    """Two all-reduces over the same 16 GPUs, no NVLink: they share every NIC."""
    rows = [("a", "all-reduce", 16, 0, "packed"), ("b", "all-reduce", 16, 0, "packed")]
    return small.scenario(jobs=jobs(*rows), **more)


def test_of_two_jobs_on_the_same_nics_the_bytes_take_twice_as_long_and_latency_does_not():
    built = two_rings(scale_up__domain_gpus=1, transport={"name": "spectrum-x"})
    found = tenants(built.healthy)
    # Steps of the ring and filling its pipeline wait for no bandwidth: they stay as long as alone.
    latency = job_metrics(built, Timeline(built).at(0))[0].latency_s
    (phase,) = built.program[0].phases
    assert latency > phase.extra_s + phase.serial_steps * phase.step_s > 0
    alone, beside = found.alone_s[0], found.beside_s[0, 1]
    assert alone - latency == pytest.approx(found.ideal_s[0] * 4178 / 4096, rel=1e-9)
    assert beside - latency == pytest.approx(2 * (alone - latency), rel=1e-9)
    expected = 2 - latency / alone
    assert found.slowdown[0, 1] == found.slowdown[1, 0] == pytest.approx(expected, rel=1e-9)
    assert found.all_together == pytest.approx([expected, expected], rel=1e-9)
    assert found.slowdown.diagonal().tolist() == [1.0, 1.0]
    assert found.all_together == pytest.approx([2.0, 2.0], rel=2e-2)
    # One to the other and back: the NIC is where they meet.
    assert built.fabric.cable_tier[found.meets[0, 1] >> 1] == 0
    assert found.worst(0) == 1


def test_jobs_that_share_no_link_do_not_touch_each_other():
    rows = [("a", "all-reduce", 8, 0, "packed"), ("b", "all-reduce", 8, 8, "packed")]
    found = tenants(small.scenario(jobs=jobs(*rows)).healthy)
    assert found.slowdown.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert found.meets.tolist() == [[-1, -1], [-1, -1]]
    assert found.shared.tolist() == [[0, 0], [0, 0]]
    assert found.worst(0) == -1


def test_three_jobs_together_are_worse_than_any_two():
    rows = [(name, "permutation", 16, 0, "packed") for name in "abc"]
    found = tenants(small.scenario(jobs=jobs(*rows)).healthy)
    assert found.all_together == pytest.approx([3.0] * 3, rel=1e-2)
    assert found.slowdown[0, 1:] == pytest.approx([2.0] * 2, rel=1e-2)


def test_one_job_has_a_matrix_of_one():
    built = small.scenario()
    found = tenants(built.healthy)
    (metrics,) = job_metrics(built, Timeline(built).at(0))
    assert found.alone_s == pytest.approx([metrics.alone_s])
    assert found.ideal_s == pytest.approx([metrics.ideal_s])
    assert found.slowdown.tolist() == [[1.0]]


def test_no_job_has_an_empty_matrix():
    found = tenants(small.scenario(jobs=[]).healthy)
    assert found.slowdown.shape == (0, 0)
    assert found.all_together.shape == (0,)


def test_a_job_that_stands_still_has_no_slowdown():
    from clusterscope.engine.events import Event

    built = two_rings()
    frame = Timeline(built, [Event.named(built.names, "fail", "node3", step=0)]).at(0)
    found = tenants(frame.network)
    assert np.isnan(found.slowdown).all()
    assert found.worst(0) == -1


def test_progress_is_told_and_may_end_it():
    built, told = two_rings(), []
    tenants(built.healthy, lambda *at: told.append(at))
    assert told == [("a", 0, 2), ("b", 1, 2)]

    def stop(*at):
        raise KeyboardInterrupt

    fresh = two_rings()
    with pytest.raises(KeyboardInterrupt):
        tenants(fresh.healthy, stop)


placed = st.tuples(
    st.sampled_from(COLLECTIVES),
    st.sampled_from([4, 6, 8, 12]),
    st.sampled_from([0, 2, 4]),
    st.sampled_from(["packed", "random", "strided"]),
)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(placed, min_size=2, max_size=3),
    st.sampled_from(["spectrum-x", "rocev2", "infiniband"]),
)
def test_every_entry_is_that_of_a_cluster_with_just_the_two(rows, transport):
    names = [f"j{i}" for i in range(len(rows))]
    changes = {"transport": {"name": transport}, "scale_out__leaf_up": 2}
    tables = jobs(*((n, *row) for n, row in zip(names, rows, strict=True)))
    built = small.scenario(jobs=tables, **changes)
    found = tenants(built.healthy)
    assert (found.slowdown >= 1.0).all()
    assert (found.all_together >= 1.0).all()
    if len(rows) == 2:
        assert found.all_together == pytest.approx(found.slowdown.max(axis=1), rel=1e-12)
    for i in range(len(rows)):
        for j in range(len(rows)):
            if i == j:
                continue
            low, high = min(i, j), max(i, j)
            # Paths are hashed by a job's number, so a job keeps its own beside fewer others.
            if transport == "rocev2" and (low, high) != (0, 1):
                continue
            pair = small.scenario(jobs=[tables[low], tables[high]], **changes)
            own, other = (0, 1) if i < j else (1, 0)
            slowest = max(
                sum(s for s, _ in iteration_parts(pair, pair.healthy, own, tuple(share.rate_gbps)))
                for _, share in iteration_parts(pair, pair.healthy, other)
            )
            assert found.beside_s[i, j] == pytest.approx(max(slowest, found.alone_s[i]), rel=1e-9)
