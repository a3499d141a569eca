"""A dragonfly as built: who is cabled to whom, what it is called, and what is published."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from clusterscope.errors import UnknownNameError
from clusterscope.fabric.arrays import LEAF_SPINE, SPINE_CORE
from clusterscope.fabric.audit import audit
from clusterscope.fabric.build import build
from clusterscope.fabric.counts import counts
from clusterscope.fabric.dragonfly import global_taper
from clusterscope.fabric.graph import graph
from clusterscope.fabric.names import Names
from clusterscope.fabric.things import Thing
from tests.dragonflies import Size, fly, sizes, spec

FRONTIER: Size = (74, 32, 16, 4, 1)


def ends(fabric, tier):
    cables = fabric.tier_cables(tier)
    span = slice(cables.start, cables.stop)
    return fabric.cable_a[span] - fabric.ports, fabric.cable_b[span] - fabric.ports


@given(sizes())
def test_every_pair_has_its_cables_and_degrees_differ_by_one(size):
    groups, switches, ports, links, local = size
    fabric = fly(size)
    assert (fabric.pods, fabric.switches) == (groups, groups * switches)
    assert np.bincount(fabric.port_leaf).tolist() == [ports] * (groups * switches)
    a, b = ends(fabric, LEAF_SPINE)
    assert (a < b).all()
    assert (a // switches == b // switches).all()
    assert set(Counter(zip(a.tolist(), b.tolist(), strict=True)).values()) <= {local}
    assert len(a) == groups * switches * (switches - 1) // 2 * local
    a, b = ends(fabric, SPINE_CORE)
    pairs = Counter(zip((a // switches).tolist(), (b // switches).tolist(), strict=True))
    assert pairs == {(g, h): links for g in range(groups) for h in range(g + 1, groups)}
    degree = np.bincount(np.concatenate([a, b]), minlength=fabric.switches)
    for own in degree.reshape(groups, switches):
        assert own.max() - own.min() <= 1


@given(sizes())
def test_cables_are_in_order_and_starts_name_them(size):
    fabric = fly(size)
    for tier, start in ((LEAF_SPINE, fabric.up_start), (SPINE_CORE, fabric.global_start)):
        a, _ = ends(fabric, tier)
        assert (np.diff(a) >= 0).all()
        first = fabric.tier_cables(tier).start
        for switch in range(fabric.switches):
            assert (np.flatnonzero(a == switch) + first).tolist() == [
                *range(start[switch], start[switch + 1])
            ]


@given(sizes())
def test_every_name_leads_back_to_its_thing(size):
    fabric = fly(size)
    names = Names(fabric)
    things = [Thing("switch", s) for s in range(fabric.switches)]
    things += [Thing("pod", g) for g in range(fabric.pods)]
    things += [Thing("cable", c) for c in range(fabric.cables)]
    things += [Thing("link", k) for k in range(fabric.links)]
    spelled = [names.thing(thing) for thing in things]
    assert len(set(spelled)) == len(spelled)
    assert [names.find(name) for name in spelled] == things


def test_names_by_hand():
    fabric = fly((3, 4, 2, 2, 1))
    names = Names(fabric)
    assert names.pod(2) == "group2"
    assert names.switch(7) == "group1/switch3"
    local = int(fabric.tier_start[LEAF_SPINE])
    assert names.cable(local) == "group0/switch0:l0"
    first = int(fabric.tier_start[SPINE_CORE])
    assert names.link(2 * first + 1) == "group0/switch0:g0<"
    with pytest.raises(UnknownNameError, match="group0 to group2"):
        names.find("group5")
    with pytest.raises(UnknownNameError, match="global cables there"):
        names.find("group0/switch0:g9")
    for wrong in ("pod0", "group0/leaf0", "switch0", "group0/switch0:u0", "pod0/switch0"):
        with pytest.raises(UnknownNameError):
            names.find(wrong)
    with pytest.raises(UnknownNameError) as caught:
        names.find("group1/swich3")
    assert caught.value.near == "group1/switch3"


def test_a_clos_knows_no_groups():
    with pytest.raises(UnknownNameError):
        Names(build(spec((1, 1, 4, 1, 1)))).find("group9/switch0")


def test_nodes_fill_groups_and_never_span_two():
    fabric = fly((3, 2, 5, 1, 1), nodes=7, nics=3)  # 10 NIC ports a group: 3 nodes of 3
    group = fabric.switch_pod[fabric.port_leaf].reshape(7, 3)
    assert group.tolist() == [[g] * 3 for g in (0, 0, 0, 1, 1, 1, 2)]
    assert fabric.port_leaf[:9].tolist() == [0] * 5 + [1] * 4
    assert fabric.port_rank.tolist() == [*range(21)]


def test_a_whole_dragonfly_has_three_switch_hops_at_most():
    fabric = fly((5, 4, 2, 1, 1))
    whole = nx.Graph(graph(fabric))
    switches = whole.subgraph(range(fabric.ports, fabric.gpu_vertex))
    assert nx.diameter(switches) == 3
    tiers = {data["tier"] for _, _, data in graph(fabric).edges(data=True)}
    assert tiers == {"nic-leaf", "local", "global"}


@pytest.mark.parametrize(
    ("groups", "links", "taper"), [(74, 4, 1.75342), (166, 2, 1.55152)], ids=["frontier", "aurora"]
)
def test_published_global_taper(groups: int, links: int, taper: float) -> None:
    """TOPO-06."""
    assert global_taper(fly((groups, 32, 16, links, 1))) == pytest.approx(taper, rel=1e-5)


def test_frontier_counts():
    fabric = fly(FRONTIER, nodes=9408, nics=4)
    have = counts(fabric)
    assert have["switches"] == {"leaf": 2368, "spine": 0, "core": 0}
    assert have["cables"] == {
        "nic-leaf": 37_632,
        "leaf-spine": 0,
        "spine-core": 0,
        "scale-up": 0,
        "local": 36_704,
        "global": 10_804,
    }
    one_way = have["cables"]["global"] * 25 / 1000  # 25 GB/s each way
    assert one_way == pytest.approx(270.1, rel=1e-3)  # TOPO-06, TB/s
    assert have["bisection_gbps"] == 37 * 37 * 4 * 200


def test_findings_speak_of_groups():
    plan = spec(FRONTIER, nodes=9408, nics=4)
    found = {finding.rule: finding for finding in audit(plan, build(plan))}
    assert found["oversubscription"].where == "global"
    assert found["oversubscription"].message.startswith("1.753:1 from the NICs of a full group")
    assert found["partial-group"].message == "the last group in use has 64 of 128 nodes"
    assert "uneven-trunks" not in found


def test_a_wrong_expectation_is_an_error():
    wrong = {"groups": 3, "switches": 12, "local_cables": 18, "global_cables": 7}
    plan = spec((3, 4, 1, 2, 1), expect=wrong)
    found = [f for f in audit(plan, build(plan)) if f.rule == "expected-count"]
    assert [f.where for f in found] == ["expect.global_cables"]
