"""What holds a flow, a link or a job back, and who shares that with it.

A job is explained in its longest part, beside the other jobs in the parts of theirs that slow it
most (`metrics.beside`); a link by the job that loads it most; a device by its fullest link; a flow
by its own slowest connection. `metrics.remedies` tries what would help.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from clusterscope.engine.network import Network
from clusterscope.engine.shares import PhaseKey, Share
from clusterscope.metrics.beside import Crowd
from clusterscope.metrics.dead import Dead, dead
from clusterscope.metrics.subject import Subject
from clusterscope.metrics.tenants import slowest
from clusterscope.metrics.users import connections_of
from clusterscope.routing.route import route
from clusterscope.traffic.flows import Exchange, JobProgram
from clusterscope.traffic.program import busbw_GBps
from clusterscope.units import BITS_PER_BYTE, GIGA


@dataclass(frozen=True)
class Sharer:
    """What one phase of one job puts on the bottleneck.

    Attributes:
        job: index of the job.
        phase: index of the phase in the job.
        rows: flows, or connections of them, that cross the link.
        gbps: load on the wire, Gb/s.
        ratio: part of what the link carries, 0 to 1.
        connections: connections that cross it; 0 of a uniform exchange.
        floods: it sends more to some NIC than that takes.
    """

    job: int
    phase: int
    rows: int
    gbps: float
    ratio: float
    connections: int = 0
    floods: bool = False


@dataclass(frozen=True)
class Explanation:
    """Why something is as fast as it is.

    Attributes:
        subject: what is explained.
        value: what it gets: Gb/s of a flow or link, busbw of a job in 10^9 B/s, tokens of a
            service in a second.
        unit: "gbps", "GBps", or "tokens/s" of a service.
        phase: index of the phase of the job in which it is explained, -1 when none.
        bottleneck: link that holds it back, -1 when no link does.
        capacity_gbps: what the bottleneck carries now.
        load_gbps: load on it.
        sharers: who puts how much on it, most first.
        path: links of the flow's slowest connection, when it has one path.
        elsewhere: True when a flow moves in lock step with one that is held back elsewhere.
        paused_ratio: share of the time for which a busy receiver pauses the bottleneck, 0 to 1.
        paced_by: link that holds back the job of a link, -1 when none does.
        beside: jobs that send at the same time.
        dead: why the bottleneck carries nothing; None when it carries something.
    """

    subject: Subject
    value: float
    unit: str
    phase: int = -1
    bottleneck: int = -1
    capacity_gbps: float = 0.0
    load_gbps: float = 0.0
    sharers: tuple[Sharer, ...] = ()
    path: tuple[int, ...] = ()
    elsewhere: bool = False
    paused_ratio: float = 0.0
    paced_by: int = -1
    beside: tuple[int, ...] = ()
    dead: Dead | None = None


def explain(subject: Subject, network: Network, crowd: Crowd | None = None) -> Explanation:
    """Why a subject is as fast as it is in a network, among the jobs of a crowd."""
    scenario = network.scenario
    if subject.job < 0:
        return _idle(subject, network)
    crowd = crowd or Crowd(network)
    others = crowd.against(subject.job)
    seconds, parts = crowd.beside(subject.job, tuple(k for own in others.values() for k in own))
    share = _part_of(subject, parts)
    if subject.kind == "flow":
        return _explain_flow(subject, network, share, tuple(others))
    key, entity, bound = slowest(scenario, share, subject.job)
    paced_by = bound
    whole_s = max(seconds, crowd.alone_s[subject.job])
    value, unit = _reached(scenario.program[subject.job], whole_s)
    if subject.kind == "link":
        share = max((s for _, s in parts), key=lambda s: float(s.link_gbps[subject.link]))
        bound, value, unit = subject.link, float(share.link_gbps[subject.link]), "gbps"
        key = next((k for k in sorted(share.pace_gbps) if k[0] == subject.job), key)
    found = Explanation(
        subject,
        value,
        unit,
        key[1],
        paused_ratio=_paused(share, key, entity),
        paced_by=paced_by,
        beside=tuple(others),
    )
    return _with_bottleneck(found, network, share, bound)


def _reached(program: JobProgram, iteration_s: float) -> tuple[float, str]:
    """What a job reaches, and its unit: busbw, or tokens a second of a service."""
    if program.serving is None:
        return busbw_GBps(program, iteration_s), "GBps"
    service = program.serving.service
    each: float = service.output_tokens if service.decode else service.input_tokens
    if not service.prefill:
        each = service.tokens_per_step
    return program.serving.requests * each / iteration_s, "tokens/s"


def _paused(share: Share, key: PhaseKey, entity: int) -> float:
    """Share of its speed that an entity loses to pauses."""
    if key not in share.free_gbps:
        return 0.0
    free = float(share.free_gbps[key][entity])
    return max(0.0, 1.0 - float(share.pace_gbps[key][entity]) / free) if free > 0 else 0.0


def _part_of(subject: Subject, parts: list[tuple[float, Share]]) -> Share:
    """The part of an iteration in which a subject is explained: the flow's, or the longest."""
    if subject.kind == "flow":
        for _, share in parts:
            if (subject.job, subject.phase) in share.pace_gbps:
                return share
    return max(parts, key=lambda part: part[0])[1]


