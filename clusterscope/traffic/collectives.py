"""A collective as phases: how many bytes each rank sends to whom.

S is the nccl-tests size, n the ranks, g the ranks in each of k scale-up domains (n = k g). Bytes
are what bandwidth-optimal rings send (nccl-tests doc/PERFORMANCE.md); a rank sends

    reduce-scatter, all-gather   in domain   S (g-1)/g           in  g-1    steps
                                 between     S/g (k-1)/k         in  k-1    steps
    all-reduce                   in domain   S (g-1)/g, twice    in  g-1    steps each
                                 between     S/g 2(k-1)/k        in 2(k-1)  steps
    all-to-all                   in domain   S/n (g-1)           at once, beside
                                 between     S/n (n-g)
    send/receive, permutation, incast        S                   to the next, its partner, rank 0

All-gather exchanges its shards of S/n between domains first, which leaves the g positions of a
domain with S/g each, and then gathers these in the domain; reduce-scatter is its mirror image, and
all-reduce is the one after the other. A flat ring is the "in domain" row with g = n.

Where GPUs are cabled to each other, rings in a domain follow the cables and go both ways around,
half of the bytes each, since a cable each way would lie idle otherwise; and an all-to-all is made
of all its pairs, since one send to the next GPU stands for all only where a switch joins them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from clusterscope.columns import I32, bincount
from clusterscope.spec.model import Algorithm, Task
from clusterscope.traffic.doubling import doubling_phases
from clusterscope.traffic.edges import connect, first_ports
from clusterscope.traffic.flows import Exchange, Phase
from clusterscope.traffic.groups import cross_rings, flat_ring
from clusterscope.traffic.placed import Placed, crossings, phase, ring_flows, ring_phase
from clusterscope.traffic.rails import broadcast_phases, pxn_exchange, rail_rings
from clusterscope.traffic.reduction import domain_bytes, tree_phase
from clusterscope.traffic.shuffle import Purpose, shuffled_partners
from clusterscope.traffic.trees import tree_phases

# Algorithms whose phases run in and between domains at the same time.
_AT_ONCE: Final = frozenset(("rail-ring", "tree", "single-tree", "nvls-tree"))


def phases_of(job: Placed, seed: int) -> tuple[Phase, ...]:
    """Phases of one iteration of a job; empty when no byte crosses a link.

    They run one after another, or side by side where `overlaps` says so. An algorithm of "auto"
    is a ring here: `choice` replaces it before.

    Raises:
        SpecError: ranks of different domains have to talk and have no NICs.
    """
    every = np.arange(job.ranks, dtype=np.int32)
    match job.spec.collective:
        case "all-reduce":
            phases = _all_reduce(job)
        case "all-gather" | "reduce-scatter":
            phases = _rings(job)
        case "broadcast":
            phases = broadcast_phases(job)
        case "all-to-all":
            phases = _all_to_all(job)
        case "sendrecv":
            phases = _sends(job, every, flat_ring(job.ranks).next_rank)
        case "permutation":
            phases = _sends(job, every, shuffled_partners(job.ranks, seed, Purpose.PARTNERS))
        case "incast":
            phases = _sends(job, every[1:], np.zeros_like(every[1:]))
    return tuple(p for p in phases if isinstance(p.demand, Exchange) or len(p.demand.src))


def busbw_factor(collective: Task, ranks: int) -> float:
    """Bus bandwidth over algorithm bandwidth, as nccl-tests defines it."""
    match collective:
        case "all-reduce":
            return 2 * (ranks - 1) / ranks
        case "all-gather" | "reduce-scatter" | "all-to-all":
            return (ranks - 1) / ranks
        case "broadcast" | "sendrecv" | "permutation" | "incast" | "training" | "serving":
            return 1.0


def overlaps(collective: Task, algorithm: Algorithm) -> bool:
    """True when the phases of an algorithm run side by side instead of one after another."""
    return collective in ("all-to-all", "broadcast") or algorithm in _AT_ONCE


def _all_reduce(job: Placed) -> list[Phase]:
    """Phases of an all-reduce by the job's algorithm."""
    match job.spec.algorithm:
        case "tree" | "single-tree" | "nvls-tree" as name:
            trees = 1 if name == "single-tree" else 2
            return tree_phases(job, trees=trees, in_switches=name == "nvls-tree")
        case "halving-doubling" | "recursive-doubling" as name:
            return doubling_phases(job, halving=name == "halving-doubling")
        case _:
            return _rings(job)


def _rings(job: Placed) -> list[Phase]:
    """Phases of all-reduce, all-gather or reduce-scatter, in domains and between them."""
    name = job.spec.collective
    if job.spec.algorithm in ("sharp", "nvls") and not job.flat:
        return _reduced(job)
    if not job.spec.hierarchical:
        return _flat(job, f"flat ring {name}")
    k, g = job.split
    if job.uneven or (job.spec.algorithm == "rail-ring" and k > 1 and g > 1):
        return rail_rings(job, _passes(name))
    phases = []
    if name != "all-gather":
        phases.append(_share_inside(job, "reduce-scatter in domain"))
    if k > 1:
        sent = _passes(name) * job.size_bytes * (k - 1) / (k * g)
        across = (cross_rings(job.domains), sent, _passes(name) * (k - 1))
        phases.append(ring_phase(job, f"{name} between domains", *across))
    if name != "reduce-scatter":
        phases.append(_share_inside(job, "all-gather in domain"))
    return phases


