"""Changes that may help: of the transport, the placement, the fabric or its health.

Each makes a network to look at; the scenario that it starts from is never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from clusterscope.engine.events import Event, Kind, apply
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import build, with_spec, with_transport
from clusterscope.errors import ClusterscopeError
from clusterscope.fabric.arrays import Health
from clusterscope.fabric.names import Names
from clusterscope.fabric.things import Thing, ThingKind
from clusterscope.metrics.explain import Explanation
from clusterscope.spec import parts
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec
from clusterscope.traffic.groups import domain_of
from clusterscope.units import counted

# GPUs up to which a fabric is cabled anew to see what one more spine would do.
REBUILD_MOST = 200_000
# Other transports that are tried: those that spread packets and put them in order again, first.
_TRANSPORTS = 3
# Single repairs and neighbors that are tried.
_REPAIRS, _NEIGHBORS = 3, 3
_QP_FACTORS, _QPS_MOST = (4, 16), 256
# Queue pairs of all jobs that are routed to see what more of them would do.
_ROWS_MOST = 1_000_000


class TooDearError(Exception):
    """A change that would take too long."""


@dataclass(frozen=True)
class Change:
    """One change to try: what gives the network with it, and whom to look at there."""

    words: str
    how: str
    make: Callable[[], Network]
    without: int = -1  # a neighbor that is left out


def changes(found: Explanation, network: Network) -> Iterator[Change]:
    """Changes that apply, in the order in which they are tried."""
    yield from _repairs(network)
    if network.scenario.fabric.ports:
        yield from _qps(network)
        yield from _balancing(network)
    yield from _reducing(found, network)
    yield from _isolating(network)
    if network.scenario.fabric.nodes > 1:
        yield from _placements(found, network)
    yield from _spines(network)
    yield from _elsewhere(found, network)


def _again(network: Network, spec: ClusterSpec) -> Network:
    """The network of a spec that differs in transport or jobs, in the same health."""
    return Network(with_spec(network.scenario, spec), network.routed, network.actual)


def _set_transport(network: Network, **values: object) -> Network:
    spec = network.scenario.spec
    own = spec.transport.model_copy(update=values)
    return _again(network, spec.model_copy(update={"transport": own}))


def _qps(network: Network) -> Iterator[Change]:
    """More queue pairs, where each is hashed on its own."""
    transport = network.scenario.transport
    if transport.policy.load_balancing != "ecmp":
        return
    for times in _QP_FACTORS:
        qps = transport.qps * times
        if qps <= _QPS_MOST:
            yield Change(
                f"{counted(qps, 'queue pair')} a channel (now {transport.qps})",
                f"--set transport.qps={qps}",
                partial(_with_qps, network, qps),
            )


def _with_qps(network: Network, qps: int) -> Network:
    """The network with so many queue pairs a channel.

    Raises:
        TooDearError: too many to be routed while somebody waits.
    """
    scenario = network.scenario
    rows = sum(len(load.src) for loads in scenario.loads for load in loads)
    rows = rows // scenario.transport.qps * qps
    if rows > _ROWS_MOST:
        msg = f"{rows:,} queue pairs take too long here; run it with that setting"
        raise TooDearError(msg)
    return _set_transport(network, qps=qps)


def _balancing(network: Network) -> Iterator[Change]:
    """Packets spread by the switches, and other transports that do it."""
    scenario = network.scenario
    own = scenario.transport
    if own.policy.load_balancing != "adaptive":
        yield Change(
            f"adaptive routing under {own.name}",
            "--set transport.load_balancing=adaptive",
            lambda: _set_transport(network, load_balancing="adaptive"),
        )
    spreading = [
        name
        for name in parts.transports()
        if name != own.name
        and parts.transport(name).load_balancing in ("adaptive", "spray")
        and parts.transport(name).ordering == "reorder"
    ]
    for name in spreading[:_TRANSPORTS]:
        yield Change(
            f"{name} instead of {own.name}",
            f"--transport {name}",
            partial(_under, network, name),
        )


def _under(network: Network, name: str) -> Network:
    """The network under another transport at its defaults, in the same health."""
    return Network(with_transport(network.scenario, name), network.routed, network.actual)


def _with_job(network: Network, job: int, **values: object) -> ClusterSpec:
    """The spec with one job changed."""
    spec = network.scenario.spec
    changed = spec.jobs[job].model_copy(update=values)
    return spec.model_copy(update={"jobs": (*spec.jobs[:job], changed, *spec.jobs[job + 1 :])})


def _reducing(found: Explanation, network: Network) -> Iterator[Change]:
    """Reduction on the way, where transport or domain can do it."""
    scenario, job = network.scenario, found.subject.job
    spec = scenario.spec
    if spec.jobs[job].collective != "all-reduce":
        return
    up = spec.scale_up.switch if spec.scale_up is not None else None
    able = {
        "sharp": bool(scenario.fabric.ports)
        and len(np.unique(domain_of(scenario.fabric, scenario.program[job].gpus))) > 1
        and parts.transport(scenario.transport.name).in_network_reduction,
        "nvls": up is not None and parts.switch(up).in_network_reduction == "domain",
    }
    words = {"sharp": "SHARP: switches reduce on the way", "nvls": "NVLS: NVSwitches reduce"}
    for name, there in able.items():
        if there and name not in (spec.jobs[job].algorithm, scenario.program[job].algorithm):
            how = f"--set jobs.{job}.algorithm={name}"
            changed = _with_job(network, job, algorithm=name)
            yield Change(words[name], how, partial(_again, network, changed))


def _isolating(network: Network) -> Iterator[Change]:
    """Congestion that stays with the flows that cause it."""
    if not network.scenario.transport.pauses or not network.scenario.fabric.ports:
        return
    yield Change(
        "performance isolation",
        "--set transport.isolation=true",
        partial(_set_transport, network, isolation=True),
    )


def _placements(found: Explanation, network: Network) -> Iterator[Change]:
    """The job placed in another way, if its GPUs are free then."""
    scenario, job = network.scenario, found.subject.job
    spec = scenario.spec
    own = spec.jobs[job]
    strides = max(2, scenario.fabric.nodes // 8)
    for placement, values in (
        ("packed", {"placement": "packed"}),
        (f"strided by {counted(strides, 'node')}", {"placement": "strided", "stride": strides}),
        ("random", {"placement": "random"}),
    ):
        if values["placement"] == own.placement:
            continue
        sets = " ".join(f"--set jobs.{job}.{key}={value}" for key, value in values.items())
        yield Change(
            f"{placement} instead of {own.placement}",
            sets,
            partial(_placed, network, _with_job(network, job, **values), job),
        )


def _placed(network: Network, spec: ClusterSpec, job: int) -> Network:
    """The network with a job on other GPUs.

    Raises:
        TooDearError: other jobs are on them.
    """
    other = _again(network, spec)
    own = other.scenario.program[job].gpus
    for number, program in enumerate(other.scenario.program):
        if number != job and np.isin(own, program.gpus).any():
            msg = f"{program.name} is on some of those GPUs"
            raise TooDearError(msg)
    return other


def _spines(network: Network) -> Iterator[Change]:
    """One more spine in each block, with the uplinks to reach it."""
    spec, plan = network.scenario.spec, derive(network.scenario.spec)
    out = spec.scale_out
    if out is None or plan is None or not plan.spines or not plan.leaf_up:
        return
    each = max(1, plan.leaf_up // plan.spines)
    values = {"spines": plan.spines + 1, "leaf_up": plan.leaf_up + each}
    changed = spec.model_copy(update={"scale_out": out.model_copy(update=values)})
    sets = " ".join(f"--set scale_out.{key}={value}" for key, value in values.items())
    uplinks = f"{counted(each, 'more uplink')} a leaf"
    yield Change(
        f"one more spine a block ({plan.spines + 1}), {uplinks}",
        sets,
        partial(_rebuilt, network, changed),
    )


def _rebuilt(network: Network, spec: ClusterSpec) -> Network:
    """The network of another fabric, with what is broken broken there too.

    Raises:
        TooDearError: the fabric is too large to be cabled anew.
    """
    if spec.gpus > REBUILD_MOST:
        msg = f"cabling {spec.gpus:,} GPUs anew takes too long here; run it with that setting"
        raise TooDearError(msg)
    other = build(spec)
    names = network.scenario.names
    routed = actual = _moved(names, other.names, network.actual)
    if network.routed is not network.actual:
        routed = _moved(names, other.names, network.routed)
    return Network(other, routed, actual)


def _moved(names: Names, there: Names, health: Health) -> Health:
    """The same broken things in another fabric; those that are not there are left out."""
    whole = Health.whole(there.fabric)
    events = []
    for thing, scale in broken(health):
        kind: Kind = "fail" if scale == 0 else "degrade"
        try:
            events.append(Event.named(there, kind, names.thing(thing), step=0, scale=scale or 0.5))
        except ClusterscopeError:
            continue
    return apply(whole, events)


def broken(health: Health) -> list[tuple[Thing, float]]:
    """Everything that has failed (0) or is slow (share left): switches, nodes, then cables."""
    kinds: tuple[tuple[ThingKind, np.ndarray], ...] = (
        ("switch", health.switch_up),
        ("node", health.node_up),
        ("nic", health.nic_up),
        ("gpu", health.gpu_up),
    )
    out = [(Thing(kind, i), 0.0) for kind, up in kinds for i in np.flatnonzero(~up).tolist()]
    slow = np.flatnonzero(health.cable_scale < 1)
    out += [(Thing("cable", i), float(health.cable_scale[i])) for i in slow.tolist()]
    lame = np.flatnonzero(health.gpu_up & (health.gpu_speed < 1))
    return out + [(Thing("gpu", i), float(health.gpu_speed[i])) for i in lame.tolist()]


def _repairs(network: Network) -> Iterator[Change]:
    """All that is broken repaired, and the first few things one by one."""
    scenario, actual = network.scenario, network.actual
    if actual.healthy:
        return
    if network.routed is not actual:
        wait = scenario.transport.reroute_s
        yield Change(
            f"routes that have reacted, within {wait:g} s", "wait", lambda: network.rerouted
        )
    things = broken(actual)
    if len(things) > 1:
        yield Change(
            f"everything repaired ({counted(len(things), 'thing')})",
            ":restore all",
            lambda: Network(scenario, scenario.whole, scenario.whole),
        )
    for thing, _ in things[:_REPAIRS]:
        name = scenario.names.thing(thing)
        yield Change(
            f"{name} repaired",
            f":restore {name}",
            partial(_repaired, network, thing),
        )


def _repaired(network: Network, thing: Thing) -> Network:
    names = network.scenario.names
    event = Event.named(names, "restore", names.thing(thing), step=0)
    health = apply(network.actual, (event,))
    return Network(network.scenario, health, health)


def _elsewhere(found: Explanation, network: Network) -> Iterator[Change]:
    """Neighbors on the bottleneck that run somewhere else."""
    told = dict.fromkeys(one.job for one in found.sharers if one.job != found.subject.job)
    others = [*told, *(job for job in found.beside if job not in told)]
    how, left = "place it on other racks", len(found.beside) - 1
    if left > 1:
        how += f"; the other {left} jobs still send, all at once"
    for other in others[:_NEIGHBORS]:
        name = network.scenario.program[other].name
        yield Change(f"{name} elsewhere", how, lambda: network, without=other)
