"""Carries out what was typed after `:` or `/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterscope.engine.events import KINDS, Event
from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import UnknownNameError
from clusterscope.fabric.things import Thing
from clusterscope.spec.model import TransportSpec
from clusterscope.spec.parts import transport
from clusterscope.tui.commands import Command, parse
from clusterscope.tui.messages import Reopen

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
    _show(explorer, thing)


def _show(explorer: Explorer, thing: Thing) -> None:
    explorer.selection = thing
    explorer.stage.topology.reveal(thing)


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
            _show(explorer, explorer.scenario.names.find(command.name))
        case "transport":
            explorer.post_message(_with_transport(explorer, command.name))
        case "help":
            explorer.action_help()
        case "quit":
            explorer.app.exit()
        case kind:
            explorer.inject(_event(explorer, command, kind))


def _event(explorer: Explorer, command: Command, verb: str) -> Event:
    kind = next(kind for kind in KINDS if kind == verb)
    names = explorer.scenario.names
    return Event.named(names, kind, command.name, step=0, scale=command.scale)


def _with_transport(explorer: Explorer, name: str) -> Reopen:
    """The same cluster, log and step under another transport of the catalogue."""
    transport(name)
    spec = explorer.scenario.spec.model_copy(update={"transport": TransportSpec(name=name)})
    log = explorer.player.timeline.log
    return Reopen(lambda: Timeline(build(spec), log), explorer.player.step)
