"""Where the ranks of a job sit: rank r of a job runs on GPU place(...)[r].

Every placement walks whole nodes in some order and takes their GPUs in order, so the GPUs of a
node stay together and only the first and the last node of a job may be used in part.
"""

from __future__ import annotations

from math import gcd

import numpy as np

from clusterscope.columns import I32
from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import Fabric
from clusterscope.spec.model import JobSpec
from clusterscope.spec.serves import serving_ranks
from clusterscope.traffic.shuffle import Purpose, shuffled
from clusterscope.units import counted


def place(job: JobSpec, fabric: Fabric, seed: int) -> I32:
    """GPU of every rank, (R,) GPU index, no GPU twice.

    packed takes consecutive GPUs from `first_gpu`. strided starts at `first_gpu` and steps
    `stride` nodes at a time, around the cluster as often as needed. random shuffles all nodes by
    the seed alone and leaves out the first `first_gpu` GPUs of that order, so random jobs with
    different first GPUs can share a cluster.

    Raises:
        SpecError: the job does not fit.
    """
    ranks = _ranks(job, fabric.gpus)
    per_node = fabric.gpus_per_node
    match job.placement:
        case "packed":
            return np.arange(job.first_gpu, job.first_gpu + ranks, dtype=np.int32)
        case "strided":
            start_node, skipped = divmod(job.first_gpu, per_node)
            nodes = (start_node + _strided(fabric.nodes, job.stride)) % fabric.nodes
        case "random":
            nodes = shuffled(fabric.nodes, seed, Purpose.NODES)
            skipped = job.first_gpu
    gpus = nodes[:, None] * per_node + np.arange(per_node)
    return gpus.ravel()[skipped : skipped + ranks].astype(np.int32)


def _ranks(job: JobSpec, gpus: int) -> int:
    """Ranks of the job: as written, or all GPUs from `first_gpu` on."""
    if job.first_gpu >= gpus:
        raise SpecError(
            f"job {job.name!r}: first_gpu",
            f"{job.first_gpu} is not a GPU of this cluster",
            f"use 0 to {gpus - 1}",
        )
    free = gpus - job.first_gpu
    wanted = serving_ranks(job)
    ranks = free if wanted is None else wanted
    if ranks > free:
        raise SpecError(
            f"job {job.name!r}: ranks",
            f"{counted(ranks, 'rank')} from GPU {job.first_gpu:,} on "
            f"{'does' if ranks == 1 else 'do'} not fit into {counted(gpus, 'GPU')}",
            f"use at most {free}",
        )
    return ranks


def _strided(count: int, stride: int) -> I32:
    """Order of 0..count-1 in steps of `stride`; each time around starts one further, (count,)."""
    step = np.arange(count, dtype=np.int64)
    lap = step // (count // gcd(count, stride))
    return ((step * (stride % count) + lap) % count).astype(np.int32)
