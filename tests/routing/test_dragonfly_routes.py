"""Routes on dragonflies: single paths and adaptive shares against ways found one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.columns import F64, I32, bincount
from clusterscope.engine.rates import max_min_entries
from clusterscope.fabric.arrays import LEAF_SPINE, SPINE_CORE, Fabric
from clusterscope.fabric.dragonfly import global_taper
from clusterscope.routing.hashing import entropy
from clusterscope.routing.route import paths_of, route, route_exchange
from clusterscope.routing.routes import Bundles, Policy, Routes, link_loads
from tests.dragonflies import Ways, fly, hurt, sizes

MINIMAL, STATIC = Policy("ecmp"), Policy("dmodk")
VALIANT, ADAPTIVE = Policy("ecmp", course="valiant"), Policy("adaptive")


def routed(fabric: Fabric, rate: F64, src: I32, dst: I32, policy: Policy) -> tuple[Routes, Bundles]:
    none = np.zeros(len(src), dtype=np.int32)
    return route(fabric, rate, src, dst, entropy(src, dst, none, 7), policy)


def rates(routes: Routes, bundles: Bundles, rate: F64) -> F64:
    """Max-min rate of every flow, (F,) Gb/s."""
    capacity = np.concatenate([np.repeat(rate, 2), bundles.gbps])
    entries = (routes.entry_flow, routes.entry_link, routes.entry_weight)
    return max_min_entries(*entries, len(routes.reached), capacity).flow_gbps


def loads(fabric: Fabric, routes: Routes, bundles: Bundles, gbps: F64) -> F64:
    """Load of every link, (L,) Gb/s, when flows send at these rates."""
    load = gbps[routes.entry_flow] * routes.entry_weight
    total = bincount(routes.entry_link, load, fabric.links + len(bundles.gbps))
    return link_loads(total, fabric.links, bundles)


def all_pairs(fabric: Fabric) -> tuple[I32, I32]:
    port = np.arange(fabric.ports, dtype=np.int32)
    src, dst = (side.ravel() for side in np.meshgrid(port, port, indexing="ij"))
    return src[src != dst], dst[src != dst]


def shift(fabric: Fabric, places: int, ports: int | None = None) -> tuple[I32, I32]:
    """Every port, or the first so many, to the port so many places on."""
    src = np.arange(fabric.ports if ports is None else ports, dtype=np.int32)
    return src, ((src + places) % len(src)).astype(np.int32)


@pytest.mark.parametrize("policy", [MINIMAL, STATIC, VALIANT], ids=["minimal", "static", "valiant"])
@settings(max_examples=30)
@given(case=hurt())
def test_single_paths_are_live_connected_and_found_when_there_is_one(
    policy: Policy, case: tuple[Fabric, F64]
) -> None:
    fabric, rate = case
    src, dst = all_pairs(fabric)
    routes, _ = routed(fabric, rate, src, dst, policy)
    ways = Ways(fabric, rate)
    paths = paths_of(routes)
    for flow in range(len(src)):
        x, y = (int(fabric.port_leaf[side[flow]]) for side in (src, dst))
        ends = rate[src[flow]] > 0 and rate[dst[flow]] > 0
        assert routes.reached[flow] == (ends and ways.joined(x, y))
        path = paths[flow][paths[flow] >= 0].tolist() if paths.size else []
        if not routes.reached[flow]:
            assert not path
            continue
        assert (rate[np.array(path) >> 1] > 0).all()
        vertex = int(src[flow])
        for link in path:
            ends_of = [int(end[link >> 1]) for end in (fabric.cable_a, fabric.cable_b)]
            if link & 1:
                ends_of.reverse()
            assert ends_of[0] == vertex
            vertex = ends_of[1]
        assert vertex == int(dst[flow])
        assert routes.hops[flow] == len(path) - 1


@given(hurt())
def test_adaptive_reaches_what_a_single_path_reaches(case):
    fabric, rate = case
    src, dst = all_pairs(fabric)
    one, _ = routed(fabric, rate, src, dst, MINIMAL)
    many, bundles = routed(fabric, rate, src, dst, ADAPTIVE)
    assert (one.reached == many.reached).all()
    assert (many.hops[many.reached] > 0).all()
    gbps = rates(many, bundles, rate)
    load = loads(fabric, many, bundles, np.where(many.reached, gbps, 0.0))
    assert (load <= np.repeat(rate, 2) * (1 + 1e-6) + 1e-6).all()


@given(hurt())
def test_adaptive_conserves_traffic_at_every_group(case):
    """What leaves the NICs of a group for others crosses its global cables, detours twice."""
    fabric, rate = case
    src, dst = all_pairs(fabric)
    routes, bundles = routed(fabric, rate, src, dst, ADAPTIVE)
    load = loads(fabric, routes, bundles, routes.reached.astype(float))
    group = fabric.switch_pod[fabric.port_leaf]
    cables = fabric.tier_cables(SPINE_CORE)
    net = np.zeros(fabric.pods)
    for link in range(2 * cables.start, 2 * cables.stop):
        ends = [int(fabric.switch_pod[end[link >> 1] - fabric.ports])
                for end in (fabric.cable_a, fabric.cable_b)]  # fmt: skip
        net[ends[link & 1]] += load[link]
        net[ends[1 - (link & 1)]] -= load[link]
    sent = bincount(group[src], routes.reached.astype(float), fabric.pods)
    sent -= bincount(group[dst], routes.reached.astype(float), fabric.pods)
    np.testing.assert_allclose(net, sent, atol=1e-6)


def test_minimal_by_hand():
    fabric = fly((3, 4, 2, 2, 1))
    # Port 0 on switch 0 of group 0; port 23 on switch 3 of group 2.
    src, dst = np.array([0], np.int32), np.array([23], np.int32)
    routes, _ = routed(fabric, fabric.cable_gbps, src, dst, MINIMAL)
    path = routes.entry_link
    tiers = fabric.cable_tier[path >> 1].tolist()
    assert tiers[0] == tiers[-1] == 0
    assert tiers.count(SPINE_CORE) == 1
    assert tiers.count(LEAF_SPINE) <= 2
    assert routes.hops[0] == len(path) - 1 <= 4


def test_hashed_flows_spread_over_the_cables_between_two_groups():
    fabric = fly((3, 8, 8, 4, 1))
    src, dst = shift(fabric, 64)
    routes, _ = routed(fabric, fabric.cable_gbps, src, dst, MINIMAL)
    cables = fabric.tier_cables(SPINE_CORE)
    used = np.bincount(routes.entry_link, minlength=fabric.links)
    used = used[2 * cables.start : 2 * cables.stop]
    assert (used > 0).sum() == 3 * 4
    assert used.sum() == 3 * 64


def test_valiant_takes_two_global_cables_of_distinct_groups():
    fabric = fly((6, 4, 4, 2, 1))
    src, dst = shift(fabric, 16)
    routes, _ = routed(fabric, fabric.cable_gbps, src, dst, VALIANT)
    crossing = fabric.cable_tier[routes.entry_link >> 1] == SPINE_CORE
    assert (bincount(routes.entry_flow, crossing.astype(float), len(src)) == 2).all()


def test_a_shift_of_groups_gets_what_all_global_cables_carry_for_two_hops():
    # Direct once, around twice: C / (2 - 2 / n) for each group of n, as in docs/model.md.
    fabric = fly((8, 4, 8, 2, 4))
    src, dst = shift(fabric, 32)
    routes, bundles = routed(fabric, fabric.cable_gbps, src, dst, ADAPTIVE)
    wanted = 7 * 2 * 200.0 / 32 / (2 - 2 / 8)
    np.testing.assert_allclose(rates(routes, bundles, fabric.cable_gbps), wanted, rtol=5e-3)


def test_minimal_routing_of_the_same_shift_gets_the_direct_cables_only():
    fabric = fly((8, 4, 8, 2, 1))
    src, dst = shift(fabric, 32)
    routes, bundles = routed(fabric, fabric.cable_gbps, src, dst, STATIC)
    gbps = rates(routes, bundles, fabric.cable_gbps)
    assert gbps.sum() <= 8 * 2 * 200.0 * (1 + 1e-9)


def test_frontier_group_to_group_is_inside_the_measured_range():
    """TOPO-09: mpiGraph saw 3 to 17.5 GB/s a NIC; a full shift of groups lies between."""
    fabric = fly((74, 32, 16, 4, 1), nodes=9408, nics=4)
    src, dst = shift(fabric, 512, 73 * 512)
    routes, bundles = routed(fabric, fabric.cable_gbps, src, dst, ADAPTIVE)
    worst = rates(routes, bundles, fabric.cable_gbps) / 8  # GB/s
    assert worst == pytest.approx(7.2, rel=0.02)
    port = np.arange(fabric.ports, dtype=np.int32)
    routes, bundles = route_exchange(fabric, fabric.cable_gbps, port, port // 4, ADAPTIVE)
    capacity = np.concatenate([np.repeat(fabric.cable_gbps, 2), bundles.gbps])
    best = (capacity[routes.entry_link] / routes.entry_weight).min() / 8
    # Uniform traffic goes minimal: line rate over the taper, a hair more as 1 in 74 stays inside.
    assert best == pytest.approx(25 / global_taper(fabric), rel=0.02)
    assert 3 < worst.min() < best < 17.5


def test_a_dead_bundle_between_two_groups_is_detoured():
    fabric = fly((5, 4, 4, 2, 1))
    rate = fabric.cable_gbps.copy()
    cables = fabric.tier_cables(SPINE_CORE)
    groups = fabric.switch_pod[np.stack([fabric.cable_a, fabric.cable_b])[:, cables.start :
                               cables.stop] - fabric.ports]  # fmt: skip
    rate[cables.start : cables.stop][(groups == [[0], [1]]).all(axis=0)] = 0.0
    src, dst = shift(fabric, 16)
    for policy in (MINIMAL, ADAPTIVE):
        routes, bundles = routed(fabric, rate, src, dst, policy)
        assert routes.reached.all()
        gbps = rates(routes, bundles, rate)
        assert gbps.min() > 0
        load = loads(fabric, routes, bundles, gbps)
        assert (load[np.repeat(rate, 2) == 0] == 0).all()


def test_a_lone_flow_is_not_detoured():
    fabric = fly((5, 4, 4, 2, 1))
    src, dst = np.array([0], np.int32), np.array([70], np.int32)
    routes, bundles = routed(fabric, fabric.cable_gbps, src, dst, ADAPTIVE)
    assert rates(routes, bundles, fabric.cable_gbps)[0] == 200.0
    load = loads(fabric, routes, bundles, np.array([200.0]))
    cables = fabric.tier_cables(SPINE_CORE)
    assert load[2 * cables.start : 2 * cables.stop].sum() == pytest.approx(200.0)


def test_a_shift_inside_groups_goes_over_third_switches():
    # 4 NICs of each switch to the next: direct 1 cable, 6 others; 4 fit since 1 + 6 / 2 = 4.
    fabric = fly((2, 8, 4, 2, 1))
    src = np.arange(fabric.ports, dtype=np.int32)
    dst = (src // 32 * 32 + (src + 4) % 32).astype(np.int32)
    routes, bundles = routed(fabric, fabric.cable_gbps, src, dst, ADAPTIVE)
    np.testing.assert_allclose(rates(routes, bundles, fabric.cable_gbps), 200.0, rtol=2e-3)
    hashed, none = routed(fabric, fabric.cable_gbps, src, dst, MINIMAL)
    np.testing.assert_allclose(rates(hashed, none, fabric.cable_gbps), 50.0)


def test_a_switch_with_few_local_links_is_a_limit_of_its_own():
    fabric = fly((1, 6, 4, 1, 1))
    rate = fabric.cable_gbps.copy()
    local = fabric.tier_cables(LEAF_SPINE)
    own = np.flatnonzero(fabric.cable_a[local.start : local.stop] == fabric.ports) + local.start
    rate[own[1:]] = 0.0  # one link of 200 Gb/s is left for its 4 NICs
    src, dst = np.arange(4, dtype=np.int32), np.array([4, 8, 12, 16], np.int32)
    routes, bundles = routed(fabric, rate, src, dst, ADAPTIVE)
    assert routes.reached.all()
    np.testing.assert_allclose(rates(routes, bundles, rate), 50.0)


@given(sizes(), st.integers(1, 4))
def test_an_exchange_loads_what_its_pairs_load(size, domain_ports):
    fabric = fly(size)
    port = np.arange(fabric.ports, dtype=np.int32)
    domain = (port // domain_ports).astype(np.int32)
    src, dst = all_pairs(fabric)
    apart = domain[src] != domain[dst]
    src, dst = src[apart], dst[apart]
    routes, bundles = route_exchange(fabric, fabric.cable_gbps, port, domain, ADAPTIVE)
    if not len(src):
        assert not routes.reached[0]
        return
    most = np.bincount(src).max()
    whole = loads(fabric, routes, bundles, np.ones(1))
    flows, shared = routed(fabric, fabric.cable_gbps, src, dst, ADAPTIVE)
    pairs = loads(fabric, flows, shared, np.full(len(src), 1.0 / most))
    across = fabric.tier_cables(SPINE_CORE)
    for span in (slice(2 * fabric.ports), slice(2 * across.start, 2 * across.stop)):
        np.testing.assert_allclose(whole[span], pairs[span], rtol=0.02, atol=0.02)
    assert whole.sum() == pytest.approx(pairs.sum(), rel=0.05)


@pytest.mark.parametrize("course", ["minimal", "valiant"])
def test_an_exchange_of_hashed_flows_is_put_on_links(course: str) -> None:
    fabric = fly((4, 3, 2, 2, 1))
    port = np.arange(fabric.ports, dtype=np.int32)
    policy = Policy("ecmp", course=course)
    routes, bundles = route_exchange(fabric, fabric.cable_gbps, port, port, policy)
    assert not len(bundles.gbps)
    assert routes.entry_link.max() < fabric.links
    cables = fabric.cable_tier[routes.entry_link >> 1] == SPINE_CORE
    crossing = routes.entry_weight[cables].sum()
    once = fabric.ports * 18 / 23  # of 23 peers 18 are in other groups
    assert crossing == pytest.approx(once if course == "minimal" else 2 * once)


def test_an_exchange_with_a_dead_member_or_a_cut_group_is_unreached():
    fabric = fly((3, 2, 2, 1, 1))
    port = np.arange(fabric.ports, dtype=np.int32)
    rate = fabric.cable_gbps.copy()
    rate[3] = 0.0
    assert not route_exchange(fabric, rate, port, port, ADAPTIVE)[0].reached[0]
    rate = fabric.cable_gbps.copy()
    rate[fabric.tier_cables(SPINE_CORE).start :] = 0.0
    assert not route_exchange(fabric, rate, port, port, ADAPTIVE)[0].reached[0]
    one = fly((1, 2, 2, 1, 1))
    alone = np.arange(4, dtype=np.int32)
    assert route_exchange(one, one.cable_gbps, alone, alone, ADAPTIVE)[0].reached[0]


def test_policy_says_the_course():
    assert Policy("ecmp").dragonfly_course == Policy("dmodk").dragonfly_course == "minimal"
    assert Policy("spray").dragonfly_course == Policy("adaptive").dragonfly_course == "adaptive"
    assert Policy("adaptive", course="valiant").dragonfly_course == "valiant"


def test_many_detoured_flows_share_the_detours_evenly(monkeypatch):
    """With fewer detours a flow than there are, all together still use all alike."""
    from clusterscope.routing import dragonfly_adaptive

    fabric = fly((14, 4, 12, 1, 4))
    src, dst = shift(fabric, 48)
    routes, bundles = routed(fabric, fabric.cable_gbps, src, dst, ADAPTIVE)
    exact = rates(routes, bundles, fabric.cable_gbps)
    monkeypatch.setattr(dragonfly_adaptive, "_ENTRIES", 3 * len(src) * 5)
    routes, bundles = routed(fabric, fabric.cable_gbps, src, dst, ADAPTIVE)
    assert np.bincount(routes.entry_flow).max() <= 7 + 3 * 5
    np.testing.assert_allclose(rates(routes, bundles, fabric.cable_gbps), exact, rtol=0.06)
