"""A line that says what is done to the cluster: "degrade 5 random leaf-spine cables to 0.25".

    [fail] TARGETS            restore TARGETS            restore all
    degrade TARGETS to X      any of them with "@5" or "at step 5" at its end

TARGETS is read by `targets.parse`. Things that would not change are left out: "fail 3 random
cables" draws among those that work, "restore all spines" restores those that are down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from clusterscope.columns import I64, Bool
from clusterscope.engine.events import DEGRADABLE, KINDS, Event, Kind, apply
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import Health
from clusterscope.fabric.things import Thing, ThingKind
from clusterscope.metrics.targets import MOST, Keep, is_rule, parse
from clusterscope.spec.training import LEAST_LEFT

_STEP = re.compile(r"(?:^|(?<=\S))\s*(?:@\s*|\sat\s+step\s+)(\S*)\s*$", re.IGNORECASE)
_TO = re.compile(r"\s+to\s+(\S+)\s*$", re.IGNORECASE)
_STEPS_MOST = 10_000_000


@dataclass(frozen=True)
class Deed:
    """What a line asks for.

    Attributes:
        kind: fail, degrade or restore.
        targets: what it is done to, in words.
        scale: degrade: share of the line rate that is left.
        step: when; None when the line does not say.
    """

    kind: Kind
    targets: str
    scale: float = 0.5
    step: int | None = None


def read(line: str) -> Deed:
    """What a line asks for; its targets are not looked at yet.

    Raises:
        SpecError: its step or its share of the line rate is none.
    """
    text, step = _stepped(line.strip())
    first, _, rest = text.partition(" ")
    kind = next((kind for kind in KINDS if kind == first.casefold()), None)
    if kind is None:
        return Deed("fail", text, step=step)
    if kind == "degrade" and (match := _TO.search(rest)):
        return Deed(kind, rest[: match.start()].strip(), share(match[1]), step)
    return Deed(kind, rest.strip(), step=step)


def share(text: str) -> float:
    """Share of the line rate that is left.

    Raises:
        SpecError: it is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if LEAST_LEFT <= value <= 1:
        return value
    raise SpecError(
        "degrade", f"{text!r} is not a share of the line rate", f"use {LEAST_LEFT:g} to 1"
    )


def _stepped(text: str) -> tuple[str, int | None]:
    """Text without its step, and the step."""
    match = _STEP.search(text)
    if match is None:
        return text, None
    if not (match[1].isascii() and match[1].isdecimal() and int(match[1]) <= _STEPS_MOST):
        raise SpecError("rule", f"{match[1]!r} is not a step", f"use 0 to {_STEPS_MOST:,}")
    return text[: match.start()].strip(), int(match[1])


def events_of(deed: Deed, scenario: Scenario, health: Health, step: int) -> tuple[Event, ...]:
    """Events that do a deed at a step, in a state of health.

    Raises:
        SpecError: as `targets.parse`; what was asked for cannot be done to what is meant.
        UnknownNameError: as `targets.parse`.
    """
    names = scenario.names
    if not is_rule(deed.targets):
        event = Event.named(names, deed.kind, deed.targets, step=step, scale=deed.scale)
        return (event,)
    if deed.kind == "restore" and deed.targets.casefold() in ("all", "everything"):
        things = broken(health)
    else:
        things = parse(deed.targets, scenario, keep=_keep(deed.kind, health))
    wrong = next((thing for thing in things if thing.kind not in DEGRADABLE), None)
    if deed.kind == "degrade" and wrong is not None:
        name = names.thing(wrong)
        raise SpecError(name, f"a {wrong.kind} cannot degrade", "degrade cables, GPUs or nodes")
    return tuple(Event(step, deed.kind, t, names.thing(t), deed.scale) for t in things)


def broken(health: Health) -> tuple[Thing, ...]:
    """Everything that has failed or slowed down.

    Raises:
        SpecError: nothing has, or too much for one rule.
    """
    things = tuple(
        Thing(kind, index)
        for kind in _KINDS
        for index in np.flatnonzero(~_works(health, kind)).tolist()
    )
    if not things:
        raise SpecError("restore all", "nothing is broken")
    if len(things) > MOST:
        hint = f"at most {MOST:,} can be meant at a time"
        raise SpecError("restore all", f"that is {len(things):,} things", hint)
    return things


_KINDS: tuple[ThingKind, ...] = ("switch", "node", "nic", "gpu", "cable")


def _works(health: Health, kind: ThingKind) -> Bool:
    """What of a kind works, at full rate, by index."""
    whole: Bool = health.cable_scale == 1.0
    quick: Bool = health.gpu_speed == 1.0
    return {
        "switch": health.switch_up,
        "node": health.node_up,
        "nic": health.nic_up,
        "gpu": health.gpu_up & quick,
    }.get(kind, whole)


def _keep(kind: Kind, health: Health) -> Keep:
    """What would change."""

    def keep(thing: ThingKind, members: I64) -> Bool:
        if kind == "fail" and thing == "cable":
            alive: Bool = health.cable_scale[members] > 0
            return alive
        if kind == "fail" and thing == "gpu":
            up: Bool = health.gpu_up[members]
            return up
        works: Bool = _works(health, thing)[members]
        return ~works if kind == "restore" else works

    return keep


def health_at(scenario: Scenario, log: Iterable[Event], step: int) -> Health:
    """Health after all events up to and with a step, without simulating anything."""
    events = [event for event in (*scenario.schedule, *log) if event.step <= step]
    # Of one step, what the spec schedules comes first; sorting keeps the order of the rest.
    return apply(scenario.whole, sorted(events, key=lambda event: event.step))


def at_step(events: Iterable[Event], step: int) -> tuple[Event, ...]:
    """The same events at another step."""
    return tuple(replace(event, step=step) for event in events)
