from __future__ import annotations

import json

import jsonschema
import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.cost import cable_kind, cost, cost_items, power
from clusterscope.metrics.networks import networks, storage
from clusterscope.metrics.report import json_safe, levels_of, report
from clusterscope.metrics.schema import SCHEMA
from clusterscope.spec import parts
from clusterscope.spec.presets import load
from tests.small import job, scenario


def stalled():
    built = scenario()
    events = [
        Event.named(built.names, "fail", "leaf1", step=2),
        Event.named(built.names, "degrade", "leaf0:u0", step=1, scale=0.25),
    ]
    return Timeline(built, events)


TIMELINES = {
    "healthy": lambda: Timeline(scenario()),
    "stalled": stalled,
    "two jobs": lambda: Timeline(
        scenario(jobs=[*job("all-to-all"), {**job("incast")[0], "name": "b"}])
    ),
    "no scale-out": lambda: Timeline(scenario(scale_out=None, scale_up__domain_gpus=16)),
    "no jobs": lambda: Timeline(scenario(jobs=[])),
}


@pytest.mark.parametrize("make", TIMELINES.values(), ids=TIMELINES)
def test_every_report_is_valid_json_of_its_schema(make):
    got = report(make(), 4)
    text = json.dumps(got, allow_nan=False)
    jsonschema.validate(json.loads(text), SCHEMA)
    assert json.dumps(report(make(), 4)) == text


def test_the_schema_is_a_schema_and_strict_enough_to_fail():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    got = report(Timeline(scenario()), 1)
    del got["jobs"][0]["busbw_GBps"]
    with pytest.raises(jsonschema.ValidationError, match="busbw_GBps"):
        jsonschema.validate(got, SCHEMA)


def test_a_stalled_job_is_null_seconds_and_an_error():
    got = report(stalled(), 4)
    assert got["jobs"][0]["iteration_s"] is None
    assert got["jobs"][0]["stalled"]
    assert got["jobs"][0]["busbw_GBps"] == 0.0
    assert got["phases"][2]["seconds"] is None
    assert {f["rule"] for f in got["findings"] if f["severity"] == "error"} == {
        "unreachable",
        "stalled",
    }
    assert got["events"] == [
        {"step": 1, "kind": "degrade", "target": "leaf0:u0", "scale": 0.25},
        {"step": 2, "kind": "fail", "target": "leaf1"},
    ]


def test_steps_come_from_the_spec_and_series_cover_them():
    got = report(Timeline(scenario(sim__steps=3)))
    assert got["steps"] == 3
    assert got["series"]["step"] == [0, 1, 2, 3]
    for level in got["series"]["utilization"].values():
        assert len(level["mean"]) == len(level["max"]) == 4
    assert got["series"]["iterations"] == {"job": [0, 0, 0, 0]}
    assert got["time_s"] == pytest.approx(0.03)


def test_steps_that_are_known_are_told_without_being_run_again():
    timeline = Timeline(scenario(jobs=job("all-reduce")))
    known = {step: levels_of(timeline.scenario, timeline.at(step)) for step in range(4)}
    assert report(Timeline(timeline.scenario), 3, known) == report(timeline, 3)
    marked = known | {1: ([7], known[1][1])}
    assert next(iter(report(timeline, 3, marked)["series"]["iterations"].values()))[1] == 7


def test_what_json_has_no_word_for_is_null():
    bad = {"a": [float("inf"), (float("nan"), 1.5)], "b": True, "c": None}
    assert json_safe(bad) == {"a": [None, [None, 1.5]], "b": True, "c": None}


def test_the_bill_adds_up():
    built = scenario()
    money, watts = cost(built), power(built)
    counts = {item.kind: item.count for item in cost_items(built)}
    assert counts == {
        "gpu": 16,
        "nic": 16,
        "leaf": 4,
        "spine": 2,
        "cable end nic-leaf": 32,
        "cable end leaf-spine": 32,
    }
    gpu, switch = parts.gpu("H100-SXM"), parts.switch("generic-8")
    assert money["items"][0]["total"] == 16 * gpu.price_usd
    assert money["total"] == sum(item["total"] for item in money["items"])
    assert money["network"] == money["total"] - 16 * gpu.price_usd
    assert watts["items"][2]["total"] == 4 * switch.power_w
    assert 0.0 < money["estimate_ratio"] <= 1.0
    assert cable_kind(built, 0) == "optic"
    rack = scenario(scale_out__wiring="rack", scale_out__su_nodes=2)
    assert (cable_kind(rack, 0), cable_kind(rack, 1)) == ("dac", "optic")


@pytest.mark.parametrize("name", ["gb200-superpod", "ai-cloud", "hgx-h200-mesh"])
def test_the_third_network_is_in_the_report_and_agrees_with_networks(name):
    timeline = Timeline(build(load(name)))
    got = report(timeline, 0)
    jsonschema.validate(got, SCHEMA)
    facts = networks(timeline.scenario)
    assert [one["name"] for one in got["networks"]] == [one.name for one in facts]
    front = got["front_end"]
    if name != "gb200-superpod":
        assert front is None
        return
    own = next(one for one in facts if one.name == "front-end")
    assert front.items() >= vars(own).items()
    assert sum(front["tiers"].values()) == own.switches
    assert sum(front["cables_by_tier"].values()) == own.cables
    assert front["storage"] == vars(storage(timeline.scenario))
    assert own.usd not in (got["cost"]["total"], got["cost"]["network"])
