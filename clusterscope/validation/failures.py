"""Cases of failures that are played: dead planes, reroutes, flaps."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import Scenario, build
from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.arrays import LEAF_SPINE
from clusterscope.fabric.things import Thing
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.reliability import after_stall
from clusterscope.spec.model import ClusterSpec
from clusterscope.validation.verdict import Outcome
from clusterscope.validation.worlds import leaf_spine, star

Setup = Mapping[str, Any]

_NIC_GBPS: Final = 800.0
_HOSTS, _SPINES = 32, 64


def lost_planes(setup: Setup) -> Outcome:
    """REL-12: sprayed permutations over eight planes that lose ports, links and switches.

    Leaves have twice as many uplinks as NICs that send, as in a test that fills part of a cluster.
    """
    planes = setup["planes"]
    scenario = build(_planar(planes))
    fabric = scenario.fabric
    first = int(fabric.tier_start[LEAF_SPINE])
    uplinks = len(fabric.tier_cables(LEAF_SPINE))
    few = np.random.default_rng(0).permutation(uplinks)[: setup["fail_t0t1"]] + first
    spine = fabric.switches_of(2).start
    dead_ports = [[Thing("nic", port) for port in range(k)] for k in setup["down"]]
    leaf = _left(scenario, [Thing("switch", 0)])
    return {
        "nic_bw_fraction": [_left(scenario, dead) for dead in dead_ports],
        "t0t1_20_links_down": _left(scenario, [Thing("cable", int(cable)) for cable in few]),
        "t1_switch_down_4QP": _left(scenario, [Thing("switch", spine)]),
        "t0_switch_down_loss_gbps": (1.0 - leaf) * _NIC_GBPS,
    }


def subnet_manager(setup: Setup) -> Outcome:  # noqa: ARG001 - "very large" is all it says
    """REL-14: how long a failure keeps InfiniBand routes as they were, by who mends them."""
    by_manager, by_switches = (
        _rerouted_s({"name": "infiniband", "self_healing": healing}) for healing in (False, True)
    )
    return {
        "sm_recompute_s": by_manager,
        "shield_speedup": by_manager / by_switches,
        "shield_ms": by_switches * 1e3,
    }


def convergence(setup: Setup) -> Outcome:
    """REL-15: how long a dead link keeps BGP routes as they were.

    A link that goes down is seen at once; one that only goes silent is found by the hold timer,
    and what that adds is the detection.
    """
    hold_s = float(setup["hold_timer_min_s"])
    seen_s = _rerouted_s({"name": "rocev2", "link_down_detection": True})
    silent = {"name": "rocev2", "link_down_detection": False, "hold_timer_s": hold_s}
    return {
        "link_down_event_total_s": seen_s,
        "hold_timer_detection_s": round(_rerouted_s(silent) - seen_s, 9),
    }


def flap(setup: Setup) -> Outcome:  # noqa: ARG001 - "several seconds", "must exceed the flap"
    """REL-16: a NIC that is gone for some seconds under a job, and comes back."""
    spec = star(
        4,
        transport={"name": "rocev2"},
        jobs=[{"name": "job", "collective": "all-reduce", "message_bytes": 2**30}],
        sim={"dt_s": 0.5},
    )
    scenario = build(spec)
    nic = Thing("nic", 0)
    name = scenario.names.thing(nic)
    gone, back = 2, 8
    events = [Event(gone, "fail", nic, name), Event(back, "restore", nic, name)]
    timeline = Timeline(scenario, events)
    done = [timeline.at(step).jobs[0].iteration for step in range(back + 3)]
    stalled = sum(now == before for before, now in itertools.pairwise(done)) * spec.sim.dt_s
    resumed = done[-1] > done[back]
    short, long = 0.5 * stalled, 2.0 * stalled
    return {
        "short_timeout": after_stall(stalled, short),
        "long_timeout": after_stall(stalled, long) if resumed else "never resumes",
    }


def _rerouted_s(transport: Mapping[str, Any]) -> float:
    """From a dead spine until routes avoid it, by the table of a transport, seconds."""
    scenario = build(leaf_spine(2, 4, 4, transport=dict(transport)))
    spine = Thing("switch", scenario.fabric.switches_of(2).start)
    event = Event(0, "fail", spine, scenario.names.thing(spine))
    due = Timeline(scenario, [event]).at(0).state.reroute_due_s
    return 0.0 if due is None else due


def _planar(planes: int) -> ClusterSpec:
    """Two leaves of 32 NICs a plane, 64 spines a plane."""
    return leaf_spine(
        2,
        _HOSTS,
        _SPINES,
        node={"nic_gbps": _NIC_GBPS},
        scale_out={"planes": planes},
        transport={"name": "uec", "reroute_s": 0.0},
        jobs=[{"name": "shuffle", "collective": "permutation", "message_bytes": 2**30}],
    )


def _left(scenario: Scenario, dead: Sequence[Thing]) -> float:
    """Rate of the slowest flow with these things dead, over that in the healthy network."""
    events = [Event(0, "fail", thing, scenario.names.thing(thing)) for thing in dead]
    (job,) = job_metrics(scenario, Timeline(scenario, events).at(0))
    return job.healthy_s / job.alone_s


DERIVATIONS = {
    "REL-12": lost_planes,
    "REL-14": subnet_manager,
    "REL-15": convergence,
    "REL-16": flap,
}
