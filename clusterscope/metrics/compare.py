"""Transports side by side: the same cluster, flows, seed and failures, each on its own timeline."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario, with_transport
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.metrics.causes import CAUSES, Causes, causes
from clusterscope.metrics.economics import Economics, economics
from clusterscope.metrics.jobs import JobMetrics, healthy, job_metrics
from clusterscope.metrics.links import peak_utilization, tier_links
from clusterscope.metrics.memo import per_key
from clusterscope.metrics.networks import network_name
from clusterscope.spec import parts
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.transports import unroutable
from clusterscope.units import counted

# What the frames of one rival may take: it goes where the explorer goes, and seldom far back.
_FRAMES_BYTES = 32 * 2**20

# Transports that are compared when nobody says which.
MAIN = ("infiniband", "rocev2", "spectrum-x", "uec")

# Called with a transport, the step it has come to and the step it goes to; may raise to end it.
Tell = Callable[[str, int, int], object]


@dataclass(frozen=True)
class JobSide:
    """One job under one transport.

    Attributes:
        metrics: how fast it is.
        causes: seconds of an iteration beyond line rate, by cause; they sum to iteration - ideal.
        unreached: flows without a live path.
        wait_s: from the frame until routes have reacted; 0 when they have.
    """

    metrics: JobMetrics
    causes: Causes
    unreached: int
    wait_s: float = 0.0

    @property
    def inside(self) -> bool:
        """True for a job that never leaves the scale-up network."""
        phases = self.metrics.phases
        return bool(phases) and all(phase.network == "scale-up" for phase in phases)


@dataclass(frozen=True)
class TransportSide:
    """One transport.

    Attributes:
        name: catalogue name; without NICs the kind of scale-up network.
        jobs: every job, in the order of the spec.
        peaks: highest load of a link in any phase of an iteration, 0 to 1, by tier.
        reroute_s: from a failure until routes avoid it; nan where only domains join GPUs.
        network_usd: price of the network, with parts made for the transport.
        network_w: its power.
        money: what it costs to own and run; None where nobody asked.
        cluster: name of the cluster where there are several, "" where there is one.
        network: routes and health at the step; None where nobody asked.
        gpus: of the cluster; 0 where nobody asked.
    """

    name: str
    jobs: tuple[JobSide, ...]
    peaks: dict[str, float]
    reroute_s: float
    network_usd: float
    network_w: float
    money: Economics | None = None
    cluster: str = ""
    network: Network | None = field(default=None, compare=False, repr=False)
    gpus: int = 0

    @property
    def label(self) -> str:
        """Name in a list: that of the transport, and of its cluster where there are several."""
        return f"{self.name} on {self.cluster}" if self.cluster else self.name


@dataclass(frozen=True)
class Comparison:
    """Transports at one step.

    Attributes:
        step: the step.
        time_s: its time.
        seed: seed of all chance.
        sides: the transports.
    """

    step: int
    time_s: float
    seed: int
    sides: tuple[TransportSide, ...]

    @property
    def same_parts(self) -> bool:
        """True when all networks cost and draw the same."""
        return len({(side.network_usd, side.network_w) for side in self.sides}) <= 1

    @property
    def sizes_differ(self) -> bool:
        """True when clusters of several sizes are compared."""
        return len({side.gpus for side in self.sides}) > 1

    @property
    def networks(self) -> tuple[tuple[str, Network], ...]:
        """Label, and routes and health at the step, of every side that has them."""
        return tuple((side.label, side.network) for side in self.sides if side.network is not None)

    @property
    def health(self) -> tuple[str, ...]:
        """Label, and digests of routes and health, of every side: what a verdict rests on."""
        return tuple(
            part
            for label, network in self.networks
            for part in (label, network.routed.digest(), network.actual.digest())
        )

    @property
    def whole(self) -> bool:
        """True when nothing is dead or slow on any side."""
        return all(network.actual.healthy for _, network in self.networks)

    def side(self, name: str) -> TransportSide | None:
        """The side of that label."""
        return next((side for side in self.sides if side.label == name), None)


@per_key
def rivals_of(scenario: Scenario) -> tuple[str, ...]:
    """Transports that can run on a cluster, its own among them; none without NICs.

    A transport that cannot leave its subnet, for example, refuses a routed fabric.
    """
    if not scenario.fabric.ports:
        return ()
    spec = scenario.spec
    return tuple(n for n in parts.transports() if unroutable(spec, parts.transport(n)) is None)


def names_of(text: str | None, scenario: Scenario) -> tuple[str, ...]:
    """Transports named in "a,b,c" or "all"; the main ones, the cluster's own in front, for None.

    Raises:
        SpecError: none is named, one is named twice, or there is no scale-out fabric.
        UnknownNameError: no such transport in the catalogue.
    """
    known, own = rivals_of(scenario), scenario.transport.name
    if not known:
        hint = "a transport needs one; name another cluster to compare it with"
        raise SpecError("compare", "the cluster has no scale-out fabric", hint)
    if text is None or text.strip() == "all":
        names = known if text else tuple(name for name in known if name in MAIN or name == own)
        return tuple(sorted(names, key=lambda name: name != own))
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    once(names, "--transports", "transport")
    for name in names:
        if name not in parts.transports():
            raise UnknownNameError("transport", name, known, f"use {', '.join(known)}")
        reason = unroutable(scenario.spec, parts.transport(name))
        if reason is not None:
            raise SpecError(f"--transports: {name}", *reason)
    if not names:
        raise SpecError("--transports", "names none", f"use {', '.join(known)}")
    return names


def once(names: Sequence[str], where: str, what: str) -> None:
    """Each name once: two columns of one label would tell nobody anything.

    Raises:
        SpecError: one comes twice.
    """
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise SpecError(where, f"{twice!r} is named twice", f"name each {what} once")


def side_of(scenario: Scenario, frame: Frame, own: str = "") -> TransportSide:
    """One transport at a frame.

    Args:
        scenario: the cluster under it.
        frame: where time stands.
        own: the transport that the cluster is built for; this one when left out.
    """
    split, metrics = causes(scenario, frame), job_metrics(scenario, frame)
    jobs = tuple(
        JobSide(
            job,
            split[index],
            sum(phase.unreached for phase in job.phases),
            0.0 if job.settled is None else max(0.0, job.settled.from_s - frame.time_s),
        )
        for index, job in enumerate(metrics)
    )
    money = economics(scenario, metrics, own or scenario.transport.name, frame.network)
    return TransportSide(
        name=network_name(scenario),
        jobs=jobs,
        peaks=_peaks(scenario, frame),
        reroute_s=scenario.transport.reroute_s if scenario.fabric.ports else math.nan,
        network_usd=money.network_usd,
        network_w=money.network_w,
        money=money,
        network=frame.network,
        gpus=scenario.fabric.gpus,
    )


def _peaks(scenario: Scenario, frame: Frame) -> dict[str, float]:
    """Hottest link of every tier that has links, in any phase."""
    peak = peak_utilization(frame.network)
    fabric = scenario.fabric
    spans = {name: tier_links(fabric, tier) for tier, name in enumerate(fabric.tier_names)}
    return {
        name: float(np.fmax.reduce(peak[span], initial=math.nan))
        for name, span in spans.items()
        if span.stop > span.start
    }


class Rivals:
    """Timelines of one cluster under several transports, kept in step with a timeline's log.

    For one thread at a time.

    Args:
        scenario: the cluster under its own transport.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._timelines: dict[str, Timeline] = {}

    def compare(
        self,
        frame: Frame,
        log: Sequence[Event],
        names: Sequence[str],
        tell: Tell = lambda name, step, of: None,  # noqa: ARG005 - says nothing
    ) -> Comparison:
        """Transports at the step of a frame of the cluster's own, under the same log.

        Raises:
            UnknownNameError: no such transport in the catalogue.
        """
        own = self._scenario
        sides = []
        for name in names:
            if name == own.transport.name:
                tell(name, frame.step, frame.step)
                sides.append(side_of(own, frame))
            else:
                timeline = self.timeline(name)
                timeline.follow(log)
                there = _reach(timeline, name, frame.step, tell)
                sides.append(side_of(timeline.scenario, there, own.transport.name))
        return Comparison(frame.step, frame.time_s, own.spec.sim.seed, tuple(sides))

    def timeline(self, name: str) -> Timeline:
        """The timeline of a transport."""
        if name not in self._timelines:
            scenario = with_transport(self._scenario, name)
            self._timelines[name] = Timeline(scenario, budget_bytes=_FRAMES_BYTES)
        return self._timelines[name]


