"""Where the load is: the heat map of the whole cluster.

    three tiers          a column a pod, a row a rail (or a leaf of the pod, when they are few)
    two tiers, some SUs  a column an SU, a row a rail or a leaf of the SU
    one SU               a column a leaf
    dragonfly            see `dragonfly`
    no scale-out fabric  a row a node, a column a GPU of the node; see `bands` for others

and below the rows of leaf-spine links one row each for spine-core, NIC-leaf and scale-up links of
the column. A cell shows the worst of its links in both directions, and its key names the leaf,
spine, NIC or GPU with that link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I32, Bool
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import UnknownNameError
from clusterscope.fabric.arrays import LEAF_SPINE, SCALE_UP, SPINE_CORE, Fabric
from clusterscope.fabric.scaleup import thing_cables
from clusterscope.fabric.things import Thing
from clusterscope.metrics.memo import per_key
from clusterscope.spec.derive import derive
from clusterscope.views.bands import Band, domain_bands, scale_up_band
from clusterscope.views.dragonfly import dragonfly_bands
from clusterscope.views.measure import Measure, extremes, pick
from clusterscope.views.shapes import Grid

# Rows of leaves that a map shows one by one; above it they are put together.
_MOST_ROWS = 16
_RAIL_ROWS = 16


@dataclass(frozen=True, eq=False)
class Layout:
    """Where everything is on the map: column of every leaf, and its row among the leaf rows."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    leaf_column: I32
    leaf_row: I32
    cell_leaves: int


def cluster_map(scenario: Scenario, measure: Measure) -> Grid:
    """Heat map of the whole cluster."""
    bands, columns, note = _bands(scenario)
    shapes = [(len(band.labels), len(columns)) for band in bands]
    values = [_values(band, measure, shape) for band, shape in zip(bands, shapes, strict=True)]
    down = [_marks(band, measure.dead, shape) for band, shape in zip(bands, shapes, strict=True)]

    def key(row: int, column: int) -> str:
        for band in bands:
            if row < len(band.labels):
                return _key(scenario, band, measure, row, column)
            row -= len(band.labels)
        return ""

    return Grid(
        title=measure.title,
        values=np.concatenate(values) if values else np.zeros((0, len(columns))),
        down=np.concatenate(down) if down else np.zeros((0, len(columns)), dtype=np.bool_),
        row_labels=tuple(label for band in bands for label in band.labels),
        column_labels=columns,
        keys=key,
        note=note.replace("worst", measure.word),
        signed=measure.signed,
        where=lambda name: _where(scenario, bands, name),
    )


def _where(scenario: Scenario, bands: Sequence[Band], name: str) -> tuple[int, int] | None:
    """Cell of a leaf, a spine, a NIC port, a node, a GPU or one of their cables."""
    try:
        thing = scenario.names.find(name)
    except UnknownNameError:
        return None
    cable = _first_cable(scenario.fabric, thing)
    link = thing.index if thing.kind == "link" else None
    top = 0
    for band in bands:
        place = None if cable is None else band.place(cable, link)
        if place is not None:
            return top + int(band.row[place]), int(band.column[place])
        top += len(band.labels)
    return None


