"""A collective on its GPUs, and the phases that every algorithm is made of.

S is the nccl-tests size, n the ranks, g the ranks in each of k scale-up domains (n = k g).
Axes: R ranks, E edges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from clusterscope.columns import F64, I32
from clusterscope.fabric.arrays import Fabric
from clusterscope.fabric.geometry import ring_place
from clusterscope.spec.model import Algorithm, JobSpec
from clusterscope.traffic.channels import SEND_CHANNELS, channels_of
from clusterscope.traffic.edges import connect, network_of
from clusterscope.traffic.flows import Flows, Phase
from clusterscope.traffic.groups import (
    Rings,
    cross_rings,
    domain_of,
    domain_rings,
    flat_ring,
    place_in_domain,
    shared_rails,
)


@dataclass(frozen=True, eq=False)
class Placed:
    """What every algorithm works from.

    Attributes:
        spec: the job.
        fabric: what is cabled to what.
        gpus: (R,) GPU of each rank.
        domain: (R,) scale-up domain of each rank.
        domains: the ranks of each domain as a ring.
    """

    spec: JobSpec
    fabric: Fabric
    gpus: I32
    domain: I32
    domains: Rings

    @property
    def ranks(self) -> int:
        """Ranks, n."""
        return len(self.gpus)

    @property
    def size_bytes(self) -> float:
        """The nccl-tests size, S."""
        return float(self.spec.message_bytes)

    @property
    def split(self) -> tuple[int, int]:
        """Domains k and ranks in each g; (n, 1) where domains are not equally full."""
        if not self.domains.uniform or not self.spec.hierarchical:
            return self.ranks, 1
        return len(self.domains.sizes), int(self.domains.sizes[0])

    @property
    def alone(self) -> bool:
        """All ranks share one domain."""
        return len(self.domains.sizes) == 1

    @property
    def flat(self) -> bool:
        """Ranks of one domain take no notice of it, as their spec wants."""
        return not self.spec.hierarchical and not self.alone and int(self.domains.sizes.max()) > 1

    @property
    def uneven(self) -> bool:
        """Domains hold different numbers of ranks."""
        return self.spec.hierarchical and not self.domains.uniform

    @property
    def rails(self) -> Rings:
        """A ring a rail that all domains have, one rank of every domain in each, in their order."""
        if self.split[1] == 1 and not self.uneven:
            return flat_ring(self.ranks)
        if self.domains.uniform:
            return cross_rings(self.domains)
        return shared_rails(self.domains, place_in_domain(self.fabric, self.gpus))

    def by(self, algorithm: Algorithm) -> Placed:
        """The same job by another algorithm."""
        return replace(self, spec=self.spec.model_copy(update={"algorithm": algorithm}))


def placed(job: JobSpec, fabric: Fabric, gpus: I32) -> Placed:
    """A job on its GPUs (R,)."""
    domain = domain_of(fabric, gpus)
    return Placed(job, fabric, gpus, domain, domain_rings(domain, _ring_order(fabric, gpus)))


def _ring_order(fabric: Fabric, gpus: I32) -> I32 | None:
    """Place of each rank in the ring of its domain (R,); None for rank order."""
    if fabric.shape.kind != "torus":
        return None
    return ring_place(fabric.shape)[gpus % fabric.shape.size].astype(np.int32)


def ring_phase(
    job: Placed, name: str, rings: Rings, sent_bytes: float, steps: int, inner_steps: int = 0
) -> Phase:
    """Every rank sends `sent_bytes` to the next one of its ring; a ring moves in lock step."""
    flows = ring_flows(job, rings, np.full(len(rings.rank), sent_bytes))
    return phase(job, name, flows, steps, inner_steps)


def ring_flows(job: Placed, rings: Rings, sent_bytes: F64) -> Flows:
    """Flows of ring members (R,), in ring order, to the next one; one group a ring.

    Half of them to the one before where rings go both ways around.
    """
    ways = [rings.next_rank]
    if job.fabric.shape.direct and rings is job.domains:
        ways.append(rings.previous_rank)
    return edges(
        job,
        np.repeat(rings.rank, len(ways)),
        np.stack(ways, axis=1).ravel(),
        np.repeat(sent_bytes / len(ways), len(ways)),
        np.repeat(rings.ring_of_member, len(ways)),
    )


def edges(
    job: Placed,
    sender: I32,
    receiver: I32,
    sent_bytes: F64,
    group: I32 | None = None,
    trees: int = 1,
) -> Flows:
    """Flows between ranks (E,), in lock-step groups (E,) that ascend; each alone without.

    Channels are dealt to as many `trees`.
    """
    ends = job.gpus[sender], job.gpus[receiver]
    channels = SEND_CHANNELS
    if group is not None and len(group):
        channels = max(1, channels_of(job.fabric, job.gpus, int(group[-1]) + 1) // trees)
    return connect(job.spec.name, job.fabric, *ends, sent_bytes, group, channels)


def phase(job: Placed, name: str, flows: Flows, steps: int, inner_steps: int = 0) -> Phase:
    """A phase on whichever network its flows use."""
    made = Phase(name, network_of(job.fabric, flows), flows, steps)
    return replace(made, inner_steps=inner_steps) if inner_steps else made


def crossings(job: Placed) -> int:
    """Ranks, in rank order around a ring, whose next one is in another domain."""
    return int((job.domain != np.roll(job.domain, -1)).sum())
