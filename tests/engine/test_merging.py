"""Entries taken together give the rates that they give one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine import merging
from clusterscope.engine.merging import merged
from clusterscope.engine.rates import own_entries


def test_a_pair_that_occurs_twice_has_the_sum_of_its_weights(monkeypatch):
    monkeypatch.setattr(merging, "_MANY", 1)
    entity = np.array([0, 0, 0, 0, 0, 0, 1], dtype=np.int32)
    link = np.array([2, 0, 2, 2, 0, 2, 1], dtype=np.int32)
    found = merged((entity, link, np.ones(7)), [0, 1, 2], 3)
    assert [column.tolist() for column in found] == [[0, 0, 1], [0, 2, 1], [2.0, 4.0, 1.0]]


def test_few_entries_stay_as_they_are():
    entry = (np.zeros(3, dtype=np.int32), np.zeros(3, dtype=np.int32), np.ones(3))
    assert merged(entry, [0, 1], 1) is entry


@given(data=st.data(), entities=st.integers(1, 5), links=st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_rates_are_the_same(data, entities, links):
    count = data.draw(st.integers(entities, 40))
    ids = st.lists(st.integers(0, entities - 1), min_size=count, max_size=count)
    entity = np.sort(np.array(data.draw(ids), dtype=np.int32))
    lids = st.lists(st.integers(0, links - 1), min_size=count, max_size=count)
    link = np.array(data.draw(lids), dtype=np.int32)
    cut = data.draw(st.integers(0, entities))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "_MANY", 1)
        slim = merged((entity, link, np.ones(count)), [0, cut, entities], links)
    rate = np.full(links, 100.0)
    whole = own_entries(entity, link, np.ones(count), entities, rate)
    found = own_entries(*slim, entities, rate)
    known = np.isin(np.arange(entities), entity)
    assert found.flow_gbps[known] == pytest.approx(whole.flow_gbps[known])
