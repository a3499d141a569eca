"""Spray and adaptive: bundles, their capacity, and what failures do to them."""

import numpy as np
import pytest
from hypothesis import given

from clusterscope.columns import bincount
from clusterscope.routing.hashing import entropy
from clusterscope.routing.route import route
from clusterscope.routing.routes import Policy, link_loads
from tests.routing.routing_cases import SMALL, broken, clos, every_pair, has_path

POLICIES = [Policy("spray"), Policy("adaptive")]


def route_pairs(fabric, rate, src, dst, policy):
    src, dst = np.asarray(src, dtype=np.int32), np.asarray(dst, dtype=np.int32)
    return route(fabric, rate, src, dst, entropy(src, dst, np.zeros_like(src), 1), policy)


def loads(fabric, routes, bundles):
    """Load of every link when every flow sends 1 Gb/s."""
    total = fabric.links + len(bundles.gbps)
    return link_loads(
        bincount(routes.entry_link, routes.entry_weight, total), fabric.links, bundles
    )


def equal_split(fabric, rate, src, dst):
    """Load of every link when each switch splits each flow alike over live next hops.

    A next hop counts when it is closer to the destination, by steps that are left.
    """
    arcs = []
    for cable in np.flatnonzero(rate > 0):
        a, b = int(fabric.cable_a[cable]), int(fabric.cable_b[cable])
        arcs += [(a, b, 2 * cable), (b, a, 2 * cable + 1)]
    load = np.zeros(fabric.links)
    for s, t in zip(src.tolist(), dst.tolist(), strict=True):
        left = {t: 0}
        for _ in range(6):
            for a, b, _link in arcs:
                if b in left and (b == t or b >= fabric.ports):
                    left[a] = min(left.get(a, 99), left[b] + 1)
        if s not in left or s == t:
            continue
        now = {s: 1.0}
        for _ in range(left[s]):
            later = {}
            for vertex, share in now.items():
                ways = [(b, x) for a, b, x in arcs if a == vertex and left.get(b) == left[a] - 1]
                for to, link in ways:
                    load[link] += share / len(ways)
                    later[to] = later.get(to, 0.0) + share / len(ways)
            now = later
    return load


@pytest.mark.parametrize("policy", POLICIES)
@given(case=broken())
def test_a_flow_is_reached_if_and_only_if_a_path_exists(policy, case):
    fabric, rate = case
    src, dst = every_pair(fabric)
    routes, bundles = route_pairs(fabric, rate, src, dst, policy)
    wanted = [has_path(fabric, rate, int(s), int(t)) for s, t in zip(src, dst, strict=True)]
    assert routes.reached.tolist() == wanted
    assert ((routes.hops > 0) == routes.reached).all()
    assert (np.diff(routes.entry_flow) >= 0).all()
    assert np.isin(np.unique(routes.entry_flow), np.flatnonzero(routes.reached)).all()
    assert np.isfinite(routes.entry_weight).all()
    named = routes.entry_link[routes.entry_link >= fabric.links] - fabric.links
    assert (bundles.gbps[named] > 0).all()


@pytest.mark.parametrize("policy", POLICIES)
@given(case=broken())
def test_members_are_live_and_their_shares_are_a_whole(policy, case):
    fabric, rate = case
    src, dst = every_pair(fabric)
    _, bundles = route_pairs(fabric, rate, src, dst, policy)
    assert (rate[bundles.member_link >> 1] > 0).all()
    assert len(np.unique(bundles.member_link)) == len(bundles.member_link)
    size = np.diff(bundles.start)
    owner = np.repeat(np.arange(len(size)), size)
    whole = bincount(owner, bundles.member_share, len(size))
    assert whole[size > 0] == pytest.approx(1.0)
    # At the bundle's capacity its first member is exactly full.
    fill = bundles.gbps[owner] * bundles.member_share / rate[bundles.member_link >> 1]
    fullest = np.zeros(len(size))
    np.maximum.at(fullest, owner, fill)
    assert fullest[size > 0] == pytest.approx(1.0)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "name", ["two tiers", "trunks", "three tiers", "three tiers of trunks", "every core", "planes"]
)
def test_loads_of_a_whole_fabric_are_an_equal_split(name, policy):
    fabric = SMALL[name]
    src, dst = every_pair(fabric)
    src, dst = src[src != dst], dst[src != dst]
    routes, bundles = route_pairs(fabric, fabric.cable_gbps, src, dst, policy)
    got = loads(fabric, routes, bundles)
    assert got == pytest.approx(equal_split(fabric, fabric.cable_gbps, src, dst))


def test_loads_avoid_a_dead_spine():
    fabric = SMALL["two tiers"]
    rate = np.where(fabric.cable_b == fabric.ports + 4, 0.0, fabric.cable_gbps)
    src, dst = np.array([0, 1, 3], dtype=np.int32), np.array([2, 5, 4], dtype=np.int32)
    routes, bundles = route_pairs(fabric, rate, src, dst, Policy("spray"))
    assert loads(fabric, routes, bundles) == pytest.approx(equal_split(fabric, rate, src, dst))


