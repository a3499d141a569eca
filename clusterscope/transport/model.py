"""A transport: data from the catalogue, and the mechanisms that read it.

* Headers: of every `mtu + header` bytes on the wire, `mtu` are payload. A link of rate C therefore
  carries C * mtu / (mtu + header) of payload (IBTA and RoCEv2 header sizes; docs/model.md).
* Latency (`latency`): one message pays the NICs once and every switch on its way once.
* Load balancing: which policy the switches follow, and how many queue pairs spread a NIC pair.
* Losses and order (`recovery`, `ordering`, `ceilings`): what one connection can move at most.
* Congestion spreading (`spreading`): how far a busy egress slows flows that do not go there.
* Reroute: for `reroute_s` after a failure routes stay as they were; what is sent over a dead link
  is lost.
* Error band: how far the fluid result is known to be from packets, [low, high] x the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64
from clusterscope.fabric.arrays import SCALE_UP, Fabric
from clusterscope.routing.routes import Policy
from clusterscope.spec import parts
from clusterscope.spec.carrying import TransportSpec
from clusterscope.spec.model import ClusterSpec

# Share of the NVLink line rate that collectives reach.
SCALE_UP_GOODPUT = parts.scale_up_transport("nvlink").goodput_ratio
# One hop between two GPUs of a scale-up domain, seconds; estimate (facts 6.3).
SCALE_UP_LATENCY_S = 1.0e-6
# Every further switch or GPU on the way inside a domain, seconds; estimate: an NVSwitch.
SCALE_UP_HOP_S = 1.5e-7
# Signal delay of one switch-to-switch or NIC-to-switch cable, seconds; estimate: 20 m at 5 ns/m.
CABLE_LATENCY_S = 1.0e-7


@dataclass(frozen=True)
class Transport:
    """What the cluster's transport is and does.

    Attributes:
        name: catalogue name.
        title: in words.
        policy: load balancing of the switches.
        qps: queue pairs of one channel over a NIC pair; each is hashed on its own.
        channels: channels over a NIC pair; None for as many as the collective library opens.
        mtu_bytes: payload of a full packet.
        goodput_ratio: payload bytes per wire byte.
        nic_latency_s: both NICs together, one message.
        reroute_s: from a failure until routes avoid it.
        reroute_by: what makes them.
        ordering: "in-order" or "reorder" (the NIC accepts packets in any order).
        loss_rate: share of packets that are lost on their way.
        recovery: what is sent again after a loss; see `recovery`.
        nack_s: from the arrival of a packet out of order until the sender sends again.
        timeout_s: until a packet is sent again when nothing tells of its loss.
        congestion: what keeps senders from filling the queue of a busy egress; see `spreading`.
        in_network_reduction: switches can reduce on the way.
        flowlet_gap_s: a pause of a flow after which it is hashed anew; None when never.
        connection_bytes: state that a NIC keeps for each connection; None when none.
        scale_up_goodput: payload per wire byte inside a domain.
        error_band: (low, high) factors around the fluid result.
        error_central: most likely factor.
        evidence: where the band comes from.
    """

    name: str
    title: str
    policy: Policy
    qps: int
    channels: int | None
    mtu_bytes: int
    goodput_ratio: float
    nic_latency_s: float
    reroute_s: float
    reroute_by: str
    ordering: str
    loss_rate: float
    recovery: parts.Recovery
    nack_s: float | None
    timeout_s: float | None
    congestion: parts.Congestion
    in_network_reduction: bool
    flowlet_gap_s: float | None
    connection_bytes: int | None
    scale_up_goodput: float
    error_band: tuple[float, float]
    error_central: float
    evidence: str

    @property
    def hashed(self) -> bool:
        """True when one queue pair keeps to one path."""
        return self.policy.one_path

    @property
    def ordered_on_many_paths(self) -> bool:
        """True when switches spread the packets of a flow whose NIC wants them in order."""
        return self.ordering == "in-order" and not self.hashed

    @property
    def slows(self) -> bool:
        """True when connections move less than the fabric gives them: losses, reordering."""
        return self.loss_rate > 0 or self.ordered_on_many_paths

    @property
    def pauses(self) -> bool:
        """True when a busy egress can pause the links that lead to it."""
        return self.congestion in ("none", "dcqcn")


def resolve(spec: ClusterSpec) -> Transport:
    """The spec's transport: catalogue values with the spec's own on top.

    Raises:
        UnknownNameError: no such transport in the catalogue.
    """
    part, own = parts.transport(spec.transport.name), spec.transport
    mtu = own.mtu_bytes or part.mtu_bytes
    low, high = part.error_band
    reroute_by, reroute_s = rerouting(part, own)
    inside = parts.scale_up_transport(spec.scale_up.kind if spec.scale_up else "nvlink")
    return Transport(
        name=part.name,
        title=part.title,
        policy=Policy(
            load_balancing=own.load_balancing or part.load_balancing,
            hash_seed=own.hash_seed or part.hash_seed,
            seed=spec.sim.seed,
            course=spec.dragonfly.routing if spec.dragonfly else None,
        ),
        qps=own.qps or part.qps,
        channels=own.channels,
        mtu_bytes=mtu,
        goodput_ratio=mtu / (mtu + part.header_bytes),
        nic_latency_s=part.nic_latency_s,
        reroute_s=reroute_s,
        reroute_by=reroute_by,
        ordering=own.ordering or part.ordering,
        loss_rate=own.loss_rate,
        recovery=own.recovery or part.recovery,
        nack_s=part.nack_s,
        timeout_s=part.timeout_s,
        congestion=_congestion(part, own),
        in_network_reduction=part.in_network_reduction,
        flowlet_gap_s=own.flowlet_gap_s or part.flowlet_gap_s,
        connection_bytes=part.connection_bytes,
        scale_up_goodput=inside.goodput_ratio,
        error_band=(low, high),
        error_central=part.error_central,
        evidence=part.evidence,
    )


def _congestion(part: parts.Transport, own: TransportSpec) -> parts.Congestion:
    """What keeps senders from filling queues, unless the spec switches it by hand."""
    if own.isolation is None:
        return part.congestion
    if not own.isolation:
        return "none"
    return "per-flow" if part.congestion in ("none", "dcqcn") else part.congestion


def rerouting(part: parts.Transport, own: TransportSpec) -> tuple[str, float]:
    """What makes routes avoid a dead link, and how long that takes, seconds.

    A number in the spec counts more than a mechanism of the catalogue. A link that goes silent
    without going down is found when the hold timer runs out, and routes react from then on: at most
    that long, and a keep-alive (a third of it) less at least, since the last one came before.
    """
    if own.reroute_s is None and own.link_down_detection is False and part.hold_timer_s:
        hold_s = own.hold_timer_s or part.hold_timer_s
        return f"{part.reroute_by}, once its hold timer has run out", hold_s + part.reroute_s
    by_manager = part.sm_reroute_s is not None and own.self_healing is False
    seconds = part.sm_reroute_s if by_manager and part.sm_reroute_s else part.reroute_s
    words = "subnet manager" if by_manager else part.reroute_by
    return ("as set", own.reroute_s) if own.reroute_s is not None else (words, seconds)


def goodput(fabric: Fabric, transport: Transport) -> F64:
    """Payload per wire byte of every link, (L,)."""
    ratio = np.full(fabric.links, transport.goodput_ratio)
    ratio[2 * int(fabric.tier_start[SCALE_UP]) :] = transport.scale_up_goodput
    return ratio


def scale_up_latency_s(hops: F64) -> F64:
    """Latency of one small message inside a domain, by switches or hops on its way, seconds."""
    result: F64 = SCALE_UP_LATENCY_S + SCALE_UP_HOP_S * np.maximum(hops - 1.0, 0.0)
    return result
