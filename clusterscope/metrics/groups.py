"""The parallel groups of a job, and where the fabric has them.

A group is a set of ranks that talk to each other: tensor, context, data, pipeline or expert
parallel; a bare collective has one group of all its ranks. What a group spans (scale-up domains,
leaves, pods) decides which cables its bytes take.
Axes: Q groups of a cut, R ranks of a job.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from clusterscope.columns import I32
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import Fabric
from clusterscope.traffic.flows import JobProgram
from clusterscope.traffic.groups import Rings, domain_of, flat_ring
from clusterscope.traffic.layout import layout_of

MOST_PLACES = 1000

Cut = Literal["tp", "cp", "dp", "pp", "ep", "all"]
WORDS: dict[Cut, str] = {
    "tp": "tensor parallel",
    "cp": "context parallel",
    "dp": "data parallel",
    "pp": "pipeline",
    "ep": "expert parallel",
    "all": "all ranks",
}


@dataclass(frozen=True)
class CutGroups:
    """The groups of one cut.

    Attributes:
        cut: which.
        size: ranks of a group.
        count: groups.
        domains: most scale-up domains that a group spans; a GPU without one is its own.
        in_domain: most ranks of a group in one domain.
        leaves: most leaf switches that the NICs of a group are on; 0 without NICs.
        pods: most pods that they are in; 0 without NICs.
    """

    cut: Cut
    size: int
    count: int
    domains: int
    in_domain: int
    leaves: int
    pods: int

    @property
    def inside(self) -> bool:
        """True when no group leaves its scale-up domain."""
        return self.domains == 1


@dataclass(frozen=True)
class Place:
    """Ranks of a group below one leaf of one node.

    Attributes:
        node: node that they are in.
        domain: scale-up domain, -1 when there is none.
        leaf: leaf of their NICs, -1 without NICs.
        pod: pod of it, -1 without NICs or pods.
        ranks: ranks, ascending.
        gpus: their GPUs.
    """

    node: int
    domain: int
    leaf: int
    pod: int
    ranks: tuple[int, ...]
    gpus: tuple[int, ...]


def groups(scenario: Scenario, job: int) -> tuple[CutGroups, ...]:
    """The groups of every cut of a job that has more than one rank."""
    program, fabric = scenario.program[job], scenario.fabric
    return tuple(_spread(fabric, program, cut, rings) for cut, rings in _rings(program))


def members(scenario: Scenario, job: int, cut: str, number: int) -> I32:
    """GPUs of one group of a job, in order of their ranks, (N,).

    Raises:
        SpecError: the job has no such group.
    """
    return scenario.program[job].gpus[_members(scenario.program[job], cut, number)]


def _members(program: JobProgram, cut: str, number: int) -> I32:
    """Ranks of one group, ascending."""
    found = next((rings for known, rings in _rings(program) if known == cut), None)
    if found is None:
        known = ", ".join(name for name, _ in _rings(program))
        raise SpecError(f"job {program.name!r}", f"has no groups {cut!r}", f"use {known}")
    if not 0 <= number < len(found.sizes):
        raise SpecError(
            f"group {number} of {cut}", "is not there", f"use 0 to {len(found.sizes) - 1}"
        )
    return np.sort(found.rank[found.start[number] : found.start[number + 1]])


def places(scenario: Scenario, job: int, cut: str, number: int) -> tuple[Place, ...]:
    """Where one group of a job is, node by node and leaf by leaf, in order of its ranks.

    Of a group in very many places the first `MOST_PLACES`.

    Raises:
        SpecError: the job has no such group.
    """
    program, fabric = scenario.program[job], scenario.fabric
    ranks = _members(program, cut, number)
    gpus = program.gpus[ranks]
    node, (leaf, pod) = gpus // fabric.gpus_per_node, _leaf_and_pod(fabric, gpus)
    key = node.astype(np.int64) * (fabric.switches + 1) + leaf
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    by_place = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which))
    out = []
    for place in np.argsort(first)[:MOST_PLACES]:
        mine = by_place[ends[place - 1] if place else 0 : ends[place]]
        one = int(mine[0])
        out.append(
            Place(
                node=int(node[one]),
                domain=int(fabric.gpu_domain[gpus[one]]),
                leaf=int(leaf[one]),
                pod=int(pod[one]),
                ranks=tuple(ranks[mine].tolist()),
                gpus=tuple(gpus[mine].tolist()),
            )
        )
    return tuple(out)


def _rings(program: JobProgram) -> Iterator[tuple[Cut, Rings]]:
    """Groups of every cut above 1."""
    if program.training is None:
        yield "all", flat_ring(len(program.gpus))
        return
    plan = program.training.plan
    grid = layout_of(plan)
    cuts: tuple[Literal["tp", "cp", "dp", "pp"], ...] = ("tp", "cp", "dp", "pp")
    for cut in cuts:
        if getattr(plan, cut) > 1:
            yield cut, grid.groups({cut})
    if plan.ep > 1:
        yield "ep", grid.expert_groups(plan.ep)


def _spread(fabric: Fabric, program: JobProgram, cut: Cut, rings: Rings) -> CutGroups:
    """What the groups of a cut span."""
    gpus, group = program.gpus[rings.rank], rings.ring_of_member
    domains, in_domain = _spanned(group, domain_of(fabric, gpus))
    leaf, pod = _leaf_and_pod(fabric, gpus)
    none = not len(gpus) or int(leaf.min()) < 0
    return CutGroups(
        cut=cut,
        size=int(rings.sizes[0]),
        count=len(rings.sizes),
        domains=domains,
        in_domain=in_domain,
        leaves=0 if none else _spanned(group, leaf)[0],
        pods=0 if none else _spanned(group, pod)[0],
    )


def _leaf_and_pod(fabric: Fabric, gpus: I32) -> tuple[I32, I32]:
    """Leaf and pod of the first NIC port of GPUs, (R,) each; -1 where there is none."""
    none = np.full(len(gpus), -1, dtype=np.int32)
    port = fabric.gpu_nic_port[gpus]
    if not fabric.switches or not len(gpus) or int(port.min()) < 0:
        return none, none
    leaf = fabric.port_leaf[port]
    return leaf, fabric.switch_pod[leaf]


def _spanned(group: I32, where: I32) -> tuple[int, int]:
    """Most places (R,) that a group (R,) has ranks in, and most ranks that it has in one."""
    key = group.astype(np.int64) * (int(where.max(initial=0)) + 1) + where
    pairs, count = np.unique(key, return_counts=True)
    spans = np.bincount(pairs // (int(where.max(initial=0)) + 1))
    return int(spans.max(initial=0)), int(count.max(initial=0))
