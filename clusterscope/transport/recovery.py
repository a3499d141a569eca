"""What losses cost: payload that arrives per packet sent, by how a transport recovers.

With p the share of packets that are lost, W the packets that a sender puts on the wire between a
loss and its retransmission (W = rate x (round trip + NACK) / packet), n those of a message:

    go-back-0      n p / ((1-p)^-n - 1)          the whole message again, until one try has no loss
    go-back-N      (1-p) / (1 + p W)             all from the lost packet on again
    selective      1-p                           the lost packet alone
    link replay    (1-p) / (1 + p W_link)        go-back-N over one cable: W_link is its round trip
    TCP            MSS/RTT sqrt(3/2) / sqrt(p)   window halves at every loss; a rate, not a share

A retransmission that is lost too waits for a time-out: p^2 T packet times for each packet.

Sources: Guo et al., SIGCOMM 2016 (go-back-0 livelock, TRAN-08); Bertsekas & Gallager, *Data
Networks*, section 2.4 (go-back-N, selective repeat); Mathis et al., CCR 1997 (TRAN-09).
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import F64
from clusterscope.transport.exact import power
from clusterscope.units import BITS_PER_BYTE, GIGA

_MATHIS = 1.5  # window between half and full of the one at which a packet is lost, deterministic


def window_packets(rate_gbps: F64, delay_s: F64, packet_bytes: float) -> F64:
    """Packets that leave a sender of this rate in this time."""
    return rate_gbps * GIGA * delay_s / (packet_bytes * BITS_PER_BYTE)


def go_back_0(loss: float, packets: int) -> float:
    """Share of sent packets that count when any loss starts a message of `packets` over."""
    if loss == 0.0:
        return 1.0
    whole = float(power(np.array(1.0 - loss), packets))
    return 1.0 if whole == 1.0 else packets * loss * whole / (1.0 - whole)


def go_back_n(loss: F64, window: F64) -> F64:
    """Share of packet times that carry payload when `window` packets follow a loss in vain."""
    return (1.0 - loss) / (1.0 + loss * window)


def selective(loss: F64) -> F64:
    """Share of sent packets that count when only lost ones are sent again."""
    return 1.0 - loss


def timed_out(goodput: F64, loss: F64, timeout_packets: F64) -> F64:
    """Goodput when a retransmission that is lost too costs `timeout_packets` packet times."""
    return goodput / (1.0 + goodput * loss * loss * timeout_packets)


def mathis_gbps(mss_bytes: float, rtt_s: F64, loss: float) -> F64:
    """Rate of one TCP connection, Gb/s; inf without loss."""
    if loss == 0.0:
        return np.full(np.shape(rtt_s), np.inf)
    share: F64 = np.sqrt(np.array(_MATHIS / loss))
    return mss_bytes * BITS_PER_BYTE / rtt_s * share / GIGA
