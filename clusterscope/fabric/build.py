"""A spec compiled to a `Fabric`: Clos or dragonfly, scale-up domains, one numbering of vertices."""

from __future__ import annotations

import numpy as np

from clusterscope.columns import F64, I8, I32, I64
from clusterscope.fabric.arrays import LEAF_SPINE, SCALE_UP, SPINE_CORE, Fabric
from clusterscope.fabric.clos import Cables, Clos, wire
from clusterscope.fabric.dragonfly import wire_dragonfly
from clusterscope.fabric.scaleup import gpu_domains, gpu_ports, scale_up_cables
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.shape import shape_of


def build(spec: ClusterSpec) -> Fabric:
    """Compile a spec into the arrays of its fabric.

    A spec without `[scale_out]` or `[dragonfly]` gives GPUs and scale-up domains only: no NICs and
    no switches.

    Raises:
        SpecError: the counts of the spec do not fit together.
    """
    plan = derive(spec)
    node = spec.node
    planes, nics = (plan.planes, plan.nics) if plan else (1, 0)
    mesh = plan.dragonfly if plan else None
    clos = wire_dragonfly(plan, mesh) if plan and mesh else wire(plan)
    switches = clos.switches
    ports, gpus = len(clos.port_leaf), node.count * node.gpus
    gpu_domain = gpu_domains(spec.scale_up, gpus)
    inside = scale_up_cables(spec.scale_up, gpus, ports + len(switches.tier))
    tiers = [
        Cables(np.arange(ports), ports + clos.port_leaf, plan.port_gbps if plan else 0.0),
        Cables(ports + clos.leaf_spine.a, ports + clos.leaf_spine.b, clos.leaf_spine.gbps),
        Cables(ports + clos.spine_core.a, ports + clos.spine_core.b, clos.spine_core.gbps),
    ]
    lengths = [*(len(cables.a) for cables in tiers), len(inside[0])]
    tier_start = np.concatenate([[0], np.cumsum(lengths)])
    return Fabric(
        nodes=node.count,
        gpus_per_node=node.gpus,
        nics_per_node=nics,
        ports_per_nic=planes,
        pods=plan.pods if plan else 1,
        shape=shape_of(spec.scale_up),
        topology="dragonfly" if mesh else "clos",
        gpu_nic_port=_i32(gpu_ports(node.count, node.gpus, nics, planes)),
        gpu_domain=_i32(gpu_domain),
        port_leaf=_i32(clos.port_leaf),
        port_rank=_i32(clos.port_rank),
        switch_tier=_i8(switches.tier),
        switch_pod=_i32(switches.pod),
        switch_plane=_i32(switches.plane),
        switch_rail=_i32(switches.rail),
        switch_block=_i32(switches.block),
        cable_a=_i32(np.concatenate([*(cables.a for cables in tiers), inside[0]])),
        cable_b=_i32(np.concatenate([*(cables.b for cables in tiers), inside[1]])),
        cable_gbps=np.concatenate(
            [_rates([cables.gbps for cables in tiers], lengths[:-1]), inside[2]]
        ),
        tier_start=_i32(tier_start),
        up_start=_i32((_local_start if mesh else _up_start)(clos, tier_start)),
    )


def _i32(values: I64) -> I32:
    """The same values as int32 indices."""
    out: I32 = values.astype(np.int32)
    return out


def _i8(values: I64) -> I8:
    """The same values as int8."""
    out: I8 = values.astype(np.int8)
    return out


def _rates(gbps: list[float], lengths: list[int]) -> F64:
    """Line rate of every cable, (C,) Gb/s, from the rate and number of each tier."""
    out: F64 = np.repeat(np.array(gbps, dtype=np.float64), lengths)
    return out


def _up_start(clos: Clos, tier_start: I64) -> I64:
    """First uplink of every switch, then the end, (S+1,)."""
    tier = clos.switches.tier
    out = np.full(len(tier) + 1, tier_start[SCALE_UP], dtype=np.int64)
    for switch_tier, cable_tier in ((1, LEAF_SPINE), (2, SPINE_CORE)):
        which = np.flatnonzero(tier == switch_tier)
        if len(which):
            low, high = tier_start[cable_tier], tier_start[cable_tier + 1]
            out[which] = low + np.arange(len(which)) * ((high - low) // len(which))
    return out


def _local_start(clos: Clos, tier_start: I64) -> I64:
    """First local cable from every switch to a higher one, then the end, (S+1,)."""
    switch = np.arange(len(clos.switches.tier) + 1)
    out: I64 = tier_start[LEAF_SPINE] + np.searchsorted(clos.leaf_spine.a, switch)
    return out
