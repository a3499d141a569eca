"""From "this GPU sends to that one" to flows on a network.

Two GPUs of one scale-up domain use it; all others use their NICs, and spread their bytes evenly
over the ports (planes) of the NIC.
Axes: E edges, F flows.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from clusterscope.columns import F64, I32
from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import Fabric
from clusterscope.traffic.flows import Flows


def first_ports(job_name: str, fabric: Fabric, gpus: I32) -> I32:
    """First NIC port of GPUs that have to use the scale-out network, (R,) vertex.

    Raises:
        SpecError: one of the GPUs has no NIC.
    """
    ports = fabric.gpu_nic_port[gpus]
    if len(ports) and int(ports.min()) < 0:
        raise SpecError(
            f"job {job_name!r}",
            "its ranks span several scale-up domains, and their GPUs have no scale-out NICs",
            "add NICs and a scale_out table, or keep the job inside one domain",
        )
    return ports


def connect(
    job_name: str,
    fabric: Fabric,
    src_gpu: I32,
    dst_gpu: I32,
    size_bytes: F64,
    group: I32 | None = None,
    channels: int = 1,
) -> Flows:
    """Flows of edges (E,) between GPUs, in edge order, the planes of an edge side by side.

    `size_bytes` (E,) is that of an edge over all planes, `group` (E,) its lock-step group,
    ascending; without it each flow is alone. `channels` are those of an edge over NICs.

    Raises:
        SpecError: an edge needs a NIC that is not there.
    """
    domain = fabric.gpu_domain[src_gpu]
    inside = (domain >= 0) & (domain == fabric.gpu_domain[dst_gpu])
    if fabric.ports_per_nic == 1 and not inside.any():
        ends = [first_ports(job_name, fabric, gpus) for gpus in (src_gpu, dst_gpu)]
        if (ends[0] != ends[1]).all():
            return _one_port(ends[0], ends[1], size_bytes, group, channels)
    planes = np.where(inside, 1, fabric.ports_per_nic)
    edge = np.repeat(np.arange(len(src_gpu), dtype=np.int32), planes)
    plane = np.arange(len(edge)) - (np.cumsum(planes) - planes)[edge]
    by_nic = ~inside[edge]
    ends = []
    for gpus in (src_gpu, dst_gpu):
        vertex = fabric.gpu_vertex + gpus[edge]
        vertex[by_nic] = first_ports(job_name, fabric, gpus[edge[by_nic]]) + plane[by_nic]
        ends.append(vertex.astype(np.int32))
    # Model: GPUs that share a NIC and have no scale-up network meet in host memory, at no cost
    # to any link of ours.
    kept = ends[0] != ends[1]
    return Flows(
        src=ends[0][kept],
        dst=ends[1][kept],
        size_bytes=(size_bytes / planes)[edge][kept],
        group=_numbered(group[edge][kept]) if group is not None else _alone(int(kept.sum())),
        channels=np.where(by_nic[kept], channels, 1).astype(np.int32),
    )


def _one_port(src: I32, dst: I32, size_bytes: F64, group: I32 | None, channels: int) -> Flows:
    """What `connect` gives where every edge (E,) is one flow between two NIC ports."""
    return Flows(
        src=src,
        dst=dst,
        size_bytes=size_bytes,
        group=_numbered(group) if group is not None else _alone(len(src)),
        channels=np.full(len(src), channels, dtype=np.int32),
    )


def network_of(fabric: Fabric, flows: Flows) -> Literal["scale-up", "scale-out"]:
    """Network that paces the flows: scale-out as soon as one of them uses a NIC."""
    return "scale-out" if bool((flows.src < fabric.ports).any()) else "scale-up"


def _numbered(group: I32) -> I32:
    """Ascending group ids renumbered without gaps, (F,)."""
    fresh = np.diff(group, prepend=group[:1]) != 0
    return np.cumsum(fresh).astype(np.int32)


def _alone(flows: int) -> I32:
    """A group of its own for every flow, (F,)."""
    return np.arange(flows, dtype=np.int32)
