"""A scenario: everything that never changes while time passes."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from clusterscope.columns import F64
from clusterscope.engine.events import Event, named
from clusterscope.engine.loads import Load, compile_load
from clusterscope.fabric.arrays import Fabric, Health
from clusterscope.fabric.build import build as build_fabric
from clusterscope.fabric.names import Names
from clusterscope.spec.carrying import TransportSpec
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.reductions import unreduced
from clusterscope.traffic.flows import JobProgram
from clusterscope.traffic.program import build as build_program
from clusterscope.transport.model import Transport, goodput, resolve

if TYPE_CHECKING:
    from clusterscope.engine.network import Network


@dataclass(frozen=True, eq=False)
class Scenario:
    """One cluster, its jobs and its schedule, compiled.

    Attributes:
        spec: what the user wrote.
        fabric: what is cabled to what.
        names: index to name and back.
        transport: the resolved transport.
        program: one compiled job a job of the spec.
        loads: by job and phase, the phase's flows as the solver takes them.
        schedule: events of the spec.
    """

    spec: ClusterSpec
    fabric: Fabric
    names: Names
    transport: Transport
    program: tuple[JobProgram, ...]
    loads: tuple[tuple[Load, ...], ...]
    schedule: tuple[Event, ...]

    @cached_property
    def goodput(self) -> F64:
        """Payload per wire byte of every link, (L,)."""
        return goodput(self.fabric, self.transport)

    @cached_property
    def whole(self) -> Health:
        """The cluster with nothing broken."""
        return Health.whole(self.fabric)

    def twin(self, key: tuple[int, int]) -> tuple[int, int]:
        """The first phase of the same job with the same load, for (job, phase)."""
        job, phase = key
        return job, self.loads[job].index(self.loads[job][phase])

    @cached_property
    def crossed(self) -> tuple[tuple[frozenset[str], ...], ...]:
        """Networks that each phase can use, by job and phase: "up", "out"."""
        ports = self.fabric.ports
        return tuple(tuple(load.crossed(ports) for load in loads) for loads in self.loads)

    def apart(self, keys: tuple[tuple[int, int], ...]) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Phases outside scale-up networks, and those inside; empty unless there are just both."""
        uses = [self.crossed[job][phase] for job, phase in keys]
        out, up = (
            tuple(key for key, own in zip(keys, uses, strict=True) if own == {name})
            for name in ("out", "up")
        )
        return (out, up) if out and up and len(out) + len(up) == len(keys) else ()

    @cached_property
    def healthy(self) -> Network:
        """The network with nothing broken, which every timeline begins with."""
        from clusterscope.engine.network import Network

        return Network(self, self.whole, self.whole)

    def scheduled(self, step: int) -> tuple[Event, ...]:
        """Events that the spec itself schedules for a step."""
        return tuple(e for e in self.schedule if e.step == step)


def build(spec: ClusterSpec) -> Scenario:
    """Compile a spec.

    Raises:
        SpecError: counts that cannot be built, or a job that does not fit.
        UnknownNameError: a part or an event target that does not exist.
    """
    fabric = build_fabric(spec)
    names = Names(fabric)
    transport = resolve(spec)
    program = build_program(spec, fabric)
    schedule = named(names, spec.events, "events")
    loads = _loads(spec, transport, fabric, program)
    return Scenario(spec, fabric, names, transport, program, loads, schedule)


def with_transport(scenario: Scenario, name: str) -> Scenario:
    """The same cluster, jobs, schedule and losses under another transport at its defaults.

    A job whose switches reduce runs on rings where they cannot.

    Raises:
        UnknownNameError: no such transport in the catalogue.
    """
    lost = scenario.spec.transport.loss_rate
    spec = scenario.spec.model_copy(update={"transport": TransportSpec(name=name, loss_rate=lost)})
    jobs = tuple(
        job if unreduced(spec, job) is None else job.model_copy(update={"algorithm": "ring"})
        for job in spec.jobs
    )
    if jobs != spec.jobs:
        spec = spec.model_copy(update={"jobs": jobs})
    return with_spec(scenario, spec)


def with_spec(scenario: Scenario, spec: ClusterSpec) -> Scenario:
    """The same fabric under a spec that differs in transport, jobs, seed or prices alone.

    Raises:
        SpecError: a job does not fit.
        UnknownNameError: no such transport in the catalogue.
    """
    transport = resolve(spec)
    old, same = scenario.spec, spec.sim.seed == scenario.spec.sim.seed
    program = scenario.program
    if spec.jobs != old.jobs or not same:
        program = build_program(spec, scenario.fabric)
    loads = scenario.loads
    if program is not scenario.program or transport != scenario.transport:
        loads = _loads(spec, transport, scenario.fabric, program)
    return dataclasses.replace(
        scenario, spec=spec, transport=transport, program=program, loads=loads
    )


def _loads(
    spec: ClusterSpec, transport: Transport, fabric: Fabric, program: tuple[JobProgram, ...]
) -> tuple[tuple[Load, ...], ...]:
    return tuple(
        _interned(
            [
                compile_load(phase, transport, fabric, spec.sim.seed, (job, place))
                for place, phase in enumerate(p.phases)
            ]
        )
        for job, p in enumerate(program)
    )


def _interned(loads: list[Load]) -> tuple[Load, ...]:
    """The loads of a job; equal ones are one object, so that they are routed and shared once."""
    return tuple(
        next(first for first in loads[: place + 1] if first.equals(load))
        for place, load in enumerate(loads)
    )
