"""Which ranks talk in a ring: by scale-up domain, across domains, or all of them.

Axes: R ranks, Q rings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from clusterscope.columns import I32, Arrays, Col
from clusterscope.fabric.arrays import Fabric


@dataclass(frozen=True, eq=False, kw_only=True)
class Rings(Arrays):
    """Every rank in one ring, rings one after another."""

    rank: Annotated[I32, Col("R", "rank", "members, ring by ring, in ring order")]
    start: Annotated[I32, Col("Q+1", "1", "members of ring q are rank[start[q]:start[q+1]]")]

    @property
    def sizes(self) -> I32:
        """Members of each ring, (Q,)."""
        return np.diff(self.start)

    @property
    def uniform(self) -> bool:
        """True when all rings are equally long."""
        sizes = self.sizes
        return bool((sizes == sizes[0]).all())

    @property
    def ring_of_member(self) -> I32:
        """Ring of each entry of `rank`, (R,), ascending."""
        return np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), self.sizes)

    @property
    def next_rank(self) -> I32:
        """Rank that follows each entry of `rank` in its ring, (R,)."""
        following = np.arange(1, len(self.rank) + 1)
        following[self.start[1:] - 1] = self.start[:-1]
        return self.rank[following]

    @property
    def previous_rank(self) -> I32:
        """Rank that precedes each entry of `rank` in its ring, (R,)."""
        before = np.arange(-1, len(self.rank) - 1)
        before[self.start[:-1]] = self.start[1:] - 1
        return self.rank[before]


def domain_of(fabric: Fabric, gpus: I32) -> I32:
    """Scale-up domain of GPUs, (R,); a GPU without one is a domain of its own, D + GPU."""
    domain = fabric.gpu_domain[gpus]
    return np.where(domain >= 0, domain, fabric.domains + gpus).astype(np.int32)


def flat_ring(ranks: int) -> Rings:
    """All ranks in one ring, in rank order."""
    return Rings(rank=np.arange(ranks, dtype=np.int32), start=np.array([0, ranks], dtype=np.int32))


def domain_rings(domain: I32, place: I32 | None = None) -> Rings:
    """One ring a scale-up domain, from the domain of every rank (R,).

    Domains come in order of their first rank; the members of a domain in order of `place` (R,),
    or in rank order, and that is their position in the domain.
    """
    _, first, inverse = np.unique(domain, return_index=True, return_inverse=True)
    turn = np.empty(len(first), dtype=np.int32)
    turn[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    appearance = turn[inverse]
    sizes = np.bincount(appearance)
    keys = (appearance,) if place is None else (place, appearance)
    return Rings(
        rank=np.lexsort(keys).astype(np.int32),
        start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
    )


def cross_rings(domains: Rings) -> Rings:
    """One ring a position: ring p links the p-th rank of every domain; domains are equal sized."""
    positions = int(domains.sizes[0])
    ranks = len(domains.rank)
    return Rings(
        rank=np.ascontiguousarray(domains.rank.reshape(-1, positions).T).ravel(),
        start=np.arange(0, ranks + 1, ranks // positions, dtype=np.int32),
    )


def place_in_domain(fabric: Fabric, gpus: I32) -> I32:
    """Place of GPUs in the whole domain that each belongs to, (R,); 0 for a GPU without one."""
    own, first = np.unique(fabric.gpu_domain, return_index=True)
    domain = fabric.gpu_domain[gpus]
    place = gpus - first[np.searchsorted(own, domain)]
    return np.where(domain >= 0, place, 0).astype(np.int32)


def shared_rails(domains: Rings, place: I32) -> Rings:
    """One ring a rail that all domains share, by the place of every rank (R,) in its domain.

    Where none is shared, as many rings as the smallest domain has ranks, by position.
    """
    k, ring, places = len(domains.sizes), domains.ring_of_member, place[domains.rank]
    shared = np.bincount(places)[places] == k
    rails = int(shared.sum()) // k or int(domains.sizes.min())
    order = np.lexsort((places, ~shared, ring))
    at = (domains.start[:-1, None] + np.arange(rails)).T.ravel()  # rail by rail, domains in order
    return Rings(
        rank=domains.rank[order[at]],
        start=np.arange(0, rails * k + 1, k, dtype=np.int32),
    )
