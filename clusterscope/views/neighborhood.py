"""What one thing is cabled to: upper neighbors, lower neighbors, its scale-up domain at the side.

Who is a neighbor is decided once; what its cables carry is read from a frame when it is looked at,
since a switch may have hundreds of neighbors and a group thousands.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clusterscope.columns import I32
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import Fabric, Health
from clusterscope.fabric.scaleup import cables_of, thing_cables
from clusterscope.fabric.things import Thing
from clusterscope.views.dragonfly import far_ends
from clusterscope.views.focus import cables_of_switch
from clusterscope.views.text import fmt, sanitize
from clusterscope.views.tree import inside, parent, state_of

_PLURALS = {
    "leaf": "leaves",
    "switch": "switches",
    "NIC port": "NIC ports",
    "GPU": "GPUs",
    "group of GPUs": "groups of GPUs",
    "all spines": "all spines",
}
_WORDS = {
    "nic": "NIC port",
    "gpu": "GPU",
    "subdomain": "group of GPUs",
    "spines": "all spines",
    "cores": "all cores",
}
_SAMPLED = 64
_LISTED = 4  # cables of a trunk that are named
_UP_FIELD = {"switch": "switch_up", "nic": "nic_up", "node": "node_up", "gpu": "gpu_up"}


@dataclass(frozen=True)
class Tie:
    """A neighbor, and the cables to it; none to what a thing is part of or made of.

    An upper neighbor is at the upper end of its cables, or, when `turned`, at the lower.
    """

    thing: Thing
    cables: tuple[int, ...] = ()
    turned: bool = False


@dataclass(frozen=True)
class Hood:
    """A thing and its neighbors.

    Attributes:
        center: the thing in the middle.
        above: neighbors on the upper side, in order.
        side: its scale-up domains or what its GPUs are cabled to, when not below it.
        below: neighbors on the lower side, in order; members of a group.
    """

    center: Thing
    above: tuple[Tie, ...]
    side: tuple[Tie, ...]
    below: tuple[Tie, ...]


@dataclass(frozen=True)
class Look:
    """What a neighbor looks like at a frame.

    Attributes:
        name: name, as selections use it.
        label: the same, with the number of cables when there are several, safe to print.
        up: worst live utilization of the cables to the upper end, nan when none is live.
        down: the same to the lower end.
        cables: cables to it; 0 for a part of the center or what it is a part of: then `up` is the
            worst of its own links, and `down` says nothing.
        dead: dead cables among them; dead ones of its own for a part.
        failed: it has failed itself.
    """

    name: str
    label: str
    up: float
    down: float
    cables: int
    dead: int
    failed: bool


def center_of(scenario: Scenario, thing: Thing) -> tuple[Thing, Thing | None]:
    """What to put in the middle for a selection, and the neighbor to point at first, if any.

    A cable or link is shown from its lower end.
    """
    if thing.kind not in ("cable", "link"):
        return thing, None
    cable = thing.index >> 1 if thing.kind == "link" else thing.index
    fabric, names = scenario.fabric, scenario.names
    low, high = (names.of_vertex(int(ends[cable])) for ends in (fabric.cable_a, fabric.cable_b))
    return low, high


def hood(scenario: Scenario, thing: Thing, *, trunks: bool = True) -> Hood:
    """Neighbors of a thing.

    Args:
        scenario: the cluster.
        thing: what to put in the middle; no cable and no link, see `center_of`.
        trunks: cables to one neighbor are taken together.
    """
    fabric = scenario.fabric
    match thing.kind:
        case "switch":
            below, above = cables_of_switch(scenario, thing.index)
            upper = _uppers(scenario, above, trunks)
            if fabric.dragonfly:
                upper = _others(scenario, above, thing.index, trunks)
            return Hood(thing, upper, (), _lowers(scenario, below, trunks))
        case "node":
            nics, gpus = inside_node(fabric, thing.index)
            parts = tuple(Tie(Thing("nic", nic)) for nic in nics.tolist())
            parts += tuple(Tie(Thing("gpu", gpu)) for gpu in gpus.tolist())
            side = _beside(scenario, thing, gpus, trunks)
            return Hood(thing, _uppers(scenario, nics, trunks), side, parts)
        case "nic":
            own = np.array([thing.index], dtype=np.int32)
            return Hood(thing, _uppers(scenario, own, trunks), (), _users(fabric, thing.index))
        case "gpu":
            side = _beside(scenario, thing, np.array([thing.index], dtype=np.int32), trunks)
            if fabric.shape.direct:  # there are many, and the side shows one at a time
                return Hood(
                    thing, (_node_of(fabric, thing), *_nics_of(fabric, thing.index)), (), side
                )
            return Hood(thing, _nics_of(fabric, thing.index), side, (_node_of(fabric, thing),))
        case "domain":
            if fabric.shape.direct:
                return Hood(thing, (), (), tuple(Tie(p) for p in inside(scenario, thing)))
            own = thing_cables(fabric, thing)
            own = own[fabric.cable_b[own] == fabric.domain_vertex + thing.index]
            return Hood(thing, (), (), _lowers(scenario, own, trunks))
        case "subdomain":
            own = thing_cables(fabric, thing)
            return Hood(
                thing, _uppers(scenario, own[-1:], trunks), (), _lowers(scenario, own[:-1], trunks)
            )
        case _:
            outer = parent(scenario, thing)
            around = () if outer is None else (Tie(outer),)
            return Hood(thing, around, (), tuple(Tie(part) for part in inside(scenario, thing)))


def look(scenario: Scenario, frame: Frame, tie: Tie) -> Look:
    """What a neighbor looks like at a frame."""
    name, ratio = scenario.names.thing(tie.thing), frame.utilization
    failed = has_failed(frame.health, tie.thing)
    if not tie.cables:
        worst, dead = state_of(scenario, frame, tie.thing)
        return Look(name, sanitize(name), worst, math.nan, 0, dead, failed)
    # Most trunks have a cable or two, for which arrays would only be slow.
    ups = [float(ratio[2 * cable + tie.turned]) for cable in tie.cables]
    downs = [float(ratio[2 * cable + 1 - tie.turned]) for cable in tie.cables]
    dead = sum(map(math.isnan, ups))
    return Look(name, label(scenario, tie), _top(ups), _top(downs), len(tie.cables), dead, failed)


def label(scenario: Scenario, tie: Tie) -> str:
    """Name of a neighbor, with the number of cables when there are several, safe to print."""
    count = f" ×{len(tie.cables)}" if len(tie.cables) > 1 else ""
    return sanitize(scenario.names.thing(tie.thing)) + count


def widest(scenario: Scenario, ties: Sequence[Tie]) -> int:
    """Characters of the longest of some names; of many, of a sample, as numbers are padded."""
    sample = ties[:: max(1, len(ties) // _SAMPLED)]
    return max((len(label(scenario, tie)) for tie in sample), default=0)


def has_failed(health: Health, thing: Thing) -> bool:
    """True when a device itself has failed, whatever is around it."""
    field = _UP_FIELD.get(thing.kind)
    return field is not None and not getattr(health, field)[thing.index]


def kind_of(scenario: Scenario, thing: Thing) -> str:
    """What a thing is, in a word: "leaf", "NIC port"."""
    if thing.kind == "switch":
        return scenario.fabric.switch_words[int(scenario.fabric.switch_tier[thing.index]) - 1]
    if thing.kind == "pod":
        return scenario.fabric.pod_word
    return _WORDS.get(thing.kind, thing.kind)


def summary(scenario: Scenario, ties: Sequence[Tie]) -> str:
    """How many of what there are: "2 spines, 4 cables"."""
    kinds = Counter(kind_of(scenario, thing) for thing in dict.fromkeys(tie.thing for tie in ties))
    words = [_counted(count, kind, _PLURALS.get(kind, f"{kind}s")) for kind, count in kinds.items()]
    cables = sum(len(tie.cables) for tie in ties)
    return ", ".join([*words, *([_counted(cables, "cable", "cables")] if cables else [])])


def _counted(count: int, singular: str, plural: str) -> str:
    return f"{count:,} {singular if count == 1 else plural}"


def words(scenario: Scenario, frame: Frame, tie: Tie, center: Thing) -> str:
    """One neighbor in a line: which cables lead to it and what they carry, together."""
    name = scenario.names.thing(tie.thing)
    if not tie.cables:
        relation = "in" if parent(scenario, tie.thing) == center else "around"
        return sanitize(
            f"{name}, {kind_of(scenario, tie.thing)} {relation} {scenario.names.thing(center)}"
        )
    cables = np.array(tie.cables)
    carries = frame.network.cable_gbps[cables]
    ways = (1, 0) if tie.turned else (0, 1)
    up, down = (float(frame.link_gbps[2 * cables + way].sum()) for way in ways)
    dead = int((carries <= 0).sum())
    listed = f"{name} by {_listed(scenario, tie.cables)}"
    if dead == len(cables):
        return sanitize(f"{listed}: dead")
    loads = [fmt(load, "gbps").removesuffix(" Gb/s") for load in (up, down)]
    state = f", {dead:,} of {len(cables):,} dead" if dead else ""
    rate = f"↑ {loads[0]} ↓ {loads[1]} of {fmt(float(carries.sum()), 'gbps')}"
    return sanitize(f"{listed}{state}: {rate}")


def _listed(scenario: Scenario, cables: tuple[int, ...]) -> str:
    """Names of cables, what they have in common said once: "leaf2:u0, u2"."""
    known, listed = "", []
    for cable in cables[:_LISTED]:
        device, _, port = scenario.names.cable(cable).rpartition(":")
        listed.append(port if device == known else f"{device}:{port}")
        known = device
    more = len(cables) - _LISTED
    return ", ".join(listed) + (f" and {more:,} more" if more > 0 else "")


def inside_node(fabric: Fabric, node: int) -> tuple[I32, I32]:
    """NIC ports and GPUs of a node."""
    per_node = fabric.ports // fabric.nodes
    nics = np.arange(node * per_node, (node + 1) * per_node, dtype=np.int32)
    first = node * fabric.gpus_per_node
    return nics, np.arange(first, first + fabric.gpus_per_node, dtype=np.int32)


def _beside(scenario: Scenario, center: Thing, gpus: I32, trunks: bool) -> tuple[Tie, ...]:
    """Where the scale-up cables of the center's GPUs lead: a domain, a group, or GPUs beyond it."""
    fabric = scenario.fabric
    cables = cables_of(fabric, gpus)
    if not fabric.shape.direct:
        return _uppers(scenario, cables, trunks)
    low, high = fabric.cable_a[cables], fabric.cable_b[cables]
    own = fabric.gpu_vertex + gpus
    beyond = ~(np.isin(low, own) & np.isin(high, own))
    far = np.where(np.isin(low, own), high, low)[beyond]
    ends = [scenario.names.of_vertex(vertex) for vertex in far.tolist()]
    if trunks and center.kind == "node":
        ends = [_holder(fabric, end) for end in ends]
    return _ties(ends, cables[beyond], trunks)


