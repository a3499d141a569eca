"""How much of the time a busy egress pauses the links that lead to it.

Where senders are not held back in time, the queue of an overloaded egress fills, and pauses (PFC)
or missing credits stop the links that feed it. A link serves its flows in order of arrival, so on
a stopped link a flow to elsewhere falls to the rate of the blocked flow beside it: a victim. How
often that is so depends on what holds senders back:

    none             always: a flood is paused back to the senders
    dcqcn            more with every queue pair: see below
    per-flow         never: the switch stops the flows that feed the egress, not their links
    telemetry, receiver-credit, delay    never: senders keep to their share before queues fill
    loss             never: there are no pauses, packets are dropped

DCQCN has one fixed point (Zhu et al., *ECN or Delay*, CoNEXT 2016, equation for p*): N queue pairs
through an egress of C packets/s settle when a share p of the packets is marked,

    p^3 = R_AI N^2 / (tau C^2) (1/B + N / (T C))^2

and the queue at K_min + p / p_max (K_max - K_min). Beyond p_max marking cannot keep the queue from
growing into the pauses.

Model: links are paused for min(1, p / p_max) of the time. The fixed point itself has no pauses
below p_max; queues wander around theirs, and nobody has published how far (estimate).
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import F64
from clusterscope.spec.parts import Congestion
from clusterscope.units import BITS_PER_BYTE, GIGA

# Parameters of Zhu et al., *Congestion Control for Large-Scale RDMA Deployments*, SIGCOMM 2015, for
# 40 Gb/s; the additive increase of 40 Mb/s is kept as a share of the line rate.
_INCREASE = 1e-3  # R_AI over line rate
_TIMER_S = 55e-6  # T, and tau of the moving average
_COUNTER_BYTES = 10e6  # B
_MOST_MARKED = 0.01  # p_max
_ROOT_STEPS = 80


def pause_share(congestion: Congestion, flows: F64, link_gbps: F64, packet_bytes: float) -> F64:
    """Share of the time for which an overloaded egress pauses what feeds it, 0 to 1.

    Args:
        congestion: what holds senders back.
        flows: queue pairs through the egress.
        link_gbps: rate of the egress.
        packet_bytes: of a full packet.
    """
    if congestion == "none":
        return np.ones(len(flows))
    if congestion == "dcqcn":
        return np.minimum(1.0, dcqcn_marked(flows, link_gbps, packet_bytes) / _MOST_MARKED)
    return np.zeros(len(flows))


def dcqcn_marked(flows: F64, link_gbps: F64, packet_bytes: float) -> F64:
    """Share of packets marked at the fixed point of DCQCN; above 1 % there is none."""
    packets_per_s = link_gbps * GIGA / (packet_bytes * BITS_PER_BYTE)
    recovery = packet_bytes / _COUNTER_BYTES + flows / (_TIMER_S * packets_per_s)
    spread = _INCREASE * flows * flows / (_TIMER_S * packets_per_s)
    return _cube_root(spread * recovery * recovery)


def _cube_root(value: F64) -> F64:
    """Cube root by Newton's method, for values below 1000."""
    root = np.full(np.shape(value), 10.0)
    for _ in range(_ROOT_STEPS):
        root = (2.0 * root + value / (root * root)) / 3.0
    return root


def victim_gbps(free_gbps: F64, blocked_gbps: F64, paused: F64) -> F64:
    """Rate of a flow on a link that is paused for a share of the time, Gb/s.

    Args:
        free_gbps: its rate while the link runs.
        blocked_gbps: rate of the blocked flow beside it.
        paused: share of the time.
    """
    return (1.0 - paused) * free_gbps + paused * np.minimum(free_gbps, blocked_gbps)
