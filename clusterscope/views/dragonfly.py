"""A dragonfly in views: its heat maps, and what a switch of it is cabled to.

    cluster   a column a group; rows for the global cables to every group (several together when
              they are many), then one for local, NIC and scale-up links
    group     switches by switches for local cables, and a last column for the global ones

A cell shows the worst of its links: those that lead from the column's group to the row's, or from
the row's switch to the column's; in rows for all of a group, both directions.
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import I32
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import UnknownNameError
from clusterscope.fabric.arrays import LEAF_SPINE, SCALE_UP, SPINE_CORE, Fabric
from clusterscope.fabric.dragonfly import global_groups
from clusterscope.fabric.things import Thing
from clusterscope.views.bands import Band, Bands, scale_up_band
from clusterscope.views.measure import Measure, extremes, pick
from clusterscope.views.shapes import Grid

_MOST_ROWS = 16


def dragonfly_bands(scenario: Scenario) -> Bands:
    """Bands, columns and note of the map of the whole cluster."""
    fabric, names = scenario.fabric, scenario.names
    columns = tuple(names.pod(group) for group in range(fabric.pods))
    bands, together = [], -(-fabric.pods // _MOST_ROWS)
    across = _cables(fabric, SPINE_CORE)
    if len(across):
        low, high = global_groups(fabric)
        links = np.concatenate([2 * across, 2 * across + 1])
        row = np.concatenate([high, low]) // np.int32(together)
        labels = tuple(
            _row(first, together, fabric.pods) for first in range(0, fabric.pods, together)
        )
        ends = np.concatenate([low, high])
        bands.append(Band(labels, links >> 1, row, ends, _itself, links))
    local = _cables(fabric, LEAF_SPINE)
    if len(local):
        group = fabric.switch_pod[fabric.cable_a[local] - fabric.ports]
        bands.append(Band(("local",), local, group * 0, group, _itself))
    group = fabric.switch_pod[fabric.port_leaf]
    ports = np.arange(fabric.ports, dtype=np.int32)
    bands.append(Band(("nic-leaf",), ports, group * 0, group, lambda _, c: Thing("nic", c)))
    if len(fabric.tier_cables(SCALE_UP)):
        bands.append(scale_up_band(fabric, group))
    note = "worst link of a cell"
    if len(across):
        each = f"{together} groups" if together > 1 else "a group"
        note += f"; first rows: global links from a group to {each}"
    return tuple(bands), columns, note


def _row(first: int, together: int, groups: int) -> str:
    """Label of a row of global cables."""
    last = min(first + together, groups) - 1
    return f"to {first}" if last == first else f"to {first}-{last}"


def _itself(_: Scenario, cable: int) -> Thing:
    return Thing("cable", cable)


def _cables(fabric: Fabric, tier: int) -> I32:
    """Cables of a tier, in order."""
    span = fabric.tier_cables(tier)
    return np.arange(span.start, span.stop, dtype=np.int32)


def group_map(scenario: Scenario, measure: Measure, group: int) -> Grid:
    """Heat map of a group: what every switch sends to every other, and to other groups."""
    fabric, names = scenario.fabric, scenario.names
    size = fabric.switches // fabric.pods
    first = group * size
    links, row, column = _leaving(fabric, first, size)
    labels = tuple(names.switch(first + s).rsplit("/", 1)[-1] for s in range(size))
    columns = (*labels, "global") if len(_cables(fabric, SPINE_CORE)) else labels
    cell = row * np.int32(len(columns)) + column
    shape = (size, len(columns))
    down = np.zeros(shape, dtype=np.bool_)
    down[row[measure.dead[links >> 1]], column[measure.dead[links >> 1]]] = True

    def key(r: int, c: int) -> str:
        members = links[cell == r * len(columns) + c]
        return names.link(int(members[pick(measure.link[members])])) if len(members) else ""

    return Grid(
        title=f"{names.pod(group)}: switches to switches, and to other groups",
        values=extremes(measure.link[links], cell, size * len(columns)).reshape(shape),
        down=down,
        row_labels=labels,
        column_labels=columns,
        keys=key,
        note=f"{measure.word} link from the row's switch to the column's",
        signed=measure.signed,
        where=lambda name: _place(scenario, name, links, (row, column), first),
    )


def _place(
    scenario: Scenario, name: str, links: I32, cells: tuple[I32, I32], first: int
) -> tuple[int, int] | None:
    """Cell of a link, of the first of a cable's or of a switch's; None where there is none."""
    try:
        thing = scenario.names.find(name)
    except UnknownNameError:
        return None
    row, column = cells
    hits = {
        "link": links == thing.index,
        "cable": links >> 1 == thing.index,
        "switch": row == thing.index - first,
    }
    found = np.flatnonzero(hits.get(thing.kind, False))
    return (int(row[found[0]]), int(column[found[0]])) if len(found) else None


def _leaving(fabric: Fabric, first: int, size: int) -> tuple[I32, I32, I32]:
    """Links from the switches of a group to switches, their rows and columns."""
    links, rows, columns = [], [], []
    for tier in (LEAF_SPINE, SPINE_CORE):
        span = _cables(fabric, tier)
        ends = [
            end[span] - np.int32(fabric.ports + first) for end in (fabric.cable_a, fabric.cable_b)
        ]
        for way, (own, far) in enumerate((ends, ends[::-1])):
            inside = np.flatnonzero((own >= 0) & (own < size))
            links.append(2 * span[inside] + np.int32(way))
            rows.append(own[inside])
            columns.append(far[inside] if tier == LEAF_SPINE else np.full(len(inside), size))
    flat = [np.concatenate(part).astype(np.int32) for part in (links, rows, columns)]
    return flat[0], flat[1], flat[2]


def cables_of(fabric: Fabric, switch: int) -> tuple[I32, I32]:
    """NIC cables of a switch, and its local and global ones, each in cable order."""
    vertex = np.int32(fabric.ports + switch)
    nic = np.flatnonzero(fabric.port_leaf == switch).astype(np.int32)
    low, high = int(fabric.tier_start[LEAF_SPINE]), int(fabric.tier_start[SCALE_UP])
    own = (fabric.cable_a[low:high] == vertex) | (fabric.cable_b[low:high] == vertex)
    return nic, np.flatnonzero(own).astype(np.int32) + np.int32(low)


def far_ends(fabric: Fabric, cables: I32, switch: int) -> I32:
    """Vertex at the other end of cables of a switch."""
    vertex = fabric.ports + switch
    ends: I32 = np.where(
        fabric.cable_a[cables] == vertex, fabric.cable_b[cables], fabric.cable_a[cables]
    )
    return ends
