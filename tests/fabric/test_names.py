from __future__ import annotations

import random
from typing import get_args

import pytest
from hypothesis import given

from clusterscope.errors import UnknownNameError
from clusterscope.fabric.arrays import Fabric
from clusterscope.fabric.build import build
from clusterscope.fabric.names import Names
from clusterscope.fabric.things import Thing, ThingKind
from clusterscope.spec.model import ClusterSpec
from tests.fabric.fabric_specs import cluster, colossus, hpn_pod, nvlink, small_specs


def sizes(fabric: Fabric) -> dict[ThingKind, int]:
    """How many things there are of every kind."""
    return {
        "cluster": 1,
        "pod": fabric.pods,
        "switch": fabric.switches,
        "node": fabric.nodes,
        "nic": fabric.ports,
        "gpu": fabric.gpus,
        "cable": fabric.cables,
        "link": fabric.links,
        "domain": fabric.domains,
        "subdomain": fabric.groups,
        "cores": min(1, len(fabric.switches_of(3))),
        "spines": fabric.pods if len(fabric.switches_of(2)) else 0,
        "domains": min(1, fabric.domains),
    }


@pytest.fixture(scope="module")
def big() -> Fabric:
    return build(colossus())


@given(small_specs())
def test_every_thing_of_a_small_fabric_is_found_by_its_name(spec: ClusterSpec) -> None:
    fabric = build(spec)
    names = Names(fabric)
    things = [Thing(kind, i) for kind, count in sizes(fabric).items() for i in range(count)]
    spelled = [names.thing(thing) for thing in things]
    assert len(set(spelled)) == len(things)
    assert [names.find(name) for name in spelled] == things


def test_things_of_a_big_fabric_are_found_by_their_names(big: Fabric) -> None:
    names, draw = Names(big), random.Random(7)
    for kind, count in sizes(big).items():
        if not count:
            continue
        for index in [0, count - 1, *(draw.randrange(count) for _ in range(200))]:
            thing = Thing(kind, index)
            assert names.find(names.thing(thing)) == thing


def test_every_kind_of_thing_is_named_in_these_tests(big: Fabric) -> None:
    assert set(sizes(big)) == set(get_args(ThingKind))


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (Thing("cluster"), "cluster"),
        (Thing("pod", 7), "pod07"),
        (Thing("cores"), "cores"),
        (Thing("spines", 7), "pod07/spines"),
        (Thing("domains"), "domains"),
        (Thing("domain", 12), "domain00012"),
        (Thing("node", 448), "node00448"),
        (Thing("gpu", 448 * 8 + 3), "node00448/gpu3"),
        (Thing("nic", 448 * 8 + 3), "node00448/nic3"),
        (Thing("cable", 448 * 8 + 3), "node00448/nic3:u0"),
        (Thing("switch", 7 * 64 + 12), "pod07/leaf12"),
        (Thing("cable", 100_000 + (7 * 64 + 12) * 64 + 33), "pod07/leaf12:u33"),
        (Thing("link", 2 * (100_000 + (7 * 64 + 12) * 64 + 33)), "pod07/leaf12:u33>"),
        (Thing("link", 2 * (100_000 + (7 * 64 + 12) * 64 + 33) + 1), "pod07/leaf12:u33<"),
    ],
)
def test_names_look_as_documented(big: Fabric, thing: Thing, name: str) -> None:
    assert Names(big).thing(thing) == name


def test_spines_cores_and_scale_up_cables_of_a_big_fabric(big: Fabric) -> None:
    names = Names(big)
    spine = big.switches_of(2)[7 * 64 + 21]
    assert names.switch(spine) == "pod07/spine21"
    assert names.cable(int(big.up_start[spine]) + 5) == "pod07/spine21:u05"
    assert names.switch(big.switches_of(3)[123]) == "core123"
    assert names.cable(big.tier_cables(3)[448 * 8 + 3]) == "node00448/gpu3:nv"


def test_a_fabric_of_two_tiers_names_no_pod() -> None:
    fabric = build(cluster(64, {"tiers": 2, "su_nodes": 4, "leaf_switch": "generic-256"}))
    names = Names(fabric)
    assert names.switch(12) == "leaf012"
    assert names.switch(fabric.switches_of(2)[1]) == "spine1"
    assert names.find("SPINES") == Thing("spines", 0)
    with pytest.raises(UnknownNameError):
        names.find("pod0/spines")


def test_planes_are_named_when_there_are_several() -> None:
    names = Names(build(hpn_pod()))
    assert names.switch(130) == "plane1/leaf010"
    assert names.nic(9) == "node0000/nic4/p1"
    assert names.cable(9) == "node0000/nic4/p1:u0"
    three = build(hpn_pod(2, tiers=3, pod_sus=15, spine_up=8))
    names = Names(three)
    assert names.switch(120 + 12) == "pod0/plane1/leaf012"
    assert names.switch(three.switches - 1) == "plane1/core1"


