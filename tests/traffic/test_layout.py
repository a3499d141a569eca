"""Parallel groups on the grid of ranks."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.traffic.groups import Rings
from clusterscope.traffic.layout import Layout, hierarchy

SIZE = st.integers(1, 4)


def members(rings: Rings) -> list[list[int]]:
    return [part.tolist() for part in np.split(rings.rank, rings.start[1:-1])]


@given(tp=SIZE, cp=SIZE, dp=SIZE, pp=SIZE, cuts=st.sets(st.sampled_from(["tp", "cp", "dp", "pp"])))
@settings(max_examples=60, deadline=None)
def test_a_group_differs_in_its_own_cuts_alone(tp, cp, dp, pp, cuts):
    layout = Layout(tp, cp, dp, pp)
    groups = defaultdict(list)
    grid = product(range(pp), range(dp), range(cp), range(tp))
    for rank, place in enumerate(grid):
        at = dict(zip(("pp", "dp", "cp", "tp"), place, strict=True))
        groups[tuple(at[cut] for cut in at if cut not in cuts)].append(rank)
        for cut, expected in at.items():
            assert layout.place(cut)[rank] == expected
    assert members(layout.groups(cuts)) == list(groups.values())


def test_ranks_count_through_tp_then_cp_then_dp_then_pp():
    layout = Layout(tp=2, cp=2, dp=2, pp=2)
    assert members(layout.groups({"tp"}))[0] == [0, 1]
    assert members(layout.groups({"cp"}))[0] == [0, 2]
    assert members(layout.groups({"dp"}))[0] == [0, 4]
    assert members(layout.groups({"pp"}))[0] == [0, 8]
    assert members(layout.groups({"cp", "dp"}))[0] == [0, 2, 4, 6]


def test_expert_groups_are_runs_and_their_copies_are_across_them():
    layout = Layout(tp=1, cp=1, dp=4, pp=2)
    assert members(layout.expert_groups(2)) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert members(layout.expert_copies(2)) == [[0, 2], [1, 3], [4, 6], [5, 7]]


def test_groups_talk_inside_domains_and_then_across():
    groups = Layout(tp=1, cp=1, dp=8, pp=1).groups({"dp"})
    cut = hierarchy(groups, np.repeat(np.arange(2, dtype=np.int32), 4))
    assert (cut.g, cut.k) == (4, 2)
    assert members(cut.inside) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert members(cut.across) == [[0, 4], [1, 5], [2, 6], [3, 7]]


def test_a_group_in_one_domain_has_nothing_across():
    groups = Layout(tp=4, cp=1, dp=2, pp=1).groups({"tp"})
    cut = hierarchy(groups, np.repeat(np.arange(2, dtype=np.int32), 4))
    assert (cut.g, cut.k, cut.across) == (4, 1, None)


def test_uneven_groups_are_flat_rings():
    groups = Layout(tp=1, cp=1, dp=4, pp=1).groups({"dp"})
    cut = hierarchy(groups, np.array([0, 0, 0, 1], dtype=np.int32))
    assert (cut.g, cut.k, cut.inside) == (1, 4, None)
    assert members(cut.across) == [[0, 1, 2, 3]]
