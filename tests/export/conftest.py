from __future__ import annotations

import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import Scenario, build
from clusterscope.engine.timeline import Timeline
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.validate import validate
from tests.export import tricky_shapes as tricky


def small_spec() -> ClusterSpec:
    """Sixteen GPUs under eight leaves and two spines; names and texts are tricky."""
    return validate(
        {
            "name": tricky.NAMES[2],
            "title": tricky.NAMES[0],
            "description": f"first\nsecond {tricky.NAMES[1]}",
            "node": {"count": 8, "gpus": 2, "gpu": "H100-SXM", "nics": 2, "nic_gbps": 400.0},
            "scale_up": {"domain_gpus": 2, "gpu_gbps": 3600.0},
            "scale_out": {
                "tiers": 2,
                "wiring": "rail",
                "su_nodes": 4,
                "leaf_switch": "generic-16",
                "leaf_down": 4,
                "leaf_up": 4,
                "spines": 4,
            },
            "transport": {"name": "rocev2"},
            "jobs": [
                {
                    "name": tricky.NAMES[1],
                    "collective": "all-reduce",
                    "message_bytes": 2**26,
                    "algorithm": "ring",
                    "ranks": 8,
                },
                {
                    "name": tricky.NAMES[3],
                    "collective": "permutation",
                    "message_bytes": 2**26,
                    "ranks": 8,
                    "first_gpu": 8,
                },
            ],
            "sim": {"dt_s": 1e-4, "steps": 4},
        },
        "test",
    )


@pytest.fixture(scope="session")
def small() -> Scenario:
    return build(small_spec())


@pytest.fixture
def timeline(small: Scenario) -> Timeline:
    """Four steps, a cable failing at the second."""
    event = Event.named(small.names, "fail", small.names.cable(16), step=2)
    return Timeline(small, [event])
