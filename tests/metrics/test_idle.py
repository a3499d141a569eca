"""A key that is not read is told, and what is told really changes nothing."""

from __future__ import annotations

import copy

import pytest

from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from clusterscope.metrics.findings import findings
from clusterscope.metrics.idle import idle_keys
from clusterscope.metrics.networks import networks, storage
from clusterscope.spec.presets import load
from clusterscope.spec.validate import validate
from tests import small

ONE_TIER = {
    "tiers": 1, "wiring": "rail", "su_nodes": 8, "leaf_switch": "generic-8", "leaf_down": 8,
}  # fmt: skip
FRONT = {"nic_gbps": 100.0, "switch": "generic-8"}
NO_NICS = {
    "node": {"count": 8, "gpus": 2, "gpu": "H100-SXM", "nics": 0, "nic_gbps": 100.0},
    "scale_up": {"domain_gpus": 16, "gpu_gbps": 800.0},
    "scale_out": None,
    "transport": {"name": "infiniband"},
}
TWO_LEVEL = {
    "domain_gpus": 16, "gpu_gbps": 800.0, "topology": "two-level", "group_gpus": 4,
    "group_gbps": 1600.0,
}  # fmt: skip
FAILED = [{"step": 1, "kind": "fail", "target": "node3"}]

# What the cluster is like, the key, and a value that ought to matter.
CASES = [
    ({"scale_up": TWO_LEVEL}, "scale_up.group_taper", 2.0),
    ({"scale_out": ONE_TIER}, "scale_out.link_gbps", 50.0),
    ({"scale_out": ONE_TIER}, "scale_out.leaf_taper", 2.0),
    ({}, "scale_out.spine_taper", 2.0),
    ({"front_end": {**FRONT, "tiers": 1}}, "front_end.taper", 2.0),
    ({"front_end": {**FRONT, "tiers": 1}}, "front_end.link_gbps", 50.0),
    ({"front_end": FRONT}, "front_end.pod_nodes", 4),
    ({"front_end": FRONT}, "front_end.storage_gbps", 10.0),
    (NO_NICS, "transport.qps", 16),
    ({}, "transport.hash_seed", "shared"),
    ({}, "transport.flowlet_gap_s", 1e-5),
    ({}, "transport.recovery", "go-back-0"),
    ({"transport": {"name": "infiniband", "reroute_s": 1.0}}, "transport.self_healing", False),
    ({"transport": {"name": "rocev2", "reroute_s": 1.0}}, "transport.link_down_detection", False),
    ({"transport": {"name": "rocev2"}}, "transport.hold_timer_s", 5.0),
    ({}, "jobs.0.stride", 3),
    ({}, "jobs.0.imbalance", 2.0),
    ({"events": FAILED}, "events.0.scale", 0.25),
]


def tables(changes, key=None, value=None):
    found = {k: v for k, v in copy.deepcopy(small.tables(**changes)).items() if v is not None}
    if key is not None:
        *path, last = key.split(".")
        here = found
        for part in path:
            here = here[int(part)] if isinstance(here, list) else here[part]
        here[last] = value
    return found


def outcome(changes, key=None, value=None):
    built = build(validate(tables(changes, key, value), "test"))
    timeline = Timeline(built)
    digests = [timeline.at(step).digest() for step in (0, 1, 5)]
    return built, (digests, networks(built), storage(built))


@pytest.mark.parametrize(("changes", "key", "value"), CASES, ids=[case[1] for case in CASES])
def test_a_key_without_effect_is_told_and_has_none(changes, key, value):
    built, with_key = outcome(changes, key, value)
    (found,) = idle_keys(built)
    assert (found.severity, found.rule, found.where) == ("warning", "no-effect", key)
    assert found.message.endswith(tuple("abcdefghijklmnopqrstuvwxyz)0123456789"))
    assert found in findings(built, Timeline(built).at(0))
    plain, without = outcome(changes)
    assert idle_keys(plain) == ()
    assert with_key == without


@pytest.mark.parametrize("key", ["link_gbps", "dims", "group_gpus", "group_gbps", "group_taper"])
def test_keys_of_another_topology_are_refused(key):
    value = [4, 4] if key == "dims" else 8 if key == "group_gpus" else 8.0
    up = {"domain_gpus": 16, "gpu_gbps": 800.0, "topology": "switched", key: value}
    with pytest.raises(SpecError, match=rf"scale_up\.{key}: says nothing about topology"):
        build(validate(small.tables(scale_up=up), "test"))


@pytest.mark.parametrize("name", ["gb200-nvl72", "meta-24k-roce", "gh200-256", "ai-cloud"])
def test_presets_say_nothing_in_vain(name):
    assert idle_keys(build(load(name))) == ()
