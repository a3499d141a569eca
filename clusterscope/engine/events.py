"""Things done to the cluster: fail, degrade and restore of cables, switches, NICs, GPUs and nodes.

An event on disk names its target; in memory it points at a `Thing`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from clusterscope.errors import ClusterscopeError, SpecError
from clusterscope.fabric.arrays import Health
from clusterscope.fabric.names import Names
from clusterscope.fabric.things import Thing
from clusterscope.spec.model import EventSpec

Kind = Literal["fail", "degrade", "restore"]
KINDS: tuple[Kind, ...] = ("fail", "degrade", "restore")
GROUPS = ("cluster", "pod", "cores", "spines", "domains", "subdomain")
BREAKABLE = ("cable", "link", "switch", "nic", "gpu", "node")
DEGRADABLE = ("cable", "gpu", "node")


@dataclass(frozen=True)
class Event:
    """One thing done at the start of a step.

    Attributes:
        step: when.
        kind: fail, degrade (a cable to `scale` of its rate, a GPU or all those of a node to `scale`
            of their speed) or restore.
        target: what; a link stands for its cable.
        name: the target's name, for people and files.
        scale: share of rate or speed left by degrade.
    """

    step: int
    kind: Kind
    target: Thing
    name: str
    scale: float = 0.5

    @classmethod
    def named(cls, names: Names, kind: Kind, name: str, *, step: int, scale: float = 0.5) -> Event:
        """Event on the thing called `name`.

        Raises:
            UnknownNameError: nothing is called that.
            SpecError: the thing cannot fail, or cannot be degraded.
        """
        thing = names.find(name)
        if thing.kind == "link":
            thing = Thing("cable", thing.index // 2)
        if thing.kind in GROUPS:
            raise SpecError(name, f"is a group and cannot {kind}", "name one of its members")
        if thing.kind not in BREAKABLE:
            raise SpecError(
                name, f"a {thing.kind} cannot {kind}", f"use one of {', '.join(BREAKABLE)}"
            )
        if kind == "degrade" and thing.kind not in DEGRADABLE:
            raise SpecError(name, f"a {thing.kind} cannot degrade", "degrade a cable, GPU or node")
        return cls(step, kind, thing, names.thing(thing), scale)

    def text(self) -> str:
        """The event in a few words."""
        return f"{self.kind} {self.name}" + (
            f" to {self.scale:g}" if self.kind == "degrade" else ""
        )


def named(names: Names, rows: Sequence[EventSpec], where: str) -> tuple[Event, ...]:
    """Events of a file; `where` names their table in error messages.

    Raises:
        SpecError: a target that is not there, or to which that cannot be done.
    """
    events = []
    for index, row in enumerate(rows):
        try:
            events.append(Event.named(names, row.kind, row.target, step=row.step, scale=row.scale))
        except ClusterscopeError as error:
            raise SpecError(f"{where}.{index}.target", str(error)) from None
    return tuple(events)


_FIELD = {
    "cable": "cable_scale",
    "switch": "switch_up",
    "nic": "nic_up",
    "gpu": "gpu_up",
    "node": "node_up",
}


def apply(health: Health, events: Iterable[Event]) -> Health:
    """Health after the events, in order; the same object when there are none."""
    changed: dict[str, np.ndarray] = {}

    def array(field: str) -> np.ndarray:
        return changed.setdefault(field, getattr(health, field).copy())

    for event in events:
        index, field = event.target.index, _FIELD[event.target.kind]
        left = {"fail": 0.0, "degrade": event.scale, "restore": 1.0}[event.kind]
        if event.target.kind == "cable":
            array(field)[index] = left
            continue
        if event.kind != "degrade":
            array(field)[index] = left > 0
        if event.kind != "fail" and event.target.kind in DEGRADABLE:
            array("gpu_speed")[_gpus_of(health, event.target)] = left
    return dataclasses.replace(health, **changed) if changed else health


def _gpus_of(health: Health, thing: Thing) -> slice:
    """GPUs that a GPU or node is."""
    each = 1 if thing.kind == "gpu" else len(health.gpu_speed) // len(health.node_up)
    return slice(thing.index * each, (thing.index + 1) * each)


def nearest(events: Iterable[Event], step: int, way: int) -> Event | None:
    """First event of the nearest step after a step (way 1) or before it (-1); None without one."""
    beyond = [event for event in events if (event.step - step) * way > 0]
    return min(beyond, key=lambda event: event.step * way, default=None)
