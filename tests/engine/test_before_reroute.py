"""Between a failure and the reroute: dead members of a bundle lose what they are dealt."""

from __future__ import annotations

import numpy as np
import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from tests.small import job, scenario

BALANCING = ("spray", "adaptive")


def frame_of(balancing, kind, scale=0.5):
    made = scenario(
        jobs=job("permutation"),
        transport={"name": "spectrum-x", "load_balancing": balancing, "reroute_s": 1.0},
        sim__dt_s=1e-3,
    )
    event = Event.named(made.names, kind, "leaf0:u0", step=1, scale=scale)
    return made, Timeline(made, [event]).at(1)


def uplinks(made, frame):
    low, high = made.fabric.up_start[0:2]
    return frame.link_gbps[2 * low : 2 * high : 2]


@pytest.mark.parametrize("balancing", BALANCING)
def test_a_dead_member_carries_nothing_and_the_live_ones_carry_all_that_arrives(balancing):
    made, frame = frame_of(balancing, "fail")
    assert frame.network.routed is not frame.network.actual
    load = uplinks(made, frame)
    assert load[0] == 0.0
    assert load[1] == pytest.approx(load[2]) == pytest.approx(load[3])
    assert 0.0 < load[1] <= 100.0 + 1e-9
    # Bytes that arrive were sent by somebody: NICs send what NICs receive.
    ports = made.fabric.ports
    sent, received = (frame.link_gbps[d : 2 * ports : 2].sum() for d in (0, 1))
    assert sent == pytest.approx(received)


@pytest.mark.parametrize("balancing", BALANCING)
def test_a_slow_member_holds_the_others_back_until_routes_know(balancing):
    made, frame = frame_of(balancing, "degrade", scale=0.1)
    load = uplinks(made, frame)
    assert load[0] <= 10.0 + 1e-9
    assert load == pytest.approx(np.full(4, load[0]))
