"""The inside of a node: what patterns of traffic get there, and what they put on which link."""

from __future__ import annotations

import numpy as np

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import SpecError
from clusterscope.fabric.inside import Inside
from clusterscope.fabric.things import Thing
from clusterscope.metrics.inside import Node, nodes
from clusterscope.metrics.memo import per_key
from clusterscope.spec import buses
from clusterscope.units import BITS_PER_BYTE, counted
from clusterscope.views.shapes import Column, Table

_INSTEAD = {
    "switch": "by a switch",
    "point to point": "point to point",
    "PCIe": "PCIe 5 to the CPU",
    "C2C": "C2C to the CPU",
}


_KINDS = {"gpu": "GPU"}
_BUILT = {
    "as built": "as it is built",
    "switch": "if a switch joined the GPUs",
    "point to point": "if cables joined the GPUs in pairs",
    "PCIe": "if PCIe 5 joined GPUs and CPUs",
    "C2C": "if NVLink-C2C joined GPUs and CPUs",
}


def inside(scenario: Scenario, frame: Frame | None, thing: Thing | None = None) -> Table:  # noqa: ARG001 - a view
    """What each pattern of traffic inside a node gets, as built and built otherwise."""
    try:
        own, *others = kept(scenario)
    except SpecError as error:
        return Table("inside a node", (Column("pattern", "text", ()),), 0, note=str(error))
    rows = own.patterns
    columns = [
        Column("pattern", "text", [p.name for p in rows]),
        Column("a GPU gets", "GBps", [p.each_GBps for p in rows], "one direction, line rate"),
        Column("together", "GBps", [p.all_GBps for p in rows], "all senders, one direction"),
        Column("held back by", "text", [link_name(own.inside, p.bottleneck) for p in rows]),
    ]
    for other in others:
        gets = [p.each_GBps for p in other.patterns]
        doc = "what a GPU would get if the node were built so"
        columns.append(Column(_INSTEAD[other.variant], "GBps", gets, doc))
    return Table("inside a node", tuple(columns), len(rows), note=_note(scenario, own))


def links_inside(scenario: Scenario, pattern: int, build: int = 0) -> Table:
    """Links of a node in one of its builds, with what one of the patterns puts on them."""
    own = kept(scenario)[build]
    inner, load = own.inside, own.patterns[pattern].link_gbps / BITS_PER_BYTE
    rates = inner.gbps / BITS_PER_BYTE
    paced = own.patterns[pattern].bottleneck >> 1
    loaded = np.maximum(load[0::2], load[1::2]) > 0
    order = np.argsort(~loaded, kind="stable")  # what is used first
    return Table(
        f"links in a node · {_BUILT[own.variant]} · {own.patterns[pattern].name}",
        (
            Column("from", "text", [inner.names[v] for v in inner.a[order].tolist()]),
            Column("to", "text", [inner.names[v] for v in inner.b[order].tolist()]),
            Column("rate", "GBps", rates[order], "one direction"),
            Column("there", "ratio", (load[0::2] / rates)[order], "load over rate"),
            Column("back", "ratio", (load[1::2] / rates)[order], "load over rate"),
            Column("what", "text", [inner.what[c] for c in order.tolist()]),
            Column("load there", "GBps", load[0::2][order]),
            Column("load back", "GBps", load[1::2][order]),
            Column("mark", "text", ["holds back" if c == paced else "" for c in order.tolist()]),
        ),
        rows=len(rates),
    )


@per_key
def kept(scenario: Scenario) -> tuple[Node, ...]:
    """The inside of a node, as built first.

    Raises:
        SpecError: a node has more GPUs than can be shown.
    """
    return nodes(scenario.spec)


def link_name(inner: Inside, link: int) -> str:
    """Ends of a link and what it is; "no way" for -1."""
    if link < 0:
        return "no way"
    a, b = inner.names[int(inner.a[link >> 1])], inner.names[int(inner.b[link >> 1])]
    return f"{a} to {b}" if not link & 1 else f"{b} to {a}"


def _note(scenario: Scenario, own: Node) -> str:
    """What is in a node, and what is not shown."""
    inner = own.inside
    kinds = [kind for kind in dict.fromkeys(inner.kinds) if kind != "network"]
    counts = ", ".join(f"{inner.kinds.count(kind)} × {_KINDS.get(kind, kind)}" for kind in kinds)
    left = (
        f"; {counted(inner.left_out, 'cable')} to GPUs of other nodes left out"
        if inner.left_out
        else ""
    )
    return f"{buses.host_of(scenario.spec.node.gpu).title}: {counts}{left}"
