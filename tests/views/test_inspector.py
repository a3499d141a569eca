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


def told(built, frame, thing):
    """Loads of a thing by label, Gb/s."""
    facts = inspector(built, frame, thing).facts
    return {f.label: float(f.value) for f in facts if f.label.endswith(("send", "sends", "up"))}


def test_what_a_group_sends_is_what_its_nics_send_whatever_the_tiers(two_jobs):
    built, frame = two_jobs
    fabric = built.fabric
    whole = told(built, frame, Thing("cluster", 0))
    sent = frame.link_gbps[0 : 2 * fabric.ports : 2]
    assert whole["NICs send"] == pytest.approx(sent.sum())
    assert "load up" not in whole
    nodes = [told(built, frame, Thing("node", n)) for n in range(fabric.nodes)]
    for label in ("NICs send", "scale-up sends"):
        assert whole[label] == pytest.approx(sum(node[label] for node in nodes))
    pods = [told(built, frame, Thing("pod", pod)) for pod in range(fabric.pods)]
    assert whole["NICs send"] == pytest.approx(sum(pod["NICs send"] for pod in pods))
    # No NIC sends more than it has.
    assert whole["NICs send"] <= fabric.cable_gbps[: fabric.ports].sum()


def test_spines_tell_what_crosses_them_and_cables_their_two_ways(two_jobs):
    built, frame = two_jobs
    spine = inspector(built, frame, built.names.find("spine0")).facts
    labels = [fact.label for fact in spine]
    assert "from leaves" in labels
    assert "to leaves" in labels
    assert "load up" in told(built, frame, built.names.find("leaf0:u0"))