def test_one_slow_cable_drags_a_spray_and_costs_adaptive_its_own_loss():
    fabric = clos(leaves=2, spines=4, hosts=4)
    rate = fabric.cable_gbps.copy()
    slow = int(fabric.tier_start[1])  # leaf 0, uplink 0
    rate[slow] = 100.0
    _, sprayed = route_pairs(fabric, rate, [0], [4], Policy("spray"))
    _, adapted = route_pairs(fabric, rate, [0], [4], Policy("adaptive"))
    assert sprayed.gbps[:4].tolist() == [400.0, 1600.0, 400.0, 1600.0]
    assert adapted.gbps[:4].tolist() == [1300.0, 1600.0, 1300.0, 1600.0]
    assert adapted.member_share[:2].tolist() == [100 / 1300, 400 / 1300]


def test_a_spine_with_one_live_cable_is_no_member():
    fabric = clos(leaves=2, spines=2, hosts=1)
    rate = fabric.cable_gbps.copy()
    rate[int(fabric.tier_start[1])] = 0.0  # leaf 0, spine 0
    _, bundles = route_pairs(fabric, rate, [0], [1], Policy("spray"))
    assert np.diff(bundles.start)[:4].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(("pods", "members"), [(2, [1, 5]), (3, [1, 4, 5, 6, 7, 8, 9, 10, 11])])
def test_cores_and_spines_that_lead_nowhere_are_no_members(pods, members):
    fabric = clos(leaves=2, spines=2, hosts=1, pods=pods, cores_per_spine=2)
    rate = fabric.cable_gbps.copy()
    low, high = int(fabric.tier_start[1]), int(fabric.tier_start[2])
    rate[high] = 0.0  # core 0 loses block 0
    rate[[low + 1, low + 3]] = 0.0  # spine 1 of block 0 is left without leaves
    _, bundles = route_pairs(fabric, rate, [0], [2], Policy("spray"))
    up = bundles.member_link[bundles.start[4 * pods] : bundles.start[5 * pods]]
    # With two pods nothing but core 1 joins them; with three, two pods still share every core.
    assert (up // 2 - high).tolist() == members


def test_leaves_with_different_slow_spines_share_a_narrow_bundle_when_adaptive():
    fabric = clos(leaves=2, spines=2, hosts=2)
    rate = fabric.cable_gbps.copy()
    rate[int(fabric.tier_start[1]) + np.array([0, 3])] = 100.0
    routes, bundles = route_pairs(fabric, rate, [0], [2], Policy("adaptive"))
    # Each leaf has 100 + 400 Gb/s, but each spine is slow on one side.
    assert bundles.gbps.tolist() == [500, 500, 500, 500, 0, 0, 200]
    assert routes.entry_link[-1] == fabric.links + 6


def uneven_pair():
    """Leaf 0 has lost spine 0, leaf 1 spine 1; of four, spines 2 and 3 join them."""
    fabric = clos(leaves=3, spines=4, hosts=4)
    rate = fabric.cable_gbps.copy()
    first = int(fabric.tier_start[1])
    rate[[first, first + 5]] = 0.0
    return fabric, rate


def test_leaves_that_lost_different_spines_weigh_more_on_a_spray():
    fabric, rate = uneven_pair()
    routes, _ = route_pairs(fabric, rate, [0, 0], [4, 8], Policy("spray"))
    # Two of three live uplinks lead to leaf 1; all three lead to leaf 2, by three of its four.
    assert routes.entry_weight.tolist() == pytest.approx([1, 1.5, 1.5, 1, 1, 1, 4 / 3, 1])


def test_leaves_that_lost_different_spines_share_a_narrow_bundle_when_adaptive():
    fabric, rate = uneven_pair()
    routes, bundles = route_pairs(fabric, rate, [0, 1, 0], [4, 5, 8], Policy("adaptive"))
    assert bundles.gbps[-1] == 800.0
    assert np.diff(bundles.start)[-1] == 0
    extra = fabric.links + len(bundles.gbps) - 1
    assert routes.entry_flow[routes.entry_link == extra].tolist() == [0, 1]
    assert (routes.entry_weight == 1).all()
    assert loads(fabric, routes, bundles)[: 2 * fabric.ports].sum() == 6


def test_leaves_without_a_common_spine_meet_through_a_core_or_not_at_all():
    rates = []
    for cores in (0, 1):
        fabric = clos(2, 2, 1, pods=2, cores_per_spine=cores, all_cores=True)
        rate = fabric.cable_gbps.copy()
        rate[int(fabric.tier_start[1]) + np.array([1, 2])] = 0.0
        routes, _ = route_pairs(fabric, rate, [0], [1], Policy("adaptive"))
        rates.append(routes.hops.tolist())
    assert rates == [[0], [5]]
