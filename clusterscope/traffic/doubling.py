"""All-reduce by partners at doubling distances: log2 k steps instead of k.

Halving and doubling (Rabenseifner): in step i of reduce-scatter a rank exchanges the half of what
it still keeps, S/2, S/4, ..., with a partner at distance 1, 2, 4, ...; all-gather goes back the
same way. A rank sends 2 S (k-1)/k, as in a ring, in 2 log2 k steps. Recursive doubling exchanges
all S in each of log2 k steps: fewest steps, most bytes (Thakur, Rabenseifner, Gropp, *Optimization
of collective communication operations in MPICH*, IJHPCA 19, 2005).

The nearest partners exchange the largest parts, so that few bytes go far. Where k is no power of
two, the ranks beyond the largest one first hand S to a partner each, and get the result back.
Domains reduce before and gather after, as in `collectives`. Axes: R ranks.
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import I32
from clusterscope.traffic.flows import Phase
from clusterscope.traffic.groups import cross_rings
from clusterscope.traffic.placed import Placed, edges, phase, ring_phase


def doubling_phases(job: Placed, *, halving: bool) -> list[Phase]:
    """All-reduce by halving and doubling, or by recursive doubling, one phase a step."""
    k, g = job.split
    if k == 1:
        return _partners(job, job.domains.rank[None, :], job.size_bytes, halving)
    grid = cross_rings(job.domains).rank.reshape(g, k) if g > 1 else np.arange(k)[None, :]
    between = _partners(job, grid.astype(np.int32), job.size_bytes / g, halving)
    if g == 1:
        return between
    inside = (job.domains, job.size_bytes * (g - 1) / g, g - 1)
    return [
        ring_phase(job, "reduce-scatter in domain", *inside),
        *between,
        ring_phase(job, "all-gather in domain", *inside),
    ]


def _partners(job: Placed, grid: I32, size_bytes: float, halving: bool) -> list[Phase]:
    """Phases among the members of each row of ranks, which all exchange `size_bytes`."""
    levels = grid.shape[1].bit_length() - 1
    core = 1 << levels
    phases = [
        _exchange(job, grid[:, :core], i, size_bytes / 2 ** (i + 1) if halving else size_bytes)
        for i in range(levels)
    ]
    if halving:
        phases += phases[::-1]
    rest, hosts = grid[:, core:], grid[:, : grid.shape[1] - core]
    if not rest.size:
        return phases
    return [
        _handover(job, "hand in", rest, hosts, size_bytes),
        *phases,
        _handover(job, "hand back", hosts, rest, size_bytes),
    ]


def _exchange(job: Placed, grid: I32, level: int, sent_bytes: float) -> Phase:
    """Every rank of the rows sends to the one whose number differs in one bit."""
    sender = np.arange(grid.shape[1])
    there = grid[:, sender ^ (1 << level)]
    flows = edges(job, grid.ravel(), there.ravel(), np.full(grid.size, sent_bytes))
    return phase(job, f"exchange at distance {1 << level}", flows, 1)


def _handover(job: Placed, name: str, sender: I32, receiver: I32, sent_bytes: float) -> Phase:
    flows = edges(job, sender.ravel(), receiver.ravel(), np.full(sender.size, sent_bytes))
    return phase(job, name, flows, 1)
