"""A compiled fabric: what is cabled to what, as arrays.

Vertices are numbered NIC ports, then switches (leaves, spines, cores), then GPUs, then scale-up
domains, then the first-level groups of domains that have two levels. Cables run from a lower vertex
`a` to an upper vertex `b` and are sorted by tier, then by the lower vertex, then by its port: so a
switch's uplinks are contiguous, and NIC port p is cable p. Which scale-up cables a GPU has is for
`scaleup` to say. Cable c is the two links 2c (a to b, up) and 2c+1 (b to a, down): `link ^ 1` is
the way back, `link >> 1` the cable.

Axes: G GPUs, M nodes, N NIC ports, S switches, D scale-up domains, C cables, L = 2C links.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Literal

import numpy as np

from clusterscope.columns import F64, I8, I32, Arrays, Bool, Col
from clusterscope.spec.shape import Shape

NIC_LEAF, LEAF_SPINE, SPINE_CORE, SCALE_UP = range(4)
TIER_NAMES = ("nic-leaf", "leaf-spine", "spine-core", "scale-up")
SWITCH_TIERS = ("leaf", "spine", "core")
# A dragonfly has local cables in the place of leaf-spine ones and global ones in that of spine-core
# ones; all its switches are of tier 1, and a group is a pod.
DRAGONFLY_TIERS = ("nic-leaf", "local", "global", "scale-up")
Topology = Literal["clos", "dragonfly"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Fabric(Arrays):
    """Devices and cables of one cluster."""

    nodes: int
    gpus_per_node: int
    nics_per_node: int
    ports_per_nic: int
    pods: int
    shape: Shape = field(default_factory=Shape)
    topology: Topology = "clos"
    gpu_nic_port: Annotated[I32, Col("G", "vertex", "first port of the GPU's NIC, -1 if none")]
    gpu_domain: Annotated[I32, Col("G", "domain", "scale-up domain, -1 if none")]
    port_leaf: Annotated[I32, Col("N", "switch", "leaf that the NIC port is cabled to")]
    port_rank: Annotated[
        I32, Col("N", "1", "place among all NIC ports in order of leaf, then leaf port")
    ]
    switch_tier: Annotated[I8, Col("S", "1", "1 leaf, 2 spine, 3 core")]
    switch_pod: Annotated[I32, Col("S", "1", "pod, -1 for a core")]
    switch_plane: Annotated[I32, Col("S", "1", "plane")]
    switch_rail: Annotated[I32, Col("S", "1", "rail, -1 when it serves all rails")]
    switch_block: Annotated[
        I32,
        Col("S", "1", "leaves and spines that are cabled all to all share a block; -1 for a core"),
    ]
    cable_a: Annotated[I32, Col("C", "vertex", "lower end")]
    cable_b: Annotated[I32, Col("C", "vertex", "upper end")]
    cable_gbps: Annotated[F64, Col("C", "Gb/s", "line rate, one direction")]
    tier_start: Annotated[I32, Col("5", "cable", "first cable of each tier, then the total")]
    up_start: Annotated[
        I32,
        Col(
            "S+1",
            "cable",
            "uplinks of switch s, or local cables from it to higher switches, are cables "
            "up_start[s]:up_start[s+1]",
        ),
    ]

    @property
    def gpus(self) -> int:
        """Number of GPUs, G."""
        return len(self.gpu_nic_port)

    @property
    def ports(self) -> int:
        """Number of NIC ports, N; also the vertex of switch 0."""
        return len(self.port_leaf)

    @property
    def dragonfly(self) -> bool:
        """True for a dragonfly, False for a Clos."""
        return self.topology == "dragonfly"

    @property
    def tier_names(self) -> tuple[str, ...]:
        """Name of every cable tier."""
        return DRAGONFLY_TIERS if self.dragonfly else TIER_NAMES

    @property
    def switch_words(self) -> tuple[str, ...]:
        """What switches of tier 1, 2 and 3 are called."""
        return ("switch", *SWITCH_TIERS[1:]) if self.dragonfly else SWITCH_TIERS

    @property
    def pod_word(self) -> str:
        """What a pod is called."""
        return "group" if self.dragonfly else "pod"

    @property
    def port_letters(self) -> str:
        """First letter of the ports of a switch in cable names: uplinks, or local and global."""
        return "lg" if self.dragonfly else "u"

    @cached_property
    def global_start(self) -> I32:
        """Global cables from switch s to higher groups are global_start[s]:global_start[s+1]."""
        tier = self.tier_cables(SPINE_CORE)
        lower = self.cable_a[tier.start : tier.stop] - self.ports
        starts = np.searchsorted(lower, np.arange(self.switches + 1)) + tier.start
        starts.setflags(write=False)
        return starts.astype(np.int32)

    @property
    def switches(self) -> int:
        """Number of switches, S."""
        return len(self.switch_tier)

    @property
    def cables(self) -> int:
        """Number of cables, C."""
        return len(self.cable_a)

    @property
    def links(self) -> int:
        """Number of directed links, L."""
        return 2 * len(self.cable_a)

    @property
    def gpu_vertex(self) -> int:
        """Vertex of GPU 0."""
        return self.ports + self.switches

    @property
    def domain_vertex(self) -> int:
        """Vertex of scale-up domain 0."""
        return self.ports + self.switches + self.gpus

    @cached_property
    def domains(self) -> int:
        """Number of scale-up domains, D."""
        return int(self.gpu_domain.max()) + 1 if len(self.gpu_domain) else 0

    @property
    def groups(self) -> int:
        """Number of first-level groups in all scale-up domains."""
        return self.domains * self.shape.groups

    @property
    def group_vertex(self) -> int:
        """Vertex of first-level group 0."""
        return self.domain_vertex + self.domains

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return self.group_vertex + self.groups

    @cached_property
    def link_gbps(self) -> F64:
        """Line rate of every link, (L,) Gb/s."""
        rates: F64 = np.repeat(self.cable_gbps, 2)
        rates.setflags(write=False)
        return rates

    @cached_property
    def cable_tier(self) -> I8:
        """Tier of every cable, (C,): NIC_LEAF, LEAF_SPINE, SPINE_CORE or SCALE_UP."""
        tiers: I8 = np.repeat(np.arange(4, dtype=np.int8), np.diff(self.tier_start))
        tiers.setflags(write=False)
        return tiers

    def port_node(self, ports: I32) -> I32:
        """Node of each NIC port."""
        return (ports // (self.nics_per_node * self.ports_per_nic)).astype(np.int32)

    def switches_of(self, tier: int) -> range:
        """Switch indices of a tier (1 leaf, 2 spine, 3 core); they are contiguous."""
        low, high = np.searchsorted(self.switch_tier, [tier, tier + 1])
        return range(int(low), int(high))

    def tier_cables(self, tier: int) -> range:
        """Cable indices of a cable tier."""
        return range(int(self.tier_start[tier]), int(self.tier_start[tier + 1]))


@dataclass(frozen=True, eq=False, kw_only=True)
class Health(Arrays):
    """What works: the state that events change.

    A link carries bytes when its cable and both its ends work; its rate is the line rate times the
    cable's scale.
    """

    cable_scale: Annotated[F64, Col("C", "1", "share of the line rate; 0 is a dead cable")]
    switch_up: Annotated[Bool, Col("S", "1", "switch works")]
    nic_up: Annotated[Bool, Col("N", "1", "NIC port works")]
    node_up: Annotated[Bool, Col("M", "1", "node works")]
    gpu_up: Annotated[Bool, Col("G", "1", "GPU works")]
    gpu_speed: Annotated[F64, Col("G", "1", "share of its own speed at which a GPU computes")]

    @classmethod
    def whole(cls, fabric: Fabric) -> Health:
        """Everything works."""
        return cls(
            cable_scale=np.ones(fabric.cables),
            switch_up=np.ones(fabric.switches, dtype=np.bool_),
            nic_up=np.ones(fabric.ports, dtype=np.bool_),
            node_up=np.ones(fabric.nodes, dtype=np.bool_),
            gpu_up=np.ones(fabric.gpus, dtype=np.bool_),
            gpu_speed=np.ones(fabric.gpus),
        )

    @cached_property
    def healthy(self) -> bool:
        """True when nothing has failed or slowed down."""
        return bool(
            (self.cable_scale == 1.0).all()
            and self.switch_up.all()
            and self.nic_up.all()
            and self.node_up.all()
            and self.gpu_up.all()
            and (self.gpu_speed == 1.0).all()
        )

    def speeds(self, index: int, *, whole_node: bool) -> F64:
        """Speed of a GPU, or of all GPUs of a node."""
        each = len(self.gpu_speed) // len(self.node_up) if whole_node else 1
        return self.gpu_speed[index * each : (index + 1) * each]

    def works_as(self, other: Health) -> bool:
        """True when the same works in both, at whatever speed GPUs compute."""
        names = ("cable_scale", "switch_up", "nic_up", "node_up", "gpu_up")
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        return all(own is its or np.array_equal(own, its) for own, its in pairs)

    def cable_rate(self, fabric: Fabric) -> F64:
        """Usable rate of every cable, one direction, (C,) Gb/s; 0 where an end is dead."""
        if self.healthy:
            return fabric.cable_gbps
        node_of_port = fabric.port_node(np.arange(fabric.ports, dtype=np.int32))
        node_of_gpu = np.arange(fabric.gpus) // fabric.gpus_per_node
        vertex_up = np.concatenate(
            [
                self.nic_up & self.node_up[node_of_port],
                self.switch_up,
                self.gpu_up & self.node_up[node_of_gpu],
                np.ones(fabric.domains + fabric.groups, dtype=np.bool_),
            ]
        )
        alive = vertex_up[fabric.cable_a] & vertex_up[fabric.cable_b]
        rate: F64 = fabric.cable_gbps * self.cable_scale
        rate[~alive] = 0.0
        return rate
