"""Carries out what was typed after `:` or `/`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clusterscope.engine.events import KINDS, Event
from clusterscope.engine.scenario import with_transport
from clusterscope.errors import UnknownNameError
from clusterscope.metrics.rules import Deed
from clusterscope.metrics.targets import is_rule
from clusterscope.spec.parts import transport
from clusterscope.spec.replan import parse_changes, replanned
from clusterscope.tui import edits
from clusterscope.tui.changing import changed, timeline_under
from clusterscope.tui.commands import Command, parse
from clusterscope.tui.library import Opened
from clusterscope.tui.messages import Reopen
from clusterscope.tui.replanning import job_shown
from clusterscope.tui.start import Start
from clusterscope.views.blast import meant
from clusterscope.views.zoom import CLUSTER

if TYPE_CHECKING:
    from clusterscope.tui.screens.cluster import Explorer


def select(explorer: Explorer, text: str) -> None:
    """Select what is called so, or else the first row that the filter has found.

    Raises:
        UnknownNameError: neither is there.
    """
    names, first = explorer.scenario.names, explorer.stage.topology.branches.first_match
    if not text.strip():
        return
    try:
        thing = names.find(text.strip())
    except UnknownNameError:
        if not first:
            raise
        thing = names.find(first)
    explorer.show(thing)


def obey(explorer: Explorer, line: str) -> None:
    """Do what a line says.

    Raises:
        UnknownNameError: it names nothing that is there.
        SpecError: it cannot be read, or cannot be done to what it names.
    """
    command = parse(line)
    match command.verb:
        case "step":
            explorer.action_step(command.steps)
        case "seek":
            explorer.go_to(command.steps)
        case "select":
            explorer.show(explorer.scenario.names.find(command.name))
        case "transport" | "set" | "plan" as kind:
            ways = {"transport": _with_transport, "set": _with_settings, "plan": _with_plan}
            explorer.post_message(ways[kind](explorer, command.name))
        case "save":
            explorer.write(command.name)
        case "open":
            explorer.open_named(command.name)
        case "what" | "explain" | "help" as kind:
            _tell(explorer, kind, command.name)
        case "quit":
            explorer.app.exit()
        case kind:
            _do(explorer, command, kind)


def _do(explorer: Explorer, command: Command, verb: str) -> None:
    """Do something to the cluster; what is called by its name is looked up at once."""
    kind = next(kind for kind in KINDS if kind == verb)
    if command.at is None and not is_rule(command.name):
        names = explorer.scenario.names
        event = Event.named(names, kind, command.name, step=0, scale=command.scale)
        explorer.inject(event)
        return

    def said(events: Sequence[Event]) -> None:
        words = meant(explorer.scenario, events)
        explorer.app.call_from_thread(explorer.say, f"{words} at step {events[0].step:,}")

    explorer.ask(edits.doing(Deed(kind, command.name, command.scale, command.at), said))


def _tell(explorer: Explorer, kind: str, text: str) -> None:
    """Say what a word means, what holds a thing or the selection back, or what keys do."""
    if kind == "what":
        explorer.action_glossary(text)
        return
    if kind == "help":
        explorer.action_help()
        return
    from clusterscope.metrics.subject import subject_of
    from clusterscope.tui.screens.explain import Explain

    if text and explorer.frame is not None:
        subject_of(explorer.scenario, explorer.frame.network, text)
    explorer.app.push_screen(Explain(explorer, text))


def _with_settings(explorer: Explorer, text: str) -> Reopen:
    """The same cluster, log and step with keys of its spec set anew."""
    timeline = explorer.player.timeline
    spec = changed(timeline.scenario.spec, text.split())
    make, start = timeline_under(timeline, spec), Start(explorer.player.step)
    return Reopen(f"{spec.name} with {text}", lambda: Opened(make(), start))


def _with_plan(explorer: Explorer, text: str) -> Reopen:
    """The same cluster, log and step with the plan of the job that is shown changed."""
    timeline = explorer.player.timeline
    job = job_shown(timeline.scenario, explorer.stage.job)
    spec = replanned(timeline.scenario.spec, job, parse_changes(text))
    make, start = timeline_under(timeline, spec), Start(explorer.player.step)
    return Reopen(f"{spec.name} with {text}", lambda: Opened(make(), start))


def _with_transport(explorer: Explorer, name: str) -> Reopen:
    """The same cluster, log and step under another transport of the catalogue."""
    transport(name)
    timeline = explorer.player.timeline
    selected = "" if explorer.selection == CLUSTER else explorer.name_selected
    start, pinned = Start(explorer.player.step, selected), explorer.pinned

    def build() -> Opened:
        other = timeline.under(with_transport(timeline.scenario, name))
        # Differences between transports are told by compare: the baseline changes over as well.
        return Opened(other, start, pinned and pinned.under(other))

    return Reopen(f"{timeline.scenario.spec.name} on {name}", build)
