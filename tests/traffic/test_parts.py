"""Groups of a training job that are spread unevenly over domains."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.traffic.groups import Rings
from clusterscope.traffic.parts import domain_parts
from clusterscope.traffic.wires import Site


def rings_of(groups):
    flat = np.array([rank for group in groups for rank in group], dtype=np.int32)
    start = np.cumsum([0, *map(len, groups)]).astype(np.int32)
    return Rings(rank=flat, start=start)


def test_five_and_three_ranks_share_three_rails(fabric_of, gpu_bytes):
    fabric = fabric_of(2, 5, nics=5, domain_gpus=5)
    site = Site("x", fabric, np.arange(8, dtype=np.int32), hierarchical=True)
    (wire,) = site.shared("dp", rings_of([range(8)]), np.full(8, 2400.0), 2)
    far = wire.flows.src < fabric.ports
    assert wire.flows.src[far].tolist() == [0, 1, 2, 5, 6, 7]
    assert wire.flows.dst[far].tolist() == [5, 6, 7, 0, 1, 2]
    assert wire.flows.size_bytes[far] == pytest.approx(np.full(6, 2 * 7 / 8 * 2400 / 3))
    assert wire.flows.size_bytes[~far] == pytest.approx(np.full(8, 2 * 7 / 8 * 2400))
    assert (wire.groups, wire.steps) == (1, 14)


def test_groups_of_one_rank_a_domain_stay_one_ring(fabric_of):
    fabric = fabric_of(4, 2, nics=2, domain_gpus=2)
    site = Site("x", fabric, np.arange(8, dtype=np.int32), hierarchical=True)
    groups = rings_of([[0, 2, 4, 6], [1, 3, 5, 7]])
    (wire,) = site.shared("dp", groups, np.full(8, 800.0), 1)
    assert set(wire.flows.size_bytes.tolist()) == {600.0}
    assert (wire.groups, wire.steps) == (2, 3)


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=9), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_parts_are_those_of_a_plain_loop(held):
    domain = np.array([d for own in held for d in own], dtype=np.int32)
    ends = np.cumsum([0, *map(len, held)])
    groups = [list(range(a, b)) for a, b in itertools.pairwise(ends)]
    found = domain_parts(rings_of(groups), domain)
    entries = found.rings.rank.tolist()
    for group in groups:
        parts = [[r for r in group if domain[r] == d] for d in sorted({domain[r] for r in group})]
        rails = min(map(len, parts))
        for at, part in enumerate(parts):
            after = parts[(at + 1) % len(parts)]
            for place, rank in enumerate(part):
                row = entries.index(rank)
                assert found.rails[row] == rails
                assert found.on_rails[row] == (place < rails)
                if place < rails:
                    assert entries[found.onward[row]] == after[place]
    assert sorted(entries) == list(range(len(domain)))
    assert (np.diff(found.group) >= 0).all()
