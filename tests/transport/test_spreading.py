"""Pauses of a busy egress: how often, and what they leave a victim."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterscope.spec.parts import Congestion
from clusterscope.transport.spreading import dcqcn_marked, pause_share, victim_gbps


def marked(flows: float, gbps: float = 400.0) -> float:
    return float(dcqcn_marked(np.array([flows]), np.array([gbps]), 4096)[0])


def paused(congestion: Congestion, flows: float) -> float:
    return float(pause_share(congestion, np.array([flows]), np.array([400.0]), 4096)[0])


def test_the_fixed_point_solves_the_equation_of_its_source():
    for flows in (1, 2, 7, 56, 500):
        rate = 400e9 / (8 * 4096)
        recovery = 4096 / 10e6 + flows / (55e-6 * rate)
        cubed = (1e-3 * rate) * flows**2 / (55e-6 * rate**2) * recovery**2
        assert marked(flows) == pytest.approx(cubed ** (1 / 3), rel=1e-9)


@given(st.integers(1, 10_000), st.integers(1, 10_000), st.sampled_from([100.0, 400.0, 800.0]))
def test_marking_grows_with_the_number_of_queue_pairs(a, b, gbps):
    few, many = sorted((a, b))
    assert 0 < marked(few, gbps) <= marked(many, gbps)


def test_who_pauses():
    assert paused("none", 2) == 1.0
    assert 0.0 < paused("dcqcn", 7) < 0.5
    assert paused("dcqcn", 56) == 1.0
    for congestion in set(get_args(Congestion)) - {"none", "dcqcn"}:
        assert paused(congestion, 10_000) == 0.0


def test_receiver_admission_never_pauses_and_a_flood_reaches_the_sender():
    # TRAN-12: 16 senders to one receiver.
    assert paused("receiver-credit", 16) == 0.0
    assert paused("none", 16) == 1.0


@given(st.floats(0, 400), st.floats(0, 400), st.floats(0, 1))
def test_a_victim_gets_between_the_blocked_rate_and_its_own(free, blocked, share):
    rate = victim_gbps(np.array([free]), np.array([blocked]), np.array([share]))[0]
    assert min(free, blocked) - 1e-9 <= rate <= free + 1e-9
