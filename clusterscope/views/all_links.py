"""Every directed link as columns, and their order: no text is made of a row until it is asked for.

Axes: L links; n rows that a filter has left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I8, I32, Bool
from clusterscope.engine.frame import Frame
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.metrics.crossing import flows_per_link
from clusterscope.metrics.links import peak_utilization
from clusterscope.metrics.memo import per_key
from clusterscope.views.shapes import Column, Table

UP, SLOW, DOWN = range(3)
STATES = ("up", "slow", "down")
BY_NAME = "link"
SORTS = (BY_NAME, "util", "peak", "load", "capacity", "state", "flows")


@dataclass(frozen=True, eq=False, kw_only=True)
class LinkTable:
    """All links at one frame, each array (L,).

    Attributes:
        load: on the wire, mean over the step, Gb/s.
        capacity: what it carries now, Gb/s.
        util: load over capacity, nan where dead.
        peak: highest load over capacity in any phase, nan where dead.
        state: index into STATES.
        flows: flows of all phases with a route over it.
    """

    load: F64
    capacity: F64
    util: F64
    peak: F64
    state: I8
    flows: I32

    def column(self, name: str) -> np.ndarray | None:
        """Numbers of a column to sort by, (L,); None for the order of names, which is the index."""
        return None if name == BY_NAME else getattr(self, name)

    def ordered(self, keep: Bool | None, by: str, falling: bool) -> I32:
        """Links kept, in order of a column, ties by index, (n,); what is missing counts as least.

        Args:
            keep: links to list, (L,); None for all.
            by: one of SORTS.
            falling: largest first.
        """
        kept = np.arange(len(self.load)) if keep is None else np.flatnonzero(keep)
        values = self.column(by)
        if values is None:
            order = kept[::-1] if falling else kept
        else:
            value = values[kept].astype(np.float64, copy=True)
            value[np.isnan(value)] = -np.inf
            if falling:
                np.negative(value, out=value)
            order = kept[np.argsort(value, kind="stable")]
        return order.astype(np.int32)


def link_table(scenario: Scenario, frame: Frame) -> LinkTable:
    """All links at a frame; what only changes with the network is computed once for it."""
    del scenario  # every view takes one
    network = frame.network
    return LinkTable(
        load=frame.link_gbps,
        capacity=network.link_gbps,
        util=frame.utilization,
        peak=peak_utilization(network),
        state=_states(network),
        flows=flows_per_link(network),
    )


@per_key
def _states(network: Network) -> I8:
    """State of every link, (L,)."""
    now, rate = network.link_gbps, network.scenario.fabric.link_gbps
    return np.where(now <= 0, DOWN, np.where(now < rate, SLOW, UP)).astype(np.int8)


def as_table(scenario: Scenario, links: LinkTable) -> Table:
    """The links as a table by link index; names are made of the rows that are looked at."""
    fabric, names = scenario.fabric, scenario.names

    def end(row: int, which: int) -> str:
        cable, down = divmod(row, 2)
        ends = fabric.cable_b if down ^ which else fabric.cable_a
        return names.thing(names.of_vertex(int(ends[cable])))

    return Table(
        "links",
        (
            Column("link", "text", names.link, "> leads up, < leads down"),
            Column("from", "text", lambda row: end(row, 0)),
            Column("to", "text", lambda row: end(row, 1)),
            Column("util", "ratio", links.util, "load over capacity"),
            Column("peak", "ratio", links.peak, "in any phase"),
            Column("load", "gbps", links.load, "on the wire"),
            Column("capacity", "gbps", links.capacity, "what it carries now"),
            Column("state", "text", lambda row: STATES[links.state[row]]),
            Column("flows", "int", links.flows, "with a route over it, of all phases"),
            Column("tier", "text", lambda row: fabric.tier_names[fabric.cable_tier[row >> 1]]),
        ),
        rows=fabric.links,
        keys=names.link,
    )


def sample(scenario: Scenario, links: LinkTable) -> Sequence[int]:
    """Rows that stand for all when widths are chosen: both ends of each tier, and the extremes."""
    rows: set[int] = set()
    for tier in range(len(scenario.fabric.tier_names)):
        cables = scenario.fabric.tier_cables(tier)
        if len(cables):
            rows |= {2 * cables.start, 2 * cables.start + 1, 2 * cables.stop - 1}
    if len(links.load):
        rows |= {int(column.argmax()) for column in (links.load, links.capacity, links.flows)}
        rows.add(int(links.state.argmax()))
    return sorted(rows)
