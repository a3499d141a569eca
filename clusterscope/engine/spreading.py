"""Rates once a busy egress has paused the links that lead to it.

A *flood* is a saturated cable into a NIC that several senders feed and that holds them back. The
links on their way stop for a share of the time (`transport.spreading`), and a row over such a link
falls toward the rate of the slowest flooding row there. Lock-step entities fall with their slowest
row. Rates are shared again with these limits as demands, until nothing changes.

Model: floods at a NIC only. Flows that collide inside the fabric also pause what leads there; that
is part of the error band, which was measured with pauses (docs/model.md). A victim's own way up is
not paused in turn.

Axes: E entries, F rows, U entities, L resources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clusterscope.columns import F64, I32, I64, Bool
from clusterscope.engine._pages import Capacities
from clusterscope.engine.rates import Rates, max_min_entries
from clusterscope.engine.slowing import Rows
from clusterscope.transport.model import Transport
from clusterscope.transport.spreading import pause_share, victim_gbps

_ROUNDS = 4
_FULL = 1.0 - 1e-9


class Shared(NamedTuple):
    """What rows share: entries (E,), capacity of every resource (L,), demand of entities (U,)."""

    entity: I32
    resource: I32
    weight: F64
    capacity_gbps: F64
    demand_gbps: F64


@dataclass(frozen=True, eq=False)
class _Paused:
    """Resources that are paused: for which share of the time, and the slowest flooding row there.

    Both (L,); 0 and inf where nothing is.
    """

    share: F64
    blocked_gbps: F64


def spread(transport: Transport, rows: Rows, network: Shared, rates: Rates) -> Rates:
    """Rates with pauses; the same object when no link is paused.

    The bottleneck of a victim is the paused resource that holds it back.
    """
    if not transport.pauses or not _met(rows):
        return rates
    free, now, demand = rates, rates, network.demand_gbps
    holder = np.full(len(demand), -1, dtype=np.int32)
    for _ in range(_ROUNDS):
        paused = _pauses(transport, rows, network, now)
        if paused is None:
            break
        limit, where = _limits(rows, network, free, paused)
        lower = limit < np.minimum(demand, now.flow_gbps) * _FULL
        if not lower.any():
            break
        demand, holder = np.where(lower, limit, demand), np.where(lower, where, holder)
        entries = network.entity, network.resource, network.weight
        now = max_min_entries(*entries, len(demand), network.capacity_gbps, demand)
    if now is free:
        return rates
    held = (holder >= 0) & (now.bottleneck < 0)
    return now._replace(bottleneck=np.where(held, holder, now.bottleneck).astype(np.int32))


def full_egress(ports: int, rates: Rates, limit: Capacities) -> bool:
    """Whether any link into a NIC port is full: without one, nothing is paused."""
    line = limit.some(0, 2 * ports)[1::2]
    return bool(((line > 0) & (rates.link_gbps[1 : 2 * ports : 2] >= line * _FULL)).any())


def _met(rows: Rows) -> bool:
    """Whether two senders have one receiver at all."""
    into = rows.egress >= 0
    egress, source = rows.egress[into], rows.source[into]
    if not len(egress):
        return False
    one = np.full(int(egress.max()) + 1, -1, dtype=np.int32)
    one[egress] = source
    return bool((one[egress] != source).any())


def _pauses(transport: Transport, rows: Rows, network: Shared, rates: Rates) -> _Paused | None:
    """Paused resources; None when there are no floods."""
    into = np.flatnonzero(rows.egress >= 0)
    egress = rows.egress[into]
    capacity = network.capacity_gbps
    line = capacity[egress]
    full = (line > 0) & (rates.link_gbps[egress] >= line * _FULL)  # what is dead pauses nobody
    own = rows.entity[into]
    held = rates.bottleneck[own]
    # A row that gets all it wants leaves no packet waiting; one that a pause holds back does.
    waits = rates.flow_gbps[own] < network.demand_gbps[own] * _FULL
    floods = full & ((held == egress) | ((held < 0) & waits))
    row, egress = into[floods], egress[floods]
    several = _several(egress, rows.source[row], len(capacity))
    row, egress = row[several], egress[several]
    if not len(row):
        return None
    count = np.bincount(egress, minlength=len(capacity)).astype(np.float64)
    packet = float(transport.mtu_bytes)
    line = capacity[egress] / transport.goodput_ratio
    share = np.zeros(len(rows.entity))
    share[row] = pause_share(transport.congestion, count[egress], line, packet)
    return _on_the_way(rows, network, rates, share)


def _several(egress: I32, source: I32, resources: int) -> Bool:
    """Rows whose egress is fed by more than one sender, (F,)."""
    lowest = np.full(resources, np.iinfo(np.int32).max, dtype=np.int32)
    np.minimum.at(lowest, egress, source)
    other = np.zeros(resources, dtype=np.bool_)
    other[egress[source != lowest[egress]]] = True
    several: Bool = other[egress]
    return several


def _on_the_way(rows: Rows, network: Shared, rates: Rates, share: F64) -> _Paused:
    """What flooding rows (F,) with a `share` above 0 pause: all they cross but their egress."""
    floods = share[rows.entry_row] > 0
    entry = np.flatnonzero(floods)
    row = rows.entry_row[entry]
    before = network.resource[entry] != rows.egress[row]
    entry, row = entry[before], row[before]
    resource = network.resource[entry]
    paused = np.zeros(len(network.capacity_gbps))
    blocked = np.full(len(paused), np.inf)
    np.maximum.at(paused, resource, share[row])
    np.minimum.at(blocked, resource, rates.flow_gbps[rows.entity[row]] * rows.weight[row])
    return _Paused(paused, blocked)


def _limits(rows: Rows, network: Shared, free: Rates, paused: _Paused) -> tuple[F64, I32]:
    """Most that each entity gets over paused resources (U,), and the one that holds it back."""
    entry: I64 = np.flatnonzero(paused.share[network.resource] > 0)
    resource, row = network.resource[entry], rows.entry_row[entry]
    entity, weight = rows.entity[row], rows.weight[row]
    carries = weight > 0
    resource, entity, weight = resource[carries], entity[carries], weight[carries]
    own = free.flow_gbps[entity] * weight
    limit = victim_gbps(own, paused.blocked_gbps[resource], paused.share[resource]) / weight
    units = len(network.demand_gbps)
    most, where = np.full(units, np.inf), np.full(units, -1, dtype=np.int32)
    np.minimum.at(most, entity, limit)
    tight = np.flatnonzero(limit <= most[entity])[::-1]  # of several, the first on the way
    where[entity[tight]] = resource[tight]
    return most, where
