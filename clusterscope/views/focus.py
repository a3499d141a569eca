"""The heat map of one thing: a pod's leaves by spines, a switch's ports, a node's NICs and GPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from clusterscope.columns import I32
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import UnknownNameError
from clusterscope.fabric.arrays import LEAF_SPINE, SCALE_UP, SPINE_CORE, Fabric
from clusterscope.fabric.scaleup import (
    direct_links,
    direct_ports,
    groups_of_domain,
    thing_cables,
)
from clusterscope.fabric.things import Thing
from clusterscope.metrics.memo import per_key
from clusterscope.spec.shape import Shape
from clusterscope.views.dragonfly import cables_of, far_ends, group_map
from clusterscope.views.maps import cluster_map
from clusterscope.views.measure import Measure, extremes, larger, pick
from clusterscope.views.shapes import Grid
from clusterscope.views.tree import nodes_of_domain

Ends = tuple[I32, I32, I32, list[str], list[str]]


def place_map(scenario: Scenario, measure: Measure, place: Thing) -> Grid:
    """Heat map of a place that `views.zoom` knows; of the whole cluster for any other."""
    match place.kind:
        case "pod" if scenario.fabric.dragonfly:
            return group_map(scenario, measure, place.index)
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
        case "subdomain":
            return _domain(scenario, measure, place.index // scenario.fabric.shape.groups)
        case _ if _alone(scenario.fabric):
            return _domain(scenario, measure, 0)
        case _:
            return cluster_map(scenario, measure)


def _alone(fabric: Fabric) -> bool:
    """True when the cluster is one mesh or torus: its map shows both ways of every cable."""
    return fabric.shape.direct and fabric.domains == 1 and not fabric.ports


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
    known = _labels(scenario)
    if pod not in known:
        short = [[names.switch(s).rsplit("/", 1)[-1] for s in own.tolist()] for own in ends]
        known[pod] = short[0], short[1]
    where = f"{names.pod(pod)}: " if fabric.pods > 1 else ""
    return f"{where}leaves by spines", (cables, row, column, *known[pod])


@per_key
def _labels(scenario: Scenario) -> dict[int, tuple[list[str], list[str]]]:  # noqa: ARG001 - the key
    """Names of the leaves and spines of the pods that were looked at."""
    return {}


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
        case "gpu" | "subdomain":
            return [int(c) for c in thing_cables(fabric, thing)]
        case "node":
            per_node = fabric.ports // fabric.nodes
            nics = [*range(i * per_node, (i + 1) * per_node)]
            return nics or [int(c) for c in thing_cables(fabric, thing)]
        case "switch":
            below, above = cables_of_switch(scenario, i)
            return [*above.tolist(), *below.tolist()]
        case _:
            return []


def cables_of_switch(scenario: Scenario, switch: int) -> tuple[I32, I32]:
    """Cables down and up from a switch, each in cable order.

    Of a dragonfly, those to NICs, and those to other switches.
    """
    fabric = scenario.fabric
    if fabric.dragonfly:
        return cables_of(fabric, switch)
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
    if scenario.fabric.dragonfly:
        rows = [("from NICs", 2 * below), ("to NICs", 2 * below + 1)]
        rows += _between(scenario.fabric, switch, above)
    elif len(above):
        rows += [("to above", 2 * above), ("from above", 2 * above + 1)]
    name = scenario.names.switch(switch)
    return _lines(scenario, measure, f"{name}: ports", rows, str)


def _between(fabric: Fabric, switch: int, cables: I32) -> list[tuple[str, I32]]:
    """Links between a switch of a dragonfly and others, local ones first."""
    leaving = 2 * cables + (far_ends(fabric, cables, switch) < fabric.ports + switch)
    rows = []
    for tier in (LEAF_SPINE, SPINE_CORE):
        own = leaving[fabric.cable_tier[cables] == tier].astype(np.int32)
        name = fabric.tier_names[tier]
        rows += [(f"{name} out", own), (f"{name} in", own ^ 1)] if len(own) else []
    return rows


def _node(scenario: Scenario, measure: Measure, node: int) -> Grid:
    """NIC ports and GPUs of a node, in and out."""
    fabric = scenario.fabric
    rows: list[tuple[str, I32]] = []
    label: Callable[[int], str] = str
    per_node = fabric.ports // fabric.nodes
    if per_node:
        nic = np.arange(node * per_node, (node + 1) * per_node, dtype=np.int32)
        rows += [("NIC sends", 2 * nic), ("NIC receives", 2 * nic + 1)]
    own = thing_cables(fabric, Thing("node", node))
    if fabric.shape.direct:
        gpus = range(node * fabric.gpus_per_node, (node + 1) * fabric.gpus_per_node)
        rows += [(f"gpu{g - gpus.start} sends", direct_links(fabric, g)) for g in gpus]
        if len(rows) == len(gpus):
            label = direct_ports(fabric.shape).__getitem__
    elif len(own):
        rows += [("GPU sends", 2 * own), ("GPU receives", 2 * own + 1)]
    return _lines(scenario, measure, f"{scenario.names.node(node)}: NICs and GPUs", rows, label)


def _domain(scenario: Scenario, measure: Measure, domain: int) -> Grid:
    """GPUs of a scale-up domain: a row a node, or a group, its uplink last; of a mesh, a GPU."""
    fabric, names = scenario.fabric, scenario.names
    shape, start = fabric.shape, int(fabric.tier_start[SCALE_UP])
    where = names.domain(domain)
    if shape.direct:
        gpus = range(domain * shape.size, (domain + 1) * shape.size)
        sends = [(names.gpu(gpu), direct_links(fabric, gpu)) for gpu in gpus]
        ports = direct_ports(shape)
        title = f"{where}: what a GPU (row) sends, by cable"
        return _lines(scenario, measure, title, sends, ports.__getitem__)
    if shape.kind == "two-level":
        groups = [Thing("subdomain", g) for g in groups_of_domain(fabric, domain)]
        rows = [(names.thing(g), 2 * thing_cables(fabric, g)) for g in groups]
        title = f"{where}: GPUs of each group and its uplink, worse direction"
        return _lines(scenario, measure, title, rows, lambda c: _place(shape, c), both=True)
    local = np.arange(fabric.gpus_per_node)
    rows = []
    for node in nodes_of_domain(fabric, domain):
        gpu = local + node * fabric.gpus_per_node
        own = fabric.gpu_domain[gpu] == domain
        rows.append((names.node(node), (2 * (start + gpu[own])).astype(np.int32)))
    title = f"{where}: GPUs, worse direction"
    return _lines(scenario, measure, title, rows, lambda c: f"gpu{c}", both=True)


def _place(shape: Shape, column: int) -> str:
    """Label of a column of a two-level domain."""
    return "uplink" if column == shape.group else str(column)


def leaving(fabric: Fabric, gpu: int) -> I32:
    """Links that lead away from a GPU inside its domain, in cable order."""
    cables = thing_cables(fabric, Thing("gpu", gpu))
    back = fabric.cable_a[cables] != fabric.gpu_vertex + gpu
    links: I32 = (2 * cables + back).astype(np.int32)
    return links


def _lines(
    scenario: Scenario,
    measure: Measure,
    title: str,
    rows: Sequence[tuple[str, I32]],
    label: Callable[[int], str],
    *,
    both: bool = False,
) -> Grid:
    """Rows of links side by side, -1 for none; `both` puts a link and its way back together."""
    width = max((len(links) for _, links in rows), default=0)
    values = np.full((len(rows), width), np.nan)
    down = np.zeros((len(rows), width), dtype=np.bool_)
    for row, (_, links) in enumerate(rows):
        one = measure.link[links]
        values[row, : len(links)] = larger(one, measure.link[links ^ 1]) if both else one
        down[row, : len(links)] = measure.dead[links >> 1]
        values[row, : len(links)][links < 0] = np.nan
        down[row, : len(links)][links < 0] = False

    def key(row: int, column: int) -> str:
        links = rows[row][1]
        if column >= len(links) or links[column] < 0:
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
