"""Algorithms that use the NIC of every GPU at once: rings and chains by rail, exchange over PXN.

Rings by rail: g rings over all n ranks carry S/g each. Ring r leaves and enters every domain by the
NIC of its r-th GPU, and passes all GPUs of the domain between (NVLink takes a message from the last
GPU to the one with the NIC). So a NIC sends (n-1)/n S/g a pass, and a GPU (n-1)/n S to the next one
of its domain, at the same time: NICs and domain pace each other, whichever is slower.

Where domains are not equally full, rings run on the rails that all of them have.

Broadcast is the same, open at the end: a NIC sends S/g once, a GPU S (g-1)/g.

All-to-all over PXN: what is for the GPU of rail r in another domain goes to the GPU of rail r in
the own domain first, and stays on its rail from there on. NICs send as much as without, but only to
ports of their own rail; a GPU's link carries what it hands to other rails besides its own exchange.

Source: NVIDIA, *Doubling all2all performance with NCCL 2.12*, 2022 (PXN).
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import I32
from clusterscope.traffic.edges import first_ports
from clusterscope.traffic.flows import Exchange, Phase
from clusterscope.traffic.groups import Rings, cross_rings, flat_ring
from clusterscope.traffic.placed import Placed, edges, phase, ring_flows, ring_phase


def rail_rings(job: Placed, passes: int) -> list[Phase]:
    """A ring a rail over all ranks, in and between domains at the same time."""
    rails, k = job.rails, len(job.domains.sizes)
    n, size = job.ranks, job.size_bytes
    sent = passes * size * (n - 1) / n
    name = f"rings by rail: {job.spec.collective}"
    inner = passes * (n - k)
    each = sent / len(rails.sizes)
    between = ring_phase(job, name, rails, each, passes * (k - 1), inner)
    return [between, ring_phase(job, f"{name}, in domain", job.domains, sent, inner)]


def broadcast_phases(job: Placed) -> list[Phase]:
    """The first rank's buffer to all others, along a chain a rail."""
    size, sizes = job.size_bytes, job.domains.sizes
    if job.alone or (job.split[1] == 1 and not job.uneven):
        order = job.domains if job.split[0] == 1 else flat_ring(job.ranks)
        return [_chain(job, "broadcast along a chain", order, size, 0)]
    rails, inner = job.rails, job.ranks - len(sizes)
    between = _chain(job, "broadcast by rail", rails, size / len(rails.sizes), inner)
    sent = size * (1.0 - 1.0 / np.repeat(sizes, sizes))
    flows = ring_flows(job, job.domains, sent)
    return [between, phase(job, "broadcast in domain", flows, int(sizes.max()) - 1)]


def _chain(job: Placed, name: str, rings: Rings, sent_bytes: float, inner_steps: int) -> Phase:
    """Every rank but the last of its ring sends to the next one."""
    keep = np.ones(len(rings.rank), dtype=np.bool_)
    keep[rings.start[1:] - 1] = False
    here, there = rings.rank[keep], rings.next_rank[keep]
    size = np.full(len(here), sent_bytes)
    flows = edges(job, here, there, size, rings.ring_of_member[keep])
    return phase(job, name, flows, int(rings.sizes[0]) - 1, inner_steps)


def pxn_exchange(job: Placed, sent_bytes: float) -> list[Phase]:
    """Exchange between domains rail by rail, one phase a rail and plane.

    Args:
        job: where it runs; its domains are equally full and every position has NICs.
        sent_bytes: what a rank sends to other domains.
    """
    first = first_ports(job.spec.name, job.fabric, job.gpus)
    planes = job.fabric.ports_per_nic
    rails = cross_rings(job.domains).rank.reshape(job.split[1], job.split[0])
    phases = []
    for rail, ranks in enumerate(rails):
        for plane in range(planes):
            name = f"exchange on rail {rail}" + (f", plane {plane}" if planes > 1 else "")
            demand = _exchange(job, ranks, first + plane, sent_bytes / planes)
            phases.append(Phase(name, "scale-out", demand, 1))
    return phases


def _exchange(job: Placed, ranks: I32, port: I32, sent_bytes: float) -> Exchange:
    """Uniform exchange among the ports (R,) of some ranks, one in each domain."""
    order = ranks[np.argsort(port[ranks], kind="stable")]
    return Exchange(
        ports=port[order].astype(np.int32), domain=job.domain[order], port_bytes=sent_bytes
    )
