"""Why something is hot, or stands still, in a sentence or two."""

from __future__ import annotations

import numpy as np

from clusterscope.columns import F64, I32
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.links import peak_utilization
from clusterscope.metrics.users import Use, flows_on
from clusterscope.units import counted
from clusterscope.views.focus import cables_of_switch
from clusterscope.views.text import fmt, percent, ratio, sanitize


def reasons(
    scenario: Scenario, frame: Frame, thing: Thing, links: I32, peak: F64
) -> tuple[str, ...]:
    """Sentences about a thing's busiest link: who fills it, what it holds up, what broke.

    `links` (n,) are those of the thing, `peak` (n,) their load in the worst phase.
    """
    if not len(links):
        return ("it has no links.",)
    lines = []
    if thing.kind == "switch":
        lines += _lost_uplinks(scenario, frame, thing.index)
    top = float(np.fmax.reduce(peak))
    if np.isnan(top):
        return (*lines, _why_dead(scenario, frame, links))
    link = int(links[(peak == top).argmax()])
    if top == 0.0:
        return (*lines, "no job uses it.")
    lines.append(_who(scenario, frame, link, top, alone=len(links) == 1))
    lines += _paces(scenario, frame, link)
    return tuple(lines)


def _who(scenario: Scenario, frame: Frame, link: int, top: float, *, alone: bool) -> str:
    """Who fills the link."""
    uses = flows_on(scenario, frame, link)
    subject = "it" if alone else scenario.names.link(link)
    if not uses:
        return f"{subject} peaks at {ratio(top)}."
    use = max(uses, key=lambda u: u.gbps)
    job = scenario.program[use.job]
    phase = sanitize(job.phases[use.phase].name)
    load = fmt(use.gbps, "gbps")
    return (
        f"{subject} peaks at {ratio(top)}: {flow_words(scenario, use)} of {sanitize(job.name)} put "
        f"{load} on it in {phase}{_against(scenario, frame, link, top)}."
    )


def flow_words(scenario: Scenario, use: Use) -> str:
    """Flows that cross a link, in words."""
    if scenario.loads[use.job][use.phase].exchange is not None:
        return "the all-to-all exchange"
    load = scenario.loads[use.job][use.phase]
    if use.connections == use.rows and load.connections > 1:
        return f"{counted(use.rows, 'connection')} (of {load.connections} a NIC pair)"
    flows = counted(use.rows, "flow")
    return flows if use.connections <= use.rows else f"{flows} of {use.connections:,} connections"


def _against(scenario: Scenario, frame: Frame, link: int, top: float) -> str:
    """How that compares with the other live links of the tier."""
    tier = int(scenario.fabric.cable_tier[link >> 1])
    cables = scenario.fabric.tier_cables(tier)
    others = peak_utilization(frame.network)[2 * cables.start : 2 * cables.stop]
    live = others[~np.isnan(others)]
    mean, name = float(live.mean()), scenario.fabric.tier_names[tier]
    if mean == 0.0 or top < 1.05 * mean:
        return f", as on other {name} links"
    return f", {top / mean:.1f} times the mean of {name} links"


def _paces(scenario: Scenario, frame: Frame, link: int) -> list[str]:
    """Phases that the link holds up."""
    return [
        f"it paces {sanitize(phase.name)} of {sanitize(job.name)}, "
        f"{percent(phase.seconds / job.alone_s, 0)} of the iteration."
        for job in job_metrics(scenario, frame)
        for phase in job.phases
        if phase.bound_link == link and np.isfinite(job.alone_s)
    ]


def _lost_uplinks(scenario: Scenario, frame: Frame, switch: int) -> list[str]:
    """Uplinks of a switch that are gone."""
    _, above = cables_of_switch(scenario, switch)
    dead = int((frame.network.cable_gbps[above] <= 0).sum())
    if not dead or dead == len(above):
        return []
    left = len(above) - dead
    what = "cables to other switches" if scenario.fabric.dragonfly else "uplinks"
    return [f"{dead} of {len(above)} {what} are down: {left} carry what {len(above)} should."]


def _why_dead(scenario: Scenario, frame: Frame, links: I32) -> str:
    """What keeps links from carrying anything."""
    fabric, names = scenario.fabric, scenario.names
    cable = int(links[0]) >> 1
    if len(links) <= 2 and frame.health.cable_scale[cable] == 0:
        return "it is dead: the cable itself has failed."
    for vertex in (int(fabric.cable_a[cable]), int(fabric.cable_b[cable])):
        thing = names.of_vertex(vertex)
        if not _works(scenario, frame, thing):
            return f"no link of it is live: {names.thing(thing)} has failed."
    return "no link of it is live."


def _works(scenario: Scenario, frame: Frame, thing: Thing) -> bool:
    """True when a device and the node around it work."""
    fabric, health, i = scenario.fabric, frame.health, thing.index
    match thing.kind:
        case "switch":
            return bool(health.switch_up[i])
        case "nic":
            return bool(health.nic_up[i] and health.node_up[i // (fabric.ports // fabric.nodes)])
        case "gpu":
            return bool(health.gpu_up[i] and health.node_up[i // fabric.gpus_per_node])
        case _:
            return True
