"""A fabric as a networkx graph, for analysis, export and as an oracle in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterscope.fabric.arrays import Fabric
from clusterscope.fabric.names import Names

if TYPE_CHECKING:
    import networkx as nx


def graph(fabric: Fabric) -> nx.MultiGraph:
    """Undirected multigraph: vertices by number with `kind` and `name`, cables as keyed edges.

    An edge's key is its cable; it carries `tier` (a name) and `gbps` (one direction). Every vertex
    is there, cabled or not. Names are made for every vertex, so this is for fabrics that a graph
    library can bear.
    """
    import networkx as nx

    names = Names(fabric)
    made = nx.MultiGraph()
    for vertex in range(fabric.vertices):
        thing = names.of_vertex(vertex)
        made.add_node(vertex, kind=thing.kind, name=names.thing(thing))
    ends = zip(
        fabric.cable_a.tolist(),
        fabric.cable_b.tolist(),
        fabric.cable_tier.tolist(),
        fabric.cable_gbps.tolist(),
        strict=True,
    )
    for cable, (lower, upper, tier, gbps) in enumerate(ends):
        made.add_edge(lower, upper, key=cable, tier=fabric.tier_names[tier], gbps=gbps)
    return made
