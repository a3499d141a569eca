"""The physics of one step, as named phases: apply events, reroute, share, move, finish.

Within a step the model advances from one boundary to the next: the end of a phase of a job, the
moment when routes have reacted to a failure, the end of the step. Between boundaries every entity
keeps its max-min rate. Entities of one phase that finish between two boundaries free their rate at
the next boundary; for equal sizes that start together this changes nothing (FAIR-07), else it is an
error of first order in dt (docs/model.md).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence, Set

import numpy as np

from clusterscope.columns import F64, Bool
from clusterscope.engine import invariants
from clusterscope.engine.events import Event, apply
from clusterscope.engine.frame import Flow, Frame, JobState, Spans
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.shares import PhaseKey, Share
from clusterscope.engine.standing import taken_over
from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import Health
from clusterscope.units import BITS_PER_BYTE, GIGA

# Boundaries that one step may have before dt is called too long; estimate of patience.
_MAX_BOUNDARIES = 10_000
# Bytes below this share of the entity's size count as moved: float rounding, not physics.
_DONE = 1e-12


def start(scenario: Scenario, events: Sequence[Event] = ()) -> Frame:
    """Frame at step 0."""
    jobs = tuple(_begin(scenario, job, 0, 0.0, math.nan) for job in range(len(scenario.program)))
    return _open(scenario, 0, scenario.whole, Flow(jobs, scenario.healthy, None), events)


def step(scenario: Scenario, frame: Frame, events: Sequence[Event] = ()) -> Frame:
    """The frame after `frame`, with the events of its step applied."""
    return _open(scenario, frame.step + 1, frame.health, frame.after, events)


def _open(
    scenario: Scenario, step_index: int, health: Health, state: Flow, events: Sequence[Event]
) -> Frame:
    now = step_index * scenario.spec.sim.dt_s
    changed = apply(health, events)
    if changed is not health:
        state = _react(scenario, state, changed, now)
    after, spans = _advance(scenario, state, now, (step_index + 1) * scenario.spec.sim.dt_s)
    frame = Frame(step_index, now, changed, state, spans, tuple(events), after)
    invariants.check(scenario, frame)
    return frame


def _react(scenario: Scenario, state: Flow, health: Health, now: float) -> Flow:
    """Links change at once; routes follow after the transport's reroute time."""
    if health.works_as(state.network.actual):
        return Flow(state.jobs, state.network.with_speeds(health), state.reroute_due_s)
    delay = scenario.transport.reroute_s
    network = state.network.with_actual(health)
    if delay == 0:
        return Flow(state.jobs, network.rerouted, None)
    return Flow(state.jobs, network, now + delay)


def _begin(scenario: Scenario, job: int, iteration: int, now: float, last_s: float) -> JobState:
    """A job at the start of an iteration."""
    loads = scenario.loads[job]
    count = len(loads) if scenario.program[job].overlapped else min(1, len(loads))
    return JobState(0, tuple(load.size_bytes for load in loads[:count]), iteration, now, last_s)


def _keys(job: int, state: JobState) -> tuple[PhaseKey, ...]:
    """Phases of a job that still have bytes to move."""
    return tuple((job, state.phase + i) for i, left in enumerate(state.left) if (left > 0).any())


def _advance(scenario: Scenario, state: Flow, begin: float, end: float) -> tuple[Flow, Spans]:
    """State at `end`, and how the network was shared from `begin` to `end`."""
    jobs, network, due = list(state.jobs), state.network, state.reroute_due_s
    spent: dict[int, tuple[float, Share]] = {}
    now, partly = begin, False
    for _ in range(_MAX_BOUNDARIES):
        if due is not None and due <= now:
            network, due = network.rerouted, None
        horizon = end if due is None else min(end, due)
        share = _share(network, jobs)
        partly |= any(_partly(left) for state_ in jobs for left in state_.left)
        spans = [_spans(scenario, job, state_, share) for job, state_ in enumerate(jobs)]
        boundary = min([horizon, *(now + s for own in spans for s in own.values())])
        _charge(spent, share, boundary - now)
        for job, own in enumerate(spans):
            ended = {key for key, seconds in own.items() if now + seconds <= boundary}
            jobs[job] = _move(scenario, job, jobs[job], share, boundary - now, ended)
            if ended and not _keys(job, jobs[job]):
                jobs[job] = _finish(scenario, job, jobs[job], boundary)
        now = boundary
        if now < horizon and len(jobs) == 1:
            jobs[0], now = _skip(scenario, network, jobs[0], now, horizon, spent)
        if now >= end:
            spent_on = Spans(list(spent.values()), end - begin)
            if partly:
                spent_on.settle()
            return Flow(tuple(jobs), network, due), spent_on
    raise SpecError(
        "sim.dt_s",
        f"{scenario.spec.sim.dt_s!r} holds more than {_MAX_BOUNDARIES:,} phases of the jobs",
        f"use at most {scenario.spec.sim.dt_s * (now - begin) / (end - begin):.2g}",
    )


