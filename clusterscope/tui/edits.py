"""From a selection or a command to an event, and back to words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from clusterscope.engine.events import GROUPS, Event, Kind
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import Health
from clusterscope.fabric.things import Thing
from clusterscope.metrics.rules import Deed, events_of, health_at
from clusterscope.tui.exports import Exports, free_path
from clusterscope.units import counted

_SIGNS: dict[Kind, str] = {"fail": "X", "degrade": "d", "restore": "r"}


def cable_of(thing: Thing) -> Thing:
    """The cable of a link; any other thing itself."""
    return Thing("cable", thing.index >> 1) if thing.kind == "link" else thing


def is_dead(health: Health, thing: Thing) -> bool:
    """True when the thing itself has failed, whatever its surroundings."""
    thing = cable_of(thing)
    match thing.kind:
        case "cable":
            return bool(health.cable_scale[thing.index] == 0)
        case "switch":
            return not health.switch_up[thing.index]
        case "nic":
            return not health.nic_up[thing.index]
        case "node":
            return not health.node_up[thing.index]
        case "gpu":
            return not health.gpu_up[thing.index]
        case _:
            return False


def is_slow(health: Health, thing: Thing) -> bool:
    """True for a cable that carries something, but not its line rate, and for slow GPUs."""
    thing = cable_of(thing)
    if thing.kind in ("gpu", "node"):
        return bool((health.speeds(thing.index, whole_node=thing.kind == "node") < 1).any())
    return thing.kind == "cable" and bool(0 < health.cable_scale[thing.index] < 1)


def fail_or_restore(scenario: Scenario, health: Health, thing: Thing, step: int) -> Event:
    """Event that fails a thing, or restores it when it is dead.

    Raises:
        SpecError: a thing of that kind cannot fail.
    """
    _refuse_groups(scenario, thing, "fail")
    kind: Kind = "restore" if is_dead(health, thing) else "fail"
    return Event.named(scenario.names, kind, scenario.names.thing(thing), step=step)


def degrade_or_restore(scenario: Scenario, health: Health, thing: Thing, step: int) -> Event:
    """Event that halves a cable, GPU or node, or restores it when it is slow already.

    Raises:
        SpecError: the thing is something else.
    """
    _refuse_groups(scenario, thing, "degrade")
    kind: Kind = "restore" if is_slow(health, thing) else "degrade"
    return Event.named(scenario.names, kind, scenario.names.thing(thing), step=step)


def _refuse_groups(scenario: Scenario, thing: Thing, verb: str) -> None:
    """Say what to select instead of many things at once.

    Raises:
        SpecError: the thing is a group of others.
    """
    if thing.kind not in GROUPS:
        return
    name = "the whole cluster" if thing.kind == "cluster" else scenario.names.thing(thing)
    what = "a switch, cable, node, NIC port or GPU" if verb == "fail" else "a cable, GPU or node"
    raise SpecError(
        name, f"cannot {verb} at one key", f"select {what} in it, or F: rules for many at once"
    )


def marks(timeline: Timeline) -> dict[int, str]:
    """Sign of the last event of each step that has one, for the time line."""
    events = (*timeline.scenario.schedule, *timeline.log)
    return {event.step: _SIGNS[event.kind] for event in events}


Make = Callable[[Scenario, Health, Thing, int], Event]
Request = Callable[[Timeline, int], int]


def at_step(event: Event, step: int) -> Event:
    """The event at another step."""
    return dataclasses.replace(event, step=step)


def injecting(make: Callable[[Health, int], Event]) -> Request:
    """Request to inject what `make` gives for the health and the step of then."""

    def request(timeline: Timeline, step: int) -> int:
        timeline.inject(make(timeline.at(step).health, step))
        return step

    return request


def injecting_all(events: Sequence[Event]) -> Request:
    """Request to inject events as one change, which undo takes back together."""

    def request(timeline: Timeline, step: int) -> int:
        timeline.inject_all(events)
        return step

    return request


def injecting_now(events: Sequence[Event]) -> Request:
    """The same at the step that time has come to by then."""

    def request(timeline: Timeline, step: int) -> int:
        timeline.inject_all([at_step(event, step) for event in events])
        return step

    return request


def doing(deed: Deed, said: Callable[[Sequence[Event]], None]) -> Request:
    """Request to do what a rule says, to what it names in the health of its step.

    The request raises ClusterscopeError when the rule cannot be read or names nothing.
    """

    def request(timeline: Timeline, step: int) -> int:
        at = step if deed.step is None else deed.step
        health = health_at(timeline.scenario, timeline.log, at)
        events = events_of(deed, timeline.scenario, health, at)
        timeline.inject_all(events)
        said(events)
        return step

    return request


def removing(event: Event) -> Request:
    """Request to take an event out of the log."""

    def request(timeline: Timeline, step: int) -> int:
        timeline.remove(event)
        return step

    return request


def exporting(exports: Exports, said: Callable[[Path], None]) -> Request:
    """Request to write a report, into a directory named after cluster and step that is new."""

    def request(timeline: Timeline, step: int) -> int:
        directory = free_path(timeline.scenario.spec.name, "report", step, "")
        exports.report(timeline, directory, step)
        said(directory)
        return step

    return request


def told(before: Sequence[Event], now: Sequence[Event]) -> str:
    """What became of the log, and the key that turns it around; "" when nothing did."""
    if len(now) == len(before) + 1:
        return f"{now[-1].text()} · u takes it back"
    if len(now) == len(before) - 1:
        gone = next((e for e, other in zip(before, now, strict=False) if e != other), before[-1])
        return f"taken back: {gone.text()} · U puts it back"
    if len(now) < len(before):
        return f"taken back: {counted(len(before) - len(now), 'event')} · U puts them back"
    return ""


def undo(timeline: Timeline, step: int) -> int:
    """Request to take the last event back."""
    timeline.undo()
    return step


def redo(timeline: Timeline, step: int) -> int:
    """Request to put the event back that was undone last."""
    timeline.redo()
    return step
