"""One parallel group on the map of the cluster: the cables that its ranks are on."""

from __future__ import annotations

import numpy as np

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import SCALE_UP
from clusterscope.metrics.groups import members
from clusterscope.views.maps import cluster_map
from clusterscope.views.measure import Measure
from clusterscope.views.shapes import Grid


def group_map(scenario: Scenario, frame: Frame, job: int, cut: str, number: int) -> Grid:
    """Heat map of the cluster with one group of a job: the fuller, the more of its ranks.

    NICs and scale-up cables of its GPUs are full; those of a leaf as full as its share of the ranks
    of the busiest leaf.
    """
    fabric, gpus = scenario.fabric, members(scenario, job, cut, number)
    share = np.zeros(fabric.cables)
    ports = fabric.gpu_nic_port[gpus]
    ports = ports[ports >= 0]
    if len(ports):
        planes = np.arange(fabric.ports_per_nic)
        nics = (ports[:, None] + planes).ravel()
        share[nics] = 1.0
        count = np.bincount(fabric.port_leaf[nics], minlength=fabric.switches)
        ups = np.diff(fabric.up_start)
        lower = np.repeat(np.arange(fabric.switches), ups)
        first = int(fabric.up_start[0])
        share[first : first + len(lower)] = count[lower] / count.max()
    low = int(fabric.tier_start[SCALE_UP])
    mine = np.zeros(fabric.vertices, dtype=np.bool_)
    mine[fabric.gpu_vertex + gpus] = True
    share[low:][mine[fabric.cable_a[low:]] | mine[fabric.cable_b[low:]]] = 1.0
    name = f"{cut} group {number:,}: where its ranks are"
    dead = frame.network.cable_gbps <= 0
    return cluster_map(scenario, Measure(name, np.repeat(share, 2), share, dead))