def _idle(subject: Subject, network: Network) -> Explanation:
    """A link that no job loads."""
    capacity = float(network.link_gbps[subject.link])
    return Explanation(
        subject,
        0.0,
        "gbps",
        bottleneck=subject.link,
        capacity_gbps=capacity,
        dead=dead(network, subject.link),
    )


def _with_bottleneck(found: Explanation, network: Network, share: Share, bound: int) -> Explanation:
    """The explanation with what is on its bottleneck."""
    if bound < 0:
        return found
    load = float(share.link_gbps[bound])
    return dataclasses.replace(
        found,
        bottleneck=bound,
        capacity_gbps=float(network.link_gbps[bound]),
        load_gbps=load,
        sharers=sharers(network, share, bound),
        dead=dead(network, bound),
    )


def sharers(network: Network, share: Share, link: int) -> tuple[Sharer, ...]:
    """Who puts how much on a link, most first; the parts add up to its load."""
    found = [(key, *_on(network, share, key, link)) for key in sorted(share.pace_gbps)]
    total, load = sum(part for _, _, part, _ in found), float(share.link_gbps[link])
    out = [
        Sharer(
            *key,
            rows,
            load * (part / total),
            part / total,
            connections,
            _floods(network, share, key),
        )
        for key, rows, part, connections in found
        if part > 0
    ]
    return tuple(sorted(out, key=lambda one: (-one.gbps, one.job, one.phase)))


def _floods(network: Network, share: Share, key: PhaseKey) -> bool:
    """Whether several senders of a phase are held back by the cable into the NIC they send to."""
    scenario = network.scenario
    bound = share.bottleneck[key]
    into = (bound >= 0) & (bound < 2 * scenario.fabric.ports) & (bound % 2 == 1)
    return scenario.loads[key[0]][key[1]].converges and bool(into.any())


def _on(network: Network, share: Share, key: PhaseKey, link: int) -> tuple[int, float, int]:
    """Routed entries of a phase on a link, itself or in a bundle, their payload, Gb/s, connections.

    Of a bundle with dead members a live one carries more than its share, the same for all phases.
    """
    routed, links = network.phase(key), network.scenario.fabric.links
    bundles = routed.bundles
    part = (routed.entry_link == link).astype(np.float64)
    common = int(bundles.start[bundles.common])
    for place in np.flatnonzero(bundles.member_link[:common] == link).tolist():
        bundle = int(np.searchsorted(bundles.start, place, side="right")) - 1
        part[routed.entry_link == links + bundle] = bundles.member_share[place]
    used = np.flatnonzero(part)
    pace = share.pace_gbps[key][routed.entry_entity[used]]
    gbps = float((pace * routed.entry_weight[used] * part[used]).sum())
    load = network.scenario.loads[key[0]][key[1]]
    return len(used), gbps, connections_of(load, routed.entry_row[used])


def _explain_flow(
    subject: Subject, network: Network, share: Share, beside: tuple[int, ...]
) -> Explanation:
    """A flow: its slowest connection."""
    scenario, key = network.scenario, (subject.job, subject.phase)
    load = scenario.loads[key[0]][key[1]]
    if load.exchange is not None:
        each = float(share.pace_gbps[key][0]) / _peers(load.exchange, subject.ends[0])
        found = Explanation(subject, each, "gbps", subject.phase, beside=beside)
        return _with_bottleneck(found, network, share, int(share.bottleneck[key][0]))
    rows = np.flatnonzero((load.src == subject.ends[0]) & (load.dst == subject.ends[1]))
    entity = load.row_entity[rows]
    pace, size = share.pace_gbps[key][entity], load.size_bytes[entity]
    with np.errstate(divide="ignore"):
        seconds = size * BITS_PER_BYTE / GIGA / pace
    worst = int(seconds.argmax())
    total = float((load.row_weight[rows] * size).sum())
    value = total * BITS_PER_BYTE / GIGA / float(seconds[worst])
    bound = int(share.bottleneck[key][entity[worst]])
    path = _path(network, key, int(rows[worst]))
    found = Explanation(
        subject,
        0.0 if math.isinf(seconds[worst]) else value,
        "gbps",
        subject.phase,
        path=path,
        paused_ratio=_paused(share, key, int(entity[worst])),
        elsewhere=bool(path) and bound >= 0 and bound not in path,
        beside=beside,
    )
    return _with_bottleneck(found, network, share, bound)


def _peers(exchange: Exchange, port: int) -> int:
    """Ports that one port of an exchange sends to."""
    own = exchange.domain[np.flatnonzero(exchange.ports == port)[0]]
    return max(1, int((exchange.domain != own).sum()))


def _path(network: Network, key: PhaseKey, row: int) -> tuple[int, ...]:
    """Links of one row of a phase; () when it has many paths."""
    scenario = network.scenario
    load, one = scenario.loads[key[0]][key[1]], slice(row, row + 1)
    rate = network.routed.cable_rate(scenario.fabric)
    policy = scenario.transport.policy
    routes, _ = route(
        scenario.fabric, rate, load.src[one], load.dst[one], load.entropy[one], policy
    )
    links = routes.entry_link.tolist()
    return tuple(links) if all(link < scenario.fabric.links for link in links) else ()
