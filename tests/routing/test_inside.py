"""Ways inside a scale-up domain, and what an all-to-all inside it puts on every link."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.columns import F64
from clusterscope.fabric.arrays import Fabric
from clusterscope.fabric.build import build
from clusterscope.fabric.graph import graph
from clusterscope.fabric.names import Names
from clusterscope.routing.inside import exchange, ways
from clusterscope.spec.model import ClusterSpec
from tests.fabric.domain_specs import mesh, shaped, torus, two_level


def path(fabric: Fabric, rate: F64, src: int, dst: int) -> list[str]:
    """Names of the links from one GPU to another."""
    ends = (np.array([g + fabric.gpu_vertex], dtype=np.int32) for g in (src, dst))
    links = ways(fabric, rate, *ends).links[0]
    return [Names(fabric).link(int(link)) for link in links if link >= 0]


def all_pairs(fabric: Fabric, rate: F64) -> tuple[np.ndarray, np.ndarray, object]:
    """Every ordered pair of GPUs of one domain, and its way."""
    src, dst = np.nonzero(
        (fabric.gpu_domain[:, None] == fabric.gpu_domain) & ~np.eye(fabric.gpus, dtype=np.bool_)
    )
    found = ways(
        fabric,
        rate,
        (src + fabric.gpu_vertex).astype(np.int32),
        (dst + fabric.gpu_vertex).astype(np.int32),
    )
    return src, dst, found


def test_a_mesh_takes_the_cable_of_the_pair_and_relays_nothing() -> None:
    fabric = build(mesh(8))
    rate = fabric.cable_gbps.copy()
    assert path(fabric, rate, 2, 5) == ["node0/gpu2:m5>"]
    assert path(fabric, rate, 5, 2) == ["node0/gpu2:m5<"]
    rate[Names(fabric).find("node0/gpu2:m5").index] = 0
    assert path(fabric, rate, 2, 5) == []
    assert path(fabric, rate, 2, 4) == ["node0/gpu2:m4>"]


def test_a_torus_goes_along_x_then_y_the_shorter_way() -> None:
    fabric = build(torus(4, 4))
    rate = fabric.cable_gbps.copy()
    assert path(fabric, rate, 0, 7) == ["node0/gpu03:x+<", "node0/gpu03:y+>"]


def test_halfway_around_even_places_go_forward_and_odd_ones_back() -> None:
    fabric = build(torus(4))
    rate = fabric.cable_gbps
    assert path(fabric, rate, 0, 2) == ["node0/gpu0:x+>", "node0/gpu1:x+>"]
    assert path(fabric, rate, 1, 3) == ["node0/gpu0:x+<", "node0/gpu3:x+<"]


def test_a_torus_goes_the_other_way_around_a_dead_cable() -> None:
    fabric = build(torus(4, 4))
    rate = fabric.cable_gbps.copy()
    rate[Names(fabric).find("node0/gpu00:x+").index] = 0
    assert path(fabric, rate, 0, 1) == ["node0/gpu03:x+<", "node0/gpu02:x+<", "node0/gpu01:x+<"]
    rate[Names(fabric).find("node0/gpu02:x+").index] = 0
    assert path(fabric, rate, 0, 1) == []


def test_two_levels_use_uplinks_only_between_groups() -> None:
    fabric = build(two_level(8, 4))
    rate = fabric.cable_gbps.copy()
    assert path(fabric, rate, 0, 3) == ["node0/gpu0:nv>", "node0/gpu3:nv<"]
    far = ["node0/gpu0:nv>", "domain0/group0:nv>", "domain0/group1:nv<", "node0/gpu5:nv<"]
    assert path(fabric, rate, 0, 5) == far
    rate[8] = 0
    assert path(fabric, rate, 0, 5) == []
    assert len(path(fabric, rate, 0, 3)) == 2


@given(shaped(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_ways_are_walks_over_live_links(spec: ClusterSpec, draw) -> None:
    fabric = build(spec)
    rate = fabric.cable_gbps.copy()
    for _ in range(draw.randrange(3)):
        rate[draw.randrange(max(1, fabric.cables)) :][:1] = 0
    src, dst, found = all_pairs(fabric, rate)
    for row in range(len(src)):
        here, links = int(src[row]) + fabric.gpu_vertex, found.links[row]
        if not found.hops[row]:
            assert (links < 0).all()
            continue
        for link in links[links >= 0].tolist():
            a, b = fabric.cable_a[link >> 1], fabric.cable_b[link >> 1]
            start, end = (b, a) if link & 1 else (a, b)
            assert start == here
            assert rate[link >> 1] > 0
            here = int(end)
        assert here == int(dst[row]) + fabric.gpu_vertex


@given(shaped())
@settings(max_examples=60, deadline=None)
def test_ways_of_a_whole_domain_are_as_short_as_any(spec: ClusterSpec) -> None:
    fabric = build(spec)
    src, dst, found = all_pairs(fabric, fabric.cable_gbps)
    shortest = dict(nx.all_pairs_shortest_path_length(graph(fabric)))
    for row in range(len(src)):
        wanted = shortest[int(src[row]) + fabric.gpu_vertex][int(dst[row]) + fabric.gpu_vertex]
        assert int((found.links[row] >= 0).sum()) == wanted


@given(shaped(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_an_exchange_loads_links_as_its_pairs_do(spec: ClusterSpec, draw) -> None:
    fabric = build(spec)
    if fabric.shape.size < 2:
        return
    rate = fabric.cable_gbps.copy()
    if draw.randrange(2):
        rate[draw.randrange(fabric.cables)] = 0
    members = sorted(draw.sample(range(fabric.gpus), draw.randrange(2, fabric.gpus + 1)))
    if draw.randrange(2):
        members = list(range(fabric.gpus))
    routes = exchange(fabric, rate, np.array(members, dtype=np.int32))
    src, dst, found = all_pairs(fabric, rate)
    among = np.isin(src, members) & np.isin(dst, members)
    whole = bool((found.hops[among] > 0).all()) and bool(among.any())
    assert routes.reached.tolist() == [whole]
    if whole:
        most = np.bincount(src[among]).max()
        links = found.links[among]
        wanted = np.bincount(links[links >= 0], minlength=fabric.links) / most
        got = np.zeros(fabric.links)
        got[routes.entry_link] = routes.entry_weight
        assert got == pytest.approx(wanted)


def test_an_all_to_all_loads_all_links_of_an_even_torus_alike() -> None:
    fabric = build(torus(4, 4, 4, nodes=4))
    routes = exchange(fabric, fabric.cable_gbps, np.arange(64, dtype=np.int32))
    assert len(routes.entry_link) == fabric.links
    # 64 x 64 pairs of mean distance 3 over 384 links, for 63 sends a GPU
    assert routes.entry_weight == pytest.approx(np.full(384, 32 / 63))
