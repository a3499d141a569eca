"""The inspector of a cable: every phase that uses it, with its flows and load."""

from __future__ import annotations

import pytest

from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.things import Thing
from clusterscope.metrics.users import flows_on
from clusterscope.views.inspector import inspector
from tests.small import job, scenario


@pytest.fixture(scope="module")
def two_jobs():
    jobs = [
        {**job("all-reduce")[0], "name": "one", "ranks": 12},
        {**job("all-gather")[0], "name": "two", "ranks": 4, "first_gpu": 12},
    ]
    built = scenario(jobs=jobs)
    return built, Timeline(built).at(0)


def uses(note):
    """Values under "used by"."""
    labels = [fact.label for fact in note.facts]
    start = labels.index("used by")
    return [str(fact.value) for fact in note.facts[start:] if fact.label in ("used by", "")]


def test_a_link_lists_the_phases_that_use_it(two_jobs):
    built, frame = two_jobs
    link = built.names.find("leaf0:u0>").index
    expected = flows_on(built, frame, link)
    told = uses(inspector(built, frame, Thing("link", link)))
    assert len(told) == len(expected) > 0
    for use in expected:
        name = built.program[use.job].name
        assert any(f"{name}," in line and "Gb/s" in line for line in told)


def test_a_cable_says_in_which_direction(two_jobs):
    built, frame = two_jobs
    told = uses(inspector(built, frame, built.names.find("leaf0:u0")))
    assert any(" up, " in line for line in told)
    assert any(" down, " in line for line in told)


def test_a_switch_lists_no_flows(two_jobs):
    built, frame = two_jobs
    labels = [fact.label for fact in inspector(built, frame, built.names.find("leaf0")).facts]
    assert "used by" not in labels
