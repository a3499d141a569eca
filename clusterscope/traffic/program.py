"""The jobs of a spec, compiled to programs; and the two bandwidths that nccl-tests prints."""

from __future__ import annotations

from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import Fabric
from clusterscope.spec.model import ClusterSpec, JobSpec
from clusterscope.traffic.collectives import busbw_factor, phases_of
from clusterscope.traffic.flows import JobProgram
from clusterscope.traffic.placement import place
from clusterscope.units import GIGA


def build(spec: ClusterSpec, fabric: Fabric) -> tuple[JobProgram, ...]:
    """Program of every job, in the order of the spec; placed by `spec.sim.seed`.

    Raises:
        SpecError: a job does not fit, needs NICs that are not there, or moves nothing.
    """
    return tuple(_program(job, fabric, spec.sim.seed) for job in spec.jobs)


def algbw_GBps(size_bytes: float, seconds: float) -> float:  # noqa: N802 - the unit's own spelling
    """Algorithm bandwidth: message bytes over time, 10^9 B/s; 0 before anything has finished."""
    return size_bytes / seconds / GIGA if seconds > 0 else 0.0


def busbw_GBps(program: JobProgram, seconds: float) -> float:  # noqa: N802 - the unit's own spelling
    """Bus bandwidth of an iteration of `seconds`: what a link must carry, 10^9 B/s."""
    return algbw_GBps(program.message_bytes, seconds) * program.busbw_factor


def _program(job: JobSpec, fabric: Fabric, seed: int) -> JobProgram:
    """Place one job and compile its collective."""
    gpus = place(job, fabric, seed)
    gpus.setflags(write=False)
    phases = phases_of(job, fabric, gpus, seed) if len(gpus) > 1 else ()
    if not phases:
        raise SpecError(
            f"job {job.name!r}: ranks",
            f"{len(gpus)} ranks move nothing over any link",
            "use two or more ranks that do not all share one NIC",
        )
    return JobProgram(
        name=job.name,
        collective=job.collective,
        gpus=gpus,
        message_bytes=float(job.message_bytes),
        phases=phases,
        busbw_factor=busbw_factor(job.collective, len(gpus)),
        overlapped=job.collective == "all-to-all",
    )
