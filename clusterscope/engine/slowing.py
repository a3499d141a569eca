"""Rates once connections pay for losses and for packets out of order.

The fabric's max-min share comes first. From it every row (a connection) has a rate, and its stage
of the fabric a load; the transport then says what the row can move at most, and how many bytes it
puts on the wire for each that arrives. A second share, with these limits as demands and these
bytes as weights, is the answer: what one connection cannot use, others get.

Model: one round. Loads of the second share are no higher than those of the first, so the cost of
reordering is that of the first: an upper bound.

Axes: E entries, F rows, U entities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I32, I64, Bool, bincount
from clusterscope.engine.loads import Load
from clusterscope.engine.rates import Rates, max_min_entries
from clusterscope.engine.scenario import Scenario
from clusterscope.routing.routes import Bundles
from clusterscope.transport.ceilings import Connections, ceilings
from clusterscope.transport.latency import round_trip_s


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the phases that share the network, phase by phase.

    Attributes:
        entry_row: (E,) row of each entry.
        entity: (F,) entity of each row.
        weight: (F,) rate of one of its connections per unit of the entity's.
        hops: (F,) switches on its way.
        outside: (F,) it goes over NICs, one connection at a time.
        line_gbps: (F,) payload rate at which its NIC could send it; empty where nothing slows.
        message_bytes: (F,) bytes of one message; empty where nothing slows.
        source: (F,) NIC port that sends.
        egress: (F,) link into the NIC port that receives, -1 where there is none.
        exchanges: (F,) it is a uniform exchange over NICs.
    """

    entry_row: I32
    entity: I32
    weight: F64
    hops: I32
    outside: Bool
    line_gbps: F64
    message_bytes: F64
    source: I32
    egress: I32
    exchanges: Bool


@dataclass(frozen=True, eq=False)
class PhaseRows:
    """Rows of one phase: its load, its routes' columns, and where its entities begin."""

    load: Load
    entry_row: I32
    weight: F64
    hops: I32
    first_entity: int


def gather(scenario: Scenario, phases: Sequence[PhaseRows], link_gbps: F64) -> Rows:
    """Rows of several phases on one numbering; `link_gbps` (L,) is what links carry now."""
    entry_row, entity, outside, base = [], [], [], 0
    line, message = [np.zeros(0)], [np.zeros(0)]
    source, egress, exchanges = [], [], []
    for phase in phases:
        load, count = phase.load, len(phase.weight)
        entry_row.append(phase.entry_row + base)
        own = np.zeros(1, dtype=np.int32) if load.exchange is not None else load.row_entity
        entity.append(own + phase.first_entity)
        away = _outside(scenario, load, count)
        outside.append(away)
        if scenario.transport.slows:
            line.append(_line_gbps(scenario, phase, away, link_gbps))
            sent = load.size_bytes[own] * phase.weight / load.serial_steps
            message.append(np.maximum(sent, 1.0))
        source.append(load.src if load.exchange is None else np.full(1, -1, dtype=np.int32))
        into = 2 * load.dst + 1 if load.exchange is None else np.full(1, -1)
        egress.append(np.where(away, into, -1))
        exchanges.append(np.full(count, load.exchange is not None and load.network == "scale-out"))
        base += count
    return Rows(
        entry_row=np.concatenate(entry_row).astype(np.int32, copy=False),
        entity=np.concatenate(entity).astype(np.int32, copy=False),
        weight=np.concatenate([_connection_weight(phase) for phase in phases]),
        hops=np.concatenate([phase.hops for phase in phases]),
        outside=np.concatenate(outside),
        line_gbps=np.concatenate(line),
        message_bytes=np.concatenate(message),
        source=np.concatenate(source),
        egress=np.concatenate(egress).astype(np.int32, copy=False),
        exchanges=np.concatenate(exchanges),
    )


def _connection_weight(phase: PhaseRows) -> F64:
    """Rate of one connection of each row per unit of its entity's, (F,).

    A row of a uniform exchange is a connection from each port to each other.
    """
    if phase.load.exchange is None:
        return phase.weight
    return phase.weight / max(1, len(phase.load.exchange.ports) - 1)


def _outside(scenario: Scenario, load: Load, count: int) -> Bool:
    """Rows that are connections over NICs, (F,).

    Model: each of the many connections of a uniform exchange sends so slowly that it has no window
    to lose and no packet that could overtake another; it sends again what is lost, no more.
    """
    if load.exchange is not None:
        return np.zeros(count, dtype=np.bool_)
    return load.src < scenario.fabric.ports


