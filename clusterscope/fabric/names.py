"""Index to name and back, by arithmetic: the only translator between arrays and people.

    cluster   pod07   domain0012
    node00448   node00448/gpu3   node00448/nic3   (node00448/nic3/p1 with several planes)
    leaf012   spine07                             one and two tiers
    pod07/leaf12   pod07/spine21   core123        three tiers
    pod07/plane1/leaf12   plane1/core123          three tiers, several planes
    node00448/nic3:u0   pod07/leaf12:u33   node00448/gpu3:nv      cable: its lower end and port
    domain0/group03   domain0/group03:nv          group of a two-level domain, and its uplink
    node0/gpu1:x+   node0/gpu1:m3                 cable of a torus: the next GPU along x, and of a
                                                  mesh: GPU 3 of the domain (x- and the higher
                                                  GPU's m1 are found too)
    group07/switch12   group07/switch12:l04       dragonfly, and a local cable to a higher switch
    group07/switch12:g3                           global cable to a higher group
    pod07/leaf12:u33>   pod07/leaf12:u33<                         link: cable, up or down
    cores   pod07/spines (spines with two tiers)   domains        groups

Numbers start at 0 and are padded to the width of the largest. Nothing is kept for each device, so
a million GPUs cost no more than eight.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from clusterscope.fabric.arrays import SCALE_UP, SPINE_CORE, Fabric
from clusterscope.fabric.find import find
from clusterscope.fabric.geometry import AXES, geometry
from clusterscope.fabric.things import Thing


@dataclass(frozen=True)
class Family:
    """Switches that are numbered together: those of one tier in one pod and plane.

    Attributes:
        tier: 1 leaf, 2 spine, 3 core.
        pod: pod, -1 for cores.
        plane: plane.
        first: index of the first switch.
        count: how many there are.
    """

    tier: int
    pod: int
    plane: int
    first: int
    count: int


def numbered(word: str, index: int, count: int) -> str:
    """A word and its number, padded to the width of the largest of `count` numbers from 0."""
    return f"{word}{index:0{len(str(max(count - 1, 0)))}d}"


def _families(fabric: Fabric) -> list[Family]:
    """Runs of switches of equal tier, pod and plane, in order."""
    keys = np.stack([fabric.switch_tier, fabric.switch_pod, fabric.switch_plane])  # (3, S)
    if fabric.switches == 0:
        return []
    starts = [0, *(np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1).tolist()]
    ends = [*starts[1:], fabric.switches]
    return [
        Family(int(keys[0, low]), int(keys[1, low]), int(keys[2, low]), low, high - low)
        for low, high in zip(starts, ends, strict=True)
    ]


class Names:
    """Names of the things of one fabric.

    Attributes:
        fabric: the fabric.
        planes: planes of it; a name says the plane when there are several.
        pods_named: names of leaves and spines say the pod, as they do with three tiers; those of
            the switches of a dragonfly say the group.
    """

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self._families = _families(fabric)
        self._starts = [family.first for family in self._families]
        self._by_key = {(f.tier, f.pod, f.plane): f for f in self._families}
        self.planes = 1 + max((f.plane for f in self._families), default=0)
        self.pods_named = fabric.dragonfly or any(f.tier == 3 for f in self._families)
        uplinks = np.diff(fabric.up_start)
        self._most_global = int(np.diff(fabric.global_start).max(initial=0))
        self._most = {}  # largest family of each tier
        self._uplinks = {}  # most uplinks of a switch of each tier
        for tier in (1, 2, 3):
            members = fabric.switches_of(tier)
            self._most[tier] = max((f.count for f in self._families if f.tier == tier), default=0)
            self._uplinks[tier] = int(uplinks[members.start : members.stop].max(initial=0))

    def pod(self, pod: int) -> str:
        """Name of a pod."""
        return numbered(self.fabric.pod_word, pod, self.fabric.pods)

    def domain(self, domain: int) -> str:
        """Name of a scale-up domain."""
        return numbered("domain", domain, self.fabric.domains)

    def node(self, node: int) -> str:
        """Name of a node."""
        return numbered("node", node, self.fabric.nodes)

    def gpu(self, gpu: int) -> str:
        """Name of a GPU."""
        node, local = divmod(gpu, self.fabric.gpus_per_node)
        return f"{self.node(node)}/{numbered('gpu', local, self.fabric.gpus_per_node)}"

    def nic(self, port: int) -> str:
        """Name of a NIC port."""
        nic, plane = divmod(port, self.fabric.ports_per_nic)
        node, local = divmod(nic, self.fabric.nics_per_node)
        name = f"{self.node(node)}/{numbered('nic', local, self.fabric.nics_per_node)}"
        if self.fabric.ports_per_nic == 1:
            return name
        return f"{name}/{numbered('p', plane, self.fabric.ports_per_nic)}"

    def switch(self, switch: int) -> str:
        """Name of a switch."""
        family = self._families[bisect_right(self._starts, switch) - 1]
        return self.member(family, switch - family.first)

    def cable(self, cable: int) -> str:
        """Name of a cable: its lower end, and the port there."""
        fabric = self.fabric
        thing = self.of_vertex(int(fabric.cable_a[cable]))
        if thing.kind == "gpu" and fabric.shape.direct:
            return f"{self.thing(thing)}:{self._direct(cable)}"
        if thing.kind == "subdomain":
            return f"{self.thing(thing)}:nv"
        if thing.kind != "switch":
            return f"{self.thing(thing)}:{'nv' if thing.kind == 'gpu' else 'u0'}"
        if cable >= int(fabric.tier_start[SPINE_CORE]) and fabric.dragonfly:
            port = cable - int(fabric.global_start[thing.index])
            return f"{self.switch(thing.index)}:{numbered('g', port, self._most_global)}"
        port = cable - int(fabric.up_start[thing.index])
        count = self._uplinks[int(fabric.switch_tier[thing.index])]
        return f"{self.switch(thing.index)}:{numbered(fabric.port_letters[0], port, count)}"

    def _direct(self, cable: int) -> str:
        """Port of a cable between GPUs at its lower end."""
        shape = self.fabric.shape
        local = (cable - int(self.fabric.tier_start[SCALE_UP])) % shape.cables
        cables = geometry(shape)
        if shape.kind == "torus":
            return f"{AXES[int(cables.axis[local])]}+"
        return numbered("m", int(cables.b[local]), shape.size)

    def subdomain(self, group: int) -> str:
        """Name of a first-level group of a scale-up domain."""
        domain, local = divmod(group, self.fabric.shape.groups)
        return f"{self.domain(domain)}/{numbered('group', local, self.fabric.shape.groups)}"

    def link(self, link: int) -> str:
        """Name of a link: its cable, and `>` when it leads up or `<` when it leads down."""
        return self.cable(link >> 1) + "><"[link & 1]

    def thing(self, thing: Thing) -> str:
        """Name of anything that can be selected."""
        translate = {
            "pod": self.pod,
            "switch": self.switch,
            "node": self.node,
            "nic": self.nic,
            "gpu": self.gpu,
            "cable": self.cable,
            "link": self.link,
            "domain": self.domain,
            "subdomain": self.subdomain,
        }
        spell = translate.get(thing.kind)
        return spell(thing.index) if spell else self._group(thing)

    def of_vertex(self, vertex: int) -> Thing:
        """NIC port, switch, GPU or scale-up domain that a vertex stands for."""
        fabric = self.fabric
        if vertex < fabric.ports:
            return Thing("nic", vertex)
        if vertex < fabric.gpu_vertex:
            return Thing("switch", vertex - fabric.ports)
        if vertex < fabric.domain_vertex:
            return Thing("gpu", vertex - fabric.gpu_vertex)
        if vertex < fabric.group_vertex:
            return Thing("domain", vertex - fabric.domain_vertex)
        return Thing("subdomain", vertex - fabric.group_vertex)

    def find(self, name: str) -> Thing:
        """Thing of that name; padding of numbers and upper or lower case do not matter.

        Raises:
            UnknownNameError: nothing is called that; says the range or the nearest name.
        """
        return find(self, name)

    def family(self, tier: int, pod: int, plane: int) -> Family | None:
        """Switches of a tier in a pod and plane; cores have no pod."""
        return self._by_key.get((tier, -1 if tier == 3 else pod, plane))

    def member(self, family: Family, index: int) -> str:
        """Name of the index-th switch of a family."""
        word = self.fabric.switch_words[family.tier - 1]
        parts = [self.pod(family.pod)] if self.pods_named and family.pod >= 0 else []
        if self.planes > 1:
            parts.append(numbered("plane", family.plane, self.planes))
        return "/".join([*parts, numbered(word, index, self._most[family.tier])])

    def _group(self, thing: Thing) -> str:
        """Name of all cores, all domains, or the spines of a pod."""
        if thing.kind == "spines" and self.pods_named:
            return f"{self.pod(thing.index)}/spines"
        return thing.kind
