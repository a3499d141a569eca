import numpy as np
import pytest

from clusterscope.routing.nexthops import next_hops
from clusterscope.routing.reach import reach_of
from tests.routing.routing_cases import SMALL, clos


def rows(table):
    return [
        table.cable[a:b].tolist() for a, b in zip(table.start[:-1], table.start[1:], strict=True)
    ]


def test_trunks_are_rows_of_the_down_table():
    fabric = clos(leaves=2, spines=2, hosts=1, trunk=2)
    hops = next_hops(fabric)
    assert rows(hops.up) == [[2, 3, 4, 5], [6, 7, 8, 9], [], []]
    # Rows are (spine 0, leaf 0), (spine 0, leaf 1), (spine 1, leaf 0), (spine 1, leaf 1).
    assert rows(hops.down) == [[2, 4], [6, 8], [3, 5], [7, 9]]
    assert hops.down_row(np.array([3]), np.array([1])).tolist() == [3]


def test_a_core_has_a_row_for_every_block():
    fabric = clos(leaves=1, spines=2, hosts=1, pods=2, cores_per_spine=1)
    hops = next_hops(fabric)
    first = int(fabric.tier_start[2])
    assert rows(hops.fan) == [[first], [first + 2], [first + 1], [first + 3]]


@pytest.mark.parametrize("name", SMALL)
def test_every_switch_cable_is_once_in_the_tables(name):
    hops = next_hops(SMALL[name])
    cables = np.concatenate([hops.down.cable, hops.fan.cable])
    assert np.sort(cables).tolist() == hops.up.cable.tolist()
    row = np.repeat(np.arange(len(hops.down.count)), hops.down.count)
    spine, leaf = hops.far[hops.down.cable], hops.near[hops.down.cable]
    assert (row == hops.down_row(spine, leaf)).all()
    row = np.repeat(np.arange(len(hops.fan.count)), hops.fan.count)
    core, spine = hops.far[hops.fan.cable], hops.near[hops.fan.cable]
    assert (row == hops.fan_row(core, hops.block[spine])).all()


def test_planes_and_rails_are_islands():
    assert len(np.unique(next_hops(SMALL["planes"]).island)) == 2
    assert len(np.unique(next_hops(SMALL["rail-only"]).island)) == 3
    assert len(np.unique(next_hops(SMALL["three tiers"]).island)) == 1


def test_only_keeps_rows_and_drops_cables():
    hops = next_hops(SMALL["trunks"])
    live = np.ones(len(hops.near), dtype=np.bool_)
    assert hops.only(live) is hops
    live[hops.down.cable[:3]] = False
    less = hops.only(live)
    assert less.down.count.tolist() == [0, 3, 3, 3]
    assert less.up.count.sum() == hops.up.count.sum() - 3


@pytest.mark.parametrize("name", ["two tiers", "trunks", "three tiers", "every core", "planes"])
def test_a_whole_clos_has_ordinary_leaves_only(name):
    assert (reach_of(next_hops(SMALL[name])).target == -1).all()


def test_a_dead_spine_of_two_tiers_leaves_every_leaf_ordinary():
    fabric = SMALL["two tiers"]
    live = fabric.cable_b != fabric.ports + 3
    assert (reach_of(next_hops(fabric).only(live)).target == -1).all()


def test_a_dead_spine_of_three_tiers_makes_one_target_of_its_block():
    fabric = SMALL["three tiers"]
    vertex = fabric.ports + 6  # spine 0 of block 0
    live = (fabric.cable_b != vertex) & (fabric.cable_a != vertex)
    target = reach_of(next_hops(fabric).only(live)).target
    assert target[:6].tolist() == [0, 0, -1, -1, -1, -1]