def _uppers(scenario: Scenario, cables: I32, trunks: bool) -> tuple[Tie, ...]:
    """Upper ends of cables."""
    names = scenario.names
    ends = [names.of_vertex(vertex) for vertex in scenario.fabric.cable_b[cables].tolist()]
    return _ties(ends, cables, trunks)


def _others(scenario: Scenario, cables: I32, switch: int, trunks: bool) -> tuple[Tie, ...]:
    """Other switches of a dragonfly; `turned` where they are the lower end."""
    names, ends = scenario.names, far_ends(scenario.fabric, cables, switch)
    ties = _ties([names.of_vertex(vertex) for vertex in ends.tolist()], cables, trunks)
    return tuple(replace(tie, turned=tie.thing.index < switch) for tie in ties)


def _lowers(scenario: Scenario, cables: I32, trunks: bool) -> tuple[Tie, ...]:
    """Lower ends of cables; NIC ports and GPUs of one node are one neighbor, as trunks are."""
    fabric, names = scenario.fabric, scenario.names
    ends = [names.of_vertex(vertex) for vertex in fabric.cable_a[cables].tolist()]
    if trunks and len({_holder(fabric, end) for end in ends}) > 1:
        ends = [_holder(fabric, end) for end in ends]
    return _ties(ends, cables, trunks)


