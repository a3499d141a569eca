"""All-reduce up a tree and down again, cut into many chunks that follow one another.

Every rank sends the sum of its subtree to its parent, and the result to its children; with many
chunks both happen at once all over the tree. In one binary tree an inner rank sends S up and 2 S
down, and a leaf S: 3 S at the busiest. Two trees that carry half each, in which the inner ranks of
one are leaves of the other, load every rank with 2 S at most (Sanders, Speck, Träff, *Two-tree
algorithms for full bandwidth broadcast, reduction and scan*, Parallel Computing 35, 2009).

A tree over k members, numbered from 0: member i hangs below i without its lowest bit b, with the
next higher bit set instead, or below i - b where there is no such member. The second tree is the
first one read backwards, or moved on by one when k is odd.

Between domains each of g rails has trees of its own for S/g over its NICs, while inside the
domain chains gather and spread all positions' parts: 2 S (g-1)/g over each GPU's link, which
`ring_phase` sends as a ring does.
Axes: E edges, K members.
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import F64, I64, bincount
from clusterscope.fabric.arrays import Fabric
from clusterscope.traffic.flows import Flows, Phase
from clusterscope.traffic.placed import Placed, edges, phase, ring_flows, ring_phase
from clusterscope.traffic.reduction import domain_bytes

# Possible codes for each that there is, up to which counting all of them beats sorting.
_DENSE = 8


def tree_phases(job: Placed, *, trees: int, in_switches: bool = False) -> list[Phase]:
    """All-reduce over one or two binary trees between domains, all phases at once.

    Args:
        job: where it runs.
        trees: 1 or 2.
        in_switches: the domains' switches reduce what is gathered inside.
    """
    k, g = job.split
    sizes = job.domains.sizes
    if job.uneven:
        k, g = len(sizes), int(sizes.max())
    size, phases = job.size_bytes, []
    if k > 1:
        # A chain inside the domain is walked up and down; a switch is asked once each way.
        inner = 2 if in_switches else 2 * (g - 1)
        phases.append(_between(job, trees, inner))
    if g > 1 and in_switches:
        name = "all-reduce in switches of domain"
        phases.append(ring_phase(job, name, job.domains, domain_bytes(size, g), 2))
    elif g > 1:
        sent = 2 * size * (1.0 - 1.0 / np.repeat(sizes, sizes))
        flows = ring_flows(job, job.domains, sent)
        phases.append(phase(job, "chains in domain", flows, 2 * (g - 1)))
    return phases


def _between(job: Placed, trees: int, inner_steps: int) -> Phase:
    """Trees between the domains, one pair a rail; a rail moves in lock step."""
    rails = job.rails
    k, each = int(rails.sizes[0]), job.size_bytes / len(rails.sizes)
    child, parent = tree_edges(k, trees)
    grid = rails.rank.reshape(-1, k)
    sender = grid.take(np.concatenate([child, parent]), axis=1).ravel()
    receiver = grid.take(np.concatenate([parent, child]), axis=1).ravel()
    group = np.repeat(np.arange(len(grid), dtype=np.int32), 2 * len(child))
    flows = edges(job, sender, receiver, np.full(len(sender), each / trees), group, trees)
    name = "tree between domains" if trees == 1 else "double tree between domains"
    return phase(job, name, below_leaves(job.fabric, flows), 2 * depth(k), inner_steps)


def below_leaves(fabric: Fabric, flows: Flows) -> Flows:
    """The same loads with fewer flows: what turns around at a leaf is one flow a port, to itself.

    Exact for flows that come in pairs there and back: over such an edge only the cables of its two
    ports are used, by as much in each direction.
    """
    leaf, ports = fabric.port_leaf, fabric.ports
    outside = np.minimum(flows.src, flows.dst) < ports
    near = outside.copy()
    near[outside] = leaf[flows.src[outside]] == leaf[flows.dst[outside]]
    if not near.any():
        return flows
    turning, far = np.flatnonzero(near), np.flatnonzero(~near)
    code = flows.group.take(turning).astype(np.int64) * ports + flows.src.take(turning)
    own, sent = _sums(code, flows.size_bytes.take(turning))
    port = (own % ports).astype(np.int32)
    group = np.concatenate([flows.group.take(far), (own // ports).astype(np.int32)])
    order = np.argsort(group, kind="stable")
    ones = np.ones(len(own), dtype=np.int32)
    return Flows(
        src=np.concatenate([flows.src.take(far), port]).take(order),
        dst=np.concatenate([flows.dst.take(far), port]).take(order),
        size_bytes=np.concatenate([flows.size_bytes.take(far), sent]).take(order),
        group=group.take(order),
        channels=np.concatenate([flows.channels.take(far), ones]).take(order),
    )


def _sums(code: I64, value: F64) -> tuple[I64, F64]:
    """Distinct codes, ascending, and the sum of the values (E,) of each."""
    most = int(code.max()) + 1
    if most <= _DENSE * len(code):
        own = np.flatnonzero(np.bincount(code, minlength=most)).astype(np.int64, copy=False)
        return own, bincount(code, value, most).take(own)
    own, place = np.unique(code, return_inverse=True)
    return own, bincount(place, value, len(own))


def depth(members: int) -> int:
    """Levels that a message climbs in a binary tree of so many members: log2, rounded down."""
    return members.bit_length() - 1


def tree_edges(members: int, trees: int) -> tuple[I64, I64]:
    """Children and parents of all edges of one or two binary trees, (E,) each."""
    child = np.arange(1, members, dtype=np.int64)
    lowest = child & -child
    parent = (child - lowest) | (2 * lowest)
    parent = np.where(parent < members, parent, child - lowest)
    if trees == 1:
        return child, parent
    other = [members - 1 - end if members % 2 == 0 else (end + 1) % members
             for end in (child, parent)]  # fmt: skip
    return np.concatenate([child, other[0]]), np.concatenate([parent, other[1]])
