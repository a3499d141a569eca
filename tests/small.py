"""Small clusters for tests that need a whole scenario."""

from __future__ import annotations

from typing import Any

from clusterscope.engine.scenario import Scenario, build
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.validate import validate


def tables(**changes: Any) -> dict[str, Any]:
    """A two-tier rail cluster of 8 nodes x 2 GPUs: 4 leaves, 2 spines, 100 Gb/s everywhere."""
    spec: dict[str, Any] = {
        "name": "small",
        "node": {"count": 8, "gpus": 2, "gpu": "H100-SXM", "nics": 2, "nic_gbps": 100.0},
        "scale_up": {"domain_gpus": 2, "gpu_gbps": 800.0},
        "scale_out": {
            "tiers": 2,
            "wiring": "rail",
            "su_nodes": 4,
            "leaf_switch": "generic-8",
            "leaf_down": 4,
            "leaf_up": 4,
            "spine_switch": "generic-8",
            "spines": 2,
        },
        "transport": {"name": "spectrum-x", "reroute_s": 0.0},
        "jobs": job("all-reduce"),
        "sim": {"seed": 1, "dt_s": 0.01, "steps": 10},
    }
    for key, value in changes.items():
        table, _, name = key.partition("__")
        if name:
            spec[table] = {**spec[table], name: value}
        else:
            spec[table] = value
    return spec


def spec(**changes: Any) -> ClusterSpec:
    """The small cluster's spec; `transport__name="rocev2"` changes one key."""
    return validate(tables(**changes), "small")


def scenario(**changes: Any) -> Scenario:
    """The small cluster, compiled."""
    return build(spec(**changes))


def job(collective: str, **more: Any) -> list[dict[str, Any]]:
    """A list of one job, by rings unless said otherwise."""
    base = {"name": "job", "collective": collective, "message_bytes": 1_000_000_000}
    return [{**base, "algorithm": "ring", **more}]
