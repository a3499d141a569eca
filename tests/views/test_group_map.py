"""A parallel group on the map: its NICs, its leaves by their share of its ranks, its domains."""

from __future__ import annotations

import numpy as np

from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.groups import groups, members
from clusterscope.views.group_map import group_map
from tests import plans, small


def full(grid):
    """Keys of the cells that are as full as can be."""
    return {grid.keys(row, column) for row, column in np.argwhere(grid.values == 1).tolist()}


def test_a_group_lights_up_its_leaves_nics_and_gpus():
    built = plans.scenario()
    frame = Timeline(built).at(0)
    grid = group_map(built, frame, 0, "tp", 3)
    assert grid.title == "tp group 3: where its ranks are"
    assert members(built, 0, "tp", 3).tolist() == [6, 7]
    lit = full(grid)
    assert {built.names.find(key).kind for key in lit} == {"switch", "nic", "gpu"}
    assert any(key.startswith("node3/") for key in lit)
    assert np.nansum(grid.values > 0) < grid.values.size


def test_every_rank_of_all_groups_together_is_everywhere():
    built = plans.scenario()
    frame = Timeline(built).at(0)
    for row in groups(built, 0):
        seen = [group_map(built, frame, 0, row.cut, n).values > 0 for n in range(row.count)]
        assert np.logical_or.reduce(seen).all()


def test_a_collective_is_one_group():
    built = small.scenario()
    grid = group_map(built, Timeline(built).at(0), 0, "all", 0)
    assert (grid.values == 1).all()
