"""A transport: data from the catalogue, and the mechanisms that read it.

* Headers: of every `mtu + header` bytes on the wire, `mtu` are payload. A link of rate C therefore
  carries C * mtu / (mtu + header) of payload (IBTA and RoCEv2 header sizes; docs/model.md).
* Latency: one message pays the NICs once and every switch on its way once.
* Load balancing: which policy the switches follow, and how many queue pairs spread a NIC pair.
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
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec

# Share of the NVLink line rate that collectives reach on 8 x H200 (ring, all-gather and
# reduce-scatter alike): 0.80-0.82, calibrated on case MEAS-02.
SCALE_UP_GOODPUT = 0.81
# One hop between two GPUs of a scale-up domain, seconds; estimate (facts 6.3).
SCALE_UP_LATENCY_S = 1.0e-6
# Signal delay of one switch-to-switch or NIC-to-switch cable, seconds; estimate: 20 m at 5 ns/m.
CABLE_LATENCY_S = 1.0e-7


@dataclass(frozen=True)
class Transport:
    """What the cluster's transport is and does.

    Attributes:
        name: catalogue name.
        title: in words.
        policy: load balancing of the switches.
        qps: queue pairs of one NIC pair; each is hashed on its own.
        goodput_ratio: payload bytes per wire byte.
        nic_latency_s: both NICs together, one message.
        reroute_s: from a failure until routes avoid it.
        ordering: "in-order" or "reorder" (the NIC accepts packets in any order).
        error_band: (low, high) factors around the fluid result.
        evidence: where the band comes from.
    """

    name: str
    title: str
    policy: Policy
    qps: int
    goodput_ratio: float
    nic_latency_s: float
    reroute_s: float
    ordering: str
    error_band: tuple[float, float]
    evidence: str

    @property
    def hashed(self) -> bool:
        """True when one queue pair keeps to one path."""
        return self.policy.load_balancing in ("ecmp", "dmodk")


def resolve(spec: ClusterSpec) -> Transport:
    """The spec's transport: catalogue values with the spec's own on top.

    Raises:
        UnknownNameError: no such transport in the catalogue.
    """
    part, own = parts.transport(spec.transport.name), spec.transport
    mtu = own.mtu_bytes or part.mtu_bytes
    low, high = part.error_band
    return Transport(
        name=part.name,
        title=part.title,
        policy=Policy(
            load_balancing=own.load_balancing or part.load_balancing,
            hash_seed=own.hash_seed or part.hash_seed,
            seed=spec.sim.seed,
        ),
        qps=own.qps or part.qps,
        goodput_ratio=mtu / (mtu + part.header_bytes),
        nic_latency_s=part.nic_latency_s,
        reroute_s=part.reroute_s if own.reroute_s is None else own.reroute_s,
        ordering=part.ordering,
        error_band=(low, high),
        evidence=part.evidence,
    )


def goodput(fabric: Fabric, transport: Transport) -> F64:
    """Payload per wire byte of every link, (L,)."""
    ratio = np.full(fabric.links, transport.goodput_ratio)
    ratio[2 * int(fabric.tier_start[SCALE_UP]) :] = SCALE_UP_GOODPUT
    return ratio


def switch_latencies(spec: ClusterSpec) -> tuple[float, float, float]:
    """Port-to-port latency of leaf, spine and core switches, seconds; 0 for a missing tier."""
    plan = derive(spec)
    if plan is None:
        return 0.0, 0.0, 0.0
    names = (plan.leaf_switch, plan.spine_switch, plan.core_switch)
    leaf, spine, core = (parts.switch(n).latency_s if n else 0.0 for n in names)
    return leaf, spine, core


def path_latency_s(spec: ClusterSpec, transport: Transport, hops: F64) -> F64:
    """Latency of one small message by switches on its way (1, 3 or 5; means between), seconds."""
    leaf, spine, core = switch_latencies(spec)
    at = np.array([1.0, 3.0, 5.0])
    switches = np.array([leaf, 2 * leaf + spine, 2 * leaf + 2 * spine + core])
    result: F64 = transport.nic_latency_s + np.interp(
        hops, at, switches + CABLE_LATENCY_S * (at + 1)
    )
    return result