def _holder(fabric: Fabric, thing: Thing) -> Thing:
    """Node of a NIC port or GPU; any other thing itself."""
    return _node_of(fabric, thing).thing if thing.kind in ("nic", "gpu") else thing


def _ties(ends: Iterable[Thing], cables: I32, trunks: bool) -> tuple[Tie, ...]:
    """Neighbors in order of index, each with its cables, or one for every cable."""
    pairs = sorted(zip(ends, cables.tolist(), strict=True))
    if not trunks:
        return tuple(Tie(end, (cable,)) for end, cable in pairs)
    grouped: dict[Thing, list[int]] = {}
    for end, cable in pairs:
        grouped.setdefault(end, []).append(cable)
    return tuple(Tie(end, tuple(own)) for end, own in grouped.items())


def _node_of(fabric: Fabric, thing: Thing) -> Tie:
    """Node of a NIC port or GPU."""
    per_node = fabric.gpus_per_node if thing.kind == "gpu" else fabric.ports // fabric.nodes
    return Tie(Thing("node", thing.index // per_node))


def _first_port(fabric: Fabric, port: int) -> int:
    """First port of the NIC that a port belongs to."""
    return port - port % fabric.ports_per_nic


def _users(fabric: Fabric, port: int) -> tuple[Tie, ...]:
    """Node of a NIC port, and the GPUs that use it."""
    node = _node_of(fabric, Thing("nic", port))
    first = node.thing.index * fabric.gpus_per_node
    nic_of = fabric.gpu_nic_port[first : first + fabric.gpus_per_node]
    users = np.flatnonzero(nic_of == _first_port(fabric, port)) + first
    return (node, *(Tie(Thing("gpu", gpu)) for gpu in users.tolist()))


def _nics_of(fabric: Fabric, gpu: int) -> tuple[Tie, ...]:
    """Ports of the NIC that a GPU uses."""
    first = int(fabric.gpu_nic_port[gpu])
    if first < 0:
        return ()
    return tuple(Tie(Thing("nic", first + plane)) for plane in range(fabric.ports_per_nic))


def _top(ratios: list[float]) -> float:
    """Largest of some ratios; nan when all are."""
    return max((ratio for ratio in ratios if not math.isnan(ratio)), default=math.nan)
