"""All-reduce with switches that reduce on the way.

Between domains (SHARP): every host sends its S/g once up a tree of switches and receives the result
once, where a ring sends 2 (k-1)/k S/g. Each of g trees has one port in every domain. At its leaf
a port's stream turns around; one stream a leaf goes on up the tree, and one comes back. So one port
of each leaf stands for its leaf: its flow goes to that of the next leaf, which loads every link as
the tree does; the flows of the others go to themselves, over their leaf alone.

Inside a domain (NVLS, NVLink SHARP): a GPU reads its reduced shard from the switch while the switch
reads that of all others from it, and multicasts it back: (g+1)/g S in each direction, against
2 (g-1)/g S of a ring.

Model: reduce and broadcast of different chunks fill both directions at once. The switch answers at
`reduction_ratio` of the rate a ring reaches. Two passes of latency, up and down.

Sources: NVIDIA SHARP documentation (one streaming tree a port on Quantum-2, one a switch on
Quantum); cases COLL-12, COLL-13.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from clusterscope.columns import I32, I64
from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import LEAF_SPINE, Fabric
from clusterscope.spec import parts
from clusterscope.spec.model import ClusterSpec, JobSpec
from clusterscope.spec.reductions import tree_rule
from clusterscope.traffic.edges import first_ports
from clusterscope.traffic.flows import Flows, JobProgram, Phase
from clusterscope.traffic.groups import Rings

_PASSES = 2


def tree_phase(job_name: str, fabric: Fabric, gpus: I32, trees: Rings, sent_bytes: float) -> Phase:
    """Every rank (R,) sends `sent_bytes` up its tree and receives as much; a tree is in lock step.

    Raises:
        SpecError: a rank has no NIC.
    """
    planes = fabric.ports_per_nic
    first = first_ports(job_name, fabric, gpus[trees.rank])
    src = (first[:, None] + np.arange(planes, dtype=np.int32)).astype(np.int32)
    dst = np.stack([_onward(fabric, src[:, p], trees) for p in range(planes)], axis=1)
    flows = Flows(
        src=src.ravel(),
        dst=dst.astype(np.int32).ravel(),
        size_bytes=np.full(src.size, sent_bytes / planes),
        group=np.repeat(trees.ring_of_member, planes),
        channels=np.ones(src.size, dtype=np.int32),
    )
    return Phase("all-reduce in switches between domains", "scale-out", flows, _PASSES)


def _onward(fabric: Fabric, port: I32, trees: Rings) -> I32:
    """Where each member's stream (R,) goes: the next leaf's first member, or back to itself."""
    leaf, tree = fabric.port_leaf[port].astype(np.int64), trees.ring_of_member.astype(np.int64)
    code = tree * (int(leaf.max(initial=0)) + 1) + leaf
    chief = np.sort(np.unique(code, return_index=True)[1])
    following = np.roll(chief, -1)
    last = np.flatnonzero(np.diff(tree[chief], append=-1))
    following[last] = chief[np.concatenate([[0], last[:-1] + 1])]
    onward = port.copy()
    onward[chief] = port[following]
    return onward


def domain_bytes(size_bytes: float, gpus: int) -> float:
    """Bytes in each direction of a GPU's link for an all-reduce in the domain's switch."""
    return size_bytes * (gpus + 1) / gpus


def with_wire(phases: tuple[Phase, ...], spec: ClusterSpec, job: JobSpec) -> tuple[Phase, ...]:
    """Phases with what the domain's switches make of the rate when they reduce."""
    if (
        job.algorithm not in ("nvls", "nvls-tree")
        or spec.scale_up is None
        or spec.scale_up.switch is None
    ):
        return phases
    ratio = parts.switch(spec.scale_up.switch).reduction_ratio or 1.0
    return tuple(
        dataclasses.replace(phase, wire_ratio=1.0 / ratio) if phase.network == "scale-up" else phase
        for phase in phases
    )


def check_trees(spec: ClusterSpec, fabric: Fabric, programs: Sequence[JobProgram]) -> None:
    """No switch runs more streaming trees than it can.

    Raises:
        SpecError: trees of the jobs meet on a leaf.
    """
    trees = np.zeros(len(fabric.switch_tier), dtype=np.int64)
    for job, program in zip(spec.jobs, programs, strict=True):
        if job.algorithm != "sharp" or spec.scale_out is None:
            continue
        for phase in program.phases:
            if phase.network == "scale-out" and isinstance(phase.demand, Flows):
                trees += _trees_of_leaves(fabric, phase.demand)
        most = _trees_of_a_leaf(spec, fabric)
        leaf = int(trees.argmax())
        if trees[leaf] > most:
            raise SpecError(
                f"job {job.name!r}: algorithm",
                f"{trees[leaf]} reduction trees meet on a leaf, and a "
                f"{spec.scale_out.leaf_switch} runs {most}",
                "use ring, or switches that run one tree a port",
            )


def _trees_of_leaves(fabric: Fabric, flows: Flows) -> I64:
    """Trees that run through each leaf, (switches,); several ports of one tree count once."""
    count = int(flows.group.max(initial=0)) + 1
    plane = flows.src % fabric.ports_per_nic
    tree = flows.group.astype(np.int64) * fabric.ports_per_nic + plane
    code = np.unique(fabric.port_leaf[flows.src] * (count * fabric.ports_per_nic) + tree)
    leaf = code // (count * fabric.ports_per_nic)
    return np.bincount(leaf, minlength=len(fabric.switch_tier))


def _trees_of_a_leaf(spec: ClusterSpec, fabric: Fabric) -> int:
    """Trees that a leaf can run: one, or one for each of its uplinks."""
    if spec.scale_out is None or tree_rule(parts.switch(spec.scale_out.leaf_switch)) == "switch":
        return 1
    leaves = np.flatnonzero(fabric.switch_tier == 1)
    uplinks = fabric.tier_cables(LEAF_SPINE)
    return max(1, (uplinks.stop - uplinks.start) // max(1, len(leaves)))
