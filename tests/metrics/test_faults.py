from __future__ import annotations

import math

import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.faults import blast_radius, candidates, harm
from clusterscope.metrics.jobs import job_metrics
from tests.small import job, scenario


def radius(name, kind="fail", step=0, **changes):
    built = scenario(**changes)
    timeline = Timeline(built)
    return timeline, blast_radius(timeline, Event.named(built.names, kind, name, step=step))


def test_a_spine_takes_half_the_uplinks_and_slows_what_crosses_it():
    timeline, blast = radius("spine0", jobs=job("permutation"), scale_out__leaf_up=2)
    assert blast.links_gone == 8
    assert blast.gone_by_tier == {"leaf-spine": 8}
    assert blast.links == timeline.scenario.fabric.links
    (impact,) = blast.jobs
    assert impact.touched
    assert 0.0 < impact.change < math.inf
    assert blast.unreached == 0


def test_asking_changes_nothing_and_agrees_with_doing():
    timeline, blast = radius("spine1", step=2, jobs=job("permutation"))
    assert timeline.log == ()
    timeline.inject(blast.event)
    (row,) = job_metrics(timeline.scenario, timeline.at(2))
    assert blast.jobs[0].after_s == pytest.approx(row.alone_s)
    assert blast.jobs[0].before_s == pytest.approx(row.healthy_s)


def test_a_leaf_cuts_its_nodes_off():
    _, blast = radius("leaf0")
    assert blast.gone_by_tier == {"nic-leaf": 8, "leaf-spine": 8}
    assert blast.unreached > 0
    assert math.isinf(blast.jobs[0].after_s)


def test_until_routes_react_a_hashed_flow_waits():
    changes = {"transport": {"name": "rocev2", "qps": 1, "reroute_s": 0.2}}
    timeline, blast = radius("leaf0:u0", jobs=job("permutation"), **changes)
    assert blast.reroute_s == 0.2
    fabric = timeline.scenario.fabric
    frame = timeline.at(0)
    used = frame.link_gbps[2 * fabric.ports : 2 * fabric.ports + 2].any()
    assert math.isinf(blast.jobs[0].during_s) == bool(used)
    assert math.isfinite(blast.jobs[0].after_s)


def test_repair_brings_links_back():
    built = scenario()
    timeline = Timeline(built, [Event.named(built.names, "fail", "spine0", step=0)])
    blast = blast_radius(timeline, Event.named(built.names, "restore", "spine0", step=1))
    assert blast.links_gone == -16


def test_a_job_elsewhere_is_not_touched():
    _, blast = radius("node7", jobs=job("all-reduce", ranks=4))
    assert not blast.jobs[0].touched
    assert blast.jobs[0].change == 0.0


def test_the_busiest_switches_are_asked_about_and_the_harm_is_that_of_the_slowest_job():
    built = scenario(jobs=job("permutation"), scale_out__leaf_up=2)
    timeline = Timeline(built, [Event.named(built.names, "fail", "spine1", step=0)])
    asked = candidates(timeline, 0, 2)
    assert [event.target.kind for event in asked] == ["switch"] * 3
    assert [event.name for event in asked][2:] == ["spine0"]
    assert math.isinf(harm(blast_radius(timeline, asked[2])))
    assert harm(blast_radius(Timeline(scenario(jobs=[])), asked[2])) == 0.0
