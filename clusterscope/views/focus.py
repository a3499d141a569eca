"""The heat map of one thing: a pod's leaves by spines, a switch's ports, a node's NICs and GPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from clusterscope.columns import F64, I32
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import LEAF_SPINE, SCALE_UP, SPINE_CORE
from clusterscope.fabric.things import Thing
from clusterscope.metrics.links import worst
from clusterscope.views.maps import utilization
from clusterscope.views.shapes import Grid
from clusterscope.views.tree import nodes_of_domain, parent


def focus(scenario: Scenario, frame: Frame, thing: Thing | None) -> Grid:
    """Heat map of the selection; of the whole cluster when nothing is selected."""
    if thing is None:
        return utilization(scenario, frame)
    match thing.kind:
        case "pod" | "spines" if len(scenario.fabric.tier_cables(LEAF_SPINE)):
            return _matrix(scenario, frame, *_pod(scenario, thing.index))
        case "cores":
            return _matrix(scenario, frame, *_cores(scenario))
        case "switch":
            return _ports(scenario, frame, thing.index)
        case "node":
            return _node(scenario, frame, thing.index)
        case "domain":
            return _domain(scenario, frame, thing.index)
        case "gpu" | "nic" | "cable" | "link":
            return focus(scenario, frame, parent(scenario, thing))
        case _:
            return utilization(scenario, frame)


def _pod(scenario: Scenario, pod: int) -> tuple[str, I32, I32, I32, list[str], list[str]]:
    """Title, cables, their rows and columns, and labels: leaves by spines of a pod."""
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
    return f"{where}leaves by spines", cables, row, column, labels[0], labels[1]


def _cores(scenario: Scenario) -> tuple[str, I32, I32, I32, list[str], list[str]]:
    """The same for pods by cores."""
    fabric, names = scenario.fabric, scenario.names
    tier, cores = fabric.tier_cables(SPINE_CORE), fabric.switches_of(3)
    cables = np.arange(tier.start, tier.stop, dtype=np.int32)
    row = fabric.switch_pod[fabric.cable_a[cables] - fabric.ports]
    column = fabric.cable_b[cables] - fabric.ports - cores.start
    pods = [names.pod(p) for p in range(fabric.pods)]
    return "pods by cores", cables, row, column, pods, [names.switch(s) for s in cores]


def _matrix(
    scenario: Scenario,
    frame: Frame,
    title: str,
    cables: I32,
    row: I32,
    column: I32,
    rows: list[str],
    columns: list[str],
) -> Grid:
    """Worst cable between each pair of switches."""
    state, shape = worst(scenario, frame), (len(rows), len(columns))
    cell = row * len(columns) + column
    values = np.full(len(rows) * len(columns), np.nan)
    np.fmax.at(values, cell, state.cable[cables])
    down = np.zeros(len(values), dtype=np.bool_)
    down[cell[state.cable_dead[cables]]] = True

    def key(r: int, c: int) -> str:
        members = cables[cell == r * len(columns) + c]
        if not len(members):
            return ""
        level = state.cable[members]
        pick = int(np.where(np.isnan(level), np.inf, level).argmax())
        return scenario.names.cable(int(members[pick]))

    return Grid(
        title=title,
        values=values.reshape(shape),
        down=down.reshape(shape),
        row_labels=tuple(rows),
        column_labels=tuple(columns),
        keys=key,
        note="worst cable of each pair, both directions",
    )


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


def _ports(scenario: Scenario, frame: Frame, switch: int) -> Grid:
    """Every port of a switch, in and out."""
    below, above = cables_of_switch(scenario, switch)
    rows = [("from below", 2 * below), ("to below", 2 * below + 1)]
    if len(above):
        rows += [("to above", 2 * above), ("from above", 2 * above + 1)]
    name = scenario.names.switch(switch)
    return _lines(scenario, frame, f"{name}: ports", rows, str)


def _node(scenario: Scenario, frame: Frame, node: int) -> Grid:
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
    return _lines(scenario, frame, f"{scenario.names.node(node)}: NICs and GPUs", rows, str)


def _domain(scenario: Scenario, frame: Frame, domain: int) -> Grid:
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
    return _lines(scenario, frame, title, rows, lambda c: f"gpu{c}", both=True)


def _lines(
    scenario: Scenario,
    frame: Frame,
    title: str,
    rows: Sequence[tuple[str, I32]],
    label: Callable[[int], str],
    *,
    both: bool = False,
) -> Grid:
    """Rows of links side by side; `both` takes the worse of a link and its way back."""
    width = max((len(links) for _, links in rows), default=0)
    values = np.full((len(rows), width), np.nan)
    down = np.zeros((len(rows), width), dtype=np.bool_)
    for row, (_, links) in enumerate(rows):
        level: F64 = frame.utilization[links]
        values[row, : len(links)] = np.fmax(level, frame.utilization[links ^ 1]) if both else level
        down[row, : len(links)] = np.isnan(level)

    def key(row: int, column: int) -> str:
        links = rows[row][1]
        return scenario.names.cable(int(links[column]) >> 1) if column < len(links) else ""

    return Grid(
        title=title,
        values=values,
        down=down,
        row_labels=tuple(name for name, _ in rows),
        column_labels=tuple(label(c) for c in range(width)),
        keys=key,
    )
