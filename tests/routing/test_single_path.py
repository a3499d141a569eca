"""ECMP and d-mod-k: worked paths, and every property of a path under random failures."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterscope.routing.hashing import entropy
from clusterscope.routing.route import paths_of, route
from clusterscope.routing.routes import Policy
from tests.routing.routing_cases import SMALL, broken, clos, every_pair, has_path, tree

POLICIES = [Policy("ecmp"), Policy("ecmp", "shared", 3), Policy("dmodk")]


def route_pairs(fabric, rate, src, dst, policy):
    src, dst = np.asarray(src, dtype=np.int32), np.asarray(dst, dtype=np.int32)
    draws = entropy(src, dst, np.zeros_like(src), 1)
    routes, bundles = route(fabric, rate, src, dst, draws, policy)
    assert len(bundles.gbps) == 0
    return routes


def ends(fabric, link):
    """Vertex a link leaves and vertex it enters."""
    a, b = int(fabric.cable_a[link >> 1]), int(fabric.cable_b[link >> 1])
    return (b, a) if link & 1 else (a, b)


@pytest.mark.parametrize("policy", POLICIES)
@given(case=broken())
def test_a_flow_has_a_path_if_and_only_if_one_exists_and_it_is_sound(policy, case):
    fabric, rate = case
    src, dst = every_pair(fabric)
    routes = route_pairs(fabric, rate, src, dst, policy)
    paths = [[int(x) for x in row if x >= 0] for row in paths_of(routes)]
    assert (routes.entry_weight == 1).all()
    for f, path in enumerate(paths):
        assert bool(routes.reached[f]) == has_path(fabric, rate, int(src[f]), int(dst[f]))
        assert (len(path) > 0) == routes.reached[f]
        if not path:
            assert routes.hops[f] == 0
            continue
        assert all(rate[link >> 1] > 0 for link in path)
        visited = [ends(fabric, link) for link in path]
        assert visited[0][0] == src[f]
        assert visited[-1][1] == dst[f]
        assert all(x[1] == y[0] for x, y in pairwise(visited))
        switches = [to for _, to in visited[:-1]]
        assert len(set(switches)) == len(switches) == routes.hops[f]
        down = [link & 1 for link in path]
        assert down == sorted(down)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_whole_fabric_gives_shortest_paths(name, policy):
    fabric = SMALL[name]
    src, dst = every_pair(fabric)
    routes = route_pairs(fabric, fabric.cable_gbps, src, dst, policy)
    leaf = fabric.port_leaf
    block = fabric.switch_block
    same_leaf = leaf[src] == leaf[dst]
    same_block = block[leaf[src]] == block[leaf[dst]]
    assert (routes.hops[same_leaf] == 1).all()
    if name != "thin":
        assert np.isin(routes.hops[same_block & ~same_leaf], [3]).all()
    assert np.isin(routes.hops[~same_block], [0, 5]).all()


def test_planes_do_not_meet():
    fabric = SMALL["planes"]
    half = fabric.ports // 2
    src, dst = every_pair(fabric)
    routes = route_pairs(fabric, fabric.cable_gbps, src, dst, Policy("ecmp"))
    assert (routes.reached == (src // half == dst // half)).all()


def test_a_port_to_itself_turns_around_at_its_leaf():
    fabric = SMALL["two tiers"]
    routes = route_pairs(fabric, fabric.cable_gbps, [4], [4], Policy("ecmp"))
    assert routes.entry_link.tolist() == [8, 9]


def test_a_dead_nic_is_not_reached_and_does_not_disturb_others():
    fabric = SMALL["two tiers"]
    rate = fabric.cable_gbps.copy()
    rate[2] = 0.0
    routes = route_pairs(fabric, rate, [2, 0, 0], [5, 2, 5], Policy("dmodk"))
    assert routes.reached.tolist() == [False, False, True]
    assert routes.entry_flow.tolist() == [2, 2, 2, 2]


def test_leaves_without_a_common_spine_meet_through_a_core():
    fabric = clos(leaves=2, spines=2, hosts=1, pods=2, cores_per_spine=1, all_cores=True)
    rate = fabric.cable_gbps.copy()
    first = int(fabric.tier_start[1])
    rate[[first + 1, first + 2]] = 0.0  # leaf 0 keeps spine 0, leaf 1 keeps spine 1
    routes = route_pairs(fabric, rate, [0, 1, 0], [1, 0, 2], Policy("ecmp"))
    assert routes.hops.tolist() == [5, 5, 5]


def test_no_flows_are_no_routes():
    fabric = SMALL["three tiers"]
    for name in ("ecmp", "dmodk", "adaptive", "spray"):
        none = np.zeros(0, dtype=np.int32)
        routes, _ = route(
            fabric, fabric.cable_gbps, none, none, none.astype(np.uint64), Policy(name)
        )
        assert len(routes.entry_flow) == len(routes.reached) == 0
    assert paths_of(routes).shape == (0, 0)


@pytest.mark.parametrize("name", ["ecmp", "dmodk", "adaptive", "spray"])
def test_gpus_of_one_domain_use_its_two_links(name):
    fabric = clos(leaves=2, spines=1, hosts=3, domain_gpus=3)
    rate = fabric.cable_gbps.copy()
    first = int(fabric.tier_start[3])
    rate[first + 2] = 0.0
    gpu = fabric.gpu_vertex
    src = np.array([gpu, gpu, gpu + 1, 0, gpu + 4], dtype=np.int32)
    dst = np.array([gpu + 1, gpu + 2, gpu + 3, 3, gpu + 5], dtype=np.int32)
    routes, _ = route(fabric, rate, src, dst, np.arange(5, dtype=np.uint64), Policy(name))
    assert routes.reached.tolist() == [True, False, False, True, True]
    assert routes.hops.tolist() == [1, 0, 0, 3, 1]
    own = routes.entry_link[np.isin(routes.entry_flow, [0, 4])]
    assert own.tolist() == [2 * (first + g) + d for g, d in ((0, 0), (1, 1), (4, 0), (5, 1))]


@given(st.integers(0, 2**63 - 1))
def test_a_shared_hash_seed_polarizes(seed):
    fabric = tree(8)
    src = np.arange(fabric.ports, dtype=np.int32)
    dst = ((src + fabric.ports // 2) % fabric.ports).astype(np.int32)
    used = {}
    for kind in ("per-switch", "shared"):
        draws = entropy(src, dst, np.zeros_like(src), seed)
        routes, _ = route(
            fabric, fabric.cable_gbps, src, dst, draws, Policy("ecmp", kind, seed % 1000)
        )
        links = routes.entry_link
        up = links[(fabric.cable_tier[links >> 1] == 2) & (links & 1 == 0)]
        used[kind] = len(np.unique(up))
    # Everything a spine gets has the same hash mod 4, so it uses one of its four uplinks.
    assert used["shared"] <= 32
    assert used["per-switch"] > 1.8 * used["shared"]


@pytest.mark.parametrize("trunk", [1, 2, 4])
def test_dmodk_spreads_destinations_over_trunks(trunk):
    """As many destinations as uplinks: no link up or down carries two flows of a shift."""
    fabric = clos(leaves=4, spines=8 // trunk, hosts=8, trunk=trunk)
    src = np.arange(fabric.ports, dtype=np.int32)
    for shift in range(1, fabric.ports):
        dst = (src + shift) % fabric.ports
        routes = route_pairs(fabric, fabric.cable_gbps, src, dst, Policy("dmodk"))
        assert np.bincount(routes.entry_link).max() == 1


def test_dmodk_is_a_table_by_destination():
    """Flows to one destination that meet at a switch leave it together."""
    fabric = SMALL["three tiers of trunks"]
    src, dst = every_pair(fabric)
    paths = paths_of(route_pairs(fabric, fabric.cable_gbps, src, dst, Policy("dmodk")))
    leaving = {}
    for path, to in zip(paths, dst, strict=True):
        for link in path[1:][path[1:] >= 0]:
            vertex = ends(fabric, int(link))[0]
            assert leaving.setdefault((vertex, int(to)), int(link)) == link