def _line_gbps(scenario: Scenario, phase: PhaseRows, outside: Bool, link_gbps: F64) -> F64:
    """Payload rate of every row when its NIC port sends nothing but its phase, (F,)."""
    line = np.full(len(outside), np.inf)
    rows = np.flatnonzero(outside & (phase.weight > 0))
    port = phase.load.src[rows]
    total = bincount(port, phase.weight[rows], scenario.fabric.ports)
    rate = link_gbps[2 * port] * scenario.transport.goodput_ratio
    line[rows] = rate * phase.weight[rows] / total[port]
    return line


def slowed(
    scenario: Scenario,
    rows: Rows,
    entries: tuple[I32, I32, F64],
    limits: tuple[F64, F64],
    rates: Rates,
    bundles: Bundles,
) -> tuple[Rates, F64, F64]:
    """The second share, its entry weights (E,) with retransmissions, and demands (U,).

    `limits` are what resources carry and what entities (U,) want.
    """
    (entity, resource, weight), (capacity_gbps, wanted) = entries, limits
    units = len(rates.flow_gbps)
    own = np.flatnonzero(rows.outside & (rates.flow_gbps[rows.entity] > 0))
    most, wire = np.full(len(rows.entity), np.inf), np.ones(len(rows.entity))
    seen = _connections(scenario, rows, own, (resource, capacity_gbps, rates), bundles)
    most[own], wire[own] = ceilings(scenario.transport, seen)
    wire[rows.exchanges] = 1.0 / (1.0 - scenario.transport.loss_rate)
    demand = wanted.copy()
    carries = own[rows.weight[own] > 0]
    np.minimum.at(demand, rows.entity[carries], most[carries] / rows.weight[carries])
    heavier = weight * wire[rows.entry_row]
    second = max_min_entries(entity, resource, heavier, units, capacity_gbps, demand)
    return second, heavier, demand


def _connections(
    scenario: Scenario,
    rows: Rows,
    own: I64,
    share: tuple[I32, F64, Rates],
    bundles: Bundles,
) -> Connections:
    """Rows `own` as the transport sees them in the first share."""
    resource, capacity, rates = share
    rate = rates.flow_gbps[rows.entity[own]] * rows.weight[own]
    links = scenario.fabric.links
    load, stage = _fullest_stage(rows, (resource, capacity, rates), links, bundles.common)
    load, stage = load[own], stage[own]
    members = np.diff(bundles.start)[np.maximum(stage - links, 0)] if bundles.common else stage
    # A queue meets no more flows than the stage spreads.
    count = np.minimum(members, np.bincount(resource, minlength=len(capacity))[stage])
    member_gbps = _member_gbps(scenario, bundles, stage, links)
    several = (stage >= links) & (count > 1)
    queues = np.where(several, _queues(scenario, rows.hops[own]), 0.0)
    with np.errstate(divide="ignore"):
        gap = member_gbps * scenario.transport.goodput_ratio / rate
    return Connections(
        rate_gbps=rate,
        line_gbps=np.maximum(rows.line_gbps[own], rate),
        rtt_s=round_trip_s(scenario.spec, scenario.transport, rows.hops[own].astype(np.float64)),
        message_bytes=rows.message_bytes[own],
        load_ratio=load,
        gap=gap,
        queues=queues,
        links=count.astype(np.float64),
    )


def _fullest_stage(
    rows: Rows, share: tuple[I32, F64, Rates], links: int, bundles: int
) -> tuple[F64, I32]:
    """Load of the fullest bundle on each row's way, and that bundle; 0 and -1 without one."""
    resource, capacity, rates = share
    load, stage = np.zeros(len(rows.entity)), np.full(len(rows.entity), -1, dtype=np.int32)
    spread = np.flatnonzero((resource >= links) & (resource < links + bundles))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(rates.link_gbps[resource[spread]] / capacity[resource[spread]])
    row = rows.entry_row[spread]
    np.maximum.at(load, row, ratio)
    fullest = ratio >= load[row]
    stage[row[fullest]] = resource[spread][fullest]
    return load, stage


def _member_gbps(scenario: Scenario, bundles: Bundles, stage: I32, links: int) -> F64:
    """Line rate of one link of each row's stage, (F,)."""
    if not len(bundles.member_link):
        return np.ones(len(stage))
    first = bundles.start[np.clip(stage - links, 0, len(bundles.gbps) - 1)]
    member = bundles.member_link[np.minimum(first, len(bundles.member_link) - 1)]
    gbps: F64 = scenario.fabric.cable_gbps[member >> 1]
    return gbps


def _queues(scenario: Scenario, hops: I32) -> F64:
    """Queues in which packets on different paths can overtake.

    A sprayed packet meets one at every switch but the last; one that its switch sends over the
    least queue meets them only on the way down, where others come together.
    """
    between = np.maximum(hops - 1, 0).astype(np.float64)
    if scenario.transport.policy.load_balancing == "spray":
        return between
    return between / 2.0
