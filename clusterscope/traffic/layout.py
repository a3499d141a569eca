"""Which ranks of a training job talk to each other: its parallel groups on real GPUs.

Ranks count through tensor parallel first, then context, data and pipeline parallel, as Megatron
does; an expert parallel group is a run of consecutive ranks of a stage.
Axes: R ranks, Q groups.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np

from clusterscope.columns import I32
from clusterscope.spec.plans import Plan
from clusterscope.traffic.groups import Rings

Cut = Literal["tp", "cp", "dp", "pp"]
_CUTS: tuple[Cut, ...] = ("tp", "cp", "dp", "pp")


@dataclass(frozen=True)
class Layout:
    """Ranks of a job on the grid of its cuts.

    >>> Layout(tp=2, cp=1, dp=2, pp=2).groups({"dp"}).rank.tolist()
    [0, 2, 1, 3, 4, 6, 5, 7]
    """

    tp: int
    cp: int
    dp: int
    pp: int

    @property
    def ranks(self) -> int:
        """Ranks of the job."""
        return self.tp * self.cp * self.dp * self.pp

    def place(self, cut: Cut) -> I32:
        """Place of every rank along a cut, (R,)."""
        at = _CUTS.index(cut)
        below = int(np.prod([getattr(self, name) for name in _CUTS[:at]], dtype=np.int64))
        rank = np.arange(self.ranks, dtype=np.int64)
        place: I32 = (rank // below % getattr(self, cut)).astype(np.int32)
        return place

    def groups(self, cuts: Collection[Cut]) -> Rings:
        """Groups of ranks that differ in these cuts alone, members in rank order."""
        size = int(np.prod([getattr(self, cut) for cut in cuts], dtype=np.int64))
        grid = np.arange(self.ranks, dtype=np.int32).reshape(
            [getattr(self, cut) for cut in reversed(_CUTS)]
        )
        axes = [place for place, cut in enumerate(reversed(_CUTS)) if cut not in cuts]
        inner = [place for place, cut in enumerate(reversed(_CUTS)) if cut in cuts]
        return _rings(np.ascontiguousarray(grid.transpose(axes + inner)).ravel(), size)

    def expert_groups(self, size: int) -> Rings:
        """Expert parallel groups: runs of consecutive ranks."""
        return _rings(np.arange(self.ranks, dtype=np.int32), size)

    def expert_copies(self, size: int) -> Rings:
        """Ranks of a stage that hold the same experts: one of every group of the stage."""
        grid = np.arange(self.ranks, dtype=np.int32).reshape(self.pp, -1, size)
        return _rings(np.ascontiguousarray(grid.transpose(0, 2, 1)).ravel(), grid.shape[1])


def layout_of(plan: Plan) -> Layout:
    """Grid of a plan."""
    return Layout(plan.tp, plan.cp, plan.dp, plan.pp)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """How groups talk: inside scale-up domains first, then across them by position.

    Attributes:
        inside: rings of group members that share a domain; none when no two do.
        across: rings of members at one position of the group's domains; none when one holds all.
        g: members of a group in a domain.
        k: domains of a group.
    """

    inside: Rings | None
    across: Rings | None
    g: int
    k: int


def hierarchy(groups: Rings, domain: I32) -> Hierarchy:
    """Groups (Q) of equal size by the domains of their ranks (R,).

    When the domains of some group hold unequal numbers of its members, all groups are flat rings.
    """
    size = int(groups.sizes[0])
    count = len(groups.sizes)
    group = groups.ring_of_member.astype(np.int64)
    key = group * (int(domain.max(initial=0)) + 1) + domain[groups.rank]
    order = np.argsort(key, kind="stable")
    _, parts = np.unique(key, return_counts=True)
    g = int(parts[0])
    if size == 1 or g == 1 or not (parts == g).all():
        return Hierarchy(None, groups if size > 1 else None, 1, size)
    rank = groups.rank[order]
    k = size // g
    across = None
    if k > 1:
        grid = rank.reshape(count, k, g).transpose(0, 2, 1)
        across = _rings(np.ascontiguousarray(grid).ravel(), k)
    return Hierarchy(_rings(rank, g), across, g, k)


def _rings(rank: I32, size: int) -> Rings:
    """Rings of `size` ranks each, one after another."""
    start = np.arange(0, len(rank) + 1, max(1, size), dtype=np.int32)
    return Rings(rank=rank.astype(np.int32, copy=False), start=start)
