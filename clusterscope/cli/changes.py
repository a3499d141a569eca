"""What a command changes before it runs a spec: its options, and the timeline they ask for."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clusterscope.errors import ClusterscopeError, SpecError

if TYPE_CHECKING:
    from collections.abc import Callable

    from clusterscope.engine.timeline import Timeline
    from clusterscope.spec.model import ClusterSpec

_MOST_STEPS = 10_000_000


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that change what is simulated."""
    for option in reversed(
        [
            click.option("--set", "sets", multiple=True, metavar="KEY=VALUE",
                         help="change a key of the spec (jobs.0.message_bytes=2GiB)"),
            click.option("--transport", metavar="NAME", help="another transport, at its defaults"),
            click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="seed of all chance"),
            click.option("--steps", type=click.IntRange(0, 10_000_000), help="steps to run"),
            click.option("--until", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
                         help="run until this simulated time instead"),
            click.option("--fail", "fails", multiple=True, metavar="NAME|RULE[@STEP]",
                         help="fail a thing by name, or what a rule names ('3 random cables'); "
                              "'degrade NAME to 0.7' slows a cable, GPU or node"),
            click.option("--events", type=click.Path(path_type=Path), metavar="FILE",
                         help="TOML file with [[events]]"),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


def spec_of(name: str, changes: dict[str, Any]) -> ClusterSpec:
    """The spec of a name or path, with the options' changes made."""
    from clusterscope.spec.presets import load

    sets = list(changes["sets"])
    if changes["transport"] is not None:
        _know_transport(changes["transport"])
        # Before the others, which may be about the new transport.
        sets.insert(0, "transport=" + json.dumps(changes["transport"]))
    if changes["seed"] is not None:
        sets.append(f"sim.seed={changes['seed']}")
    return load(name, sets)


def _know_transport(name: str) -> None:
    """Raise SpecError for a transport that the catalogue does not have."""
    from clusterscope.spec import parts

    try:
        parts.transport(name)
    except ClusterscopeError as error:
        problem, _, hint = str(error).partition("; ")
        raise SpecError("--transport", problem, hint) from None


def timeline_of(name: str, changes: dict[str, Any]) -> tuple[Timeline, int]:
    """The timeline asked for, and how many steps to run it."""
    return cluster_of(spec_of(name, changes), changes)


def cluster_of(spec: ClusterSpec, changes: dict[str, Any]) -> tuple[Timeline, int]:
    """The timeline of a spec with the events asked for, and how many steps to run it."""
    from clusterscope.engine.events import Event, named
    from clusterscope.engine.scenario import build
    from clusterscope.engine.timeline import Timeline
    from clusterscope.metrics.rules import Deed, events_of, health_at, read
    from clusterscope.metrics.targets import is_rule
    from clusterscope.spec.events import read_events

    if changes["steps"] is not None and changes["until"] is not None:
        raise SpecError("--until", "cannot go with --steps", "give one of them")
    scenario = build(spec)
    timeline = Timeline(scenario)
    if changes["events"] is not None:
        where = f"{click.format_filename(changes['events'])}: events"
        for event in named(scenario.names, read_events(changes["events"]), where):
            timeline.inject(event)
    for text in changes["fails"]:
        target, step = _at(text)
        try:
            if text.casefold().startswith("degrade "):
                deed = read(text)
                step = deed.step or 0
                health = health_at(scenario, timeline.log, step)
                timeline.inject_all(events_of(deed, scenario, health, step))
            elif is_rule(target):
                health = health_at(scenario, timeline.log, step)
                timeline.inject_all(events_of(Deed("fail", target), scenario, health, step))
            else:
                timeline.inject(Event.named(scenario.names, "fail", target, step=step))
        except ClusterscopeError as error:
            raise SpecError("--fail", str(error)) from None
    steps = spec.sim.steps if changes["steps"] is None else changes["steps"]
    if changes["until"] is not None:
        steps = _steps_until(changes["until"], spec.sim.dt_s)
    return timeline, steps


def _steps_until(until_s: float, dt_s: float) -> int:
    """Steps to a simulated time, at least one."""
    if math.isnan(until_s):
        raise SpecError("--until", "nan is no time", "use seconds above 0")
    count = until_s / dt_s
    if not count <= _MOST_STEPS:
        raise SpecError(
            "--until",
            f"{until_s!r} is more than {_MOST_STEPS:,} steps of {dt_s!r} s",
            "use a shorter time or a larger sim.dt_s",
        )
    return max(1, round(count))


def refuse_late(timeline: Timeline, steps: int) -> None:
    """Raise SpecError for an event that the run would never come to."""
    for event in timeline.log:
        if event.step > steps:
            raise SpecError(
                f"{event.text()} at step {event.step}",
                f"the run ends at step {steps}",
                "use --steps to run longer",
            )


def _at(text: str) -> tuple[str, int]:
    """Name and step of NAME[@STEP]."""
    name, at, step = text.rpartition("@")
    if not at:
        return text, 0
    if not (step.isascii() and step.isdecimal()) or len(step) > 8:
        raise SpecError("--fail", f"{step!r} after @ is not a step", "write NAME or NAME@STEP")
    return name, int(step)
