"""What a Clos or dragonfly spec comes to: every count of the fabric, resolved and consistent.

A block is a set of leaves and spines that reach each other directly: one for each pod and plane,
or for each pod, plane and rail when the wiring is rail-only. The cores of a plane join its pods;
with rail-only wiring each rail has an equal share of them, and no switch joins two rails.

How cables run, so that a builder and a reader agree:

* NIC port (node n, NIC r, plane p) goes to SU `n // su_nodes` of plane p. In it, rail wirings use
  leaf `(n % su_nodes) // leaf_down` of rail r; rack wiring uses leaf
  `(n % su_nodes) // nodes_per_leaf`.
* The uplinks of a block, leaf after leaf, are dealt to its spines in turn without starting over.
* The cores of a plane (and rail, when rail-only) form `core_groups` equal groups; spine i of a
  block belongs to group `i // (spines / core_groups)`. The uplinks of the spines of a group, pod
  after pod, are dealt to the cores of the group in the same way.

So a spine reaches every leaf of its block, a core reaches every pod, and parallel cables and
degrees of equal switches differ by at most one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DragonflyPlan:
    """Counts of a dragonfly; its switches are the leaves of a `ScaleOutPlan` of one tier.

    NIC port k of a group, counted over its nodes, is on switch `k // nic_ports`. Of group g, global
    end e is on switch `e mod switches`; ends `k * links` and on lead to group `g + 1 + k`, counted
    around, so the degrees of the switches of a group differ by one at most.

    Attributes:
        groups: groups that are built.
        switches: switches of a group.
        group_nodes: nodes that a group takes.
        local_links: cables between two switches of a group.
        global_links: cables between two groups.
        routing: "minimal", "valiant" or "adaptive"; None leaves it to the transport.
    """

    groups: int
    switches: int
    group_nodes: int
    local_links: int
    global_links: int
    routing: str | None

    @property
    def local_cables(self) -> int:
        """Cables inside all groups."""
        return self.groups * self.switches * (self.switches - 1) // 2 * self.local_links

    @property
    def global_cables(self) -> int:
        """Cables between groups."""
        return self.groups * (self.groups - 1) // 2 * self.global_links

    @property
    def most_global_ports(self) -> int:
        """Most global cables of a switch."""
        return -(-(self.groups - 1) * self.global_links // self.switches)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleOutPlan:
    """Counts and rates of one scale-out fabric.

    Attributes:
        nodes: nodes in the cluster.
        nics: scale-out NICs in a node.
        nic_gbps: line rate of a NIC, over all its ports.
        tiers: switch tiers, 1 to 3.
        wiring: "rail", "rack" or "rail-only".
        planes: disjoint copies of the fabric.
        rails: NICs of a node for rail wirings, 1 for rack wiring.
        nic_ports: ports of a NIC, one a plane.
        port_gbps: rate of a NIC port.
        link_gbps: rate of a cable between switches.
        su_nodes: nodes that share one set of leaves.
        sus: SUs; the last ones may lack nodes but have all their leaves.
        leaves_per_su: leaves of an SU in one plane.
        leaf_down: NIC ports that a leaf takes.
        leaf_up: uplinks of a leaf; 0 with one tier.
        pod_sus: SUs in a full pod.
        pods: pods; the last may lack SUs but has all its spines.
        leaves_per_pod: leaves of a full pod in one plane.
        blocks_per_pod_plane: 1, or the rails when wiring is rail-only.
        spines: spines of one block; 0 with one tier.
        spine_up: uplinks of a spine; 0 below three tiers.
        cores: cores of one plane; 0 below three tiers.
        core_groups: groups that the cores of a plane (and rail, when rail-only) form.
        leaf_switch: leaf part.
        spine_switch: spine part, "" when there is none.
        core_switch: core part, "" when there is none.
        management_cables: cables from leaves to managers; counted, not simulated.
        dragonfly: how the leaves are joined when the fabric is a dragonfly, else None.
    """

    nodes: int
    nics: int
    nic_gbps: float
    tiers: int
    wiring: str
    planes: int
    rails: int
    nic_ports: int
    port_gbps: float
    link_gbps: float
    su_nodes: int
    sus: int
    leaves_per_su: int
    leaf_down: int
    leaf_up: int
    pod_sus: int
    pods: int
    leaves_per_pod: int
    blocks_per_pod_plane: int
    spines: int
    spine_up: int
    cores: int
    core_groups: int
    leaf_switch: str
    spine_switch: str
    core_switch: str
    management_cables: int = 0
    dragonfly: DragonflyPlan | None = None

    @property
    def nodes_per_leaf(self) -> int:
        """Nodes that a full leaf serves."""
        return self.leaf_down // self.nics if self.wiring == "rack" else self.leaf_down

    @property
    def block_leaves(self) -> int:
        """Leaves of a full block."""
        return self.leaves_per_pod // self.blocks_per_pod_plane

    @property
    def trunk(self) -> int:
        """Fewest parallel cables between a leaf and a spine of its block."""
        return self.leaf_up // self.spines if self.spines else 0

    @property
    def spine_down(self) -> int:
        """Most downlinks that a spine has in a full pod."""
        return -(-self.block_leaves * self.leaf_up // self.spines) if self.spines else 0

    @property
    def leaves(self) -> int:
        """Leaves in all planes."""
        return self.planes * self.sus * self.leaves_per_su

    @property
    def blocks(self) -> int:
        """Blocks in all pods and planes."""
        return self.pods * self.planes * self.blocks_per_pod_plane

    @property
    def spines_total(self) -> int:
        """Spines in all blocks."""
        return self.blocks * self.spines

    @property
    def cores_total(self) -> int:
        """Cores in all planes."""
        return self.planes * self.cores

    @property
    def nic_leaf_cables(self) -> int:
        """Cables between NIC ports and leaves, without the managers'."""
        return self.nodes * self.nics * self.planes

    @property
    def leaf_spine_cables(self) -> int:
        """Cables between leaves and spines."""
        return self.leaves * self.leaf_up if self.tiers > 1 else 0

    @property
    def spine_core_cables(self) -> int:
        """Cables between spines and cores."""
        return self.spines_total * self.spine_up if self.tiers > 2 else 0

    @property
    def cables(self) -> int:
        """Simulated cables of the scale-out fabric."""
        mesh = self.dragonfly
        between = mesh.local_cables + mesh.global_cables if mesh else 0
        return self.nic_leaf_cables + self.leaf_spine_cables + self.spine_core_cables + between

    @property
    def core_down(self) -> int:
        """Most downlinks that a core has."""
        if not self.cores:
            return 0
        uplinks = self.pods * self.blocks_per_pod_plane * self.spines * self.spine_up
        return -(-uplinks // self.cores)

    @property
    def bisection_gbps(self) -> float:
        """Rate between two halves of the NICs, one direction: the least of the tiers' cuts."""
        cuts = [self.nodes * self.nics * self.nic_gbps]
        if self.tiers > 1:
            cuts.append(self.leaf_spine_cables * self.link_gbps)
        if self.tiers > 2 and self.pods > 1:
            cuts.append(self.spine_core_cables * self.link_gbps)
        if self.dragonfly and self.pods > 1:
            half = self.pods // 2
            across = half * (self.pods - half) * self.dragonfly.global_links
            cuts.append(2 * across * self.link_gbps)
        return min(cuts) / 2
