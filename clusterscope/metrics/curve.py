"""How a collective goes by message size: the curve that nccl-tests measures.

Phases of one algorithm move bytes in proportion to the message, at rates that do not depend on it;
so one size of each algorithm is played in the engine, and the others follow from its phases:

    seconds = latency + sending x size / size played x wire bytes of the protocol / those played

Axes: P sizes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import get_args

from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario, with_spec
from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.fabric.arrays import Health
from clusterscope.metrics.bands import inside_band, stays_inside
from clusterscope.metrics.jobs import steady, whole_s
from clusterscope.spec.model import Algorithm, ClusterSpec, Collective, JobSpec, Task
from clusterscope.spec.reductions import unreduced
from clusterscope.traffic.choice import COLLECTIVES, Cost, candidates, reach_of, refused, selected
from clusterscope.traffic.flows import JobProgram
from clusterscope.traffic.placed import Placed, placed
from clusterscope.traffic.placement import place
from clusterscope.traffic.pricing import waiting_s
from clusterscope.traffic.program import algbw_GBps

Tell = Callable[[str, int, int], None]
ORDER: tuple[Collective, ...] = (
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "broadcast",
    "all-to-all",
    "sendrecv",
)


@dataclass(frozen=True)
class Point:
    """One size of a curve.

    Attributes:
        size_bytes: of the message.
        algorithm: that runs.
        protocol: by which it is sent; "" when only steps and bytes count.
        seconds: of one call; inf when it stalls.
        latency_s: part of it that is not bytes.
        algbw_GBps: message over time.
        busbw_GBps: times the factor of the collective.
        error_band: what busbw_GBps may be in truth, (low, high).
    """

    size_bytes: int
    algorithm: Algorithm
    protocol: str
    seconds: float
    latency_s: float
    algbw_GBps: float  # noqa: N815 - the unit's own spelling
    busbw_GBps: float  # noqa: N815
    error_band: tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """A collective on some ranks, by size.

    Attributes:
        collective: that runs.
        asked: algorithm that was asked for, "auto" or one.
        ranks: that take part.
        domains: scale-up domains that they are in.
        transport: between the NICs; the scale-up network inside one domain.
        failures: something in the network has failed or slowed down.
        points: by size, ascending.
    """

    collective: Task
    asked: Algorithm
    ranks: int
    domains: int
    transport: str
    failures: bool
    points: tuple[Point, ...]

    @property
    def band(self) -> tuple[float, float]:
        """What busbw may be in truth at any size, as factors (low, high) of what is shown."""
        rows = [p for p in self.points if p.busbw_GBps]
        low = min((p.error_band[0] / p.busbw_GBps for p in rows), default=1.0)
        return low, max((p.error_band[1] / p.busbw_GBps for p in rows), default=1.0)


def job_of(spec: ClusterSpec, job: int = 0) -> JobSpec:
    """The job whose placement a curve takes: a collective of the spec, else all GPUs."""
    if job < len(spec.jobs) and spec.jobs[job].collective in COLLECTIVES:
        return spec.jobs[job]
    return JobSpec(name="collective", collective="all-reduce", message_bytes=1)


def sizes_between(begin: int, end: int, factor: float) -> tuple[int, ...]:
    """Sizes from the first to the last, each so many times the one before, (P,)."""
    sizes = [begin]
    while sizes[-1] * factor <= end:
        sizes.append(max(sizes[-1] + 1, int(sizes[-1] * factor)))
    return tuple(sizes)


def curve(
    scenario: Scenario,
    job: JobSpec,
    sizes: Sequence[int],
    tell: Tell | None = None,
    health: tuple[Health, Health] | None = None,
) -> Curve:
    """A job's collective alone in the network, by size.

    Args:
        scenario: the cluster; its other jobs rest.
        job: whose ranks, collective and algorithm are taken.
        sizes: messages, ascending.
        tell: is told what is computed.
        health: that routes know of, and in truth; all is well when left out.

    Raises:
        SpecError: the job does not fit, or cannot run by its algorithm.
    """
    refuse(scenario.spec, job)
    alone = dataclasses.replace(scenario, program=(), loads=(), schedule=())
    base = _placed(scenario, job)
    if base.ranks < 2:
        raise SpecError(f"job {job.name!r}: ranks", "1 rank talks to nobody", "use 2 or more")
    chosen = {}
    for size in sizes:
        spec = job.model_copy(update={"message_bytes": size})
        one, price = selected(dataclasses.replace(base, spec=spec), scenario.spec)
        assert price is not None
        chosen[size] = (one.spec, price)
    played: dict[Algorithm, _Played] = {}
    points = []
    # From the largest on: what is played is mostly bytes, and rounding of latency does not show.
    for done, (size, (spec, price)) in enumerate(sorted(chosen.items(), reverse=True)):
        if spec.algorithm not in played:
            if tell is not None:
                tell(f"{spec.collective} by {spec.algorithm}", done, len(chosen))
            played[spec.algorithm] = _play(alone, spec, price, health)
        points.append(_point(played[spec.algorithm], size, spec.algorithm, price))
    domains, up = len(base.domains.sizes), scenario.spec.scale_up
    return Curve(
        collective=job.collective,
        asked=job.algorithm,
        ranks=base.ranks,
        domains=domains,
        transport=scenario.transport.name if domains > 1 or up is None else up.kind,
        failures=health is not None and not all(one.healthy for one in health),
        points=tuple(reversed(points)),
    )


def algorithm_named(name: str) -> Algorithm:
    """An algorithm by its name.

    Raises:
        UnknownNameError: there is none of that name.
    """
    known: tuple[Algorithm, ...] = get_args(Algorithm)
    found = next((one for one in known if one == name.strip().casefold()), None)
    if found is None:
        raise UnknownNameError("algorithm", name, known, "known are " + ", ".join(known))
    return found


def refuse(spec: ClusterSpec, job: JobSpec) -> None:
    """Raise SpecError when a job's collective is none of a library's, or its algorithm not here."""
    if job.collective not in COLLECTIVES:
        raise SpecError("collective", f"{job.collective!r} has no curve", "use " + ", ".join(ORDER))
    reason = unreduced(spec, job)
    if reason is not None:
        raise SpecError("algorithm", *reason)


def algorithms(scenario: Scenario, job: JobSpec) -> tuple[Algorithm, ...]:
    """Algorithms that a job's collective can run by here, "auto" first."""
    base = _placed(scenario, job)
    reach = reach_of(scenario.spec, base)
    every: tuple[Algorithm, ...] = (*candidates(job.collective, reach), *get_args(Algorithm))
    able = [
        name
        for name in dict.fromkeys(every)
        if name != "auto"
        and unreduced(scenario.spec, job.model_copy(update={"algorithm": name})) is None
        and refused(base.by(name)) is None
    ]
    return ("auto", *able)


