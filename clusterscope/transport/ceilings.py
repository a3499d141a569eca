"""The most that a row can move on its own, and what its retransmissions add to the wire.

A row is one connection. What it can move is its line rate times the goodput of its recovery
(`recovery`), or less where its packets overtake each other (`ordering`). For each payload byte it
puts `wire` bytes on its links, so its retransmissions also take from the rows beside it.

Axes: F rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I64
from clusterscope.transport.model import CABLE_LATENCY_S, Transport
from clusterscope.transport.ordering import Spreading, settle
from clusterscope.transport.recovery import (
    go_back_0,
    go_back_n,
    mathis_gbps,
    selective,
    timed_out,
    window_packets,
)


@dataclass(frozen=True, eq=False)
class Connections:
    """Rows (F,) as a transport sees them, all over the NICs.

    Attributes:
        rate_gbps: payload rate that the fabric gives.
        line_gbps: payload rate when nothing but the NIC limits it.
        rtt_s: round trip.
        message_bytes: bytes of one message.
        load_ratio, gap, queues, links: see `ordering.Spreading`.
    """

    rate_gbps: F64
    line_gbps: F64
    rtt_s: F64
    message_bytes: F64
    load_ratio: F64
    gap: F64
    queues: F64
    links: F64


def ceilings(transport: Transport, rows: Connections) -> tuple[F64, F64]:
    """The most payload a row moves, Gb/s, and packets that it sends for each that arrives."""
    goodput, wire = _recovered(transport, rows)
    most = rows.line_gbps * goodput
    if transport.ordered_on_many_paths:
        delay = rows.rtt_s + (transport.nack_s or 0.0)
        window = window_packets(rows.rate_gbps, delay, transport.mtu_bytes)
        sent, arrived = settle(
            Spreading(rows.load_ratio, rows.gap, window, rows.queues, rows.links)
        )
        most = np.minimum(most, rows.rate_gbps * sent * arrived * goodput)
        # While the sender waits for the NACK the wire is free for others.
        wire = wire * (1.0 + (1.0 / arrived - 1.0) * rows.rtt_s / delay)
    return most, wire


def _recovered(transport: Transport, rows: Connections) -> tuple[F64, F64]:
    """Share of the line rate that losses leave, and wire bytes per payload byte."""
    loss, one = np.full(len(rows.rtt_s), transport.loss_rate), np.ones(len(rows.rtt_s))
    if transport.loss_rate == 0.0:
        return one, one
    packet = transport.mtu_bytes
    match transport.recovery:
        case "go-back-n":
            stall = rows.rtt_s + (transport.nack_s or 0.0)
            goodput = go_back_n(loss, window_packets(rows.line_gbps, stall, packet))
            wire = 1.0 / go_back_n(loss, window_packets(rows.rate_gbps, rows.rtt_s, packet))
        case "link-replay":
            cable = np.full(len(one), 2.0 * CABLE_LATENCY_S)
            goodput = go_back_n(loss, window_packets(rows.line_gbps, cable, packet))
            wire = 1.0 / goodput
        case "tcp":
            limit = mathis_gbps(packet, rows.rtt_s, transport.loss_rate)
            return np.minimum(1.0, limit / rows.line_gbps), 1.0 / selective(loss)
        case "go-back-0":
            goodput = _whole_messages(transport, rows.message_bytes)
            return goodput, 1.0 / goodput
        case "selective":
            goodput = selective(loss)
            wire = 1.0 / goodput
    if transport.timeout_s is not None and transport.recovery != "link-replay":
        timeout = np.full(len(one), transport.timeout_s)
        goodput = timed_out(goodput, loss, window_packets(rows.line_gbps, timeout, packet))
    return goodput, wire


def _whole_messages(transport: Transport, message_bytes: F64) -> F64:
    """Goodput when any loss starts a message over."""
    packets: I64 = np.maximum(np.ceil(message_bytes / transport.mtu_bytes), 1.0).astype(np.int64)
    sizes, size = np.unique(packets, return_inverse=True)
    share = np.array([go_back_0(transport.loss_rate, int(n)) for n in sizes])
    # A message that never arrives whole stands still; rates must stay above 0 to be shared.
    result: F64 = np.maximum(share, np.finfo(np.float64).tiny)[size]
    return result
