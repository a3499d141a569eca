"""What a job does between a failure and the reroute, and after it."""

from __future__ import annotations

import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.report import report
from clusterscope.views.summary import summary
from tests.small import scenario


def test_a_stall_until_the_reroute_says_when_it_ends_and_how_it_goes_on():
    made = scenario(transport={"name": "rocev2", "reroute_s": 0.035})
    timeline = Timeline(made)
    healthy = job_metrics(made, timeline.at(0))[0]
    assert healthy.settled is None
    for name in ("leaf0:u0", "leaf0:u2"):
        timeline.inject(Event.named(made.names, "fail", name, step=2))
    hurt = job_metrics(made, timeline.at(2))[0]
    assert hurt.settled.from_s == pytest.approx(0.055)
    later = job_metrics(made, timeline.at(7))[0]
    assert later.settled is None
    assert hurt.settled.iteration_s == pytest.approx(later.iteration_s)
    assert hurt.settled.busbw_GBps == pytest.approx(later.busbw_GBps)
    facts = report(timeline, 2)
    assert facts["jobs"][0]["settled"]["iteration_s"] == pytest.approx(later.iteration_s)
    assert "until routes have reacted at 55 ms" in summary(made, timeline.at(2)).lines[0]


def test_a_job_whose_node_is_dead_stays_stalled():
    made = scenario(transport={"name": "rocev2", "reroute_s": 0.035})
    timeline = Timeline(made)
    timeline.inject(Event.named(made.names, "fail", "node3", step=0))
    assert report(timeline, 0)["jobs"][0]["settled"]["iteration_s"] is None
    assert "for good" in summary(made, timeline.at(0)).lines[0]
