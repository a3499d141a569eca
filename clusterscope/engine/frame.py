"""A frame: everything that changes, at one step.

A frame at step k is the state at time k * dt after the events of step k, together with what
happens in the interval [k, k+1) * dt. `link_gbps` is the mean load over that interval; `after` is
the state of the jobs at its end, where the next frame begins.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clusterscope.columns import F64
from clusterscope.engine.events import Event
from clusterscope.engine.network import Network
from clusterscope.engine.shares import Share
from clusterscope.fabric.arrays import Health

_CHUNK = 1 << 15


@dataclass(frozen=True, eq=False)
class JobState:
    """How far a job has come.

    Attributes:
        phase: index of the running phase (0 when phases overlap: all of them run).
        left: bytes left of each entity, (U,), one array a running phase.
        iteration: iterations done.
        started_s: when the running iteration began.
        last_iteration_s: how long the last whole iteration took; nan before the first.
    """

    phase: int
    left: tuple[F64, ...]
    iteration: int
    started_s: float
    last_iteration_s: float


@dataclass(frozen=True, eq=False)
class Flow:
    """State that flows from one frame into the next."""

    jobs: tuple[JobState, ...]
    network: Network
    reroute_due_s: float | None


class Spans:
    """How the network was shared between two steps; the mean is worked out when it is asked for.

    Args:
        parts: seconds and share of each part of the time, at least one.
        seconds: length of the whole.
    """

    def __init__(self, parts: Sequence[tuple[float, Share]], seconds: float) -> None:
        self._parts, self._seconds = tuple(parts), seconds
        self._mean_gbps: F64 | None = None

    @property
    def mean_gbps(self) -> F64:
        """Mean load of every link, (L,) Gb/s; the shares are let go once it is known."""
        if self._mean_gbps is None:
            self._mean_gbps = _mean(self._parts, self._seconds)
            self._parts = ()
        return self._mean_gbps

    def settle(self) -> None:
        """Work the mean out now: for shares that nobody else keeps and that take as much room."""
        self.mean_gbps  # noqa: B018 - asked for so that the shares go


def _mean(parts: Sequence[tuple[float, Share]], seconds: float) -> F64:
    """Mean load of every link over the parts, (L,) Gb/s."""
    if len(parts) == 1 and math.isclose(parts[0][0], seconds, rel_tol=1e-9):
        return parts[0][1].link_gbps
    total, own = np.zeros(len(parts[0][1].link_gbps)), np.empty(_CHUNK)
    for span, share in parts:
        # In pieces that stay in the cache: at a million GPUs memory is what this costs.
        for low in range(0, len(total), _CHUNK):
            some = total[low : low + _CHUNK]
            load = share.link_gbps[low : low + _CHUNK]
            some += np.multiply(load, span / seconds, out=own[: len(some)])
    total.setflags(write=False)
    return total


@dataclass(frozen=True, eq=False)
class Frame:
    """The cluster at one step."""

    step: int
    time_s: float
    health: Health
    state: Flow
    spans: Spans
    applied: tuple[Event, ...]
    after: Flow

    @property
    def jobs(self) -> tuple[JobState, ...]:
        """State of each job at the frame's time."""
        return self.state.jobs

    @property
    def network(self) -> Network:
        """Routes and capacities in force at the frame's time."""
        return self.state.network

    @property
    def link_gbps(self) -> F64:
        """Mean load of every link until the next step, (L,) Gb/s on the wire."""
        return self.spans.mean_gbps

    @cached_property
    def utilization(self) -> F64:
        """Load over what the link carries now, (L,), 0 to 1; nan where a link is dead."""
        capacity = self.network.link_gbps
        ratio = np.full(len(capacity), np.nan)
        np.divide(self.link_gbps, capacity, out=ratio, where=capacity > 0)
        ratio.setflags(write=False)
        return ratio

    def digest(self) -> str:
        """Hex digest of the frame's physical state, equal on any machine."""
        sha = hashlib.blake2b(digest_size=16)
        sha.update(np.array([self.step], dtype="<i8").tobytes())
        sha.update(self.health.digest().encode())
        sha.update(np.ascontiguousarray(self.link_gbps, dtype="<f8").tobytes())
        for job in self.jobs:
            sha.update(np.array([job.phase, job.iteration], dtype="<i8").tobytes())
            for left in job.left:
                sha.update(np.ascontiguousarray(left, dtype="<f8").tobytes())
        return sha.hexdigest()
