"""What of a thing is dead: why, which jobs would use it, and whether there is another way."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from clusterscope.engine.network import Network
from clusterscope.engine.step import iteration_parts
from clusterscope.fabric.things import Thing
from clusterscope.metrics.tenants import job_load


@dataclass(frozen=True)
class Dead:
    """Why a link carries nothing, and what that does.

    Attributes:
        failed: what has failed: a device, or the cable itself.
        users: jobs that send over the link when the cluster is whole.
        waiting: those of them that stand still now.
        no_other_way: one of these stands still even when routes have changed.
    """

    failed: Thing
    users: tuple[int, ...]
    waiting: tuple[int, ...]
    no_other_way: bool


def dead(network: Network, link: int) -> Dead | None:
    """Why a link is dead and who waits for it; None when it carries something."""
    if network.link_gbps[link] > 0:
        return None
    users = users_when_whole(network, link)
    waiting = tuple(job for job in users if stands_still(network, job))
    stuck = any(stands_still(network.rerouted, job) for job in waiting)
    return Dead(_failed(network, link), users, waiting, stuck)


def users_when_whole(network: Network, link: int) -> tuple[int, ...]:
    """Jobs that send over a link when nothing has failed, those that load it most first."""
    scenario = network.scenario
    loads = [float(job_load(scenario.healthy, j)[link]) for j in range(len(scenario.program))]
    order = sorted(range(len(loads)), key=lambda job: -loads[job])
    return tuple(job for job in order if loads[job] > 0)


def stands_still(network: Network, job: int) -> bool:
    """Whether a job, alone, never ends an iteration: some of its ways are dead."""
    parts = iteration_parts(network.scenario, network, job)
    return any(math.isinf(seconds) for seconds, _ in parts)


def _failed(network: Network, link: int) -> Thing:
    """What has failed: a switch, NIC, GPU or node at an end of a link, else its cable."""
    fabric, names, health = network.scenario.fabric, network.scenario.names, network.actual
    cable = link >> 1
    for vertex in (int(fabric.cable_a[cable]), int(fabric.cable_b[cable])):
        thing = names.of_vertex(vertex)
        i = thing.index
        if thing.kind == "switch" and not health.switch_up[i]:
            return thing
        if thing.kind == "nic" and not health.nic_up[i]:
            return thing
        if thing.kind == "gpu" and not health.gpu_up[i]:
            return thing
        node = _node_of(network, thing)
        if node >= 0 and not health.node_up[node]:
            return Thing("node", node)
    return Thing("cable", cable)


def _node_of(network: Network, thing: Thing) -> int:
    """Node that a NIC port or GPU is in, -1 for anything else."""
    fabric = network.scenario.fabric
    if thing.kind == "nic":
        return thing.index // (fabric.ports // fabric.nodes)
    return thing.index // fabric.gpus_per_node if thing.kind == "gpu" else -1


def busiest(network: Network, links: np.ndarray) -> int:
    """Of links that are all dead, the one that jobs load most when nothing has failed."""
    healthy = network.scenario.healthy
    load = np.zeros(len(links))
    for job in range(len(network.scenario.program)):
        load += job_load(healthy, job)[links]
    return int(links[int(load.argmax())])
