"""What is cabled to the selection, cable by cable; for a group, what is in it."""

from __future__ import annotations

import numpy as np

from clusterscope.columns import I32
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.views.inspector import links_of
from clusterscope.views.shapes import Column, Table
from clusterscope.views.tables import column
from clusterscope.views.tree import detail_of, inside, state_of

_CABLED = ("switch", "node", "nic", "gpu", "cable", "link")


def neighbors(scenario: Scenario, frame: Frame, thing: Thing | None) -> Table:
    """Cables of a device with their far ends and loads; or the members of a group."""
    thing = thing or Thing("cluster")
    if thing.kind not in _CABLED:
        return _members(scenario, frame, thing)
    links = links_of(scenario, thing)
    cables: I32 = np.unique(links >> 1).astype(np.int32)
    names = scenario.names
    far = [_far_end(scenario, thing, cable) for cable in cables.tolist()]
    up, down = 2 * cables, 2 * cables + 1
    carries = frame.network.cable_gbps[cables]
    return Table(
        f"cables of {names.thing(thing)}",
        (
            column("cable", "text", [names.cable(c) for c in cables.tolist()]),
            column("to", "text", far),
            column(
                "tier",
                "text",
                [scenario.fabric.tier_names[t] for t in scenario.fabric.cable_tier[cables]],
            ),
            Column("carries", "gbps", carries, "each direction, now"),
            Column("load up", "gbps", frame.link_gbps[up]),
            Column("load down", "gbps", frame.link_gbps[down]),
            Column("up", "ratio", frame.utilization[up], "load over capacity"),
            Column("down", "ratio", frame.utilization[down], "load over capacity"),
            column("state", "text", ["dead" if c <= 0 else "" for c in carries.tolist()]),
        ),
        rows=len(cables),
        keys=far,
    )


def _far_end(scenario: Scenario, thing: Thing, cable: int) -> str:
    """Name of the end of a cable that is not the selection: the upper one, if both are others."""
    fabric, names = scenario.fabric, scenario.names
    low, high = (
        names.of_vertex(int(end)) for end in (fabric.cable_a[cable], fabric.cable_b[cable])
    )
    return names.thing(low if high == thing else high)


def _members(scenario: Scenario, frame: Frame, thing: Thing) -> Table:
    """What is in a group; rows are made when they are asked for, as there may be many."""
    members, names = inside(scenario, thing), scenario.names

    def key(row: int) -> str:
        return names.thing(members[row])

    def worst(row: int) -> float:
        return state_of(scenario, frame, members[row])[0]

    def down(row: int) -> int:
        return state_of(scenario, frame, members[row])[1]

    return Table(
        f"members of {names.thing(thing)}",
        (
            Column("member", "text", key),
            Column("has", "text", lambda row: detail_of(scenario.fabric, members[row])),
            Column("worst", "ratio", worst, "worst live link"),
            Column("dead cables", "int", down),
        ),
        rows=len(members),
        keys=key,
    )
