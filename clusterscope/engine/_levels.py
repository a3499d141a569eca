"""Max-min levels that follow small changes.

Model
    The allocation is kept as the level of each link: the most a flow may have there, inf while the
    link is not full. The rate of a flow is the lowest level on its path, or its own cap.

Equation
    The level of link ``l`` solves ``sum over its flows of min(level_l, other_f) = C_l``, where
    ``other_f`` is the lowest level on the rest of the flow's path and its own cap. Levels for which
    this holds on every link at once give each flow a full link on which no flow is faster, which is
    the definition of max-min (Bertsekas & Gallager, *Data Networks*, 2nd ed., 6.5.2), so they are
    the only ones. A flow that comes or goes disturbs the equation on its own links. Solving it
    there, lowest level first, and wherever the answer disturbs it next, ends with the exact
    allocation, and in large networks most links are never looked at.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable

import numpy as np

from clusterscope.engine._waterfill import ROUNDING, Floats, Incidence, Ints, summed, water_fill

SAME_LEVEL = 2e-15
"""A level that moves less than this, relative, has not changed: stops rounding from circulating."""

CROWD = 64
"""Links with at least this many flows are worth numpy calls."""


PATIENCE_FLOWS, PATIENCE_SHARE = 500, 1 / 10
"""Looking one by one at more flows than this, plus this share of all open entries, costs about as
much as a solve from scratch. It also ends any wave that rounding might keep going."""


class LinkLevels:
    """The links that may fill, the flows on them, and their levels.

    Args:
        links: (H, F) link per hop and flow, 1 to L, and 0 where a path is shorter.
        capacity_gbps: (L + 1,) link capacities, Gb/s, inf for link 0.
    """

    def __init__(self, links: Ints, capacity_gbps: Floats) -> None:
        flows = links.shape[1]
        self.cap = np.full(flows, np.inf)
        """(F,) what each flow could have alone, Gb/s."""
        for column in links:
            np.minimum(self.cap, capacity_gbps.take(column), out=self.cap)
        peak = summed(links.ravel(), np.tile(self.cap, len(links)), len(capacity_gbps))
        binds = peak > capacity_gbps * (1 + ROUNDING)
        binds[0] = True
        names = np.flatnonzero(binds)
        binds[0] = False
        label = np.zeros(len(capacity_gbps), dtype=np.intp)
        label[names] = np.arange(len(names))
        busy = [label.take(column) for column in links if binds.take(column).any()]
        # One column of padding, if nothing binds, spares every minimum over hops a special case.
        self._path = np.array(busy or [np.zeros(flows, dtype=np.intp)])
        self._capacity = capacity_gbps.take(names)
        self._level = np.full(len(names), np.inf)
        # For each link its flows, and for each flow the other links on its path.
        self._members: list[dict[int, tuple[int, ...]]] = [{} for _ in names]
        self._member_arrays: dict[int, Ints] = {}
        self._entries = 0
        self._repeats = False
        self.hops: list[tuple[int, ...]] = []
        """The distinct links of each flow."""
        for row in self._path.T.tolist():
            crossed = [link for link in row if link]
            distinct = tuple(dict.fromkeys(crossed))
            self.hops.append(distinct)
            self._repeats |= len(distinct) < len(crossed)
        # Lists hand out floats several times faster than arrays do.
        self.cap_at: list[float] = self.cap.tolist()
        self.level_at: list[float] = self._level.tolist()
        self._capacity_at: list[float] = self._capacity.tolist()

    @property
    def entries(self) -> int:
        """Number of pairs of a flow that has joined and a link on its path that may fill."""
        return self._entries

    def join(self, flow: int) -> None:
        """Put a flow on its links; levels are for `settle` or `refill` to bring up to date."""
        self._entries += len(self.hops[flow])
        hops = self.hops[flow]
        for nth, link in enumerate(hops):
            self._members[link][flow] = hops[:nth] + hops[nth + 1 :]
            self._member_arrays.pop(link, None)

    def leave(self, flow: int) -> None:
        """Take a flow off its links; levels are for `settle` or `refill` to bring up to date."""
        self._entries -= len(self.hops[flow])
        for link in self.hops[flow]:
            del self._members[link][flow]
            self._member_arrays.pop(link, None)

    def is_crowded(self, link: int) -> bool:
        """Tell whether a link has enough flows to be worth numpy calls."""
        return len(self._members[link]) >= CROWD

    def members(self, link: int) -> Iterable[int]:
        """Return the flows on a link."""
        return self._members[link]

    def member_array(self, link: int) -> Ints:
        """Return the flows (n,) on a link."""
        found = self._member_arrays.get(link)
        if found is None:
            members = self._members[link]
            found = np.fromiter(members, dtype=np.intp, count=len(members))
            self._member_arrays[link] = found
        return found

    def rates(self, flows: Ints) -> Floats:
        """Return the rate (n,) of each of the flows, Gb/s."""
        lowest = self._level.take(self._path[:, flows]).min(axis=0)
        return np.asarray(np.minimum(lowest, self.cap.take(flows)))

    def refill(self, flows: Ints) -> None:
        """Set all levels from scratch; ``flows`` (n,) are all that have joined."""
        self._level[:] = np.inf
        incidence = Incidence(self._path[:, flows], None, None)
        filled = water_fill(incidence, self.cap.take(flows), self._capacity, trace=True)
        if filled.link is not None:
            held = np.flatnonzero(filled.link)
            self._level[filled.link.take(held)] = filled.level.take(held)
        self.level_at = self._level.tolist()

    def settle(self, came: Iterable[int], gone: Iterable[int]) -> list[int] | None:
        """Solve the level equation on the links of some flows and as far as that reaches.

        Args:
            came: flows that joined since levels were last up to date.
            gone: flows that left since.

        Returns:
            The links whose level changed, or None if the change reaches so far that solving from
            scratch is cheaper: then levels must be refilled.
        """
        level = self.level_at
        queued = {hop for flow in came for hop in self.hops[flow]}
        # A link that was not full is not full without the flows that left.
        queued.update(hop for flow in gone for hop in self.hops[flow] if level[hop] < math.inf)
        queue = [(level[link], link) for link in queued]
        heapq.heapify(queue)
        changed: dict[int, None] = {}
        patience = PATIENCE_FLOWS + self._entries * PATIENCE_SHARE
        while queue:
            _, link = heapq.heappop(queue)
            queued.discard(link)
            old = level[link]
            new = self._crowd_level(link) if self.is_crowded(link) else self._link_level(link)
            patience -= min(len(self._members[link]), CROWD)
            if patience < 0:
                return None
            if new == old or abs(new - old) <= SAME_LEVEL * min(new, old):
                continue
            level[link] = self._level[link] = new
            changed[link] = None
            for other in self._reached(link, old, new):
                if other not in queued:
                    queued.add(other)
                    heapq.heappush(queue, (level[other], other))
        return list(changed)

    def _link_level(self, link: int) -> float:
        """Solve the level equation of one link."""
        level, cap = self.level_at, self.cap_at
        others = []
        for flow, rest in self._members[link].items():
            other = cap[flow]
            for hop in rest:
                if level[hop] < other:
                    other = level[hop]
            others.append(other)
        if self._repeats:
            times = self._times(link)
            others = [other for other, n in zip(others, times, strict=True) for _ in range(n)]
        others.sort()
        left, count = self._capacity_at[link], len(others)
        for other in others:
            if other * count >= left:
                return max(left, 0.0) / count
            left -= other
            count -= 1
        return math.inf

    def _crowd_level(self, link: int) -> float:
        """Solve the level equation of a link with many flows."""
        flows = self.member_array(link)
        others = self._others(link, flows)
        if self._repeats:
            others = others.repeat(self._times(link))
        others.sort()
        left = self._capacity_at[link] - np.concatenate(([0.0], np.cumsum(others[:-1])))
        count = np.arange(len(others), 0, -1)
        full = np.flatnonzero(others * count >= left)
        return max(float(left[full[0]]) / int(count[full[0]]), 0.0) if len(full) else math.inf

    def _times(self, link: int) -> Ints:
        """Return how often each flow (n,) on a link crosses it."""
        return np.asarray((self._path[:, self.member_array(link)] == link).sum(axis=0))

    def _others(self, link: int, flows: Ints) -> Floats:
        """Return what the rest of the path and the cap allow each flow (n,) on a link."""
        paths = self._path[:, flows]
        levels = self._level.take(paths)
        levels[paths == link] = np.inf
        return np.asarray(np.minimum(levels.min(axis=0), self.cap.take(flows)))

    def _reached(self, link: int, old: float, new: float) -> Iterable[int]:
        """Return the links whose level equation feels that the level of a link changed.

        A link feels it through a flow whose share there moves with the change: one that neither its
        cap nor any other link holds below both the old and the new level.
        """
        floor = min(old, new) * (1 + SAME_LEVEL)
        if self.is_crowded(link):
            flows = self.member_array(link)
            felt = np.flatnonzero(self._others(link, flows) > floor)
            reached = set(np.unique(self._path[:, flows.take(felt)]).tolist()) - {0, link}
        else:
            reached = self._felt_by(link, floor)
        if new > old:
            return reached
        # Slower flows do not fill a link.
        return [hop for hop in reached if self.level_at[hop] < math.inf]

    def _felt_by(self, link: int, floor: float) -> set[int]:
        """Return the other links of all flows on a link whose rate may exceed a floor."""
        level, cap = self.level_at, self.cap_at
        reached: set[int] = set()
        for flow, rest in self._members[link].items():
            limit = cap[flow]
            for hop in rest:
                if level[hop] < limit:
                    limit = level[hop]
            if limit > floor:
                reached.update(rest)
        return reached
