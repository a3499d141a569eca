"""The topology as a tree: what is inside what, one level at a time.

    cluster -> cores, pods -> spines, leaves -> nodes -> NIC ports, GPUs      three tiers
    cluster -> spines, leaves -> nodes -> ...                                 one and two tiers
    cluster -> groups -> switches -> nodes -> ...                             dragonfly
    cluster -> domains -> nodes -> ...                                        no scale-out fabric

Domains also stand beside the pods or leaves when one is larger than a node. With rails a node is
cabled to several leaves, and shows up below each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I32
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import Fabric
from clusterscope.fabric.scaleup import gpus_of_group, groups_of_domain, thing_cables
from clusterscope.fabric.things import Thing
from clusterscope.metrics.links import worst
from clusterscope.metrics.memo import per_key
from clusterscope.units import counted
from clusterscope.views.text import sanitize


@dataclass(frozen=True)
class TreeRow:
    """One line of the topology tree.

    Attributes:
        thing: what it stands for.
        label: its name below its parent ("leaf12"), safe to print.
        detail: what it has, in words ("64 NIC ports").
        worst: worst live utilization of its links, nan when none is live.
        down: dead cables of it.
        children: True when `children` of it gives rows.
    """

    thing: Thing
    label: str
    detail: str
    worst: float
    down: int
    children: bool


def root(scenario: Scenario, frame: Frame) -> TreeRow:
    """The row of the whole cluster."""
    return row_of(scenario, frame, Thing("cluster"))


def children(scenario: Scenario, frame: Frame, thing: Thing) -> tuple[TreeRow, ...]:
    """Rows below a thing; empty for what holds nothing."""
    return tuple(row_of(scenario, frame, child) for child in inside(scenario, thing))


def parent(scenario: Scenario, thing: Thing) -> Thing | None:
    """What a thing is inside of; a node is below its first leaf. None for the cluster."""
    fabric = scenario.fabric
    if thing.kind == "cluster":
        return None
    if thing.kind in ("gpu", "nic"):
        return _holder(fabric, thing)
    if thing.kind == "node":
        return _parent_of_node(fabric, thing.index)
    if thing.kind == "link":
        return Thing("cable", thing.index >> 1)
    if thing.kind == "cable":
        return scenario.names.of_vertex(int(fabric.cable_a[thing.index]))
    if thing.kind == "switch":
        return _parent_of_switch(scenario, thing.index)
    if thing.kind == "spines" and _has_pods(fabric):
        return Thing("pod", thing.index)
    if thing.kind == "domain" and fabric.ports:
        return Thing("domains")
    if thing.kind == "subdomain":
        return _parent_of_group(fabric, thing.index)
    return Thing("cluster")


def _holder(fabric: Fabric, thing: Thing) -> Thing:
    """Node of a NIC port or GPU, or the group in it that holds the GPU."""
    if thing.kind == "gpu" and _split(fabric):
        return Thing("subdomain", thing.index // fabric.shape.group)
    per_node = fabric.gpus_per_node if thing.kind == "gpu" else fabric.ports // fabric.nodes
    return Thing("node", thing.index // per_node)


def _parent_of_node(fabric: Fabric, node: int) -> Thing:
    """First leaf of a node, or its domain."""
    if fabric.ports:
        port = node * (fabric.ports // fabric.nodes)
        return Thing("switch", int(fabric.port_leaf[port]))
    domain = int(fabric.gpu_domain[node * fabric.gpus_per_node])
    if grouped(fabric):
        return Thing("subdomain", node * fabric.gpus_per_node // fabric.shape.group)
    return Thing("domain", domain) if domain >= 0 else Thing("cluster")


def grouped(fabric: Fabric) -> bool:
    """True when domains have first-level groups of whole nodes: then these are a level."""
    group = fabric.shape.group
    return group > 0 and group % fabric.gpus_per_node == 0


def _split(fabric: Fabric) -> bool:
    """True when nodes have several first-level groups: then these are a level in a node."""
    return fabric.shape.group > 0 and not grouped(fabric)


def _parent_of_group(fabric: Fabric, group: int) -> Thing:
    """Domain of a group of nodes, node of a group in it."""
    if _split(fabric):
        return Thing("node", group * fabric.shape.group // fabric.gpus_per_node)
    return Thing("domain", group // fabric.shape.groups)


def _parent_of_switch(scenario: Scenario, switch: int) -> Thing:
    """Group or pod of a switch."""
    fabric = scenario.fabric
    tier, pod = int(fabric.switch_tier[switch]), int(fabric.switch_pod[switch])
    if tier == 3:
        return Thing("cores")
    if tier == 2:
        return Thing("spines", pod)
    return Thing("pod", pod) if _has_pods(fabric) else Thing("cluster")


def _has_pods(fabric: Fabric) -> bool:
    """True with three tiers and for a dragonfly: then pods or groups are a level of the tree."""
    return fabric.dragonfly or len(fabric.switches_of(3)) > 0


def inside(scenario: Scenario, thing: Thing) -> list[Thing]:
    """Things directly below a thing, in order; empty for what holds nothing."""
    fabric = scenario.fabric
    match thing.kind:
        case "cluster":
            return _top(fabric)
        case "pod":
            return [*_spines(fabric, thing.index), *_switches(fabric, 1, thing.index)]
        case "spines":
            return _switches(fabric, 2, thing.index)
        case "cores":
            return [Thing("switch", s) for s in fabric.switches_of(3)]
        case "domains":
            return [Thing("domain", d) for d in range(fabric.domains)]
        case "domain" | "subdomain":
            return _in_domain(fabric, thing)
        case "switch":
            return [Thing("node", n) for n in nodes_of_leaf(fabric, thing.index).tolist()]
        case "node":
            return [*_own(fabric, "nic", thing.index), *_gpus_of_node(fabric, thing.index)]
        case _:
            return []


def _in_domain(fabric: Fabric, thing: Thing) -> list[Thing]:
    """Groups or nodes of a scale-up domain, nodes of a group."""
    if thing.kind == "subdomain" and _split(fabric):
        return [Thing("gpu", g) for g in gpus_of_group(fabric, thing.index)]
    if thing.kind == "subdomain":
        return [Thing("node", n) for n in _nodes_of(fabric, gpus_of_group(fabric, thing.index))]
    if grouped(fabric):
        return [Thing("subdomain", g) for g in groups_of_domain(fabric, thing.index)]
    return [Thing("node", n) for n in nodes_of_domain(fabric, thing.index)]


def _gpus_of_node(fabric: Fabric, node: int) -> list[Thing]:
    """GPUs of a node, or the groups that they form."""
    if not _split(fabric):
        return _own(fabric, "gpu", node)
    count = fabric.gpus_per_node // fabric.shape.group
    return [Thing("subdomain", g) for g in range(node * count, (node + 1) * count)]


def _top(fabric: Fabric) -> list[Thing]:
    """What is directly below the cluster."""
    wide = fabric.domains and fabric.domains < fabric.nodes
    domains = [Thing("domains")] if wide else []
    if _has_pods(fabric):
        pods = [Thing("pod", p) for p in range(fabric.pods)]
        cores = [Thing("cores")] if len(fabric.switches_of(3)) else []
        return [*cores, *pods, *domains]
    if fabric.switches:
        return [*_spines(fabric, 0), *(Thing("switch", s) for s in fabric.switches_of(1)), *domains]
    if fabric.domains:
        return [Thing("domain", d) for d in range(fabric.domains)]
    return [Thing("node", n) for n in range(fabric.nodes)]


def _spines(fabric: Fabric, pod: int) -> list[Thing]:
    """The spines of a pod as one group, if there are any."""
    return [Thing("spines", pod)] if len(fabric.switches_of(2)) else []


def _switches(fabric: Fabric, tier: int, pod: int) -> list[Thing]:
    """Switches of a tier in a pod."""
    members = fabric.switches_of(tier)
    own = np.flatnonzero(fabric.switch_pod[members.start : members.stop] == pod)
    return [Thing("switch", members.start + s) for s in own.tolist()]


def nodes_of_leaf(fabric: Fabric, leaf: int) -> I32:
    """Nodes with a NIC port on a leaf, ascending; none for other switches."""
    if fabric.switch_tier[leaf] != 1:
        return np.zeros(0, dtype=np.int32)
    order, start = _ports_by_leaf(fabric)
    return np.unique(fabric.port_node(order[start[leaf] : start[leaf + 1]]))


@per_key
def _ports_by_leaf(fabric: Fabric) -> tuple[I32, I32]:
    """NIC ports in order of leaf, and where each leaf's begin, (N,) and (leaves + 1,)."""
    order = np.empty(fabric.ports, dtype=np.int32)
    order[fabric.port_rank] = np.arange(fabric.ports, dtype=np.int32)
    count = np.bincount(fabric.port_leaf, minlength=len(fabric.switches_of(1)))
    return order, np.concatenate([[0], np.cumsum(count)]).astype(np.int32)


