"""Rows of the heat map for scale-up links, below a scale-out fabric or alone.

Alone, a map has

    switched    a row a node, a column a GPU of the node
    two-level   a row a group, a column a GPU of the group, and one for the group's uplink
    mesh        a row a GPU, a column the GPU at the other end: every pair once
    torus       a row a GPU, a column a dimension: the cable to the next GPU along it

and puts rows together when there are many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I32
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import SCALE_UP, Fabric
from clusterscope.fabric.geometry import AXES, geometry
from clusterscope.fabric.things import Thing
from clusterscope.views.measure import Measure

# Rows of a map of scale-up links alone that are shown one by one.
_MOST_ROWS = 32

Bands = tuple[tuple["Band", ...], tuple[str, ...], str]


@dataclass(frozen=True, eq=False)
class Band:
    """Some rows of the map: cables, the cell of each, and what a cable stands for in a key.

    Attributes:
        labels: rows.
        cables: cables, both directions taken together.
        row: row of each.
        column: column of each.
        thing: what a cable stands for.
        links: when each direction has a cell of its own, the link of each place.
    """

    labels: tuple[str, ...]
    cables: slice | I32
    row: I32
    column: I32
    thing: Callable[[Scenario, int], Thing]
    links: I32 | None = None

    def values(self, measure: Measure) -> F64:
        """What is measured at every place."""
        if self.links is not None:
            return measure.link[self.links]
        return measure.cable[self.cables]

    def at(self, scenario: Scenario, place: int) -> Thing:
        """What a place stands for."""
        if self.links is not None:
            return Thing("link", int(self.links[place]))
        if isinstance(self.cables, slice):
            return self.thing(scenario, int(self.cables.start) + place)
        return self.thing(scenario, int(self.cables[place]))

    def place(self, cable: int, link: int | None) -> int | None:
        """First place of a cable, of one of its links if that is given; None where it is not."""
        if isinstance(self.cables, slice):
            inside = self.cables.start <= cable < self.cables.stop
            return cable - int(self.cables.start) if inside else None
        here = self.cables == cable if link is None or self.links is None else self.links == link
        found = np.flatnonzero(here)
        return int(found[0]) if len(found) else None


def scale_up_band(fabric: Fabric, port_column: I32) -> Band:
    """Scale-up cables, each in the column of its lower GPU's NIC's leaf, or of its node's first.

    An uplink of a group is where the group's first GPU is.
    """
    start = int(fabric.tier_start[SCALE_UP])
    gpu = np.arange(fabric.gpus)
    first = gpu // fabric.gpus_per_node * (fabric.ports // fabric.nodes)
    port = np.where(fabric.gpu_nic_port >= 0, fabric.gpu_nic_port, first)
    lower = _lower_gpu(fabric)
    column = port_column[port][lower]
    span = slice(start, fabric.cables)
    if fabric.shape.kind == "switched":
        return Band(("scale-up",), span, column * 0, column, lambda _, c: Thing("gpu", c - start))
    return Band(("scale-up",), span, column * 0, column, _cable)


def _lower_gpu(fabric: Fabric) -> I32:
    """GPU at the lower end of every scale-up cable; the first of a group for its uplink."""
    lower = fabric.cable_a[int(fabric.tier_start[SCALE_UP]) :]
    group = (lower - fabric.group_vertex) * fabric.shape.group
    return np.where(lower >= fabric.group_vertex, group, lower - fabric.gpu_vertex).astype(np.int32)


def _cable(_: Scenario, cable: int) -> Thing:
    return Thing("cable", cable)


def domain_bands(scenario: Scenario) -> Bands:
    """Bands, columns and note of a map without a scale-out fabric."""
    fabric, names, shape = scenario.fabric, scenario.names, scenario.fabric.shape
    if not len(fabric.tier_cables(SCALE_UP)):
        return (), tuple(f"gpu{g}" for g in range(fabric.gpus_per_node)), "there are no links"
    lower = _lower_gpu(fabric)
    name: Callable[[int], str]
    match shape.kind:
        case "switched":
            row, column = np.divmod(lower, np.int32(fabric.gpus_per_node))
            columns = tuple(f"gpu{g}" for g in range(fabric.gpus_per_node))
            name, what, word = names.node, "each GPU's scale-up link", "nodes"
        case "two-level":
            row, column = np.divmod(lower, np.int32(shape.group))
            column[fabric.gpus :] = shape.group
            columns = (*(str(g) for g in range(shape.group)), "uplink")
            name, what, word = names.subdomain, "each link of a group", "groups"
        case "mesh" | "torus":
            one, row = geometry(shape), lower
            local = one.b if shape.kind == "mesh" else one.axis
            column = np.tile(local, fabric.domains)
            columns = tuple(f"{AXES[a]}+" for a in range(len(shape.dims)))
            if shape.kind == "mesh":
                columns = tuple(f"gpu{g}" for g in range(shape.size))
            name, what, word = names.gpu, "the cable between two GPUs", "GPUs"
    return _together(name, row, (column, columns), f"worst direction of {what}", word)


def _together(
    name: Callable[[int], str], row: I32, across: tuple[I32, tuple[str, ...]], note: str, word: str
) -> Bands:
    """One band of the cables of all rows, several rows in one when they are many."""
    column, columns = across
    count = int(row.max()) + 1
    each = -(-count // _MOST_ROWS)
    labels = tuple(name(start) for start in range(0, count, each))
    thing = _lower_thing if word == "nodes" else _cable
    band = Band(labels, slice(0, len(row)), row // each, column, thing)
    return (band,), columns, note + (f"; {each} {word} a row" if each > 1 else "")


def _lower_thing(scenario: Scenario, cable: int) -> Thing:
    return scenario.names.of_vertex(int(scenario.fabric.cable_a[cable]))
