"""Parts of a group that share a scale-up domain, where domains hold different numbers of it.

Axes: R ranks, Q parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import I32, I64, Bool
from clusterscope.traffic.groups import Rings


@dataclass(frozen=True, eq=False)
class Parts:
    """Groups cut by domains, part after part.

    Attributes:
        rings: the members of each part as a ring.
        group: (R,) group of each entry of its ranks, ascending.
        rails: (R,) rails of that group: members of its smallest part.
        on_rails: (R,) entries that are on a rail.
        onward: (R,) for those, entry at the same place in the next part of the group.
    """

    rings: Rings
    group: I64
    rails: I64
    on_rails: Bool
    onward: I64


def domain_parts(groups: Rings, domain: I32) -> Parts:
    """Groups (Q) by the domains of their ranks (R,), in order of domain."""
    group = groups.ring_of_member.astype(np.int64)
    key = group * (int(domain.max(initial=0)) + 1) + domain[groups.rank]
    order = np.argsort(key, kind="stable")
    _, first, sizes = np.unique(key[order], return_index=True, return_counts=True)
    owner = group[order][first]  # (Q,) group of each part
    least = np.full(len(groups.sizes), len(groups.rank), dtype=np.int64)
    np.minimum.at(least, owner, sizes)
    following = np.arange(1, len(first) + 1)
    heads = np.searchsorted(owner, np.arange(len(groups.sizes)))
    following[np.append(heads[1:], len(first)) - 1] = heads
    part = np.repeat(np.arange(len(first)), sizes)
    place = np.arange(len(order)) - first[part]
    rails = least[group[order]]
    on = place < rails
    onward = np.where(on, first[following[part]] + place, 0)
    start = np.append(first, len(order)).astype(np.int32)
    return Parts(Rings(rank=groups.rank[order], start=start), group[order], rails, on, onward)
