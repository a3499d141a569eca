"""What is spread over a pass goes between bursts that take turns with computing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine._pages import Capacities
from clusterscope.engine.bursts import between
from clusterscope.engine.rates import own_entries
from clusterscope.engine.shares import paced
from clusterscope.traffic.flows import Work

GBPS = 100.0


def work(before, beside, kind):
    return Work(
        wire=np.zeros(1, dtype=np.int32),
        before_s=np.array([before]),
        beside_s=np.array([beside]),
        steps=np.ones(1, dtype=np.int32),
        kinds=(kind,),
        compute_s=max(before, beside),
        bubble_ratio=0.0,
    )


def shared(many, size_gbit, before_s, wanted_gbps):
    """A burst of `many` flows in step, and one spread flow, on one link of 100 Gb/s."""
    entries = (
        np.array([0, 1], dtype=np.int32),
        np.zeros(2, dtype=np.int32),
        np.array([float(many), 1.0]),
    )
    limit = Capacities(np.full(1, GBPS), np.ones(1), np.zeros(0))
    most = np.array([np.inf, wanted_gbps])
    rates = own_entries(*entries, 2, limit, most)
    size = np.array([size_gbit * 1e9 / 8])
    turn, spread = work(before_s, 0.0, "ep"), work(0.0, 1.0, "kv")
    pace = paced(rates.flow_gbps[:1], size, np.zeros(1), turn)
    phases = [(0, pace, turn), (1, rates.flow_gbps[1:], spread)]
    return rates, between(entries, (limit, most), (rates, rates), phases)[0], float(pace[0])


def test_one_flow_beside_nine_in_bursts():
    # Together each of ten flows gets 10 Gb/s. The burst of 1 Gb a flow takes 0.1 s of every second
    # (0.9 s of computing), 9 Gb/s on the mean: 91 are left for one that wants 50.
    rates, found, pace = shared(9, 1.0, 0.9, 50.0)
    assert rates.flow_gbps.tolist() == pytest.approx([10.0, 10.0])
    assert pace == pytest.approx(1.0)
    assert found.flow_gbps.tolist() == pytest.approx([10.0, 50.0])
    # One that wants more than is left between gets that, and the link is full.
    assert shared(9, 1.0, 0.9, 95.0)[1].flow_gbps[1] == pytest.approx(91.0)
    # Without computing there is nothing between.
    assert shared(9, 1.0, 1e-12, 50.0)[1].flow_gbps[1] == pytest.approx(10.0)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 200),
    st.floats(0.01, 10.0),
    st.floats(0.001, 10.0),
    st.floats(0.1, 200.0),
)
def test_means_fit_the_link_and_nobody_loses(many, size, before, wanted):
    rates, found, pace = shared(many, size, before, wanted)
    assert found.flow_gbps[0] == rates.flow_gbps[0]
    assert rates.flow_gbps[1] * (1 - 1e-9) <= found.flow_gbps[1] <= wanted * (1 + 1e-9)
    assert many * pace + found.flow_gbps[1] <= GBPS * (1 + 1e-6)
    # By hand: what it wants, as far as the burst's mean leaves it, or its fair share.
    most = min(wanted, max(GBPS - many * pace, rates.flow_gbps[1]))
    assert found.flow_gbps[1] == pytest.approx(most, rel=1e-6)
