"""Which transport for which use: small jobs of each kind, run under each transport, and ranked.

Every use is run on the cluster as it is at the step that is compared, with what is broken then and
with jobs of its own in place of the cluster's. Transports are ranked by what they reach once routes
have reacted; what is reached until then is told beside it. A value comes with its error band; two
values whose bands overlap are level, and nothing here says that one is better. What is cheap or
quick to reroute is ranked in the same way.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario, with_spec
from clusterscope.errors import ClusterscopeError
from clusterscope.metrics.bands import error_band, stays_inside
from clusterscope.metrics.beside import together
from clusterscope.metrics.compare import TransportSide
from clusterscope.metrics.jobs import steady
from clusterscope.spec.model import JobSpec
from clusterscope.traffic.program import busbw_GBps
from clusterscope.units import GIB, MIB, counted

# GPUs up to which several jobs at once are tried: pairs of them take a while.
CROWD_MOST = 16_384
_TENANTS, _SENDERS = 4, 33

Tell = Callable[[str, int, int], object]


@dataclass(frozen=True)
class Standing:
    """One transport in one use.

    Attributes:
        label: of the transport.
        value: what it reaches once routes have reacted to what is broken.
        low: what it may be in truth, at least.
        high: at most.
        now: what it reaches until then; None when they have.
    """

    label: str
    value: float
    low: float
    high: float
    now: float | None = None


@dataclass(frozen=True)
class Use:
    """Transports in one use, the best first.

    Attributes:
        name: "training", "experts", "tenants", "storage", "cost", "reroute".
        what: what was run, with its bytes and ranks.
        unit: "GBps", "usd" or "seconds".
        standings: the best first.
        level: how many of them cannot be told from the best.
        inside: nothing of it leaves the scale-up network.
    """

    name: str
    what: str
    unit: str
    standings: tuple[Standing, ...]
    level: int
    inside: bool = False

    @property
    def front(self) -> tuple[str, ...]:
        """Labels of the best and of those that cannot be told from it."""
        return tuple(one.label for one in self.standings[: self.level])


def ranked(
    name: str, what: str, unit: str, standings: Sequence[Standing], *, most: bool = True
) -> Use:
    """A use with its transports in order, by name where they are equal.

    Args:
        name: of the use.
        what: what was run.
        unit: of the values.
        standings: in any order.
        most: True when more is better.
    """
    order = sorted(standings, key=lambda one: (-one.value if most else one.value, one.label))
    best = order[0]
    same = [one for one in order if _overlap(one, best)]
    rest = [one for one in order if one not in same]
    return Use(name, what, unit, (*same, *rest), len(same))


def _overlap(one: Standing, other: Standing) -> bool:
    return one.high >= other.low and other.high >= one.low


def uses(
    sides: Sequence[tuple[str, Network]],
    tell: Tell = lambda what, done, of: None,  # noqa: ARG005 - says nothing
) -> tuple[Use, ...]:
    """Every use under every transport, training first; uses that the cluster has no room for not.

    Of several clusters each runs it on as many GPUs as the smallest has.

    Args:
        sides: label of each transport, and the cluster under it with its routes and health.
        tell: told of each use that is begun, as (words, done, of); may raise to end it.
    """
    out = []
    clusters = [(label, network.scenario) for label, network in sides]
    room = min((scenario.fabric.gpus for _, scenario in clusters), default=0)
    kinds = [kind for kind in _KINDS if kind.fits(clusters, room)]
    for done, kind in enumerate(kinds):
        found, inside = [], True
        for label, network in sides:
            tell(f"{kind.name} under {label}", done, len(kinds))
            standing, stays = kind.standing(label, network, room)
            found.append(standing)
            inside &= stays
        use = ranked(kind.name, kind.told(clusters[0][1], room), "GBps", found)
        out.append(dataclasses.replace(use, inside=inside))
    return tuple(out)


def money_uses(sides: Sequence[TransportSide]) -> tuple[Use, ...]:
    """Price of what is delivered, and time to reroute, ranked alike."""
    out = []
    priced = [side for side in sides if side.money is not None]
    if priced and len(priced) == len(sides):
        found = [_priced(side) for side in sides]
        if all(math.isfinite(one.value) for one in found):
            what = "the network for each petabyte that the jobs deliver"
            out.append(ranked("cost", what, "usd", found, most=False))
    react = [s for s in sides if not math.isnan(s.reroute_s)]
    waits = [Standing(s.label, s.reroute_s, s.reroute_s, s.reroute_s) for s in react]
    if len(waits) == len(sides):
        out.append(ranked("reroute", "routes avoid a failure", "seconds", waits, most=False))
    return tuple(out)


def _priced(side: TransportSide) -> Standing:
    """Price of a petabyte: dearer as the jobs may be slower than computed."""
    assert side.money is not None
    value = side.money.petabyte_usd
    bands = [
        tuple(end / job.metrics.busbw_GBps for end in job.metrics.error_band)
        for job in side.jobs
        if job.metrics.busbw_GBps > 0
    ]
    low = min((band[0] for band in bands), default=1.0)
    high = max((band[1] for band in bands), default=1.0)
    return Standing(side.label, value, value / high, value / low if low > 0 else math.inf)


@dataclass(frozen=True)
class _Kind:
    """A use to run."""

    name: str
    what: str
    jobs: Callable[[Scenario, int], tuple[JobSpec, ...]]
    read: Callable[[Network], float]
    crowd: bool = False

    def told(self, scenario: Scenario, room: int) -> str:
        """What is run, with bytes and ranks."""
        job = self.jobs(scenario, room)[-1]
        size, ranks = _size(job.message_bytes), counted(job.ranks or room, "rank")
        return self.what.format(size=size, ranks=ranks)

    def fits(self, sides: Sequence[tuple[str, Scenario]], room: int) -> bool:
        """True when every cluster can run it on so many GPUs."""
        if self.crowd and room > CROWD_MOST:
            return False
        return bool(sides) and all(self.jobs(scenario, room) for _, scenario in sides)

    def standing(self, label: str, network: Network, room: int) -> tuple[Standing, bool]:
        """What is reached, 0 where it cannot run; and whether all of it stays in the domains."""
        try:
            network = _running(network, self.jobs(network.scenario, room))
            scenario, value, now = network.scenario, self.read(network.rerouted), None
            if network.routed is not network.actual:
                now = self.read(network)
        except ClusterscopeError:
            return Standing(label, 0.0, 0.0, 0.0), False
        inside = all(stays_inside(program) for program in scenario.program)
        low, high = error_band(scenario, scenario.program[0])
        return Standing(label, value, value * low, value * high, now), inside


def _size(size_bytes: int) -> str:
    """Bytes in words: "1 GiB"."""
    large = size_bytes >= GIB
    return f"{size_bytes / (GIB if large else MIB):,.4g} {'GiB' if large else 'MiB'}"


def _running(network: Network, jobs: tuple[JobSpec, ...]) -> Network:
    """The network with these jobs in place of its own; itself where they only have other names."""
    scenario = network.scenario
    if _named_alike(scenario, jobs) == _named_alike(scenario, scenario.spec.jobs):
        return network
    other = with_spec(scenario, scenario.spec.model_copy(update={"jobs": jobs}))
    return Network(other, network.routed, network.actual)


def _named_alike(scenario: Scenario, jobs: tuple[JobSpec, ...]) -> list[JobSpec]:
    """Jobs without their names, and with all their ranks."""
    room = scenario.fabric.gpus
    every = [(job, job.ranks or room - job.first_gpu) for job in jobs]
    return [job.model_copy(update={"name": "", "ranks": ranks}) for job, ranks in every]


def _alone(network: Network) -> float:
    """Busbw of the first job alone."""
    seconds = steady(network)[0][0]
    return busbw_GBps(network.scenario.program[0], seconds)


def _crowded(network: Network) -> float:
    """Mean busbw of all jobs, all of which send."""
    found = zip(network.scenario.program, together(network), strict=True)
    rates = [busbw_GBps(program, one.seconds) for program, one in found]
    return sum(rates) / len(rates)


def _victim(network: Network) -> float:
    """Busbw of the second job while the first sends."""
    return busbw_GBps(network.scenario.program[1], together(network)[1].seconds)


def _training(scenario: Scenario, room: int) -> tuple[JobSpec, ...]:
    """One all-reduce, of the cluster's own message if that is longer."""
    own = [job.message_bytes for job in scenario.spec.jobs if job.collective == "all-reduce"]
    size = max([GIB, *own])
    return (JobSpec(name="training", collective="all-reduce", message_bytes=size, ranks=room),)


