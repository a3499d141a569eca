"""Packets that overtake each other: queues behind a stage that spreads them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.transport.ordering import Spreading, overtaken, settle, wait_beyond


def of(value: float) -> np.ndarray:
    return np.array([float(value)])


def rows(load=1.0, gap=1.0, window=122.0, queues=2.0, links=4.0) -> Spreading:
    return Spreading(of(load), of(gap), of(window), of(queues), of(links))


def settled(**changes: float) -> tuple[float, float]:
    sent, goodput = settle(rows(**changes))
    return float(sent[0]), float(sent[0] * goodput[0])


def test_the_worked_example_of_four_links():
    # n = 4 flows of period 8 at half load: only when all three others came within the last service
    # time does a packet wait longer than two: (1/8)^3.
    assert wait_beyond(of(2.0), of(0.5), 4)[0] == pytest.approx(1 / 512)


def test_waits_are_those_of_periodic_flows_packet_by_packet():
    """Oracle: the queue of n flows of one period, over all phases of a fine grid."""
    links, load, grid = 3, 0.75, 40
    period, waits = links / load, []
    for phases in itertools.product(range(grid), repeat=links - 1):
        arrivals = sorted([0.0, *((phase + 0.5) * period / grid for phase in phases)])
        begin, free = None, 0.0
        for turn in range(3):
            for at in arrivals:
                start = max(free, at + turn * period)
                free = start + 1.0
                if at == 0.0 and turn == 2:
                    begin = start - turn * period
        waits.append(begin)
    for wait in (0.0, 0.5, 1.0, 1.5):
        share = float(np.mean(np.array(waits) > wait + 1e-9))
        assert wait_beyond(of(wait), of(load), links)[0] == pytest.approx(share, abs=0.03)


def test_chance_to_wait_at_all_is_the_load_of_the_others():
    for links, load in ((4, 0.5), (16, 0.8)):
        others = load * (1 - 1 / links)
        assert wait_beyond(of(0.0), of(load), links)[0] == pytest.approx(others, abs=0.06)


@given(st.floats(0.05, 1), st.floats(0.05, 1), st.floats(0, 20), st.floats(0, 20))
def test_waits_grow_with_load_and_shrink_with_the_wait(a, b, x, y):
    (low, high), (short, long) = sorted((a, b)), sorted((x, y))
    for links in (2, 8, 64):
        chance = wait_beyond(of(short), of(high), links)[0]
        assert 0 <= wait_beyond(of(short), of(low), links)[0] <= chance + 1e-9 <= 1 + 1e-9
        assert wait_beyond(of(long), of(high), links)[0] <= chance + 1e-9


def test_settled_rate_is_the_best_of_all():
    """Oracle: every rate tried with the exact chances."""
    for links, queues, window in ((4, 2.0, 122.0), (16, 1.0, 60.0), (64, 4.0, 200.0)):
        _, payload = settled(links=links, queues=queues, window=window)
        best = 0.0
        for sent in np.arange(1, 65) / 64:
            p = overtaken(of(sent), of(1 / sent), of(queues), links)[0]
            best = max(best, sent * (1 - p) / (1 + p * window * sent))
        assert payload == pytest.approx(best, rel=0.02)


def test_in_order_gains_little_from_spreading():
    # 128 hosts, three tiers of 4 links: packets reach 0.46 in simulation (ROUT-17).
    assert settled()[1] == pytest.approx(0.42, abs=0.05)
    assert settled(links=64)[1] < settled(links=4)[1]


def test_what_does_not_overtake_costs_nothing():
    assert settled(queues=0) == (1.0, 1.0)
    assert settled(load=0.0) == (1.0, 1.0)
    assert settled(load=0.05, gap=20)[1] > 0.99


@settings(max_examples=20)
@given(st.floats(0.1, 1), st.floats(1, 30), st.floats(1, 500), st.integers(1, 4))
def test_payload_falls_with_queues_and_window(load, gap, window, queues):
    one = settled(load=load, gap=gap, window=window, queues=queues)[1]
    assert 0 < settled(load=load, gap=gap, window=window, queues=queues + 1)[1] <= one + 1e-6
    assert settled(load=load, gap=gap, window=2 * window, queues=queues)[1] <= one + 1e-6


def test_rows_do_not_depend_on_each_other():
    several = Spreading(*(np.array(column) for column in (
        [1.0, 0.5, 0.0], [1.0, 2.0, 3.0], [100.0, 100.0, 9.0], [2.0, 4.0, 2.0], [4.0, 64.0, 8.0],
    )))  # fmt: skip
    sent, goodput = settle(several)
    for row in range(3):
        alone = settle(Spreading(*(column[[row]] for column in vars(several).values())))
        assert (sent[row], goodput[row]) == (alone[0][0], alone[1][0])
