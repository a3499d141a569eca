"""A curve is what the engine says at every size, however few sizes it plays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.metrics.curve import (
    ORDER,
    algorithm_named,
    algorithms,
    curve,
    job_of,
    sizes_between,
)
from clusterscope.metrics.jobs import job_metrics
from clusterscope.spec.presets import load
from tests import small

SWITCHED = {"scale_up": {"domain_gpus": 2, "gpu_gbps": 800.0, "switch": "NVSwitch3"}}


def scenario(collective="all-reduce", algorithm="auto", **more):
    jobs = small.job(collective, algorithm=algorithm)
    return small.scenario(jobs=jobs, **{**SWITCHED, **more})


@given(
    power=st.integers(0, 33),
    collective=st.sampled_from(ORDER),
    transport=st.sampled_from(["spectrum-x", "rocev2", "infiniband"]),
)
@settings(max_examples=15, deadline=None)
def test_every_size_is_what_the_engine_says(power, collective, transport):
    made = scenario(collective, transport={"name": transport})
    job = job_of(made.spec)
    found = curve(made, job, [2**power, 2**34])
    for point in found.points:
        sized = job.model_copy(update={"message_bytes": point.size_bytes})
        built = build(made.spec.model_copy(update={"jobs": (sized,)}))
        (row,) = job_metrics(built, Timeline(built).at(0))
        assert point.seconds == pytest.approx(row.iteration_s, rel=1e-9)
        assert point.busbw_GBps == pytest.approx(row.busbw_GBps, rel=1e-9)
        assert point.algorithm == built.program[0].algorithm


@pytest.mark.parametrize("algorithm", ["halving-doubling", "recursive-doubling", "single-tree"])
def test_forced_algorithms_are_played_too(algorithm):
    made = scenario(algorithm=algorithm)
    small_one, large = curve(made, job_of(made.spec), [8, 2**30]).points
    assert {small_one.algorithm, large.algorithm} == {algorithm}
    assert small_one.seconds < 1e-3 < large.seconds
    assert small_one.latency_s == pytest.approx(small_one.seconds, rel=1e-3)


def test_a_mesh_reduces_over_all_its_cables():
    # hgx-h200-mesh: 7 cables of 64 GB/s, 0.81 of them; one ring would use 2.
    made = build(load("hgx-h200-mesh"))
    job = job_of(made.spec)
    (direct,) = curve(made, job, [2**34]).points
    (ring,) = curve(made, job.model_copy(update={"algorithm": "ring"}), [2**34]).points
    assert direct.algorithm == "direct"
    assert direct.busbw_GBps == pytest.approx(7 * 64 * 0.81, rel=0.01)
    assert ring.busbw_GBps == pytest.approx(2 * 64 * 0.81, rel=0.01)


def test_sizes_grow_by_a_factor_up_to_the_last():
    assert sizes_between(8, 64, 2) == (8, 16, 32, 64)
    assert sizes_between(8, 9, 4) == (8,)
    assert sizes_between(1, 4, 1.1) == (1, 2, 3, 4)


def test_what_cannot_run_is_refused():
    made = scenario()
    job = job_of(made.spec)
    with pytest.raises(SpecError, match="'incast' has no curve"):
        curve(made, job.model_copy(update={"collective": "incast"}), [8])
    with pytest.raises(SpecError, match="'pxn' is for others, and all-reduce does not"):
        curve(made, job.model_copy(update={"algorithm": "pxn"}), [8])
    with pytest.raises(UnknownNameError, match="did you mean 'tree'"):
        algorithm_named("tre")
    names = algorithms(made, job)
    assert names[0] == "auto"
    assert {"nvls", "tree", "ring", "direct"} <= set(names)
    assert not {"sharp", "pxn"} & set(names)