def _first_cable(fabric: Fabric, thing: Thing) -> int | None:
    """A cable of a thing, that of a leaf or spine upwards; None when there is none on a map."""
    match thing.kind:
        case "link":
            return thing.index >> 1
        case "cable" | "nic":
            return thing.index
        case "node" if fabric.ports:
            return thing.index * (fabric.ports // fabric.nodes)
        case "node" | "gpu" | "subdomain":
            inside = thing_cables(fabric, thing)
            return int(inside[-1 if thing.kind == "subdomain" else 0]) if len(inside) else None
        case "switch" if fabric.up_start[thing.index] < fabric.up_start[thing.index + 1]:
            return int(fabric.up_start[thing.index])
        case "switch" if fabric.switch_tier[thing.index] == 1:
            own = np.flatnonzero(fabric.port_leaf == thing.index)
            return int(own[0]) if len(own) else None
        case _:
            return None


def _flat(band: Band, columns: int) -> I32:
    """Cell of every cable of a band."""
    return (band.row * columns + band.column).astype(np.int32)


def _values(band: Band, measure: Measure, shape: tuple[int, int]) -> F64:
    """What stands for the cables of every cell of a band."""
    return extremes(band.values(measure), _flat(band, shape[1]), shape[0] * shape[1]).reshape(shape)


def _marks(band: Band, dead: Bool, shape: tuple[int, int]) -> Bool:
    """Cells of a band with a dead cable."""
    hit = np.zeros(shape[0] * shape[1], dtype=np.bool_)
    hit[_flat(band, shape[1])[dead[band.cables]]] = True
    return hit.reshape(shape)


def _key(scenario: Scenario, band: Band, measure: Measure, row: int, column: int) -> str:
    """Name of the thing whose cable stands for a cell, a dead one before all others."""
    members = np.flatnonzero((band.row == row) & (band.column == column))
    if not len(members):
        return ""
    chosen = int(members[pick(band.values(measure)[members])])
    return scenario.names.thing(band.at(scenario, chosen))


@per_key
def _bands(scenario: Scenario) -> tuple[tuple[Band, ...], tuple[str, ...], str]:
    """Bands of the map, from top to bottom, its column labels, and its note."""
    fabric = scenario.fabric
    if not fabric.switches:
        return domain_bands(scenario)
    if fabric.dragonfly:
        return dragonfly_bands(scenario)
    layout = _layout(scenario)
    ports = fabric.ports
    bands = []
    if len(fabric.tier_cables(LEAF_SPINE)):
        span = _span(fabric, LEAF_SPINE)
        leaf = fabric.cable_a[span] - ports
        at = (layout.leaf_row[leaf], layout.leaf_column[leaf])
        bands.append(Band(layout.rows, span, *at, _lower))
    if len(fabric.tier_cables(SPINE_CORE)) and fabric.pods > 1:
        span = _span(fabric, SPINE_CORE)
        pod = fabric.switch_pod[fabric.cable_a[span] - ports]
        bands.append(Band(("spine-core",), span, pod * 0, pod, _lower))
    port_column = layout.leaf_column[fabric.port_leaf]
    span = slice(0, ports)
    bands.append(
        Band(("nic-leaf",), span, port_column * 0, port_column, lambda _, c: Thing("nic", c))
    )
    if len(fabric.tier_cables(SCALE_UP)):
        bands.append(scale_up_band(fabric, port_column))
    note = "worst link of a cell, both directions"
    if layout.cell_leaves > 1:
        note += f"; rows of leaves: max of {layout.cell_leaves} leaves a cell"
    return tuple(bands), layout.columns, note


def _span(fabric: Fabric, tier: int) -> slice:
    """Cables of a tier."""
    cables = fabric.tier_cables(tier)
    return slice(cables.start, cables.stop)


def _lower(scenario: Scenario, cable: int) -> Thing:
    """What a cable's lower end is."""
    return scenario.names.of_vertex(int(scenario.fabric.cable_a[cable]))


def _layout(scenario: Scenario) -> Layout:
    """Columns and rows of the leaves."""
    fabric, names = scenario.fabric, scenario.names
    leaves = np.arange(len(fabric.switches_of(1)), dtype=np.int32)
    pod, rail = fabric.switch_pod[: len(leaves)], fabric.switch_rail[: len(leaves)]
    if fabric.pods > 1:
        column, columns = pod, tuple(names.pod(p) for p in range(fabric.pods))
    else:
        column, columns = _su_columns(scenario, leaves)
    per_column = int(np.bincount(column).max(initial=1))
    if per_column == 1:
        return Layout(columns, ("leaf-spine",), column, leaves * 0, 1)
    if int(rail.min()) >= 0 and per_column > _RAIL_ROWS:
        rows = tuple(f"rail {r}" for r in range(int(rail.max()) + 1))
        return Layout(columns, rows, column, rail, -(-per_column // len(rows)))
    together = -(-per_column // _MOST_ROWS)
    row = _place_in(column) // together
    rows = tuple(_leaf_row(start, together, per_column) for start in range(0, per_column, together))
    return Layout(columns, rows, column, row.astype(np.int32), together)


def _leaf_row(start: int, together: int, count: int) -> str:
    """Label of a row of leaves."""
    last = min(start + together, count) - 1
    return f"leaf {start}" if last == start else f"leaf {start}-{last}"


def _su_columns(scenario: Scenario, leaves: I32) -> tuple[I32, tuple[str, ...]]:
    """One column an SU; one a leaf when there is but one SU."""
    plan = derive(scenario.spec)
    if plan is None or plan.sus == 1:
        return leaves, tuple(scenario.names.switch(s) for s in leaves.tolist())
    in_plane = leaves % (plan.sus * plan.leaves_per_su)
    su = (in_plane // plan.leaves_per_su).astype(np.int32)
    return su, tuple(f"su{s}" for s in range(plan.sus))


def _place_in(group: I32) -> I32:
    """How many earlier members each one's group has."""
    order = np.argsort(group, kind="stable")
    place = np.empty_like(group)
    first = np.searchsorted(group[order], group[order])
    place[order] = (np.arange(len(group)) - first).astype(group.dtype)
    return place
