"""Scale-up domains beyond one switch: cables, names, rings."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from clusterscope.errors import UnknownNameError
from clusterscope.fabric.arrays import SCALE_UP, Fabric
from clusterscope.fabric.audit import audit
from clusterscope.fabric.build import build
from clusterscope.fabric.geometry import ring_place
from clusterscope.fabric.graph import graph
from clusterscope.fabric.names import Names
from clusterscope.fabric.scaleup import cable_domain, cables_at, domain_cables, thing_cables
from clusterscope.fabric.things import Thing
from clusterscope.spec import presets
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.shape import shape_of
from tests.fabric.domain_specs import domains, mesh, shaped, torus, two_level


def ends(fabric: Fabric) -> list[tuple[int, int]]:
    """GPU pairs of the scale-up cables."""
    low = int(fabric.tier_start[SCALE_UP])
    pairs = zip(fabric.cable_a[low:], fabric.cable_b[low:], strict=True)
    return [(int(a) - fabric.gpu_vertex, int(b) - fabric.gpu_vertex) for a, b in pairs]


def test_a_mesh_of_four_has_a_cable_for_every_pair() -> None:
    fabric = build(mesh(4))
    assert ends(fabric) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert set(fabric.cable_gbps.tolist()) == {1200.0}
    assert cables_at(fabric, np.array([2])).tolist() == [[1, 3, 5]]


def test_a_torus_of_three_by_two_has_rings_and_single_cables() -> None:
    fabric = build(torus(3, 2))
    assert ends(fabric) == [(0, 1), (0, 3), (1, 2), (1, 4), (2, 0), (2, 5), (3, 4), (4, 5), (5, 3)]
    assert set(fabric.cable_gbps.tolist()) == {1200.0}


def test_an_ultraserver_has_192_cables() -> None:
    fabric = build(torus(4, 4, 4, nodes=4))
    assert fabric.cables == 192
    assert (cables_at(fabric, np.arange(64)) >= 0).sum(axis=1).tolist() == [6] * 64


def test_two_levels_have_a_cable_a_gpu_and_one_a_group() -> None:
    fabric = build(two_level(8, 4, taper=2.0))
    assert (fabric.cables, fabric.groups, fabric.vertices) == (10, 2, 8 + 1 + 2)
    assert fabric.cable_gbps.tolist() == [3600.0] * 8 + [7200.0] * 2
    assert fabric.cable_b[8:].tolist() == [fabric.domain_vertex] * 2
    assert thing_cables(fabric, Thing("subdomain", 1)).tolist() == [4, 5, 6, 7, 9]


@given(shaped())
@settings(max_examples=80, deadline=None)
def test_cables_of_gpus_and_domains_are_those_that_end_there(spec: ClusterSpec) -> None:
    fabric = build(spec)
    found = graph(fabric)
    at = cables_at(fabric, np.arange(fabric.gpus))
    for gpu in range(fabric.gpus):
        wanted = sorted(key for _, _, key in found.edges(fabric.gpu_vertex + gpu, keys=True))
        assert [c for c in at[gpu].tolist() if c >= 0] == wanted
    assert shape_of(spec.scale_up).cables * fabric.domains == fabric.cables
    together = [c for d in range(fabric.domains) for c in domain_cables(fabric, d).tolist()]
    assert sorted(together) == list(range(fabric.cables))
    assert len(cable_domain(fabric)) == fabric.cables


@given(shaped())
@settings(max_examples=60, deadline=None)
def test_a_domain_is_connected_and_apart_from_the_others(spec: ClusterSpec) -> None:
    fabric = build(spec)
    parts = list(nx.connected_components(graph(fabric)))
    gpus = [
        sorted(v - fabric.gpu_vertex for v in part if v < fabric.domain_vertex) for part in parts
    ]
    size = fabric.shape.size
    assert sorted(g for g in gpus if g) == [
        list(range(d * size, (d + 1) * size)) for d in range(fabric.domains)
    ]


@given(shaped())
@settings(max_examples=80, deadline=None)
def test_every_cable_and_group_is_found_by_its_name(spec: ClusterSpec) -> None:
    fabric = build(spec)
    names = Names(fabric)
    things = [Thing("cable", c) for c in range(fabric.cables)]
    things += [Thing("link", link) for link in range(fabric.links)]
    things += [Thing("subdomain", g) for g in range(fabric.groups)]
    spelled = [names.thing(thing) for thing in things]
    assert len(set(spelled)) == len(things)
    assert [names.find(name) for name in spelled] == things


@pytest.mark.parametrize(
    ("spec", "typed", "name"),
    [
        (mesh(8), "node0/gpu5:m1", "node0/gpu1:m5"),
        (torus(4, 4), "node0/gpu00:x-", "node0/gpu03:x+"),
        (torus(4, 4), "node0/gpu0:Y-", "node0/gpu12:y+"),
        (two_level(16, 8), "domain0/group01:nv>", "domain0/group1:nv>"),
    ],
)
def test_a_cable_is_found_from_either_end(spec: ClusterSpec, typed: str, name: str) -> None:
    names = Names(build(spec))
    assert names.thing(names.find(typed)) == name


@pytest.mark.parametrize(
    ("spec", "typed"),
    [
        (mesh(8), "node0/gpu1:m1"),
        (mesh(8), "node0/gpu1:m8"),
        (mesh(8), "node0/gpu1:nv"),
        (mesh(8), "node0/gpu1:x+"),
        (torus(4, 4), "node0/gpu1:z+"),
        (torus(4, 1), "node0/gpu1:y+"),
        (two_level(16, 8), "node0/gpu1:x+"),
        (two_level(16, 8), "domain0/group2"),
        (two_level(16, 8), "domain0/group1:u0"),
        (two_level(16, 8), "domain0:nv"),
    ],
)
def test_a_name_that_is_not_there_is_refused(spec: ClusterSpec, typed: str) -> None:
    with pytest.raises(UnknownNameError):
        Names(build(spec)).find(typed)


@pytest.mark.parametrize("dims", [(4, 4, 4), (2, 2), (3, 4), (5,), (2, 3, 3), (4, 4), (1, 4), (2,)])
def test_the_ring_of_a_torus_follows_its_cables(dims: tuple[int, ...]) -> None:
    fabric = build(torus(*dims))
    order = np.argsort(ring_place(fabric.shape)).tolist()
    assert sorted(order) == list(range(fabric.gpus))
    cabled = {frozenset(pair) for pair in ends(fabric)}
    around = zip(order, order[1:] + order[:1], strict=True)
    assert all(frozenset(pair) in cabled for pair in around)


def test_the_ring_of_an_odd_torus_has_one_far_step() -> None:
    fabric = build(torus(3, 3))
    order = np.argsort(ring_place(fabric.shape)).tolist()
    cabled = {frozenset(pair) for pair in ends(fabric)}
    around = list(zip(order, order[1:] + order[:1], strict=True))
    assert [frozenset(pair) in cabled for pair in around] == [True] * 8 + [False]


def rules(spec: ClusterSpec) -> dict[str, str]:
    found = audit(spec, build(spec))
    return {f.rule: f"{f.severity} {f.message}" for f in found if f.where.startswith("scale_up")}


def test_the_audit_knows_tapers_ports_and_odd_tori() -> None:
    assert rules(two_level(16, 4)) == {}
    tapered = rules(two_level(16, 4, taper=4.0))
    assert tapered["scale-up-taper"] == "warning 4:1 from the 4 GPUs of a group to its uplink"
    assert rules(two_level(16, 4, taper=1.5))["scale-up-taper"].startswith("info 1.5:1")
    assert set(rules(torus(3, 3))) == {"odd-torus"}
    assert rules(torus(3, 4)) == {}
    few = {"switch": "NVSwitch3", "switches": 2}
    assert "scale-up-ports" in rules(domains(8, few))
    assert rules(domains(8, few | {"switches": 4})) == {}


@pytest.mark.parametrize("name", presets.names())
def test_no_preset_lacks_ports_in_its_domains(name: str) -> None:
    spec = presets.load(name)
    found = audit(spec, build(spec)) if spec.gpus <= 10_000 else ()
    assert not [f for f in found if f.rule == "scale-up-ports"]
