"""Entries on few of many links: the same rates as on links that are numbered close together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine._pages import PAGE, Capacities, used_pages
from clusterscope.engine.rates import max_min_entries, own_entries

FAR = 40 * PAGE  # links of the sparse numbering


@st.composite
def sparse(draw):
    """Flows of some entries on links that are few and far between."""
    flows = draw(st.integers(1, 6))
    spots = draw(st.lists(st.integers(0, FAR + 6), min_size=1, max_size=12, unique=True))
    entries = sorted(
        (draw(st.integers(0, flows - 1)), draw(st.sampled_from(spots)))
        for _ in range(draw(st.integers(1, 24)))
    )
    weight = [draw(st.sampled_from([0.25, 0.5, 1.0])) for _ in entries]
    return flows, sorted(spots), entries, weight


@settings(max_examples=80, deadline=None)
@given(case=sparse())
def test_a_sparse_numbering_changes_no_bit(case):
    flows, spots, entries, weight = case
    flow, link = np.array(entries, dtype=np.int32).T.copy()
    load = np.array(weight)
    near = np.searchsorted(spots, link).astype(np.int32)
    chance = np.random.default_rng(len(entries))
    gbps, payload = chance.uniform(10, 500, FAR), chance.uniform(0.5, 1, FAR)
    bundles = chance.uniform(10, 500, 7)
    whole = np.concatenate([gbps * payload, bundles])
    wanted = max_min_entries(flow, near, load, flows, whole[spots])
    got = own_entries(flow, link, load, flows, Capacities(gbps, payload, bundles))
    assert got.flow_gbps.tolist() == wanted.flow_gbps.tolist()
    assert got.link_gbps[spots].tolist() == wanted.link_gbps.tolist()
    assert got.link_gbps.sum() == pytest.approx(wanted.link_gbps.sum())
    held = wanted.bottleneck >= 0
    assert (got.bottleneck[held] == np.array(spots)[wanted.bottleneck[held]]).all()
    assert (got.bottleneck[~held] == -1).all()
    assert len(own_entries(flow, link, load, flows, whole, loads=False).link_gbps) == 0


def test_pages_keep_the_order_of_links():
    link = np.array([5, 3 * PAGE + 1, 7 * PAGE, 39 * PAGE + 2])
    pages = used_pages(link, FAR)
    assert pages.used is not None
    dense = pages.dense(link)
    assert dense.tolist() == [5, PAGE + 1, 2 * PAGE, 3 * PAGE + 2]
    assert pages.named(dense).tolist() == link.tolist()
    assert pages.named(np.array([-1])).tolist() == [-1]
    values = np.arange(len(pages.used) * PAGE, dtype=float)
    assert pages.spread(values)[link].tolist() == dense.tolist()


def test_few_links_keep_their_numbers():
    assert used_pages(np.array([3]), PAGE).used is None
    assert used_pages(np.zeros(0, dtype=np.int64), FAR).used is None