def _share_inside(job: Placed, name: str) -> Phase:
    """Reduce-scatter or all-gather inside the domains: by rings, or all to all at once."""
    g = job.split[1]
    sent = job.size_bytes * (g - 1) / g
    if job.spec.algorithm != "direct":
        return ring_phase(job, name, job.domains, sent, g - 1)
    (phase_,) = _exchange_inside(job, name, sent) or [ring_phase(job, name, job.domains, sent, 1)]
    return phase_


def _reduced(job: Placed) -> list[Phase]:
    """All-reduce by switches: those between the domains (sharp), or those inside them (nvls)."""
    k, size = len(job.domains.sizes), job.size_bytes
    g = job.ranks // k
    if job.spec.algorithm == "sharp":
        trees, inside = cross_rings(job.domains), (job.domains, size * (g - 1) / g, g - 1)
        return [
            ring_phase(job, "reduce-scatter in domain", *inside),
            tree_phase(job.spec.name, job.fabric, job.gpus, trees, size / g),
            ring_phase(job, "all-gather in domain", *inside),
        ]
    moved = domain_bytes(size, g)
    if k == 1:
        return [ring_phase(job, "all-reduce in switches of domain", job.domains, moved, 2)]
    sent = 2 * size * (k - 1) / (k * g)
    return [
        ring_phase(job, "reduce in switches of domain", job.domains, moved / 2, 1),
        ring_phase(job, "all-reduce between domains", cross_rings(job.domains), sent, 2 * (k - 1)),
        ring_phase(job, "broadcast in switches of domain", job.domains, moved / 2, 1),
    ]


def _flat(job: Placed, name: str) -> list[Phase]:
    """One ring over all ranks in rank order, as one phase."""
    n = job.ranks
    steps = _passes(job.spec.collective) * (n - 1)
    if job.alone:
        return [ring_phase(job, name, job.domains, steps * job.size_bytes / n, steps)]
    far = min(steps, _passes(job.spec.collective) * max(1, crossings(job) - 1))
    return [ring_phase(job, name, flat_ring(n), steps * job.size_bytes / n, far, steps - far)]


def _passes(collective: Task) -> int:
    """Times that the whole buffer goes around the ring."""
    return 2 if collective == "all-reduce" else 1


def _sends(job: Placed, sender: I32, receiver: I32) -> list[Phase]:
    """Every sending rank sends the whole message to its receiver, each flow on its own."""
    ends = job.gpus[sender], job.gpus[receiver]
    sent = np.full(len(sender), job.size_bytes)
    flows = connect(job.spec.name, job.fabric, *ends, sent)
    return [phase(job, job.spec.collective, flows, 1)]


def _all_to_all(job: Placed) -> list[Phase]:
    """Exchange between the domains, one a plane, and exchange inside them; all at once."""
    k, g = job.split
    by_rail = job.spec.algorithm == "pxn" and k > 1 and g > 1
    if by_rail:
        phases = pxn_exchange(job, _uneven(job) * g * (k - 1) / job.ranks)
    else:
        phases = _exchanges(job) if len(job.domains.sizes) > 1 else []
    # What a GPU hands to the other rails of its domain besides, for every other domain.
    rounds = k if by_rail else 1
    sizes = job.domains.sizes
    if job.fabric.shape.kind != "switched":
        sent = _uneven(job) * rounds * (int(sizes.max()) - 1) / job.ranks
        return [*phases, *_exchange_inside(job, "exchange in domain", sent)]
    # Model: inside a domain any rotation loads every GPU's link with the same total, so one
    # send of all its bytes to the next GPU stands for g-1 sends to all of them.
    each = _uneven(job) * rounds * (np.repeat(sizes, sizes) - 1) / job.ranks
    flows = ring_flows(job, job.domains, each)
    return [*phases, phase(job, "exchange in domain", flows, 1)]


def _uneven(job: Placed) -> float:
    """Bytes of the busiest rank of an all-to-all, those to itself included."""
    return job.size_bytes * job.spec.imbalance


def _exchange_inside(job: Placed, name: str, sent_bytes: float) -> list[Phase]:
    """Uniform exchange inside the domains, pair by pair; GPUs alone in theirs take no part.

    None in a domain of one level of switches, where a rotation stands for all pairs.
    """
    sizes = job.domains.sizes
    gpus = job.gpus[job.domains.rank[np.repeat(sizes > 1, sizes)]]
    if not len(gpus) or job.fabric.shape.kind == "switched":
        return []
    order = np.sort(gpus)
    demand = Exchange(
        ports=(job.fabric.gpu_vertex + order).astype(np.int32),
        domain=job.fabric.gpu_domain[order],
        port_bytes=sent_bytes,
    )
    return [Phase(name, "scale-up", demand, 1)]


def _exchanges(job: Placed) -> list[Phase]:
    """Uniform exchange between NIC ports of different domains, one phase a plane."""
    first_port = first_ports(job.spec.name, job.fabric, job.gpus)
    ports, first_rank, port = np.unique(first_port, return_index=True, return_inverse=True)
    domain = job.domain[first_rank]  # (P,)
    _, near, count = np.unique(domain[port], return_inverse=True, return_counts=True)
    leaving = _uneven(job) * (job.ranks - count[near]) / job.ranks  # (R,)
    # Model: an exchange is uniform. Where domains hold different numbers of ranks, all ports send
    # as much as the busiest one, which is the one that decides the time.
    port_bytes = float(bincount(port, leaving, len(ports)).max())
    if port_bytes <= 0:
        return []
    planes = job.fabric.ports_per_nic
    phases = []
    for plane in range(planes):
        name = "exchange between domains" + (f", plane {plane}" if planes > 1 else "")
        members = (ports + plane).astype(np.int32)
        demand = Exchange(ports=members, domain=domain, port_bytes=port_bytes / planes)
        phases.append(Phase(name, "scale-out", demand, 1))
    return phases