def _reach(timeline: Timeline, name: str, step: int, tell: Tell) -> Frame:
    """Frame at a step, told of on the way."""
    frame = timeline.nearest(step)
    tell(name, 0 if frame is None else frame.step, step)
    frame = frame or timeline.at(0)
    healthy(timeline.scenario, frame.network)
    while frame.step < step:
        tell(name, frame.step, step)
        frame = timeline.at(frame.step + 1)
    return frame


def joined(comparisons: Sequence[tuple[str, Comparison]]) -> Comparison:
    """Comparisons of several clusters, by name, as one; step and seed are those of the first."""
    (_, first), several = comparisons[0], len(comparisons) > 1
    sides = tuple(
        dataclasses.replace(side, cluster=name if several else "")
        for name, comparison in comparisons
        for side in comparison.sides
    )
    return dataclasses.replace(first, sides=sides)


def same_jobs(specs: Sequence[ClusterSpec]) -> tuple[ClusterSpec, ...]:
    """Clusters with the jobs and the seed of the first, on as many GPUs as the smallest has."""
    first, least = specs[0], min(spec.gpus for spec in specs)
    jobs = []
    for job in first.jobs:
        free = least - job.first_gpu
        ranks = (first.gpus - job.first_gpu) if job.ranks is None else job.ranks
        if free < 2:
            raise SpecError(
                f"compare: job {job.name!r}",
                f"begins at GPU {job.first_gpu:,}, and the smallest cluster has "
                f"{counted(least, 'GPU')}",
                "compare clusters that all have room for it",
            )
        jobs.append(job.model_copy(update={"ranks": min(ranks, free)}))
    return tuple(
        spec.model_copy(
            update={
                "jobs": tuple(jobs),
                "sim": spec.sim.model_copy(update={"seed": first.sim.seed}),
            }
        )
        for spec in specs
    )


