"""A frame: everything that changes, at one step.

A frame at step k is the state at time k * dt after the events of step k, together with what
happens in the interval [k, k+1) * dt. `link_gbps` is the mean load over that interval; `after` is
the state of the jobs at its end, where the next frame begins.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clusterscope.columns import F64
from clusterscope.engine.events import Event
from clusterscope.engine.network import Network
from clusterscope.fabric.arrays import Health


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


@dataclass(frozen=True, eq=False)
class Frame:
    """The cluster at one step."""

    step: int
    time_s: float
    health: Health
    state: Flow
    link_gbps: F64
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

    @cached_property
    def utilization(self) -> F64:
        """Load over what the link carries now, (L,), 0 to 1; nan where a link is dead."""
        capacity = self.network.link_gbps
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(capacity > 0, self.link_gbps / capacity, np.nan)
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
