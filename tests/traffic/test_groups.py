from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.traffic.groups import cross_rings, domain_of, domain_rings, flat_ring


def i32(*values):
    return np.array(values, dtype=np.int32)


def test_domains_come_in_order_of_their_first_rank():
    rings = domain_rings(i32(5, 5, 2, 9, 2, 9))
    assert rings.rank.tolist() == [0, 1, 2, 4, 3, 5]
    assert rings.start.tolist() == [0, 2, 4, 6]
    assert rings.next_rank.tolist() == [1, 0, 4, 2, 5, 3]
    assert rings.ring_of_member.tolist() == [0, 0, 1, 1, 2, 2]
    assert rings.uniform


def test_a_cross_ring_links_one_position_of_every_domain():
    rings = cross_rings(domain_rings(i32(5, 5, 2, 9, 2, 9)))
    assert rings.rank.tolist() == [0, 2, 3, 1, 4, 5]
    assert rings.start.tolist() == [0, 3, 6]
    assert rings.next_rank.tolist() == [2, 3, 0, 4, 5, 1]


def test_domains_of_different_size_are_not_uniform():
    rings = domain_rings(i32(1, 1, 0))
    assert rings.sizes.tolist() == [2, 1]
    assert not rings.uniform
    assert rings.next_rank.tolist() == [1, 0, 2]


def test_gpus_without_scale_up_are_domains_of_their_own(fabric_of):
    assert domain_of(fabric_of(2, 2), i32(3, 1)).tolist() == [3, 1]
    assert domain_of(fabric_of(2, 2, domain_gpus=2), i32(3, 1)).tolist() == [1, 0]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60))
@settings(max_examples=100, deadline=None)
def test_every_ring_closes_over_exactly_the_ranks_of_its_domain(domains):
    rings = domain_rings(i32(*domains))
    after = dict(zip(rings.rank.tolist(), rings.next_rank.tolist(), strict=True))
    for start in range(len(domains)):
        seen, rank = [start], after[start]
        while rank != start:
            seen.append(rank)
            rank = after[rank]
        assert sorted(seen) == [r for r, d in enumerate(domains) if d == domains[start]]


@given(k=st.integers(1, 8), g=st.integers(1, 8), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_cross_rings_hold_every_rank_once_and_one_of_each_domain(k, g, seed):
    domain = np.random.default_rng(seed).permutation(np.repeat(np.arange(k), g)).astype(np.int32)
    rings = cross_rings(domain_rings(domain))
    assert sorted(rings.rank.tolist()) == list(range(k * g))
    for ring in rings.rank.reshape(g, k):
        assert sorted(domain[ring].tolist()) == list(range(k))


def test_a_flat_ring_follows_rank_order():
    assert flat_ring(4).next_rank.tolist() == [1, 2, 3, 0]
