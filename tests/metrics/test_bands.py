"""Error bands: of the fabric, of the scale-up network, and of what a training job waits for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.bands import (
    SCALE_UP_BAND,
    SCALE_UP_EVIDENCE,
    SMALL_MESSAGE_BAND,
    band_of_all,
    error_band,
    waited_band,
)
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.training import TrainingMetrics
from clusterscope.spec.presets import load
from clusterscope.views.tables import jobs
from tests import small


def trained(exposed_s):
    return TrainingMetrics("m", "p", 1, 1.0, 0.4, 1.0, 1.0, 0.0, exposed_s, ())


def test_a_job_inside_a_domain_has_no_error_of_the_fabric():
    built = small.scenario(jobs=small.job("all-reduce", ranks=2), transport={"name": "rocev2"})
    assert error_band(built, built.program[0]) == SCALE_UP_BAND
    (job,) = job_metrics(built, Timeline(built).at(0))
    assert job.error_band == pytest.approx([end * job.busbw_GBps for end in SCALE_UP_BAND])
    across = small.scenario(transport={"name": "rocev2"})
    assert error_band(across, across.program[0]) == across.transport.error_band == (0.72, 1.0)


MEASURED = {  # GB/s of busbw by MiB: all-reduce in the switches, cases MEAS-01 and MEAS-05
    "hgx-h200-nvswitch": {16: 234.45, 128: 400.61, 1024: 466.35, 2048: 472.36, 16384: 482.26},
    "gb200-nvl72": {512: 586.06, 1024: 681.17, 2048: 757.78, 4096: 839.16, 8192: 834.57},
}


@pytest.mark.parametrize(
    ("preset", "mib", "busbw"),
    [(preset, *row) for preset, rows in MEASURED.items() for row in rows.items()],
)
def test_what_was_measured_lies_in_the_band_that_is_claimed(preset, mib, busbw):
    sets = [f"jobs.0.message_bytes={mib * 2**20}", "jobs.0.algorithm=nvls"]
    built = build(load(preset, ["jobs.0.collective=all-reduce", *sets]))
    (job,) = job_metrics(built, Timeline(built).at(0))
    low, high = job.error_band
    assert low <= busbw <= high
    wide = preset == "gb200-nvl72" and mib < 2048
    assert error_band(built, built.program[0]) == (SMALL_MESSAGE_BAND if wide else SCALE_UP_BAND)


def test_a_training_job_is_uncertain_in_what_it_waits_for():
    # Of 10 s it waits 2 s; at half the rate these are 4 s.
    assert waited_band((0.5, 1.0), trained({"dp": 1.5, "pp": 0.5}), 10.0) == (10 / 12, 1.0)
    assert waited_band((0.5, 1.0), trained({}), 10.0) == (1.0, 1.0)
    assert waited_band((0.5, 1.0), None, 10.0) == (0.5, 1.0)
    assert waited_band((0.5, 1.0), trained({"dp": 2.0}), float("inf")) == (0.5, 1.0)


@given(st.floats(0.1, 1), st.floats(1, 2), st.floats(0, 1))
def test_the_band_of_a_training_job_is_no_wider_than_that_of_its_sends(low, high, share):
    least, most = waited_band((low, high), trained({"dp": share * 10.0}), 10.0)
    assert low <= least * (1 + 1e-9)
    assert least <= 1 <= most
    assert most <= high * (1 + 1e-9)


@pytest.mark.parametrize("transport", ["rocev2", "infiniband"])
def test_what_lends_the_band_is_told_with_its_own_evidence(transport):
    inside = small.scenario(jobs=small.job("all-reduce", ranks=2), transport={"name": transport})
    assert band_of_all(inside) == (SCALE_UP_BAND, SCALE_UP_EVIDENCE)
    note = jobs(inside, Timeline(inside).at(0)).note
    assert note == f"nvlink: {SCALE_UP_EVIDENCE}"
    across = small.scenario(transport={"name": transport})
    assert band_of_all(across) == (across.transport.error_band, across.transport.evidence)
