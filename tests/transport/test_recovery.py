"""What losses cost, against the published numbers and against packets sent one by one."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterscope.transport.exact import power
from clusterscope.transport.recovery import (
    go_back_0,
    go_back_n,
    mathis_gbps,
    selective,
    timed_out,
    window_packets,
)

LOSSES = st.floats(1e-6, 0.3)


def of(value: float) -> np.ndarray:
    return np.array([value])


def test_window_of_the_worked_example():
    # 400 Gb/s, 10 us, 4 KiB.
    assert window_packets(of(400), of(10e-6), 4096) == pytest.approx(122.07, abs=0.01)


def test_go_back_n_of_the_facts_table():
    # 400 Gb/s, 10 us round trip and 6 us of NACK.
    window = window_packets(of(400), of(16e-6), 4096)
    share = [float(go_back_n(of(p), window)[0]) for p in (1e-5, 1e-4, 1e-3, 1e-2)]
    assert share == pytest.approx([0.998, 0.98, 0.84, 0.34], abs=0.01)


def test_go_back_0_livelocks_and_go_back_n_does_not():
    # TRAN-08: a message of 4 MiB in packets of 1 KiB, one in 256 lost.
    packets = 4096
    assert float(power(of(1 - 1 / 256), packets)[0]) == pytest.approx(1.09064e-7, rel=0.01)
    assert go_back_0(1 / 256, packets) == pytest.approx(0.0, abs=1e-5)
    assert go_back_n(of(1 / 256), of(100.0))[0] > 0.5


def test_loss_tolerance_ranks_as_measured():
    # TRAN-07: selective repeat shrugs off 0.1 %, go-back-N is unusable at 1 %.
    window = window_packets(of(400), of(16e-6), 4096)
    assert selective(of(1e-3))[0] > 0.99
    assert go_back_n(of(1e-2), window)[0] < 0.5


def test_mathis_of_the_published_cases():
    # TRAN-09.
    assert mathis_gbps(1460, of(100e-6), 1e-4)[0] == pytest.approx(14.305, rel=0.001)
    assert mathis_gbps(8960, of(50e-6), 1e-5)[0] == pytest.approx(555.23, rel=0.02)
    assert np.isinf(mathis_gbps(1460, of(1e-4), 0.0)[0])


@given(LOSSES, st.integers(1, 60), st.integers(0, 2**32))
def test_go_back_0_is_the_mean_of_packets_sent_one_by_one(loss, packets, seed):
    """Oracle: the expected number of packets sent solves e_k = e_{k-1} + 1 + loss * e_k."""
    del seed
    sent = 0.0
    for _ in range(packets):
        sent = (sent + 1.0) / (1.0 - loss)
    assert go_back_0(loss, packets) == pytest.approx(packets / sent, rel=1e-6)


def test_go_back_n_is_the_mean_of_packets_sent_one_by_one():
    """Oracle: a sender that goes on for a window after each loss and then goes back."""
    chance, loss, window, good, sent = random.Random(7), 0.02, 30, 0, 0
    while sent < 400_000:
        sent += 1
        if chance.random() < loss:
            sent += window
        else:
            good += 1
    # A window follows each loss, also those of packets that are sent for the second time.
    assert good / sent == pytest.approx(float(go_back_n(of(loss), of(window))[0]), rel=0.02)


@given(LOSSES, LOSSES, st.floats(0, 1000), st.floats(0, 1000))
def test_goodput_falls_with_loss_and_window_and_stays_between_0_and_1(a, b, few, many):
    low, high = sorted((a, b))
    short, long = sorted((few, many))
    assert 0 < go_back_n(of(high), of(long))[0] <= go_back_n(of(low), of(short))[0] <= 1
    assert go_back_n(of(low), of(long))[0] <= selective(of(low))[0] <= 1
    shared = timed_out(selective(of(low)), of(low), of(long))
    assert 0 < shared[0] <= selective(of(low))[0]


@given(st.floats(0, 1), st.integers(0, 500))
def test_power_is_repeated_multiplication(base, exponent):
    assert power(of(base), exponent)[0] == pytest.approx(base**exponent, rel=1e-9, abs=1e-300)
