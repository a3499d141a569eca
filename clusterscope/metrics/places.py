"""Kinds of things and places in a fabric, as sets of vertices and indices.

A place is the vertices in it and those cabled to them: so the nodes and the spines of a leaf are
what hangs on it. A cable is of a place when one of its ends is in it.

Axes: V vertices up to the GPUs, n members of a kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import I64, Bool
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import UnknownNameError
from clusterscope.fabric.arrays import DRAGONFLY_TIERS, SCALE_UP, TIER_NAMES, Fabric
from clusterscope.fabric.scaleup import gpus_of_group
from clusterscope.fabric.things import Thing, ThingKind
from clusterscope.metrics.cost import cable_kind
from clusterscope.metrics.links import pod_of_node

PLACES = ("pod", "group", "plane", "rail", "domain")


@dataclass(frozen=True)
class Kind:
    """What a rule can be about.

    Attributes:
        words: what it is called, the first in messages.
        thing: kind of thing that it is.
        switch_tier: of switches: 1 leaf, 2 spine, 3 core; 0 all.
        tiers: of cables: their tiers.
        only: of cables: "optic", or the end that has to be in the place: "up", "down".
    """

    words: tuple[str, ...]
    thing: ThingKind
    switch_tier: int = 0
    tiers: tuple[int, ...] = (0, 1, 2, 3)
    only: str = ""


KINDS = (
    Kind(("leaf", "leaves", "leafs"), "switch", 1),
    Kind(("spine", "spines"), "switch", 2),
    Kind(("core", "cores"), "switch", 3),
    Kind(("switch", "switches"), "switch"),
    Kind(("node", "nodes", "server", "servers"), "node"),
    Kind(("GPU", "GPUs"), "gpu"),
    Kind(("NIC", "NICs", "HCA", "HCAs"), "nic"),
    Kind(("cable", "cables", "link", "links"), "cable"),
    Kind(
        ("optic", "optics", "transceiver", "transceivers"), "cable", tiers=(0, 1, 2), only="optic"
    ),
    Kind(("uplink", "uplinks"), "cable", only="up"),
    Kind(("downlink", "downlinks"), "cable", only="down"),
)
# Cable tiers of any fabric; which of them there are is for the fabric to say.
TIER_WORDS = tuple(dict.fromkeys(TIER_NAMES + DRAGONFLY_TIERS))
KIND_WORDS = tuple(word for kind in KINDS for word in kind.words) + TIER_WORDS
_BY_WORD = {word.casefold(): kind for kind in KINDS for word in kind.words}
_TIERS = {"scale-out": (0, 1, 2), "nvlink": (SCALE_UP,)}


def kind_of(word: str) -> Kind | None:
    """Kind of that name."""
    return _BY_WORD.get(word.casefold())


def tier_of(word: str, fabric: Fabric) -> tuple[int, ...] | None:
    """Cable tiers of that name."""
    folded = word.casefold()
    if folded in fabric.tier_names:
        return (fabric.tier_names.index(folded),)
    return _TIERS.get(folded)


class Places:
    """Sets of things of one scenario.

    Args:
        scenario: what they are in.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._fabric = scenario.fabric
        self._vertices = scenario.fabric.domain_vertex

    def members(self, kind: Kind) -> I64:
        """Indices of all things of a kind, ascending, (n,)."""
        fabric = self._fabric
        if kind.thing == "switch":
            tiers = (kind.switch_tier,) if kind.switch_tier else (1, 2, 3)
            return _joined([fabric.switches_of(tier) for tier in tiers])
        if kind.thing == "cable":
            return _joined(
                [fabric.tier_cables(tier) for tier in kind.tiers if self._has(kind, tier)]
            )
        counts = {"node": fabric.nodes, "gpu": fabric.gpus, "nic": fabric.ports}
        return np.arange(counts[kind.thing], dtype=np.int64)

    def _has(self, kind: Kind, tier: int) -> bool:
        """True when cables of a tier are of the kind."""
        return kind.only != "optic" or (
            tier < SCALE_UP and cable_kind(self._scenario, tier) == "optic"
        )

    def region(self, word: str, number: int) -> Bool:
        """Vertices of a pod, plane, rail or domain, (V,).

        Raises:
            UnknownNameError: there is none of that number.
        """
        fabric = self._fabric
        per_nic = max(1, fabric.ports_per_nic)
        port = np.arange(fabric.ports)
        node = fabric.port_node(port.astype(np.int32))
        gpu_node = np.arange(fabric.gpus) // max(1, fabric.gpus_per_node)
        nowhere = np.full(fabric.gpus, -1)
        groups: tuple[np.ndarray, ...]
        match word:
            case "pod" | "group":
                pods = pod_of_node(fabric)
                groups = (pods[node], fabric.switch_pod, pods[gpu_node])
                count = fabric.pods if word == fabric.pod_word else 0
            case "plane":
                groups = (port % per_nic, fabric.switch_plane, nowhere)
                count = self._scenario.names.planes if fabric.switches else 0
            case "rail":
                groups = (
                    port // per_nic % max(1, fabric.nics_per_node),
                    fabric.switch_rail,
                    nowhere,
                )
                count = fabric.nics_per_node if (fabric.switch_rail >= 0).any() else 0
            case _:
                first = fabric.gpu_domain[node * fabric.gpus_per_node]
                groups = (first, np.full(fabric.switches, -1), fabric.gpu_domain)
                count = fabric.domains
        if not 0 <= number < count:
            span = f"{word}s there: 0 to {count - 1}" if count else f"there are no {word}s"
            raise UnknownNameError("place", f"{word} {number}", hint=span)
        inside: Bool = np.concatenate(groups) == number
        return inside

    def of(self, *things: Thing) -> Bool:
        """Vertices of things, (V,): the device itself, what a group holds, the ends of a cable."""
        own = np.zeros(self._vertices, dtype=np.bool_)
        for thing in things:
            own |= self._one(thing)
        return own

    def _one(self, thing: Thing) -> Bool:
        fabric, i = self._fabric, thing.index
        own = np.zeros(self._vertices, dtype=np.bool_)
        match thing.kind:
            case "pod" | "domain":
                return self.region(fabric.pod_word if thing.kind == "pod" else "domain", i)
            case "cluster" | "domains":
                own[:] = True
            case "cores" | "spines":
                wanted = fabric.switch_tier == (3 if thing.kind == "cores" else 2)
                wanted &= fabric.switch_pod == (-1 if thing.kind == "cores" else i)
                own[fabric.ports : fabric.gpu_vertex] = wanted
            case "switch":
                own[fabric.ports + i] = True
            case "nic":
                own[i] = True
            case "gpu":
                own[fabric.gpu_vertex + i] = True
            case "node":
                per_node = fabric.nics_per_node * fabric.ports_per_nic
                own[i * per_node : (i + 1) * per_node] = True
                gpus = fabric.gpu_vertex + i * fabric.gpus_per_node
                own[gpus : gpus + fabric.gpus_per_node] = True
            case "subdomain":
                members = gpus_of_group(fabric, i)
                own[fabric.gpu_vertex + members.start : fabric.gpu_vertex + members.stop] = True
                ports = fabric.gpu_nic_port[members.start : members.stop]
                near = ports[ports >= 0, None] + np.arange(fabric.ports_per_nic)
                own[near.ravel()] = True
            case _:
                own[self._ends(i if thing.kind == "cable" else i >> 1)] = True
        return own

    def _ends(self, cable: int) -> I64:
        """Ends of a cable that are vertices of a place."""
        ends = np.array([self._fabric.cable_a[cable], self._fabric.cable_b[cable]])
        return ends[ends < self._vertices]

    def inside(self, kind: Kind, members: I64, own: Bool) -> Bool:
        """Which members (n,) of a kind are of the place whose vertices are given, (n,)."""
        fabric = self._fabric
        if kind.thing == "cable":
            # Neither a domain nor a group of it is a vertex of a place.
            padded = np.append(own, np.zeros(fabric.domains + fabric.groups, dtype=np.bool_))
            lower, upper = padded[fabric.cable_a[members]], padded[fabric.cable_b[members]]
            return {"up": lower, "down": upper}.get(kind.only, lower | upper)
        if kind.thing == "switch" and fabric.dragonfly:
            # Everything is cabled to everything there, so a group is its own switches alone.
            inside = own[fabric.ports : fabric.gpu_vertex]
            if inside.sum() > 1:
                return inside[members]
        near = self._near(own)
        ports, gpus = near[: fabric.ports], near[fabric.gpu_vertex :]
        if kind.thing == "nic":
            return ports[members]
        if kind.thing == "switch":
            return near[fabric.ports + members]
        has_nic = fabric.gpu_nic_port >= 0
        gpu = gpus.copy()
        gpu[has_nic] |= near[fabric.gpu_nic_port[has_nic]]
        if kind.thing == "gpu":
            return gpu[members]
        node: Bool = np.any(gpus.reshape(fabric.nodes, -1), axis=1)
        if fabric.ports:
            node |= np.any(ports.reshape(fabric.nodes, -1), axis=1)
        return node[members]

    def _near(self, own: Bool) -> Bool:
        """Vertices of a place and all that is cabled to them, (V,)."""
        fabric = self._fabric
        cables = slice(0, int(fabric.tier_start[SCALE_UP]))
        a, b = fabric.cable_a[cables], fabric.cable_b[cables]
        near = own.copy()
        near[a[own[b]]] = True
        near[b[own[a]]] = True
        return near

    def number(self, kind: Kind, members: I64) -> I64:
        """Number that each member (n,) of a kind carries in its name, -1 where it has none."""
        fabric = self._fabric
        if kind.thing == "node":
            return members
        if kind.thing == "gpu":
            return members % fabric.gpus_per_node
        if kind.thing == "nic":
            return members // fabric.ports_per_nic % fabric.nics_per_node
        if kind.thing == "switch" and (kind.switch_tier or fabric.dragonfly):
            keys = np.stack([fabric.switch_tier, fabric.switch_pod, fabric.switch_plane])
            turns = np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))
            first = np.maximum.accumulate(np.where(turns, np.arange(fabric.switches), 0))
            return (np.arange(fabric.switches) - first)[members]
        return np.full(len(members), -1)


def _joined(spans: list[range]) -> I64:
    parts = [np.arange(span.start, span.stop, dtype=np.int64) for span in spans]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
