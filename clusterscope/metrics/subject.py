"""What a person names to have explained: a flow, a link, a device or a job."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import I32
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.fabric.arrays import Fabric
from clusterscope.fabric.things import Thing
from clusterscope.metrics.dead import busiest, users_when_whole
from clusterscope.metrics.links import peak_utilization
from clusterscope.metrics.tenants import job_load
from clusterscope.traffic.flows import Exchange

_ARROW = "->"
_NAMED = 6  # peers of a sender that an error message names


@dataclass(frozen=True)
class Subject:
    """What is explained.

    Attributes:
        name: as people call it.
        kind: "flow", "link" or "job".
        job: index of the job, -1 when no job uses the link.
        link: the link, -1 unless it is one.
        ends: vertices of a flow.
        phase: phase of a flow, -1 otherwise.
    """

    name: str
    kind: str
    job: int
    link: int = -1
    ends: tuple[int, int] = (-1, -1)
    phase: int = -1


def subject_of(scenario: Scenario, network: Network, text: str) -> Subject:
    """What a text names: "SENDER -> RECEIVER", a job, or a thing.

    Raises:
        UnknownNameError: nothing is called that.
        SpecError: no job sends between the two, or there are no links.
    """
    left, arrow, right = text.partition(_ARROW)
    if arrow:
        return _flow(scenario, left.strip(), right.strip())
    names = [program.name for program in scenario.program]
    wanted = text.strip().removeprefix("job ").strip().casefold()
    for job, name in enumerate(names):
        if name.casefold() == wanted:
            return Subject(name, "job", job)
    try:
        thing = scenario.names.find(text.strip())
    except UnknownNameError as error:
        known = [*names, *([error.near] if error.near else [])]
        hint = "; ".join(filter(None, (error.hint, "a flow is 'node0/gpu0 -> node1/gpu0'")))
        raise UnknownNameError("job or thing", text.strip()[:80], known, hint) from None
    return of_thing(scenario, network, thing)


def of_thing(scenario: Scenario, network: Network, thing: Thing) -> Subject:
    """A thing as a subject: the cluster is its first job, a device its fullest link.

    The job of a dead link is the one that would use it.

    Raises:
        SpecError: it has no links, or there is no job.
    """
    if thing.kind == "cluster" and scenario.program:
        return Subject(scenario.program[0].name, "job", 0)
    links = _links_of(scenario, thing)
    if not len(links):
        raise SpecError(scenario.names.thing(thing), "has no links", "explain a link or a job")
    level = np.nan_to_num(peak_utilization(network)[links], nan=-1.0)
    link = int(links[int(level.argmax())])
    if level.max() < 0:
        link = busiest(network, links)
        job = next(iter(users_when_whole(network, link)), -1)
        return Subject(scenario.names.link(link), "link", job, link)
    loads = [float(job_load(network, job)[link]) for job in range(len(scenario.program))]
    job = int(np.argmax(loads)) if loads and max(loads) > 0 else -1
    return Subject(scenario.names.link(link), "link", job, link)


def _links_of(scenario: Scenario, thing: Thing) -> I32:
    """Directed links of a link, a cable, or all that end at a device or in a group of them."""
    fabric = scenario.fabric
    if thing.kind == "link":
        return np.array([thing.index], dtype=np.int32)
    if thing.kind == "cable":
        cables = np.array([thing.index], dtype=np.int32)
    else:
        low, high = _vertices(fabric, thing)
        ends = [(a >= low) & (a < high) for a in (fabric.cable_a, fabric.cable_b)]
        cables = np.flatnonzero(ends[0] | ends[1]).astype(np.int32)
        if thing.kind == "node":
            local = fabric.ports // fabric.nodes
            nics = np.arange(thing.index * local, (thing.index + 1) * local, dtype=np.int32)
            cables = np.union1d(cables, nics).astype(np.int32)
    return np.sort(np.concatenate([2 * cables, 2 * cables + 1])).astype(np.int32)


def _vertices(fabric: Fabric, thing: Thing) -> tuple[int, int]:
    """Vertices of a device; the GPUs of a node; all switches and NICs for a group."""
    i, per_node = thing.index, fabric.gpus_per_node
    match thing.kind:
        case "nic":
            return i, i + 1
        case "switch":
            return fabric.ports + i, fabric.ports + i + 1
        case "gpu":
            return fabric.gpu_vertex + i, fabric.gpu_vertex + i + 1
        case "node":
            first = fabric.gpu_vertex + i * per_node
            return first, first + per_node
        case "domain":
            return fabric.domain_vertex + i, fabric.domain_vertex + i + 1
        case _:
            return 0, fabric.domain_vertex + fabric.domains


def _flow(scenario: Scenario, left: str, right: str) -> Subject:
    """The flow between two GPUs or NICs, in the first job and phase that has it."""
    names = scenario.names
    ends = [names.find(name) for name in (left, right)]
    sides = [_senders(scenario.fabric, thing) for thing in ends]
    title = f"{names.thing(ends[0])} {_ARROW} {names.thing(ends[1])}"
    peers: list[int] = []
    for job, program in enumerate(scenario.program):
        for phase, own in enumerate(program.phases):
            if isinstance(own.demand, Exchange):
                found = [[p for p in side if p in own.demand.ports] for side in sides]
                if all(found):
                    return Subject(title, "flow", job, ends=(found[0][0], found[1][0]), phase=phase)
                continue
            sent = np.isin(own.demand.src, sides[0])
            hit = np.flatnonzero(sent & np.isin(own.demand.dst, sides[1]))
            if len(hit):
                pair = int(own.demand.src[hit[0]]), int(own.demand.dst[hit[0]])
                return Subject(title, "flow", job, ends=pair, phase=phase)
            peers += own.demand.dst[sent].tolist()
    known = dict.fromkeys(names.thing(names.of_vertex(peer)) for peer in peers[:_NAMED])
    hint = f"it sends to {', '.join(known)}" if known else "it sends nothing"
    raise SpecError(title, "is no flow of any job", hint)


def _senders(fabric: Fabric, thing: Thing) -> list[int]:
    """Vertices that send for a GPU or NIC: a GPU's NIC ports, and itself into its domain."""
    if thing.kind == "gpu":
        first = int(fabric.gpu_nic_port[thing.index])
        ports = list(range(first, first + fabric.ports_per_nic)) if first >= 0 else []
        return [*ports, fabric.gpu_vertex + thing.index]
    if thing.kind == "nic":
        return [thing.index]
    raise SpecError(thing.kind, "is no end of a flow", "name two GPUs or two NIC ports")
