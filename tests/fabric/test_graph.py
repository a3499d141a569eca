from __future__ import annotations

import subprocess
import sys

import networkx as nx

from clusterscope.fabric.build import build
from clusterscope.fabric.graph import graph
from tests.fabric.fabric_specs import cluster, nvlink


def test_vertices_and_cables_carry_what_they_are() -> None:
    out = {"tiers": 2, "su_nodes": 2, "leaf_down": 2, "leaf_up": 4, "spines": 2}
    fabric = build(cluster(4, out, node={"gpus": 2, "nics": 2}, scale_up=nvlink(4)))
    made = graph(fabric)
    kinds = nx.get_node_attributes(made, "kind")
    assert [list(kinds.values()).count(kind) for kind in ("nic", "switch", "gpu", "domain")] == [
        *(8, 6, 8, 2)
    ]
    assert made.nodes[8] == {"kind": "switch", "name": "leaf0"}
    # two parallel cables from a leaf to a spine
    trunk = made[8][12]
    assert [data["tier"] for data in trunk.values()] == ["leaf-spine", "leaf-spine"]
    assert sorted(trunk) == [8, 10]
    assert sum(data["gbps"] for data in trunk.values()) == 800
    assert nx.shortest_path_length(made, 0, 7) == 4


def test_networkx_stays_out_until_a_graph_is_made() -> None:
    code = (
        "import sys, clusterscope.fabric.build, clusterscope.fabric.graph\n"
        "assert 'networkx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
