"""A collective as phases: how many bytes each rank sends to whom.

S is the nccl-tests size, n the ranks, g the ranks in each of k scale-up domains (n = k g). Bytes
are what bandwidth-optimal rings send (nccl-tests doc/PERFORMANCE.md); a rank sends

    reduce-scatter, all-gather   in domain   S (g-1)/g           in  g-1    steps
                                 between     S/g (k-1)/k         in  k-1    steps
    all-reduce                   in domain   S (g-1)/g, twice    in  g-1    steps each
                                 between     S/g 2(k-1)/k        in 2(k-1)  steps
    all-to-all                   in domain   S/n (g-1)           at once, beside
                                 between     S/n (n-g)
    permutation, incast                      S                   to its partner, to rank 0

All-gather exchanges its shards of S/n between domains first, which leaves the g positions of a
domain with S/g each, and then gathers these in the domain; reduce-scatter is its mirror image, and
all-reduce is the one after the other. A flat ring is the "in domain" row with g = n.

Where GPUs are cabled to each other, rings in a domain follow the cables and go both ways around,
half of the bytes each, since a cable each way would lie idle otherwise; and an all-to-all is made
of all its pairs, since one send to the next GPU stands for all only where a switch joins them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I32, bincount
from clusterscope.fabric.arrays import Fabric
from clusterscope.fabric.geometry import ring_place
from clusterscope.spec.model import JobSpec, Task
from clusterscope.traffic.edges import connect, first_ports, network_of
from clusterscope.traffic.flows import Exchange, Flows, Phase
from clusterscope.traffic.groups import Rings, cross_rings, domain_of, domain_rings, flat_ring
from clusterscope.traffic.reduction import domain_bytes, tree_phase
from clusterscope.traffic.shuffle import Purpose, shuffled_partners


@dataclass(frozen=True, eq=False)
class _Job:
    """What every collective works from: the job, its GPUs (R,) and their domains."""

    spec: JobSpec
    fabric: Fabric
    gpus: I32
    domain: I32
    domains: Rings

    @property
    def ranks(self) -> int:
        return len(self.gpus)

    @property
    def size_bytes(self) -> float:
        return float(self.spec.message_bytes)


def phases_of(job: JobSpec, fabric: Fabric, gpus: I32, seed: int) -> tuple[Phase, ...]:
    """Phases of one iteration of a job on `gpus` (R,); empty when no byte crosses a link.

    The phases of an all-to-all run side by side, all others one after another.

    Raises:
        SpecError: ranks of different domains have to talk and have no NICs.
    """
    domain = domain_of(fabric, gpus)
    placed = _Job(job, fabric, gpus, domain, domain_rings(domain, _ring_order(fabric, gpus)))
    match job.collective:
        case "all-reduce" | "all-gather" | "reduce-scatter":
            phases = _rings(placed)
        case "all-to-all":
            phases = _all_to_all(placed)
        case "permutation":
            partner = shuffled_partners(placed.ranks, seed, Purpose.PARTNERS)
            phases = _sends(placed, np.arange(placed.ranks, dtype=np.int32), partner)
        case "incast":
            senders = np.arange(1, placed.ranks, dtype=np.int32)
            phases = _sends(placed, senders, np.zeros_like(senders))
    return tuple(p for p in phases if isinstance(p.demand, Exchange) or len(p.demand.src))


def _ring_order(fabric: Fabric, gpus: I32) -> I32 | None:
    """Place of each rank in the ring of its domain (R,); None for rank order."""
    if fabric.shape.kind != "torus":
        return None
    return ring_place(fabric.shape)[gpus % fabric.shape.size].astype(np.int32)


def busbw_factor(collective: Task, ranks: int) -> float:
    """Bus bandwidth over algorithm bandwidth, as nccl-tests defines it."""
    match collective:
        case "all-reduce":
            return 2 * (ranks - 1) / ranks
        case "all-gather" | "reduce-scatter" | "all-to-all":
            return (ranks - 1) / ranks
        case "permutation" | "incast" | "training":
            return 1.0


def _rings(job: _Job) -> list[Phase]:
    """Phases of all-reduce, all-gather or reduce-scatter."""
    name = job.spec.collective
    if not job.spec.hierarchical:
        return _flat(job, f"flat ring {name}")
    sizes = job.domains.sizes
    if not job.domains.uniform:
        return _flat(job, f"flat ring {name}: domains hold {sizes.min()} to {sizes.max()} ranks")
    if job.spec.algorithm in ("sharp", "nvls"):
        return _reduced(job)
    k, g = len(sizes), int(sizes[0])
    size = job.size_bytes
    passes = _passes(name)
    inside = (job.domains, size * (g - 1) / g, g - 1)
    phases = []
    if name != "all-gather":
        phases.append(_ring_phase(job, "reduce-scatter in domain", *inside))
    if k > 1:
        sent = passes * size * (k - 1) / (k * g)
        across = (cross_rings(job.domains), sent, passes * (k - 1))
        phases.append(_ring_phase(job, f"{name} between domains", *across))
    if name != "reduce-scatter":
        phases.append(_ring_phase(job, "all-gather in domain", *inside))
    return phases


def _reduced(job: _Job) -> list[Phase]:
    """All-reduce by switches: those between the domains (sharp), or those inside them (nvls)."""
    k, g, size = len(job.domains.sizes), int(job.domains.sizes[0]), job.size_bytes
    if job.spec.algorithm == "sharp":
        trees, inside = cross_rings(job.domains), (job.domains, size * (g - 1) / g, g - 1)
        return [
            _ring_phase(job, "reduce-scatter in domain", *inside),
            tree_phase(job.spec.name, job.fabric, job.gpus, trees, size / g),
            _ring_phase(job, "all-gather in domain", *inside),
        ]
    moved = domain_bytes(size, g)
    if k == 1:
        return [_ring_phase(job, "all-reduce in switches of domain", job.domains, moved, 2)]
    sent = 2 * size * (k - 1) / (k * g)
    return [
        _ring_phase(job, "reduce in switches of domain", job.domains, moved / 2, 1),
        _ring_phase(job, "all-reduce between domains", cross_rings(job.domains), sent, 2 * (k - 1)),
        _ring_phase(job, "broadcast in switches of domain", job.domains, moved / 2, 1),
    ]


def _flat(job: _Job, name: str) -> list[Phase]:
    """One ring over all ranks in rank order, as one phase."""
    n = job.ranks
    steps = _passes(job.spec.collective) * (n - 1)
    ring = job.domains if len(job.domains.sizes) == 1 else flat_ring(n)
    return [_ring_phase(job, name, ring, steps * job.size_bytes / n, steps)]


def _passes(collective: Task) -> int:
    """Times that the whole buffer goes around the ring."""
    return 2 if collective == "all-reduce" else 1


def _ring_phase(job: _Job, name: str, rings: Rings, sent_bytes: float, steps: int) -> Phase:
    """Every rank sends `sent_bytes` to the next one of its ring; a ring moves in lock step."""
    return _phase(job, name, _ring_flows(job, rings, np.full(len(rings.rank), sent_bytes)), steps)


def _ring_flows(job: _Job, rings: Rings, sent_bytes: F64) -> Flows:
    """Flows of ring members (R,), in ring order, to the next one; one group a ring.

    Half of them to the one before where rings go both ways around.
    """
    ways = [rings.next_rank]
    if job.fabric.shape.direct and rings is job.domains:
        ways.append(rings.previous_rank)
    return connect(
        job.spec.name,
        job.fabric,
        np.repeat(job.gpus[rings.rank], len(ways)),
        job.gpus[np.stack(ways, axis=1).ravel()],
        np.repeat(sent_bytes / len(ways), len(ways)),
        np.repeat(rings.ring_of_member, len(ways)),
    )


def _phase(job: _Job, name: str, flows: Flows, steps: int) -> Phase:
    """A phase on whichever network its flows use."""
    return Phase(name, network_of(job.fabric, flows), flows, steps)


def _sends(job: _Job, sender: I32, receiver: I32) -> list[Phase]:
    """Every sending rank sends the whole message to its receiver, each flow on its own."""
    flows = connect(
        job.spec.name,
        job.fabric,
        job.gpus[sender],
        job.gpus[receiver],
        np.full(len(sender), job.size_bytes),
    )
    return [_phase(job, job.spec.collective, flows, 1)]


def _all_to_all(job: _Job) -> list[Phase]:
    """Exchange between the domains, one a plane, and exchange inside them; all at once."""
    phases = _exchanges(job) if len(job.domains.sizes) > 1 else []
    if job.fabric.shape.kind != "switched":
        return [*phases, *_exchange_inside(job)]
    # Model: inside a domain any rotation loads every GPU's link with the same total, so one
    # send of all its bytes to the next GPU stands for g-1 sends to all of them.
    sizes = job.domains.sizes
    sent = job.size_bytes * (np.repeat(sizes, sizes) - 1) / job.ranks
    flows = _ring_flows(job, job.domains, sent)
    return [*phases, _phase(job, "exchange in domain", flows, 1)]


def _exchange_inside(job: _Job) -> list[Phase]:
    """Uniform exchange inside the domains, pair by pair; GPUs alone in theirs take no part."""
    sizes = job.domains.sizes
    gpus = job.gpus[job.domains.rank[np.repeat(sizes > 1, sizes)]]
    if not len(gpus):
        return []
    order = np.sort(gpus)
    demand = Exchange(
        ports=(job.fabric.gpu_vertex + order).astype(np.int32),
        domain=job.fabric.gpu_domain[order],
        port_bytes=job.size_bytes * (int(sizes.max()) - 1) / job.ranks,
    )
    return [Phase("exchange in domain", "scale-up", demand, 1)]


def _exchanges(job: _Job) -> list[Phase]:
    """Uniform exchange between NIC ports of different domains, one phase a plane."""
    first_port = first_ports(job.spec.name, job.fabric, job.gpus)
    ports, first_rank, port = np.unique(first_port, return_index=True, return_inverse=True)
    domain = job.domain[first_rank]  # (P,)
    _, near, count = np.unique(domain[port], return_inverse=True, return_counts=True)
    leaving = job.size_bytes * (job.ranks - count[near]) / job.ranks  # (R,)
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
