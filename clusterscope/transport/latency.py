"""How long one small message takes, and how long packets wait in queues.

    message              NIC pair + every switch on the way, port to port + every cable
    store-and-forward    a switch sends a packet on when its last bit is in: + MTU / rate a switch
    round trip           there and back, the NICs' part once: an acknowledgement rings no doorbell
    M/D/1 wait           rho / (2 (1 - rho)) service times (Pollaczek-Khinchine, TRAN-01)

Source of NIC and switch times: the catalogue; fitted on TRAN-10 (64 B, one and three switches).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from clusterscope.columns import F64
from clusterscope.spec import parts
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec
from clusterscope.transport.model import CABLE_LATENCY_S, Transport
from clusterscope.units import BITS_PER_BYTE, GIGA

Forwarding = Literal["cut-through", "store-and-forward"]


def md1_wait_s(load_ratio: float, service_s: float) -> float:
    """Mean wait in front of a link at this utilization, seconds; inf at 1."""
    return load_ratio / (2.0 * (1.0 - load_ratio)) * service_s if load_ratio < 1 else float("inf")


def switch_s(switch: parts.Switch, mtu_bytes: int, gbps: float) -> float:
    """Port to port time of a full packet's first bit to leave, seconds."""
    if switch.forwarding == "cut-through":
        return switch.latency_s
    return switch.latency_s + mtu_bytes * BITS_PER_BYTE / (gbps * GIGA)


def message_s(nic_pair_s: float, switches_s: tuple[float, ...]) -> float:
    """One small message over these switches, seconds."""
    return nic_pair_s + sum(switches_s) + CABLE_LATENCY_S * (len(switches_s) + 1)


def switch_latencies(spec: ClusterSpec, mtu_bytes: int) -> tuple[float, float, float]:
    """Port-to-port latency of leaf, spine and core switches, seconds; 0 for a missing tier."""
    plan = derive(spec)
    if plan is None:
        return 0.0, 0.0, 0.0
    gbps = spec.node.nic_gbps / max(1, spec.scale_out.planes if spec.scale_out else 1)
    names = (plan.leaf_switch, plan.spine_switch, plan.core_switch)
    leaf, spine, core = (switch_s(parts.switch(n), mtu_bytes, gbps) if n else 0.0 for n in names)
    return leaf, spine, core


def path_latency_s(spec: ClusterSpec, transport: Transport, hops: F64) -> F64:
    """Latency of one small message by switches on its way (1, 3 or 5; means between), seconds.

    On a dragonfly any number of switches, all alike.
    """
    leaf, spine, core = switch_latencies(spec, transport.mtu_bytes)
    if spec.dragonfly is not None:
        flat: F64 = transport.nic_latency_s + hops * leaf + CABLE_LATENCY_S * (hops + 1.0)
        return flat
    at = np.array([1.0, 3.0, 5.0])
    switches = np.array([leaf, 2 * leaf + spine, 2 * leaf + 2 * spine + core])
    result: F64 = transport.nic_latency_s + np.interp(
        hops, at, switches + CABLE_LATENCY_S * (at + 1)
    )
    return result


def round_trip_s(spec: ClusterSpec, transport: Transport, hops: F64) -> F64:
    """From a packet until its acknowledgement, by switches on its way, seconds."""
    return 2.0 * path_latency_s(spec, transport, hops) - transport.nic_latency_s
