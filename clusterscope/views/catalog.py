"""Every view by name: what panes, report bundles and tests enumerate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import UnknownNameError
from clusterscope.fabric.things import Thing
from clusterscope.views.goodput import goodput
from clusterscope.views.inside import inside
from clusterscope.views.inspector import inspector
from clusterscope.views.neighbors import neighbors
from clusterscope.views.networks import networks_table
from clusterscope.views.origin import sources
from clusterscope.views.planned import groups, memory, sends
from clusterscope.views.serving import serving, stages
from clusterscope.views.shapes import Shape
from clusterscope.views.summary import fabric, summary
from clusterscope.views.tables import cost, events, findings, jobs, links, phases, tiers
from clusterscope.views.tenants import tenant_map, tenant_table
from clusterscope.views.training import iteration, training
from clusterscope.views.verdict import verdict
from clusterscope.views.zoom import focus, peaks, utilization

View = Callable[[Scenario, Frame, Thing | None], Shape]


@dataclass(frozen=True)
class ViewDef:
    """One view.

    Attributes:
        name: key of the view in files and commands.
        title: in words.
        key: suggested key on the keyboard, "" when none.
        function: (scenario, frame, selected thing or None) -> shape.
        files: True when a report bundle holds it; views of a selection are not in it.
    """

    name: str
    title: str
    key: str
    function: View
    files: bool


VIEWS: tuple[ViewDef, ...] = (
    ViewDef("summary", "summary", "", summary, True),
    ViewDef("fabric", "fabric", "", fabric, True),
    ViewDef("tiers", "tiers", "", tiers, True),
    ViewDef("utilization", "utilization", "2", utilization, True),
    ViewDef("peaks", "utilization, worst phase", "", peaks, True),
    ViewDef("focus", "utilization of the selection", "", focus, False),
    ViewDef("inspector", "inspector", "3", inspector, False),
    ViewDef("neighbors", "neighbors", "", neighbors, False),
    ViewDef("jobs", "jobs", "4", jobs, True),
    ViewDef("phases", "phases", "", phases, True),
    ViewDef("training", "training", "", training, True),
    ViewDef("iteration", "iteration of training", "", iteration, True),
    ViewDef("sends", "sends of an iteration", "", sends, True),
    ViewDef("groups", "parallel groups", "", groups, True),
    ViewDef("memory", "memory a GPU", "", memory, True),
    ViewDef("serving", "serving", "", serving, True),
    ViewDef("serving-stages", "prefill and decode", "", stages, True),
    ViewDef("goodput", "what training jobs lose", "", goodput, True),
    ViewDef("tenants", "tenants", "", tenant_table, True),
    ViewDef("tenant-map", "who slows whom", "", tenant_map, True),
    ViewDef("events", "events", "5", events, True),
    ViewDef("links", "hottest links", "6", links, True),
    ViewDef("networks", "networks side by side", "", networks_table, True),
    ViewDef("inside", "inside a node", "", inside, True),
    ViewDef("findings", "findings", "", findings, True),
    ViewDef("cost", "cost and power", "", cost, True),
    ViewDef("verdict", "verdict", "", verdict, True),
    ViewDef("sources", "sources", "", sources, True),
)


def view(name: str) -> ViewDef:
    """View of that name.

    Raises:
        UnknownNameError: no such view; names the nearest.
    """
    for known in VIEWS:
        if known.name == name:
            return known
    raise UnknownNameError("view", name, [known.name for known in VIEWS])