def ports_of_leaf(fabric: Fabric, leaf: int) -> I32:
    """NIC ports on a leaf, in order of its ports."""
    order, start = _ports_by_leaf(fabric)
    return order[start[leaf] : start[leaf + 1]]


def nodes_of_domain(fabric: Fabric, domain: int) -> range:
    """Nodes that have a GPU in a domain; domains are runs of GPUs."""
    low, high = np.searchsorted(fabric.gpu_domain, [domain, domain + 1])
    return _nodes_of(fabric, range(int(low), int(high)))


def _nodes_of(fabric: Fabric, gpus: range) -> range:
    """Nodes that have one of a run of GPUs."""
    return range(gpus.start // fabric.gpus_per_node, -(-gpus.stop // fabric.gpus_per_node))


def _own(fabric: Fabric, kind: str, node: int) -> list[Thing]:
    """NIC ports or GPUs of a node."""
    per_node = fabric.gpus_per_node if kind == "gpu" else fabric.ports // fabric.nodes
    first = node * per_node
    if kind == "gpu":
        return [Thing("gpu", i) for i in range(first, first + per_node)]
    return [Thing("nic", i) for i in range(first, first + per_node)]


def row_of(scenario: Scenario, frame: Frame, thing: Thing) -> TreeRow:
    """The row of one thing."""
    level, down = state_of(scenario, frame, thing)
    return TreeRow(
        thing=thing,
        label=sanitize(_label(scenario, thing)),
        detail=detail_of(scenario.fabric, thing),
        worst=level,
        down=down,
        children=thing.kind in _PARENTS or _is_leaf(scenario.fabric, thing),
    )


def _label(scenario: Scenario, thing: Thing) -> str:
    """Name of a thing without the part that its parent's row says already."""
    if thing.kind == "cluster":
        return scenario.spec.name
    name = scenario.names.thing(thing)
    in_pod = thing.kind == "switch" and int(scenario.fabric.switch_pod[thing.index]) >= 0
    if thing.kind in ("gpu", "nic", "spines", "subdomain") or (
        in_pod and scenario.names.pods_named
    ):
        return name.split("/", 1)[-1]
    return name


_PARENTS = ("cluster", "pod", "spines", "cores", "domains", "domain", "subdomain", "node")


def _is_leaf(fabric: Fabric, thing: Thing) -> bool:
    """True for a leaf switch."""
    return thing.kind == "switch" and int(fabric.switch_tier[thing.index]) == 1


def detail_of(fabric: Fabric, thing: Thing) -> str:
    """What a thing has, in a few words."""
    match thing.kind:
        case "cluster":
            return counted(fabric.gpus, "GPU")
        case "pod":
            word = "switches" if fabric.dragonfly else "leaves"
            return f"{len(_switches(fabric, 1, thing.index)):,} {word}"
        case "spines":
            return f"{len(_switches(fabric, 2, thing.index)):,}"
        case "cores":
            return f"{len(fabric.switches_of(3)):,}"
        case "domains":
            return f"{fabric.domains:,}"
        case "domain" | "subdomain" | "node":
            return counted(_gpus_in(fabric, thing), "GPU")
        case "switch" if _is_leaf(fabric, thing):
            return f"{len(ports_of_leaf(fabric, thing.index)):,} NIC ports"
        case "switch":
            return fabric.switch_words[int(fabric.switch_tier[thing.index]) - 1]
        case _:
            return ""


def _gpus_in(fabric: Fabric, thing: Thing) -> int:
    """GPUs of a domain, a group of it, or a node."""
    if thing.kind == "domain":
        low, high = np.searchsorted(fabric.gpu_domain, [thing.index, thing.index + 1])
        return int(high - low)
    return fabric.shape.group if thing.kind == "subdomain" else fabric.gpus_per_node


def state_of(scenario: Scenario, frame: Frame, thing: Thing) -> tuple[float, int]:
    """Worst live utilization of a thing's links (nan when none is live), and its dead cables."""
    fabric, state = scenario.fabric, worst(scenario, frame)
    i = thing.index
    match thing.kind:
        case "cluster":
            return _max(state.cable), int(state.cable_dead.sum())
        case "pod":
            return float(state.pod[i]), int(state.pod_down[i])
        case "spines" | "cores":
            members = fabric.switches_of(2 if thing.kind == "spines" else 3)
            span = slice(members.start, members.stop)
            own = fabric.switch_pod[span] == (i if thing.kind == "spines" else -1)
            return _max(state.switch[span][own]), int(state.switch_down[span][own].sum())
        case "domains":
            return _max(state.domain), int(state.domain_down.sum())
        case "domain":
            return float(state.domain[i]), int(state.domain_down[i])
        case "node":
            return float(state.node[i]), int(state.node_down[i])
        case "switch":
            return float(state.switch[i]), int(state.switch_down[i])
        case _:
            return _state_of_cables(fabric, frame, thing, state.cable)


def _state_of_cables(fabric: Fabric, frame: Frame, thing: Thing, cable: F64) -> tuple[float, int]:
    """The same for a link, a cable, or a NIC port, GPU or group of GPUs and its cables."""
    if thing.kind == "link":
        return float(frame.utilization[thing.index]), int(np.isnan(frame.utilization[thing.index]))
    if thing.kind in ("gpu", "subdomain"):
        own = cable[thing_cables(fabric, thing)]
        return _max(own), int(np.isnan(own).sum())
    return float(cable[thing.index]), int(math.isnan(cable[thing.index]))


def _max(values: F64) -> float:
    """Largest value that is one; nan when there is none."""
    return float(np.fmax.reduce(values, initial=np.nan))
