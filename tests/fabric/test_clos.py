from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
from hypothesis import given

from clusterscope.fabric.arrays import LEAF_SPINE, NIC_LEAF, SCALE_UP, SPINE_CORE, Fabric
from clusterscope.fabric.build import build
from clusterscope.fabric.graph import graph
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.plan import ScaleOutPlan
from tests.fabric.fabric_specs import cluster, colossus, fat_tree, hpn_pod, nvlink, small_specs


def plan_of(spec: ClusterSpec) -> ScaleOutPlan:
    plan = derive(spec)
    assert plan is not None
    return plan


def degrees(fabric: Fabric, tier: int, upper: bool) -> np.ndarray:
    """Cables of a tier at every switch, counted at their upper or lower end."""
    cables = fabric.tier_cables(tier)
    ends = (fabric.cable_b if upper else fabric.cable_a)[cables.start : cables.stop]
    return np.bincount(ends - fabric.ports, minlength=fabric.switches)


def naive_ports(plan: ScaleOutPlan) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Leaf of every port and (pod, plane, rail) of every leaf, one at a time from the words."""
    per_rail = plan.leaves_per_su // plan.rails
    leaves: dict[tuple[int, int, int, int], int] = {}
    places = []
    for pod in range(plan.pods):
        sus = range(pod * plan.pod_sus, min((pod + 1) * plan.pod_sus, plan.sus))
        shape = (range(plan.planes), sus, range(plan.rails), range(per_rail))
        for plane, su, rail, k in itertools.product(*shape):
            leaves[plane, su, rail, k] = len(leaves)
            places.append((pod, plane, -1 if plan.wiring == "rack" else rail))
    port_leaf = []
    for node, nic, plane in itertools.product(
        range(plan.nodes), range(plan.nics), range(plan.planes)
    ):
        place = node % plan.su_nodes
        rail = 0 if plan.wiring == "rack" else nic
        k = (place * plan.nics + nic if plan.wiring == "rack" else place) // plan.leaf_down
        port_leaf.append(leaves[plane, node // plan.su_nodes, rail, k])
    return port_leaf, places


@given(small_specs())
def test_ports_and_leaves_stand_where_counting_them_one_by_one_puts_them(spec: ClusterSpec) -> None:
    plan, fabric = plan_of(spec), build(spec)
    port_leaf, places = naive_ports(plan)
    assert fabric.port_leaf.tolist() == port_leaf
    leaves = fabric.switches_of(1)
    assert len(leaves) == plan.leaves == len(places)
    got = [fabric.switch_pod, fabric.switch_plane, fabric.switch_rail]
    assert list(zip(*(column[: plan.leaves].tolist() for column in got), strict=True)) == places
    assert np.bincount(fabric.port_leaf).max() <= plan.leaf_down


@given(small_specs())
def test_port_rank_orders_the_ports_by_leaf_then_by_port(spec: ClusterSpec) -> None:
    fabric = build(spec)
    by_rank = np.argsort(fabric.port_rank)
    assert np.array_equal(fabric.port_rank[by_rank], np.arange(fabric.ports))
    leaf = fabric.port_leaf[by_rank]
    assert (np.diff(leaf) >= 0).all()
    # the nodes of an SU are seated in order, so the ports of a leaf are too
    assert (np.diff(by_rank)[np.diff(leaf) == 0] > 0).all()


@given(small_specs())
def test_cables_are_sorted_and_their_ends_are_of_the_right_kind(spec: ClusterSpec) -> None:
    plan, fabric = plan_of(spec), build(spec)
    assert np.array_equal(fabric.cable_a[: fabric.ports], np.arange(fabric.ports))
    assert np.array_equal(fabric.cable_b[: fabric.ports], fabric.ports + fabric.port_leaf)
    wanted = [plan.nic_leaf_cables, plan.leaf_spine_cables, plan.spine_core_cables]
    assert np.diff(fabric.tier_start).tolist()[:3] == wanted
    for tier in (LEAF_SPINE, SPINE_CORE):
        cables = fabric.tier_cables(tier)
        lower = fabric.cable_a[cables.start : cables.stop] - fabric.ports
        upper = fabric.cable_b[cables.start : cables.stop] - fabric.ports
        assert (np.diff(lower) >= 0).all()
        assert (fabric.switch_tier[lower] == tier).all()
        assert (fabric.switch_tier[upper] == tier + 1).all()
        assert (fabric.switch_plane[lower] == fabric.switch_plane[upper]).all()
    gpus = fabric.tier_cables(SCALE_UP)
    if len(gpus):
        assert np.array_equal(
            fabric.cable_a[gpus.start : gpus.stop] - fabric.gpu_vertex, np.arange(fabric.gpus)
        )
        upper = fabric.cable_b[gpus.start : gpus.stop] - fabric.domain_vertex
        assert np.array_equal(upper, fabric.gpu_domain)


@given(small_specs())
def test_up_start_delimits_the_uplinks_of_every_switch(spec: ClusterSpec) -> None:
    plan, fabric = plan_of(spec), build(spec)
    uplinks = np.diff(fabric.up_start)
    by_tier = np.array([0, plan.leaf_up, plan.spine_up, 0])
    assert uplinks.tolist() == by_tier[fabric.switch_tier].tolist()
    for switch in range(fabric.switches):
        low, high = fabric.up_start[switch : switch + 2]
        assert (fabric.cable_a[low:high] == fabric.ports + switch).all()


@given(small_specs())
def test_degrees_of_spines_of_a_block_and_cores_of_a_group_differ_by_one_at_most(
    spec: ClusterSpec,
) -> None:
    plan, fabric = plan_of(spec), build(spec)
    down = degrees(fabric, LEAF_SPINE, upper=True)
    for block in range(plan.blocks if plan.tiers > 1 else 0):
        members = down[(fabric.switch_block == block) & (fabric.switch_tier == 2)]
        assert len(members) == plan.spines
        assert members.max() - members.min() <= 1
    cores = fabric.switches_of(3)
    if len(cores):
        down = degrees(fabric, SPINE_CORE, upper=True)[cores.start : cores.stop]
        groups = down.reshape(-1, plan.cores // plan.blocks_per_pod_plane // plan.core_groups)
        assert (groups.max(axis=1) - groups.min(axis=1) <= 1).all()
        # every group takes as many uplinks as the next
        assert down.max() - down.min() <= 1


@given(small_specs())
def test_leaves_meet_all_spines_of_their_block_and_only_those(spec: ClusterSpec) -> None:
    plan, fabric = plan_of(spec), build(spec)
    cables = fabric.tier_cables(LEAF_SPINE)
    lower = fabric.cable_a[cables.start : cables.stop] - fabric.ports
    upper = fabric.cable_b[cables.start : cables.stop] - fabric.ports
    assert (fabric.switch_block[lower] == fabric.switch_block[upper]).all()
    assert (fabric.switch_pod[lower] == fabric.switch_pod[upper]).all()
    met = {(int(a), int(b)) for a, b in zip(lower, upper, strict=True)}
    assert len(met) == plan.leaves * plan.spines
    if plan.wiring == "rail-only" and plan.blocks_per_pod_plane > 1:
        assert (fabric.switch_rail[lower] == fabric.switch_rail[upper]).all()


@given(small_specs())
def test_every_core_has_a_cable_to_every_pod_and_to_its_own_rail_only(spec: ClusterSpec) -> None:
    fabric = build(spec)
    cables = fabric.tier_cables(SPINE_CORE)
    lower = fabric.cable_a[cables.start : cables.stop] - fabric.ports
    upper = fabric.cable_b[cables.start : cables.stop] - fabric.ports
    assert (fabric.switch_rail[lower] == fabric.switch_rail[upper]).all()
    pairs = set(zip(fabric.switch_pod[lower].tolist(), upper.tolist(), strict=True))
    assert len(pairs) == len(fabric.switches_of(3)) * fabric.pods


@given(small_specs())
def test_what_the_graph_joins_is_what_the_wiring_says(spec: ClusterSpec) -> None:
    plan, fabric = plan_of(spec), build(spec)
    made = graph(fabric)
    assert made.number_of_edges() == fabric.cables
    network = made.subgraph(range(fabric.gpu_vertex))
    parts = plan.planes
    if plan.wiring == "rail-only" or (plan.tiers == 1 and plan.wiring == "rail"):
        parts *= plan.rails
    assert nx.number_connected_components(network) == parts
    for port, node in enumerate(fabric.port_node(np.arange(fabric.ports, dtype=np.int32))):
        assert made.degree(port) == 1
        assert node == port // (plan.nics * plan.planes)


@given(small_specs())
def test_the_link_back_runs_between_the_same_ends(spec: ClusterSpec) -> None:
    fabric = build(spec)
    source = np.stack([fabric.cable_a, fabric.cable_b], axis=1).ravel()
    target = np.stack([fabric.cable_b, fabric.cable_a], axis=1).ravel()
    back = np.arange(fabric.links) ^ 1
    assert np.array_equal(source[back], target)
    assert np.array_equal(fabric.link_gbps[back], fabric.link_gbps)


@given(small_specs())
def test_gpus_share_the_nics_of_their_node_in_order(spec: ClusterSpec) -> None:
    plan, fabric = plan_of(spec), build(spec)
    for gpu, port in enumerate(fabric.gpu_nic_port.tolist()):
        node, local = divmod(gpu, spec.node.gpus)
        nic = local * plan.nics // spec.node.gpus
        assert port == (node * plan.nics + nic) * plan.planes
    per_domain = np.bincount(fabric.gpu_domain[fabric.gpu_domain >= 0])
    if spec.scale_up is None:
        assert fabric.domains == 0
    else:
        assert (per_domain == spec.scale_up.domain_gpus).all()


def test_without_scale_out_there_are_gpus_and_domains_only() -> None:
    fabric = build(cluster(18, None, node={"gpus": 4}, scale_up=nvlink(72)))
    assert (fabric.ports, fabric.switches, fabric.gpus, fabric.domains) == (0, 0, 72, 1)
    assert fabric.tier_start.tolist() == [0, 0, 0, 0, 72]
    assert (fabric.gpu_nic_port == -1).all()
    assert fabric.cable_b.tolist() == [72] * 72
    assert fabric.up_start.tolist() == [0]


def test_a_two_tier_fabric_worked_by_hand() -> None:
    # 3 nodes of 2 NICs, SUs of 2 nodes: leaves su0r0 su0r1 su1r0 su1r1, two spines, trunks of 1
    out = {"tiers": 2, "su_nodes": 2, "leaf_down": 2, "leaf_up": 2, "spines": 2}
    fabric = build(cluster(3, out, node={"gpus": 2, "nics": 2}))
    assert fabric.port_leaf.tolist() == [0, 1, 0, 1, 2, 3]
    assert fabric.port_rank.tolist() == [0, 2, 1, 3, 4, 5]
    assert fabric.switch_rail.tolist() == [0, 1, 0, 1, -1, -1]
    assert fabric.cable_a.tolist() == [0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9, 9]
    assert fabric.cable_b.tolist() == [6, 7, 6, 7, 8, 9, 10, 11, 10, 11, 10, 11, 10, 11]
    assert fabric.up_start.tolist() == [6, 8, 10, 12, 14, 14, 14]
    assert fabric.tier_start.tolist() == [0, 6, 14, 14, 14]
    assert fabric.switch_block.tolist() == [0] * 6


def test_uplinks_that_spines_do_not_divide_are_dealt_on_over_the_leaves() -> None:
    out = {"tiers": 2, "su_nodes": 1, "leaf_down": 1, "leaf_up": 3, "spines": 2}
    fabric = build(cluster(2, out, node={"gpus": 1, "nics": 1}))
    cables = fabric.tier_cables(LEAF_SPINE)
    assert (fabric.cable_b[cables.start :] - fabric.ports - 2).tolist() == [0, 1, 0, 1, 0, 1]


def test_a_fat_tree_core_has_one_cable_to_every_pod() -> None:
    fabric = build(fat_tree(8))
    cables = fabric.tier_cables(SPINE_CORE)
    lower = fabric.cable_a[cables.start : cables.stop] - fabric.ports
    pairs = np.stack([fabric.switch_pod[lower], fabric.cable_b[cables.start : cables.stop]])
    assert len(np.unique(pairs, axis=1).T) == len(cables) == 16 * 8


def test_a_hundred_thousand_gpus_come_out_as_designed() -> None:
    spec = colossus()
    fabric = build(spec)
    assert (fabric.gpus, fabric.ports, fabric.pods) == (100_000, 100_000, 25)
    assert [len(fabric.switches_of(tier)) for tier in (1, 2, 3)] == [1600, 1600, 800]
    assert np.diff(fabric.tier_start).tolist() == [100_000, 102_400, 102_400, 100_000]
    su, rail = 5, 3
    first = su * 64 * 8 + rail
    assert (fabric.port_leaf[first : first + 64 * 8 : 8] == su * 8 + rail).all()
    assert degrees(fabric, SPINE_CORE, upper=True)[fabric.switches_of(3)[0] :].tolist() == (
        [128] * 800
    )


def test_equal_specs_give_equal_digests() -> None:
    assert build(colossus()).digest() == build(colossus()).digest()
    assert build(fat_tree(4)).digest() != build(fat_tree(6)).digest()


def test_planes_are_disjoint_and_a_nic_has_a_port_in_each() -> None:
    fabric = build(hpn_pod())
    planes = fabric.switch_plane[fabric.port_leaf].reshape(-1, 2)
    assert (planes == [0, 1]).all()
    assert (fabric.cable_gbps[: fabric.ports] == 200).all()
    assert len(fabric.tier_cables(NIC_LEAF)) == 15_360 * 2
