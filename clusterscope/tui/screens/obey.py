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
from clusterscope.tui import edits
from clusterscope.tui.commands import Command, parse
from clusterscope.tui.messages import Reopen
from clusterscope.views.blast import meant

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
        case "transport":
            explorer.post_message(_with_transport(explorer, command.name))
        case "save":
            explorer.write(command.name)
        case "open":
            explorer.open_named(command.name)
        case "what":
            explorer.action_glossary(command.name)
        case "help":
            explorer.action_help()
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


def _with_transport(explorer: Explorer, name: str) -> Reopen:
    """The same cluster, log and step under another transport of the catalogue."""
    transport(name)
    timeline = explorer.player.timeline
    return Reopen(
        lambda: timeline.under(with_transport(timeline.scenario, name)), explorer.player.step
    )