def _partly(left: F64) -> bool:
    """True when some entities of a phase are done and others are not."""
    waiting = left > 0
    return bool(waiting.any() and not waiting.all())


def _share(network: Network, jobs: Sequence[JobState]) -> Share:
    keys: list[PhaseKey] = []
    active: dict[PhaseKey, Bool] = {}
    for job, state in enumerate(jobs):
        for key in _keys(job, state):
            keys.append(key)
            left = state.left[key[1] - state.phase]
            if not (left > 0).all():
                active[key] = left > 0
    return network.share(tuple(keys), active or None)


def _spans(scenario: Scenario, job: int, state: JobState, share: Share) -> dict[PhaseKey, float]:
    """Seconds until each running phase is done; inf when an entity of it stands still."""
    spans = {}
    for key in _keys(job, state):
        left = state.left[key[1] - state.phase]
        pace = taken_over(scenario, key, share.pace_gbps[key], left)
        waiting = left > 0
        seconds = math.inf
        if pace[waiting].all():
            with np.errstate(over="ignore"):  # slower than a float can say: it stands still
                seconds = float((left[waiting] / pace[waiting]).max()) * (BITS_PER_BYTE / GIGA)
        spans[key] = seconds
    return spans


def _charge(spent: dict[int, tuple[float, Share]], share: Share, seconds: float) -> None:
    """Note that the network was shared in this way for so long."""
    if seconds > 0:
        spent[id(share)] = (spent.get(id(share), (0.0, share))[0] + seconds, share)


def _move(
    scenario: Scenario,
    job: int,
    state: JobState,
    share: Share,
    seconds: float,
    ended: Set[PhaseKey],
) -> JobState:
    """The job after its entities have sent for some seconds; phases in `ended` are done."""
    moved = []
    for i, left in enumerate(state.left):
        key = (job, state.phase + i)
        if key in ended:
            moved.append(np.zeros_like(left))
        elif key in share.pace_gbps:
            size = scenario.loads[job][state.phase + i].size_bytes
            pace = taken_over(scenario, key, share.pace_gbps[key], left)
            rest = left - pace * (GIGA / BITS_PER_BYTE) * seconds
            moved.append(np.where(rest > size * _DONE, rest, 0.0))
        else:
            moved.append(left)
    return dataclasses.replace(state, left=tuple(moved))


def _finish(scenario: Scenario, job: int, state: JobState, now: float) -> JobState:
    """The job after its running phase has ended: in the next phase or the next iteration."""
    loads = scenario.loads[job]
    following = state.phase + len(state.left)
    if following < len(loads):
        return dataclasses.replace(state, phase=following, left=(loads[following].size_bytes,))
    return _begin(scenario, job, state.iteration + 1, now, now - state.started_s)


def _skip(
    scenario: Scenario,
    network: Network,
    state: JobState,
    now: float,
    horizon: float,
    spent: dict[int, tuple[float, Share]],
) -> tuple[JobState, float]:
    """Jump over whole iterations of a lone job: each is like the one before."""
    first = state.phase == 0 and state.started_s == now
    if not first or not math.isfinite(state.last_iteration_s):
        return state, now
    parts = iteration_parts(scenario, network, 0)
    length = sum(seconds for seconds, _ in parts)
    count = int((horizon - now) / length) - 1 if 0 < length < math.inf else 0
    if count < 1:
        return state, now
    for seconds, share in parts:
        _charge(spent, share, seconds * count)
    now += length * count
    return _begin(scenario, 0, state.iteration + count, now, length), now


def iteration_parts(
    scenario: Scenario, network: Network, job: int, beside: tuple[PhaseKey, ...] = ()
) -> list[tuple[float, Share]]:
    """One iteration of a job: (seconds, share) of each part of it.

    Seconds are inf from the first part on that cannot finish. Parts are the phases, or, when
    phases overlap, the spans between their ends.

    Args:
        scenario: the cluster and its jobs.
        network: what it runs in.
        job: the job.
        beside: phases of other jobs that send all the while; none when left out.
    """
    state = _begin(scenario, job, 0, 0.0, math.nan)
    parts: list[tuple[float, Share]] = []
    while not state.iteration and state.left:
        keys = _keys(job, state)
        share = network.share(tuple(sorted(keys + beside)) if beside else keys)
        spans = _spans(scenario, job, state, share)
        shortest = min(spans.values())
        parts.append((shortest, share))
        if not math.isfinite(shortest):
            break
        ended = {key for key, seconds in spans.items() if seconds <= shortest}
        state = _move(scenario, job, state, share, shortest, ended)
        if not _keys(job, state):
            state = _finish(scenario, job, state, 0.0)
    return parts
