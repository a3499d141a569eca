"""Progressive filling by local bottlenecks, the core of every fair share.

Model
    Flow ``i`` has a level ``x_i`` (its rate divided by its weight) and puts ``load * x_i`` on each
    link it crosses. The max-min allocation raises all levels together and stops a flow where its
    first link fills, or at its own cap (Bertsekas & Gallager, *Data Networks*, 2nd ed., 6.5.2).

Equation
    The share of link ``l`` is ``(C_l - load of its frozen flows) / (load per level of its open
    flows)``. A link whose share is the lowest on the path of every open flow it carries keeps that
    share whatever happens elsewhere, because shares never fall while lower levels freeze. All such
    *locally* lowest links freeze in one round, which takes some ten rounds where the textbook's
    one link at a time takes thousands.

Layout
    Entries are columns: ``links[h][r]`` is the link of entry ``h`` of row ``r``. A flow with a
    short path is one row, a collective with hundreds of thousands of entries is many consecutive
    rows. Whole columns fit a cache, and a minimum over a path is a minimum of columns. Links count
    from 1; link 0 has no end of capacity and pads short rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

TIE = 1e-12
"""Shares closer than this, relative, are one level: rounding must not split a round in many."""

MANY = 0.8
"""Idle rows beyond the rest of this share are worth a pass to drop; a few freeze at once anyway."""

LARGE = 2**17
"""Entries from which page faults matter."""

HEAP_BYTES = 31 * 2**20
"""Size of a block that is allocated and freed, untouched, before a large fill. The GNU allocator
takes it as a hint to keep freed blocks up to that size in the process; giving their pages back and
faulting them in again is otherwise a quarter of the cost of solves that follow one another."""

ROUNDING = 1e-14
"""A link filled to its capacity within this, relative, is not over capacity."""


class Incidence(NamedTuple):
    """Which flow loads which link.

    ``links`` (H, R) holds the link of each entry, 1 to L, and 0 where a row is shorter; ``loads``
    (H, R) the load per unit of level, None when all are 1; ``flow`` (R,) the flow of each row, not
    decreasing, None when row ``r`` is flow ``r``.
    """

    links: Ints
    loads: Floats | None
    flow: Ints | None


class Levels(NamedTuple):
    """The level (F,) of each flow and the link (F,) that holds it there, 0 when its cap does."""

    level: Floats
    link: Ints | None


def water_fill(
    incidence: Incidence, cap: Floats, capacity: Floats, *, trace: bool = False
) -> Levels:
    """Fill all flows to their max-min levels.

    Args:
        incidence: entries of the flows.
        cap: (F,) highest level of each flow, inf when only links limit it.
        capacity: (L + 1,) capacity of each link in units of load times level, inf for link 0.
        trace: also tell which link holds each flow.

    Returns:
        Levels, inf for a flow that nothing limits.
    """
    if incidence.links.size >= LARGE:
        np.empty(HEAP_BYTES, dtype=np.uint8)
    level = cap.copy()
    link = np.zeros(len(cap), dtype=np.intp) if trace else None
    if len(cap):
        _bound_by_narrowest_link(incidence, capacity, level, link)
        filling = _Filling(incidence, level, link, capacity)
        while filling.is_open:
            filling.round()
    return Levels(level, link)


def _bound_by_narrowest_link(
    incidence: Incidence, capacity: Floats, level: Floats, link: Ints | None
) -> None:
    """Lower each level to what the flow could have alone: this frees most links from binding."""
    links, loads, flow = incidence
    limit = level if flow is None else level.take(flow)
    holder = None if link is None else np.zeros(links.shape[1], dtype=np.intp)
    for hop, column in enumerate(links):
        alone = capacity.take(column)
        if loads is not None:
            alone /= loads[hop]
        if holder is not None:
            np.copyto(holder, column, where=alone < limit)
        np.minimum(limit, alone, out=limit)
    if flow is None:
        if link is not None and holder is not None:
            link[:] = holder
        return
    first = _run_starts(flow)
    level[flow.take(first)] = np.minimum.reduceat(limit, first)
    if link is not None and holder is not None:
        holder[limit > level.take(flow)] = 0
        link[flow.take(first)] = np.maximum.reduceat(holder, first)


def _run_starts(flow: Ints) -> Ints:
    """Return the index at which each run of equal values starts."""
    return np.flatnonzero(np.concatenate(([True], flow[1:] != flow[:-1])))


def _lowest_of_flow(level: Floats, flow: Ints) -> Floats:
    """Give all rows of a flow the lowest level among them."""
    first = _run_starts(flow)
    lowest: Floats = np.minimum.reduceat(level, first)
    return lowest.repeat(np.diff(first, append=len(flow)))


def _any_of_flow(mark: Bools, flow: Ints) -> Bools:
    """Mark all rows of a flow of which any row is marked."""
    first = _run_starts(flow)
    anywhere: Bools = np.logical_or.reduceat(mark, first)
    return anywhere.repeat(np.diff(first, append=len(flow)))


class _Filling:
    """The open flows and binding links of a fill in progress."""

    def __init__(
        self, incidence: Incidence, level: Floats, link: Ints | None, capacity: Floats
    ) -> None:
        links, loads, flow = incidence
        self._level = level
        self._link = link
        self._capped_by = None if link is None else link.copy()
        self._flow = np.arange(links.shape[1]) if flow is None else flow
        self._split = flow is not None
        self._cap = level if flow is None else level.take(flow)
        entries = links.ravel()
        demand = _demand(entries, loads, len(capacity))
        binds = _overloaded(demand, entries, loads, self._cap, capacity)
        binding = [binds.take(column) for column in links]
        busy = [hop for hop, mark in enumerate(binding) if mark.any()]
        # The dense links 1, 2, .. are those that bind; what does not bind is padding from here on.
        self._names = np.flatnonzero(np.concatenate(([True], binds[1:])))
        label = np.zeros(len(capacity), dtype=np.intp)
        label[self._names] = np.arange(len(self._names))
        self._residual = capacity.take(self._names)
        self._demand = demand.take(self._names).astype(np.float64, copy=False)
        self._demand[0] = 1.0
        some = slice(None) if len(busy) == len(links) else busy
        self._links = label.take(links[some])
        self._loads = None if loads is None else loads[some]
        self._drop_idle([binding[hop] for hop in busy])

    @property
    def is_open(self) -> bool:
        """Tell whether any flow is still open."""
        return len(self._flow) > 0

    def round(self) -> None:
        """Freeze the flows that reached their cap and those of all locally lowest links."""
        shares, level = self._lowest()
        local = self._local_links(shares, level)
        frozen = level >= self._cap
        for column in self._links:
            frozen |= local.take(column)
        if self._split:
            frozen = _any_of_flow(frozen, self._flow)
        chosen = np.flatnonzero(frozen)
        flow, level = self._flow.take(chosen), level.take(chosen)
        crossed = self._links.take(chosen, axis=1)
        self._level[flow] = level
        self._hold(flow, crossed, local)
        self._take(chosen, crossed, level)
        self._keep(np.flatnonzero(~frozen))

    def _lowest(self) -> tuple[list[Floats], Floats]:
        """Return the share of each entry's link, and each row's level if it froze now."""
        share = np.full(len(self._residual), np.inf)
        np.divide(self._residual, self._demand, out=share, where=self._demand > 0)
        np.maximum(share, 0.0, out=share)
        shares = [share.take(column) for column in self._links]
        level = self._cap.copy()
        for column_share in shares:
            np.minimum(level, column_share, out=level)
        if self._split:
            level = _lowest_of_flow(level, self._flow)
        return shares, level

    def _local_links(self, shares: list[Floats], level: Floats) -> Bools:
        """Mark the links that are the narrowest of all their open flows."""
        local = np.ones(len(self._residual), dtype=np.bool_)
        tie = level * (1 + TIE)
        for column, column_share in zip(self._links, shares, strict=True):
            local[column.take(np.flatnonzero(column_share > tie))] = False
        local[0] = False
        return local

    def _hold(self, flow: Ints, crossed: Ints, local: Bools) -> None:
        """Write down which link on the columns they cross holds the rows of flows."""
        if self._link is None or self._capped_by is None:
            return
        self._link[flow] = self._capped_by.take(flow)
        for column in crossed[::-1]:
            holds = np.flatnonzero(local.take(column))
            self._link[flow.take(holds)] = self._names.take(column.take(holds))

    def _take(self, chosen: Ints, crossed: Ints, level: Floats) -> None:
        """Subtract what the chosen rows use at their level from the links they cross."""
        if self._loads is None:
            used = np.tile(level, len(crossed))
        else:
            used = (self._loads.take(chosen, axis=1) * level).ravel()
        entries = crossed.ravel()
        size = len(self._residual)
        self._residual[0] = 0.0  # padding; the level of a flow without links is inf
        # Padding may take inf, which inf cannot be reduced by.
        self._residual[0] = 0.0
        self._residual -= summed(entries, used, size)
        self._residual[0] = np.inf
        if self._loads is None:
            self._demand -= np.bincount(entries, minlength=size)
            self._demand[0] = 1.0

    def _keep(self, chosen: Ints) -> None:
        """Forget all rows but the chosen ones, and links once most of them are idle."""
        self._flow = self._flow.take(chosen)
        self._cap = self._cap.take(chosen)
        self._links = self._links.take(chosen, axis=1)
        if self._loads is not None:
            self._loads = self._loads.take(chosen, axis=1)
        if 2 * len(chosen) * len(self._links) < len(self._names):
            self._forget_idle_links()
        if self._loads is not None and len(chosen):
            # Summed anew: a heavy flow's load, subtracted, would leave its rounding to light ones.
            entries, loads = self._links.ravel(), self._loads.ravel()
            self._demand = summed(entries, loads, len(self._residual))
            self._demand[0] = 1.0

    def _forget_idle_links(self) -> None:
        """Rename the links that open flows cross to dense numbers."""
        used = np.zeros(len(self._residual), dtype=np.bool_)
        used[self._links.ravel()] = True
        used[0] = True
        kept = np.flatnonzero(used)
        label = np.empty(len(used), dtype=np.intp)
        label[kept] = np.arange(len(kept))
        self._links = label.take(self._links)
        self._residual = self._residual.take(kept)
        self._demand = self._demand.take(kept)
        self._names = self._names.take(kept)

    def _drop_idle(self, binding: list[Bools]) -> None:
        """Drop the rows that cross no binding link if they are many: their cap is their level."""
        busy = np.zeros(len(self._flow), dtype=np.bool_)
        for mark in binding:
            busy |= mark
        kept = np.flatnonzero(busy)
        if len(kept) < MANY * len(busy):
            self._keep(kept)


def summed(entries: Ints, values: Floats, size: int) -> Floats:
    """Return the sum (size,) of the values by entry."""
    return np.asarray(np.bincount(entries, weights=values, minlength=size), dtype=np.float64)


def _demand(entries: Ints, loads: Floats | None, size: int) -> Floats | Ints:
    """Return the load per unit of level that open flows put on each link."""
    if loads is None:
        return np.bincount(entries, minlength=size)
    return summed(entries, loads.ravel(), size)


def _overloaded(
    demand: Floats | Ints, entries: Ints, loads: Floats | None, cap: Floats, capacity: Floats
) -> Bools:
    """Mark the links that would be over capacity if every flow were at its cap."""
    lowest, highest = cap.min(), cap.max()
    if lowest == highest and np.isfinite(lowest):
        peak = demand * (lowest * (1 - ROUNDING))
    else:
        used = np.tile(cap * (1 - ROUNDING), len(entries) // len(cap))
        if loads is not None:
            used *= loads.ravel()
        peak = summed(entries, used, len(demand))
    return np.asarray(peak > capacity)
