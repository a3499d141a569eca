"""Counts of the front-end network, by the planner of the scale-out one.

Its ends are the nodes and the storage nodes, each with the same ports, all ports of a node on one
leaf. With three tiers pods are `pod_nodes` wide, or as wide as the spines' ports let them be.
"""

from __future__ import annotations

from dataclasses import dataclass

from clusterscope.errors import SpecError
from clusterscope.spec import parts
from clusterscope.spec.checks import part
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec, FrontEndSpec, NodeSpec, ScaleOutSpec
from clusterscope.spec.plan import ScaleOutPlan
from clusterscope.spec.ports import need_ports


@dataclass(frozen=True)
class FrontEnd:
    """The front-end network, counted.

    Attributes:
        spec: what it was derived from.
        plan: its fabric.
        nodes: nodes of the cluster on it; the rest are storage nodes.
    """

    spec: FrontEndSpec
    plan: ScaleOutPlan
    nodes: int

    @property
    def node_gbps(self) -> float:
        """What a node can send, one direction."""
        return self.spec.nics * self.spec.nic_gbps

    @property
    def leaf_up_gbps(self) -> float:
        """What the leaves of the nodes carry up; inf with one tier."""
        plan = self.plan
        if plan.tiers == 1:
            return float("inf")
        leaves = -(-self.nodes // plan.nodes_per_leaf)
        return leaves * plan.leaf_up * plan.link_gbps

    @property
    def storage_gbps(self) -> float:
        """What all storage nodes read or write together."""
        one = self.spec.storage_gbps or self.node_gbps
        return self.spec.storage_nodes * min(one, self.node_gbps)

    @property
    def cuts(self) -> dict[str, float]:
        """Cuts between all nodes and all storage nodes, by name, one direction, Gb/s."""
        return self.cuts_of(self.nodes)

    def cuts_of(self, nodes: int) -> dict[str, float]:
        """The same between some of the nodes, which have their share of each, and all storage."""
        share = nodes / self.nodes
        return {
            "the nodes' ports": nodes * self.node_gbps,
            "the leaves' uplinks": self.leaf_up_gbps * share,
            "the cores": self._core_gbps() * share,
            "the storage nodes": self.storage_gbps,
        }

    @property
    def to_storage_gbps(self) -> float:
        """Rate from all nodes to all storage nodes: the narrowest of the cuts between them."""
        return min(self.cuts.values())

    def _core_gbps(self) -> float:
        """What the pods of the nodes carry up to the cores; inf when there are no pods."""
        plan = self.plan
        if plan.tiers < 3 or plan.pods == 1:
            return float("inf")
        return plan.spine_core_cables * plan.link_gbps * self.nodes / plan.nodes


def derive_front_end(spec: ClusterSpec, where: str = "spec") -> FrontEnd | None:
    """Resolve the counts of the front-end network; None when the spec has none.

    Raises:
        SpecError: ports do not suffice, or a part does not exist.
    """
    front = spec.front_end
    if front is None:
        return None
    part(where, "front_end.nic", parts.nic, front.nic)
    switch = part(where, "front_end.switch", parts.switch, front.switch)
    need_ports(where, "front_end.nic_gbps", switch, front.nic_gbps)
    nodes = spec.node.count + front.storage_nodes
    try:
        plan = derive(_as_scale_out(front, nodes, switch), where)
    except SpecError as error:
        raise SpecError(f"{where}: front_end.tiers", error.problem, error.hint) from None
    if plan is None:
        raise AssertionError("a spec with [scale_out] has a plan")
    return FrontEnd(front, plan, spec.node.count)


def _as_scale_out(front: FrontEndSpec, nodes: int, switch: parts.Switch) -> ClusterSpec:
    """The front-end as the scale-out fabric of a cluster of its own."""
    pod = nodes
    if front.tiers == 3:
        pod = front.pod_nodes or _widest_pod(front, switch)
    return ClusterSpec(
        name="front-end",
        node=NodeSpec(
            count=nodes,
            gpus=1,
            gpu="generic",
            nics=front.nics,
            nic=front.nic,
            nic_gbps=front.nic_gbps,
        ),
        scale_out=ScaleOutSpec(
            tiers=front.tiers,
            wiring="rack",
            su_nodes=min(pod, nodes),
            pod_sus=1 if front.tiers == 3 else None,
            link_gbps=front.link_gbps,
            leaf_switch=front.switch,
            leaf_taper=front.taper,
        ),
    )


def _widest_pod(front: FrontEndSpec, switch: parts.Switch) -> int:
    """Nodes of a pod whose leaves take up half of the ports of its spines, one cable each."""
    ports = switch.ports_at(front.nic_gbps) or 1
    links = switch.ports_at(front.link_gbps or front.nic_gbps) or 1
    down = int(ports * front.taper / (1 + front.taper)) // front.nics
    return max(1, down) * max(1, links // 2)