def _placed(scenario: Scenario, job: JobSpec) -> Placed:
    """A job on its GPUs."""
    return placed(job, scenario.fabric, place(job, scenario.fabric, scenario.spec.sim.seed))


@dataclass(frozen=True)
class _Played:
    """What the engine says of one algorithm at one size and protocol."""

    program: JobProgram
    price: Cost
    latency_s: tuple[float, ...]
    sending_s: tuple[float, ...]
    band: tuple[float, float] | None  # None inside a domain


def _play(
    alone: Scenario, job: JobSpec, price: Cost, health: tuple[Health, Health] | None
) -> _Played:
    """One size in the engine."""
    made = with_spec(alone, alone.spec.model_copy(update={"jobs": (job,)}))
    _, phases = steady(Network(made, *(health or (made.whole, made.whole))))[0]
    latency = tuple(phase.latency_s for phase in phases)
    sending = tuple(phase.seconds - phase.latency_s for phase in phases)
    inside = stays_inside(made.program[0])
    return _Played(
        made.program[0], price, latency, sending, None if inside else made.transport.error_band
    )


def _point(played: _Played, size: int, algorithm: Algorithm, price: Cost) -> Point:
    """One size of what has been played at another."""
    program, before = played.program, played.price
    scale, at_once = size / program.message_bytes * price.wire / before.wire, program.overlapped
    more = [waiting_s(program.phases, one, at_once=at_once) for one in (before, price)]
    rows = zip(played.latency_s, *more, strict=True)
    latency = [waited - then + now for waited, then, now in rows]
    sending = [sent * scale for sent in played.sending_s]
    whole = [a + b for a, b in zip(latency, sending, strict=True)]
    seconds = whole_s(program, whole)
    if not seconds < inf:
        seconds = inf
    waits = max(zip(whole, latency, strict=True))[1] if at_once else sum(latency)
    algbw = algbw_GBps(size, seconds)
    busbw = algbw * program.busbw_factor
    low, high = played.band or inside_band(len(program.gpus), size)
    band = (low * busbw, high * busbw)
    return Point(size, algorithm, str(price.protocol), seconds, waits, algbw, busbw, band)
