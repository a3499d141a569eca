"""Flows over each link: the same as asking about one link after the other."""

from __future__ import annotations

import pytest

from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.crossing import flows_per_link
from clusterscope.metrics.users import flows_on
from tests.small import job, scenario


@pytest.mark.parametrize("transport", ["spectrum-x", "rocev2"])
@pytest.mark.parametrize("collective", ["all-reduce", "all-to-all"])
def test_a_link_has_the_flows_that_it_is_said_to_have_one_by_one(transport, collective):
    small = scenario(transport__name=transport, jobs=job(collective))
    frame = Timeline(small).at(0)
    flows = flows_per_link(frame.network)
    singly = [
        sum(use.rows for use in flows_on(small, frame, link)) for link in range(small.fabric.links)
    ]
    assert flows.tolist() == singly
    assert flows.any()


def test_without_a_job_there_are_none():
    small = scenario(jobs=[])
    assert not flows_per_link(Timeline(small).at(0).network).any()
