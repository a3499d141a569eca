"""The heat map of one thing: a pod's leaves by spines, a switch's ports, a node's NICs and GPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from clusterscope.columns import I32
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import UnknownNameError
from clusterscope.fabric.arrays import SCALE_UP, SPINE_CORE
from clusterscope.fabric.things import Thing
from clusterscope.views.maps import cluster_map
from clusterscope.views.measure import Measure, extremes, larger, pick
from clusterscope.views.shapes import Grid
from clusterscope.views.tree import nodes_of_domain

Ends = tuple[I32, I32, I32, list[str], list[str]]


def place_map(scenario: Scenario, measure: Measure, place: Thing) -> Grid:
    """Heat map of a place that `views.zoom` knows; of the whole cluster for any other."""
    match place.kind:
        case "pod" | "spines":
            return _matrix(scenario, measure, *_pod(scenario, place.index))
        case "cores":
            return _matrix(scenario, measure, *_cores(scenario))
        case "switch":
            return _ports(scenario, measure, place.index)
        case "node":
            return _node(scenario, measure, place.index)
        case "domain":
            return _domain(scenario, measure, place.index)
        case _:
            return cluster_map(scenario, measure)


def _pod(scenario: Scenario, pod: int) -> tuple[str, Ends]:
    """Title, then cables, their rows and columns, and labels: leaves by spines of a pod."""
    fabric, names = scenario.fabric, scenario.names
    ends = []
    for tier in (1, 2):
        members = fabric.switches_of(tier)
        own = np.flatnonzero(fabric.switch_pod[members.start : members.stop] == pod)
        ends.append(own + members.start)
    leaves, spines = ends
    low, high = int(fabric.up_start[leaves[0]]), int(fabric.up_start[leaves[-1] + 1])
    cables = np.arange(low, high, dtype=np.int32)
    row = fabric.cable_a[low:high] - fabric.ports - int(leaves[0])
    column = fabric.cable_b[low:high] - fabric.ports - int(spines[0])
    labels = [[names.switch(s).rsplit("/", 1)[-1] for s in own.tolist()] for own in ends]
    where = f"{names.pod(pod)}: " if fabric.pods > 1 else ""
    return f"{where}leaves by spines", (cables, row, column, labels[0], labels[1])


def _cores(scenario: Scenario) -> tuple[str, Ends]:
    """The same for pods by cores."""
    fabric, names = scenario.fabric, scenario.names
    tier, cores = fabric.tier_cables(SPINE_CORE), fabric.switches_of(3)
    cables = np.arange(tier.start, tier.stop, dtype=np.int32)
    row = fabric.switch_pod[fabric.cable_a[cables] - fabric.ports]
    column = fabric.cable_b[cables] - fabric.ports - cores.start
    pods = [names.pod(p) for p in range(fabric.pods)]
    return "pods by cores", (cables, row, column, pods, [names.switch(s) for s in cores])


def _matrix(scenario: Scenario, measure: Measure, title: str, ends: Ends) -> Grid:
    """The cable that matters most between each pair of switches."""
    cables, row, column, rows, columns = ends
    shape, cell = (len(rows), len(columns)), row * len(columns) + column
    values = extremes(measure.cable[cables], cell, len(rows) * len(columns))
    down = np.zeros(len(values), dtype=np.bool_)
    down[cell[measure.dead[cables]]] = True

    def key(r: int, c: int) -> str:
        members = cables[cell == r * len(columns) + c]
        if not len(members):
            return ""
        return scenario.names.cable(int(members[pick(measure.cable[members])]))

    def where(name: str) -> tuple[int, int] | None:
        for place in _cables_at(scenario, name):
            hit = np.flatnonzero(cables == place)
            if len(hit):
                return int(row[hit[0]]), int(column[hit[0]])
        return None

    return Grid(
        title=title,
        values=values.reshape(shape),
        down=down.reshape(shape),
        row_labels=tuple(rows),
        column_labels=tuple(columns),
        keys=key,
        note=f"{measure.word} cable of each pair, both directions",
        signed=measure.signed,
        where=where,
    )


def _cables_at(scenario: Scenario, name: str) -> list[int]:
    """Cables of what is called so, those that lead up from a switch before others."""
    try:
        thing = scenario.names.find(name)
    except UnknownNameError:
        return []
    fabric, i = scenario.fabric, thing.index
    match thing.kind:
        case "link":
            return [i >> 1]
        case "cable" | "nic":
            return [i]
        case "gpu" if fabric.gpu_domain[i] >= 0:
            return [int(fabric.tier_start[SCALE_UP]) + i]
        case "node":
            per_node = fabric.ports // fabric.nodes
            return [*range(i * per_node, (i + 1) * per_node)] or _cables_of_gpus(scenario, i)
        case "switch":
            below, above = cables_of_switch(scenario, i)
            return [*above.tolist(), *below.tolist()]
        case _:
            return []


def _cables_of_gpus(scenario: Scenario, node: int) -> list[int]:
    """Scale-up cables of a node."""
    fabric = scenario.fabric
    low = int(fabric.tier_start[SCALE_UP]) + node * fabric.gpus_per_node
    return [*range(low, low + fabric.gpus_per_node)]


def cables_of_switch(scenario: Scenario, switch: int) -> tuple[I32, I32]:
    """Cables down and up from a switch, each in cable order."""
    fabric = scenario.fabric
    up = np.arange(fabric.up_start[switch], fabric.up_start[switch + 1], dtype=np.int32)
    tier = int(fabric.switch_tier[switch]) - 1
    cables = fabric.tier_cables(tier)
    below = np.flatnonzero(
        fabric.cable_b[cables.start : cables.stop] == fabric.ports + switch
    ).astype(np.int32)
    return below + cables.start, up


def _ports(scenario: Scenario, measure: Measure, switch: int) -> Grid:
    """Every port of a switch, in and out."""
    below, above = cables_of_switch(scenario, switch)
    rows = [("from below", 2 * below), ("to below", 2 * below + 1)]
    if len(above):
        rows += [("to above", 2 * above), ("from above", 2 * above + 1)]
    name = scenario.names.switch(switch)
    return _lines(scenario, measure, f"{name}: ports", rows, str)


def _node(scenario: Scenario, measure: Measure, node: int) -> Grid:
    """NIC ports and GPUs of a node, in and out."""
    fabric = scenario.fabric
    rows: list[tuple[str, I32]] = []
    per_node = fabric.ports // fabric.nodes
    if per_node:
        nic = np.arange(node * per_node, (node + 1) * per_node, dtype=np.int32)
        rows += [("NIC sends", 2 * nic), ("NIC receives", 2 * nic + 1)]
    if len(fabric.tier_cables(SCALE_UP)):
        low = int(fabric.tier_start[SCALE_UP]) + node * fabric.gpus_per_node
        gpu = np.arange(low, low + fabric.gpus_per_node, dtype=np.int32)
        rows += [("GPU sends", 2 * gpu), ("GPU receives", 2 * gpu + 1)]
    return _lines(scenario, measure, f"{scenario.names.node(node)}: NICs and GPUs", rows, str)


def _domain(scenario: Scenario, measure: Measure, domain: int) -> Grid:
    """GPUs of a scale-up domain: a row a node."""
    fabric = scenario.fabric
    start = int(fabric.tier_start[SCALE_UP])
    local = np.arange(fabric.gpus_per_node)
    rows = []
    for node in nodes_of_domain(fabric, domain):
        gpu = local + node * fabric.gpus_per_node
        own = fabric.gpu_domain[gpu] == domain
        rows.append((scenario.names.node(node), (2 * (start + gpu[own])).astype(np.int32)))
    title = f"{scenario.names.domain(domain)}: GPUs, worse direction"
    return _lines(scenario, measure, title, rows, lambda c: f"gpu{c}", both=True)


def _lines(
    scenario: Scenario,
    measure: Measure,
    title: str,
    rows: Sequence[tuple[str, I32]],
    label: Callable[[int], str],
    *,
    both: bool = False,
) -> Grid:
    """Rows of links side by side; `both` puts a link and its way back together."""
    width = max((len(links) for _, links in rows), default=0)
    values = np.full((len(rows), width), np.nan)
    down = np.zeros((len(rows), width), dtype=np.bool_)
    for row, (_, links) in enumerate(rows):
        one = measure.link[links]
        values[row, : len(links)] = larger(one, measure.link[links ^ 1]) if both else one
        down[row, : len(links)] = measure.dead[links >> 1]

    def key(row: int, column: int) -> str:
        links = rows[row][1]
        if column >= len(links):
            return ""
        link = int(links[column])
        return scenario.names.cable(link >> 1) if both else scenario.names.link(link)

    def where(name: str) -> tuple[int, int] | None:
        back = name.endswith("<")
        for cable in _cables_at(scenario, name):
            for link in (2 * cable + back, 2 * cable + 1 - back):
                for row, (_, links) in enumerate(rows):
                    hit = np.flatnonzero(links == link)
                    if len(hit):
                        return row, int(hit[0])
        return None

    return Grid(
        title=title,
        values=values,
        down=down,
        row_labels=tuple(name for name, _ in rows),
        column_labels=tuple(label(c) for c in range(width)),
        keys=key,
        signed=measure.signed,
        where=where,
    )
