"""The fluid model run to its end, touching only the flows whose rate changes.

Model
    Between two events every flow moves at its max-min rate. A flow keeps what it had left when its
    rate last changed, so flows whose rate stays cost nothing at an event.

Equation
    ``due_i = now + left_i / rate_i``, the next event is the earliest due flow or the next start.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, MutableSequence
from typing import cast

import numpy as np

from clusterscope.engine._levels import LinkLevels
from clusterscope.engine._waterfill import Floats, Ints

SAME_TIME = 1e-12
"""Finishes closer than this, relative to the time run so far, are one event."""

BATCH_FLOWS, BATCH_SHARE = 8, 1 / 1500
"""Beyond this many flows plus this share of all open entries, an event is solved from scratch."""


def _scalars(array: Floats) -> MutableSequence[float]:
    """Return a view of an array that reads and writes plain floats, twice as fast."""
    return cast("MutableSequence[float]", array.data)


class FluidRun:
    """Flows on their way through the network.

    Args:
        links: (H, F) link per hop and flow, 1 to L, and 0 where a path is shorter.
        capacity_gbps: (L + 1,) link capacities, Gb/s, inf for link 0.
        size_gbit: (F,) what each flow has to move, Gbit.
        start_s: (F,) when each flow starts, s.
    """

    def __init__(
        self, links: Ints, capacity_gbps: Floats, size_gbit: Floats, start_s: Floats
    ) -> None:
        flows = links.shape[1]
        self._levels = LinkLevels(links, capacity_gbps)
        self._start = start_s
        self._finish = np.full(flows, np.inf)
        self._active = np.zeros(flows, dtype=np.bool_)
        self._left = size_gbit.copy()
        self._rate = np.zeros(flows)
        self._since = start_s.copy()
        self._due = np.full(flows, np.inf)
        self._left_at, self._rate_at = _scalars(self._left), _scalars(self._rate)
        self._since_at, self._due_at = _scalars(self._since), _scalars(self._due)
        # An item is a time and a flow, or the complement of a link for all flows on it. Items that
        # a change of rate overtook stay until they come up: they no longer match their due time.
        self._agenda: list[tuple[float, int]] = []
        self._crowd_due: dict[int, float] = {}

    def run(self) -> Floats:
        """Run until nothing moves and return finish times (F,), s; inf for a stuck flow."""
        order = np.argsort(self._start, kind="stable")
        times = self._start.take(order)
        begin, epoch = 0, float(times[0])
        while True:
            starts = float(times[begin]) if begin < len(order) else math.inf
            now = min(starts, self._next_due())
            if now == math.inf:
                return self._finish
            horizon = now + (now - epoch) * SAME_TIME
            gone = self._finish_due(horizon)
            came: list[int] = []
            if starts <= horizon:
                end = int(np.searchsorted(times, horizon, side="right"))
                came = self._admit(order[begin:end].tolist())
                begin = end
            self._reshare(gone, came, now)

    def _is_current(self, time: float, item: int) -> bool:
        """Tell whether an agenda item still holds."""
        due = self._due_at[item] if item >= 0 else self._crowd_due.get(~item)
        return due == time

    def _next_due(self) -> float:
        """Return the time of the next finish, inf when none is due."""
        agenda = self._agenda
        while agenda and not self._is_current(*agenda[0]):
            heapq.heappop(agenda)
        return agenda[0][0] if agenda else math.inf

    def _finish_due(self, horizon: float) -> list[int]:
        """Finish all flows due by the horizon and return them."""
        gone: list[int] = []
        agenda = self._agenda
        while agenda and agenda[0][0] <= horizon:
            time, item = heapq.heappop(agenda)
            if not self._is_current(time, item):
                continue
            if item >= 0:
                self._leave(item)
                gone.append(item)
                continue
            members = self._levels.member_array(~item)
            for flow in members[self._due.take(members) <= horizon].tolist():
                self._leave(flow)
                gone.append(flow)
            self._expect_crowd(~item)
        return gone

    def _leave(self, flow: int) -> None:
        """Take a flow off its links at the time it was due."""
        self._finish[flow] = self._due_at[flow]
        self._due_at[flow] = math.inf
        self._active[flow] = False
        self._levels.leave(flow)

    def _admit(self, flows: list[int]) -> list[int]:
        """Put flows that start on their links; those with nothing to wait for finish at once."""
        came = []
        for flow in flows:
            if self._left_at[flow] == 0 or self._levels.cap_at[flow] == math.inf:
                self._finish[flow] = self._start[flow]
                continue
            came.append(flow)
            self._active[flow] = True
            self._levels.join(flow)
        return came

    def _reshare(self, gone: list[int], came: list[int], now: float) -> None:
        """Bring levels and rates up to date after flows left and came."""
        changed = None
        if len(gone) + len(came) <= BATCH_FLOWS + self._levels.entries * BATCH_SHARE:
            changed = self._levels.settle(came, gone)
        if changed is None:
            self._reshare_all(now)
            return
        self._move_flows(came, now)
        for link in changed:
            if self._levels.is_crowded(link):
                self._move_array(self._levels.member_array(link), now)
                self._expect_crowd(link)
            else:
                self._move_flows(self._levels.members(link), now)

    def _reshare_all(self, now: float) -> None:
        """Bring all levels and rates up to date and write the agenda anew."""
        flows = np.flatnonzero(self._active)
        self._levels.refill(flows)
        self._move_array(flows, now)
        due = self._due.take(flows)
        going = np.flatnonzero(due < np.inf)
        self._crowd_due.clear()
        self._agenda = list(zip(due.take(going).tolist(), flows.take(going).tolist(), strict=True))
        heapq.heapify(self._agenda)

    def _move_flows(self, flows: Iterable[int], now: float) -> None:
        """Give flows the rate their path allows from now on."""
        level, cap, paths = self._levels.level_at, self._levels.cap_at, self._levels.hops
        rates, since, left, due = self._rate_at, self._since_at, self._left_at, self._due_at
        for flow in flows:
            rate = cap[flow]
            for hop in paths[flow]:
                if level[hop] < rate:
                    rate = level[hop]
            old = rates[flow]
            if rate == old:
                continue
            rest = max(left[flow] - old * (now - since[flow]), 0.0)
            left[flow], since[flow], rates[flow] = rest, now, rate
            due[flow] = now + rest / rate if rate > 0 else math.inf
            if rate > 0:
                heapq.heappush(self._agenda, (due[flow], flow))

    def _move_array(self, flows: Ints, now: float) -> None:
        """Give many flows the rate their path allows; the agenda is the caller's to keep."""
        rate = self._levels.rates(flows)
        moved = np.flatnonzero(rate != self._rate.take(flows))
        flows, rate = flows.take(moved), rate.take(moved)
        rest = self._left.take(flows) - self._rate.take(flows) * (now - self._since.take(flows))
        np.maximum(rest, 0.0, out=rest)
        self._left[flows], self._since[flows], self._rate[flows] = rest, now, rate
        wait = np.full(len(flows), np.inf)
        np.divide(rest, rate, out=wait, where=rate > 0)
        self._due[flows] = now + wait

    def _expect_crowd(self, link: int) -> None:
        """Put the next finish among a link's flows on the agenda as one item."""
        due = self._due.take(self._levels.member_array(link))
        time = float(due.min(initial=np.inf))
        self._crowd_due[link] = time
        if time < math.inf:
            heapq.heappush(self._agenda, (time, ~link))