def test_spines_of_rails_are_numbered_through() -> None:
    out = {"tiers": 2, "su_nodes": 4, "wiring": "rail-only", "leaf_down": 4, "spines": 2}
    fabric = build(cluster(8, out))
    spines = [Names(fabric).switch(spine) for spine in fabric.switches_of(2)]
    assert spines == [f"spine{index:02d}" for index in range(16)]


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("pod7/leaf12", "pod07/leaf12"),
        ("POD07/Leaf012:U5>", "pod07/leaf12:u05>"),
        ("Node448/GPU3:nv<", "node00448/gpu3:nv<"),
        ("Cluster", "cluster"),
    ],
)
def test_padding_and_case_do_not_matter(big: Fabric, typed: str, name: str) -> None:
    names = Names(big)
    assert names.thing(names.find(typed)) == name


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("pod99/leaf12", "pod00 to pod24"),
        ("pod07/leaf64", "leaf00 to leaf63"),
        ("core800", "core000 to core799"),
        ("node12500", "node00000 to node12499"),
        ("node1/gpu8", "gpu0 to gpu7"),
        ("node1/nic9", "nic0 to nic7"),
        ("pod07/leaf12:u64", "u00 to u63"),
        ("node1/nic0:u1", "u0 to u0"),
        ("domain12500", "domain00000 to domain12499"),
        ("core1:u0", "none"),
    ],
)
def test_a_number_out_of_range_is_answered_with_the_range(
    big: Fabric, typed: str, hint: str
) -> None:
    with pytest.raises(UnknownNameError) as error:
        Names(big).find(typed)
    assert hint in str(error.value)


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("leaf12", "pod00/leaf12"),
        ("pod07/laef12", "pod07/leaf12"),
        ("pod7-spine3", "pod07/spine03"),
        ("pod07/core5", "core005"),
        ("nod448", "node00448"),
        ("node448/gpu3/p0", "node00448/gpu3"),
        ("node448/nic3/p0", "node00448/nic3"),
        ("node448gpu3", "node00448/gpu3"),
        ("domian5", "domain00005"),
        ("pod", "pod00"),
    ],
)
def test_a_misspelled_name_is_answered_with_one_that_is_there(
    big: Fabric, typed: str, near: str
) -> None:
    names = Names(big)
    with pytest.raises(UnknownNameError) as error:
        names.find(typed)
    assert error.value.near == near
    assert names.thing(names.find(near)) == near


@pytest.mark.parametrize(
    "typed",
    [
        "",
        ":",
        ">",
        "<>",
        "node1/gpu1:u0",
        "node1/nic1:nv",
        "pod1:u0",
        "node1:u0",
        " node1",
        "node1\n",
        "node٣",
        "node" + "9" * 5000,
        "pod1/leaf1:u1><",
        "[bold]node1[/]",
        "leaf",
    ],
)
def test_anything_else_is_unknown(big: Fabric, typed: str) -> None:
    with pytest.raises(UnknownNameError):
        Names(big).find(typed)


def test_names_without_a_scale_out_fabric() -> None:
    names = Names(build(cluster(2, None, scale_up=nvlink())))
    assert names.thing(names.find("NODE1/gpu7")) == "node1/gpu7"
    for absent in ("leaf0", "node0/nic0", "core0", "spine1:u0", "spines", "cores"):
        with pytest.raises(UnknownNameError):
            names.find(absent)


def test_no_scale_up_cable_without_a_domain() -> None:
    names = Names(build(cluster(2, {"tiers": 1, "su_nodes": 2})))
    with pytest.raises(UnknownNameError, match="none"):
        names.find("node0/gpu0:nv")
    for absent in ("domain0", "domains"):
        with pytest.raises(UnknownNameError, match="none"):
            names.find(absent)


def test_vertices_are_the_things_they_stand_for(big: Fabric) -> None:
    names = Names(big)
    assert names.of_vertex(big.ports - 1) == Thing("nic", big.ports - 1)
    assert names.of_vertex(big.ports) == Thing("switch", 0)
    assert names.of_vertex(big.gpu_vertex - 1) == Thing("switch", big.switches - 1)
    assert names.of_vertex(big.gpu_vertex) == Thing("gpu", 0)
    assert names.of_vertex(big.domain_vertex - 1) == Thing("gpu", big.gpus - 1)
    assert names.of_vertex(big.domain_vertex + 5) == Thing("domain", 5)
