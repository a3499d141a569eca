"""Counts of a dragonfly from its table, and what is refused."""

from __future__ import annotations

import pytest

from clusterscope.errors import SpecError
from clusterscope.spec import presets
from clusterscope.spec.derive import derive
from clusterscope.spec.dragonfly import largest
from clusterscope.spec.plan import ScaleOutPlan
from clusterscope.spec.read import parse
from clusterscope.spec.validate import validate
from clusterscope.spec.write import write
from tests.dragonflies import spec, tables

FRONTIER = (74, 32, 16, 4, 1)


def plan_of(**more: object) -> ScaleOutPlan:
    plan = derive(spec(FRONTIER, nics=4, **more))
    assert plan is not None
    assert plan.dragonfly is not None
    return plan


def test_frontier_by_hand():
    plan = plan_of(nodes=9408)
    mesh = plan.dragonfly
    assert mesh is not None
    assert (plan.leaves, plan.pods, mesh.group_nodes) == (2368, 74, 128)
    assert plan.nic_leaf_cables == 37_632
    assert mesh.local_cables == 74 * 32 * 31 // 2
    assert mesh.global_cables == 74 * 73 // 2 * 4
    assert plan.cables == 37_632 + 36_704 + 10_804
    assert mesh.most_global_ports == 10  # 292 on 32 switches


@pytest.mark.parametrize(
    ("h", "groups", "switches", "endpoints"),
    [(16, 513, 16_416, 262_656), (17, 545, 17_440, 279_040)],
)
def test_largest_slingshot_dragonfly(h: int, groups: int, switches: int, endpoints: int) -> None:
    """TOPO-05: Kim et al., g = a h + 1."""
    assert largest(32, 16, h) == (groups, switches, endpoints)
    ports = 16 + 31 + h
    keys = {"switch": f"generic-{ports}"}
    plan = derive(spec((groups, 32, 16, 1, 1), dragonfly=keys))
    assert plan is not None
    assert (plan.pods, plan.leaves, plan.nic_leaf_cables) == (groups, switches, endpoints)
    with pytest.raises(SpecError, match=f"at most {groups} groups with 1 between"):
        derive(spec((groups + 1, 32, 16, 1, 1), dragonfly=keys))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": 9473}, "74 groups of 512 NIC ports take 9,472 nodes of 4 NICs, not 9,473"),
        ({"dragonfly": {"switches": 60}}, "60 in a group need 59 local ports each"),
        ({"dragonfly": {"global_links": 8}}, "allowed is at most 7 between two groups"),
        ({"dragonfly": {"switch": "QM8700"}}, "QM8700 has 24 beside 16 NIC ports"),
        ({"dragonfly": {"link_gbps": 400.0, "switch": "Rosetta-64x200"}}, "400 Gb/s is not a port"),
        ({"dragonfly": {"switch": "Roseta-64x200"}}, "Rosetta-64x200"),
        ({"dragonfly": {"groups": 3, "switches": 1, "nic_ports": 3}, "nodes": 1}, "NIC ports"),
        ({"scale_out": {"tiers": 1, "wiring": "rack", "su_nodes": 8, "leaf_switch": "generic-64"}},
         "describe the same network twice"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_sentence(
    change: dict[str, object], message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        derive(validate(tables(FRONTIER, nics=4, **change), "fly"), "fly")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nodes_without_nics_are_refused():
    data = tables(FRONTIER, nodes=4)
    data["node"]["nics"] = 0
    with pytest.raises(SpecError, match="0 NICs cannot be joined by"):
        derive(validate(data, "fly"))


def test_an_unbuildable_size_is_refused_before_anything_is_allocated():
    with pytest.raises(SpecError, match="GiB of memory"):
        derive(spec((20_000, 32, 16, 1, 1), nodes=1, dragonfly={"switch": "generic-4096"}))


def test_a_dragonfly_survives_writing_and_reading():
    before = presets.load("frontier")
    assert parse(write(before)) == before


def test_switch_may_mix_rates():
    keys = {"link_gbps": 400.0, "switch": "Tomahawk4-64x400"}
    plan = derive(spec((3, 4, 32, 40, 1), dragonfly=keys))  # 16 + 3 + 20 of 64 ports at 400
    assert plan is not None
    assert plan.link_gbps == 400.0


def test_far_too_many_groups_are_told_how_many_fit():
    with pytest.raises(SpecError) as caught:
        derive(spec((10**9, 32, 16, 4, 1), nics=4, nodes=9408))
    text = str(caught.value)
    assert "at most 0" not in text
    assert text.endswith("here are 1,000,000,000")
