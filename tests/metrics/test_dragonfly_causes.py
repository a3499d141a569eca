"""What a dragonfly loses to its routing, as a cause; and what `[dragonfly] routing` overrides."""

from __future__ import annotations

import math

import pytest

from clusterscope.engine.scenario import build, with_transport
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.causes import causes
from clusterscope.metrics.jobs import job_metrics
from tests.dragonflies import spec

# A full shift of groups: every rank sends to the one a group further on.
SHIFT = {
    "name": "shift",
    "collective": "all-reduce",
    "message_bytes": 10**9,
    "placement": "strided",
    "stride": 8,
    "hierarchical": False,
}


def run(routing: str | None, transport: str = "spectrum-x"):
    keys = {"routing": routing} if routing else {}
    more = {"transport": {"name": transport, "reroute_s": 0.0}}
    return build(spec((6, 4, 2, 1, 1), jobs=[SHIFT], dragonfly=keys, **more))


def split(built):
    frame = Timeline(built).at(0)
    job, found = job_metrics(built, frame)[0], causes(built, frame)[0]
    assert math.isclose(sum(found.values()), job.iteration_s - job.ideal_s, rel_tol=1e-6)
    return job.iteration_s, found


def test_minimal_routing_loses_to_collisions_what_detours_would_save():
    direct, lost = split(run("minimal"))
    around, saved = split(run("adaptive"))
    assert direct > 1.5 * around
    assert lost["collisions"] == pytest.approx(direct - around, rel=1e-3)
    assert saved["collisions"] == 0.0
    assert saved["few uplinks"] > 0.0


def test_the_transport_chooses_unless_the_spec_does():
    assert run(None).transport.policy.dragonfly_course == "adaptive"
    assert run(None, "rocev2").transport.policy.dragonfly_course == "minimal"
    assert run("valiant", "rocev2").transport.policy.dragonfly_course == "valiant"
    assert with_transport(run("valiant"), "rocev2").transport.policy.course == "valiant"