def _experts(scenario: Scenario, room: int) -> tuple[JobSpec, ...]:
    del scenario
    size = 256 * MIB
    return (JobSpec(name="experts", collective="all-to-all", message_bytes=size, ranks=room),)


def _tenants(scenario: Scenario, room: int) -> tuple[JobSpec, ...]:
    """Four tenants, each on a quarter of the nodes, scattered."""
    per_node = scenario.fabric.gpus_per_node
    each = room // per_node // _TENANTS * per_node
    if each < 2 * per_node or not scenario.fabric.ports:
        return ()
    return tuple(
        JobSpec(
            name=f"tenant {number + 1}",
            collective="all-reduce",
            message_bytes=GIB,
            ranks=each,
            first_gpu=number * each,
            placement="random",
        )
        for number in range(_TENANTS)
    )


def _storage(scenario: Scenario, room: int) -> tuple[JobSpec, ...]:
    """A burst to one GPU beside a job on all other nodes."""
    per_node = scenario.fabric.gpus_per_node
    nodes = room // per_node
    used = min(nodes // 2, -(-_SENDERS // per_node))
    if used < 2 or nodes - used < 2 or not scenario.fabric.ports:
        return ()
    burst = JobSpec(
        name="burst", collective="incast", message_bytes=64 * MIB, ranks=used * per_node,
        placement="random",
    )  # fmt: skip
    other = JobSpec(
        name="beside", collective="permutation", message_bytes=64 * MIB,
        ranks=(nodes - used) * per_node, first_gpu=used * per_node, placement="random",
    )  # fmt: skip
    return burst, other


_KINDS = (
    _Kind(
        "training", "one all-reduce of {size} over {ranks}, alone in the network", _training, _alone
    ),
    _Kind(
        "experts", "one all-to-all of {size} over {ranks}, alone in the network", _experts, _alone
    ),
    _Kind(
        "tenants",
        "four scattered all-reduces of {size} at once, each over {ranks}",
        _tenants,
        _crowded,
        crowd=True,
    ),
    _Kind(
        "storage",
        "flows of {size} over {ranks} beside a burst to one GPU",
        _storage,
        _victim,
        crowd=True,
    ),
)