def as_dict(comparison: Comparison) -> dict[str, object]:
    """The comparison for a file: numbers that JSON knows, null for what stands still."""
    return {
        "schema": 1,
        "step": comparison.step,
        "time_s": comparison.time_s,
        "seed": comparison.seed,
        "same_parts": comparison.same_parts,
        "transports": [_side_dict(side) for side in comparison.sides],
    }


def _side_dict(side: TransportSide) -> dict[str, object]:
    return {
        "name": side.name,
        **({"cluster": side.cluster} if side.cluster else {}),
        "jobs": [_job_dict(job) for job in side.jobs],
        "peaks": {tier: _number(value) for tier, value in side.peaks.items()},
        "reroute_s": _number(side.reroute_s),
        "gpus": side.gpus,
        "network_usd": side.network_usd,
        "network_w": side.network_w,
        "economics": None
        if side.money is None
        else {name: _number(value) for name, value in vars(side.money).items()},
    }


def _job_dict(job: JobSide) -> dict[str, object]:
    metrics = job.metrics
    return {
        "name": metrics.name,
        "busbw_GBps": _number(metrics.busbw_GBps),
        "error_band": [_number(value) for value in metrics.error_band],
        "mfu": None if metrics.training is None else _number(metrics.training.mfu),
        "mfu_band": None if metrics.mfu_band is None else list(metrics.mfu_band),
        "iteration_s": _number(metrics.iteration_s),
        "ideal_s": _number(metrics.ideal_s),
        "healthy_s": _number(metrics.healthy_s),
        "share_of_line": _number(metrics.share_of_line),
        "unreached": job.unreached,
        "causes_s": {name: _number(job.causes[name]) for name in CAUSES},
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
