"""No job is faster than its line rate, whatever the fabric and the neighbors."""

from __future__ import annotations

import pytest

from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.jobs import job_metrics
from tests.small import job, scenario


@pytest.mark.parametrize("planes", [1, 2, 4])
def test_planes_of_an_exchange_run_side_by_side(planes):
    made = scenario(jobs=job("all-to-all"), scale_out__planes=planes, scale_out__leaf_up=4)
    metrics = job_metrics(made, Timeline(made).at(0))[0]
    assert 0.5 < metrics.share_of_line <= 1.0
    assert metrics.line_GBps == pytest.approx(12.5 * 15 / 14, rel=1e-6)


def test_two_equal_jobs_do_not_each_get_the_whole_line_before_their_first_iteration():
    rows = [job("all-reduce", name=name, message_bytes=8 * 2**30)[0] for name in "ab"]
    made = scenario(jobs=rows)
    timeline = Timeline(made)
    first = job_metrics(made, timeline.at(0))
    assert [m.iterations for m in first] == [0, 0]
    alone = job_metrics(scenario(jobs=rows[:1]), Timeline(scenario(jobs=rows[:1])).at(0))[0]
    inside = next(k for k in range(400) if timeline.at(k).jobs[0].phase == 1)
    busy = job_metrics(made, timeline.at(inside))
    assert sum(m.busbw_GBps for m in busy) < 1.4 * alone.busbw_GBps
