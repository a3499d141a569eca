"""One iteration of any job, phase by phase: what is sent over which network, and what bounds it.

A phase of a training job moves several kinds of bytes at once, some inside scale-up domains and
some over NICs; each is a row of its own, with the link that paces its slowest lock-step group. A
bare collective has a row a phase.
Axes: U entities (lock-step groups), W wires.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from clusterscope.columns import F64, Bool, bincount
from clusterscope.engine.network import Network
from clusterscope.engine.shares import PhaseKey, Share
from clusterscope.engine.step import iteration_parts
from clusterscope.metrics.jobs import JobMetrics, phase_bytes
from clusterscope.metrics.training import Span, SpanKind
from clusterscope.traffic.flows import Flows, JobProgram, Phase, Work
from clusterscope.units import BITS_PER_BYTE, GIGA


@dataclass(frozen=True)
class Sent:
    """One kind of bytes of one phase over one network.

    Attributes:
        phase: name of the phase.
        kind: cut whose groups send ("tp"), or "" for a bare collective.
        network: "scale-up" or "scale-out".
        bytes: payload that all senders move together.
        seconds: how long its slowest group sends, latency and all; inf when it stalls.
        exposed_s: part of the iteration that waits for it.
        bound_link: link that paces its slowest group, -1 when none does.
        rate_gbps: payload rate of that group while it sends, Gb/s.
        groups: entities that send on their own.
        stalled: entities without a live path.
    """

    phase: str
    kind: str
    network: str
    bytes: float
    seconds: float
    exposed_s: float
    bound_link: int
    rate_gbps: float
    groups: int
    stalled: int


class _Running(NamedTuple):
    """A phase of a job as it shares the network."""

    key: PhaseKey
    phase: Phase
    share: Share


def sent(network: Network, job: int, spans: tuple[Span, ...]) -> tuple[Sent, ...]:
    """What a job sends in an iteration alone in the network, in the order of its phases.

    Args:
        network: what it runs in.
        job: the job.
        spans: its iteration, from `spans_of`.
    """
    program = network.scenario.program[job]
    parts = iteration_parts(network.scenario, network, job)
    waits = {span.name: span.end_s - span.begin_s for span in spans if span.kind == "communication"}
    rows: list[Sent] = []
    for place, phase in enumerate(program.phases):
        key = (job, place)
        share = next((share for _, share in parts if key in share.rate_gbps), None)
        if share is None:
            break
        running = _Running(key, phase, share)
        rows += _of_training(network, running, waits) if phase.work else _bare(network, running)
    side_by_side = program.overlapped and all(phase.work is None for phase in program.phases)
    return _waited_for_once(rows) if side_by_side else tuple(rows)


def _waited_for_once(rows: list[Sent]) -> tuple[Sent, ...]:
    """Rows of phases side by side: the longest is waited for, the others are over by then."""
    last = _longest([row.seconds for row in rows])
    return tuple(
        row if place == last else replace(row, exposed_s=0.0) for place, row in enumerate(rows)
    )


def _longest(seconds: list[float]) -> int:
    """Place of the longest of several times, the first of those that tie; -1 of none."""
    return max(range(len(seconds)), key=seconds.__getitem__, default=-1)


def spans_of(job: JobMetrics, program: JobProgram) -> tuple[Span, ...]:
    """Rows of the Gantt chart of a job's iteration; without a plan they are its phases."""
    if job.training is not None:
        return job.training.spans
    spans, clock = [], 0.0
    for phase, own in zip(job.phases, program.phases, strict=True):
        if not math.isfinite(phase.seconds):
            break
        end = clock + phase.seconds
        kind: SpanKind = "communication" if own.work is None else "busy"
        spans.append(Span(phase.name, kind, phase.network, clock, end))
        clock = 0.0 if program.overlapped else end
    if program.overlapped:
        last = _longest([span.end_s for span in spans])
        spans = [
            replace(span, kind="hidden") if span.kind == "communication" and at != last else span
            for at, span in enumerate(spans)
        ]
    return tuple(spans)


def _bare(network: Network, running: _Running) -> list[Sent]:
    """The one row of a phase of a collective; all of it is waited for."""
    key, phase, _ = running
    stalled = network.phase(key).stalled
    seconds, bound, rate = _slowest(network, running, np.ones(len(stalled), dtype=np.bool_))
    total, dead = phase_bytes(phase), int(stalled.sum())
    return [
        Sent(
            phase.name, "", phase.network, total, seconds, seconds, bound, rate, len(stalled), dead
        )
    ]


def _of_training(network: Network, running: _Running, waits: dict[str, float]) -> Iterator[Sent]:
    """A row a kind and network of a phase of a training job."""
    key, phase, _ = running
    load = network.scenario.loads[key[0]][key[1]]
    assert phase.work is not None
    assert load.work is not None
    if not isinstance(phase.demand, Flows) or not len(phase.demand.src):
        return
    by_wire = _wire_bytes(phase.demand, phase.work)
    by_nic = (load.src < network.scenario.fabric.ports).astype(np.float64)
    outside = bincount(load.row_entity, by_nic, len(load.size_bytes)) > 0
    for kind in dict.fromkeys(phase.work.kinds):
        named = np.array([own == kind for own in phase.work.kinds])
        rows = []
        for place, name in enumerate(("scale-up", "scale-out")):
            mine = named[load.work.wire] & (outside == bool(place))
            if not mine.any():
                continue
            seconds, bound, rate = _slowest(network, running, mine)
            size = float(by_wire[np.unique(load.work.wire[mine])].sum())
            stalled = int((network.phase(key).stalled & mine).sum())
            count = int(mine.sum())
            rows.append(
                Sent(phase.name, kind, name, size, seconds, 0.0, bound, rate, count, stalled)
            )
        # What is waited for is the slowest group of its kind.
        last = max(range(len(rows)), key=lambda row: rows[row].seconds)
        rows[last] = replace(rows[last], exposed_s=waits.get(f"{phase.name}: {kind}", 0.0))
        yield from rows


def _wire_bytes(flows: Flows, work: Work) -> F64:
    """Payload of every wire of a phase, (W,) bytes."""
    return bincount(work.wire[flows.group], flows.size_bytes, len(work.kinds))


def _slowest(network: Network, running: _Running, mine: Bool) -> tuple[float, int, float]:
    """Seconds, link and rate of the entity, of those marked (U,), that sends longest."""
    key, _, share = running
    size = network.scenario.loads[key[0]][key[1]].size_bytes
    rate = share.rate_gbps[key]
    with np.errstate(divide="ignore"):
        sending = network.phase(key).latency_s + size * BITS_PER_BYTE / GIGA / rate
    place = int(np.where(mine, sending, -1.0).argmax())
    return float(sending[place]), int(share.bottleneck[key][place]), float(rate[place])
