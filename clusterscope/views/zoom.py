"""Places of the heat map, from the whole cluster down to single links, and the way between them.

    cluster -> pod -> leaf or spine                   three tiers
    cluster -> leaves by spines -> leaf or spine      two tiers
    cluster -> group -> switch                        dragonfly
    cluster -> cores -> core
    cluster -> domain -> node                         scale-up

A map of a switch or node shows every link alone, by port; there is nothing further in.
"""

from __future__ import annotations

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import LEAF_SPINE, SCALE_UP
from clusterscope.fabric.things import Thing
from clusterscope.views.focus import place_map
from clusterscope.views.measure import load, peak
from clusterscope.views.shapes import Grid

CLUSTER = Thing("cluster")


def utilization(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Grid:
    """Heat map of a place, or of the whole cluster: mean over the step."""
    return place_map(scenario, load(scenario, frame), place_of(scenario, thing or CLUSTER))


def peaks(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Grid:
    """Heat map of a place, or of the whole cluster: the worst phase, for each link its own."""
    return place_map(scenario, peak(scenario, frame), place_of(scenario, thing or CLUSTER))


def focus(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Grid:
    """Heat map of where the selection is."""
    return utilization(scenario, frame, thing)


def place_of(scenario: Scenario, thing: Thing) -> Thing:
    """The innermost place that shows a thing."""
    fabric = scenario.fabric
    match thing.kind:
        case "link" | "cable":
            cable = thing.index >> 1 if thing.kind == "link" else thing.index
            return place_of(scenario, scenario.names.of_vertex(int(fabric.cable_a[cable])))
        case "nic":
            return Thing("switch", int(fabric.port_leaf[thing.index]))
        case "gpu":
            return Thing("node", thing.index // fabric.gpus_per_node)
        case "pod" | "spines":
            pod = Thing("pod" if _pods(scenario) else "spines", thing.index)
            return pod if len(fabric.tier_cables(LEAF_SPINE)) else CLUSTER
        case "subdomain":
            return Thing("domain", thing.index // fabric.shape.groups)
        case "switch" | "node" | "domain" | "cores":
            return thing
        case _:
            return CLUSTER


def outer(scenario: Scenario, place: Thing) -> Thing | None:
    """The place around a place; None for the cluster."""
    fabric = scenario.fabric
    match place.kind:
        case "cluster":
            return None
        case "switch" if fabric.switch_tier[place.index] == 3:
            return Thing("cores")
        case "switch" if fabric.switch_pod[place.index] >= 0:
            return place_of(scenario, Thing("pod", int(fabric.switch_pod[place.index])))
        case "node" if len(fabric.tier_cables(SCALE_UP)) and 0 < fabric.domains < fabric.nodes:
            return Thing("domain", int(fabric.gpu_domain[place.index * fabric.gpus_per_node]))
        case _:
            return CLUSTER


def way(scenario: Scenario, place: Thing) -> tuple[Thing, ...]:
    """Places from the cluster to a place, both included."""
    places = [place]
    while (around := outer(scenario, places[0])) is not None:
        places.insert(0, around)
    return tuple(places)


def inward(scenario: Scenario, place: Thing, thing: Thing) -> Thing | None:
    """The next place on the way in from a place to a thing; None when there is none."""
    places = way(scenario, place_of(scenario, thing))
    if place not in places:
        return places[1] if len(places) > 1 and place == CLUSTER else None
    following = places.index(place) + 1
    return places[following] if following < len(places) else None


def crumbs(scenario: Scenario, place: Thing) -> str:
    """Where a place is, in words: "▸ pod07 ▸ leaf12"; "" for the cluster."""
    names = [scenario.names.thing(step).rsplit("/", 1)[-1] for step in way(scenario, place)[1:]]
    return " ".join(f"▸ {name}" for name in names)


def _pods(scenario: Scenario) -> bool:
    return scenario.fabric.dragonfly or len(scenario.fabric.switches_of(3)) > 0
