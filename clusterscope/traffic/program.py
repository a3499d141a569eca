"""The jobs of a spec, compiled to programs; and the two bandwidths that nccl-tests prints."""

from __future__ import annotations

from clusterscope.columns import I32
from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import Fabric
from clusterscope.spec.model import ClusterSpec, JobSpec
from clusterscope.traffic.collectives import busbw_factor, phases_of
from clusterscope.traffic.flows import JobProgram, Phase
from clusterscope.traffic.phasing import sent_bytes
from clusterscope.traffic.placement import place
from clusterscope.traffic.reduction import check_trees, with_wire
from clusterscope.traffic.task import Training, training_of
from clusterscope.traffic.training import training_phases
from clusterscope.traffic.wires import Site
from clusterscope.units import GIGA


def build(spec: ClusterSpec, fabric: Fabric) -> tuple[JobProgram, ...]:
    """Program of every job, in the order of the spec; placed by `spec.sim.seed`.

    Raises:
        SpecError: a job does not fit, needs NICs that are not there, or moves nothing.
    """
    programs = tuple(_program(job, spec, fabric) for job in spec.jobs)
    check_trees(spec, fabric, programs)
    return programs


def algbw_GBps(size_bytes: float, seconds: float) -> float:  # noqa: N802 - the unit's own spelling
    """Algorithm bandwidth: message bytes over time, 10^9 B/s; 0 before anything has finished."""
    return size_bytes / seconds / GIGA if seconds > 0 else 0.0


def busbw_GBps(program: JobProgram, seconds: float) -> float:  # noqa: N802 - the unit's own spelling
    """Bus bandwidth of an iteration of `seconds`: what a link must carry, 10^9 B/s."""
    return algbw_GBps(program.message_bytes, seconds) * program.busbw_factor


def _program(job: JobSpec, spec: ClusterSpec, fabric: Fabric) -> JobProgram:
    """Place one job and compile its collective, or its training."""
    gpus = place(job, fabric, spec.sim.seed)
    gpus.setflags(write=False)
    training = training_of(job, spec, len(gpus))
    if training is not None:
        site = Site(job.name, fabric, gpus, job.hierarchical)
        return _trained(job, training, site, training_phases(training, site))
    phases = phases_of(job, fabric, gpus, spec.sim.seed) if len(gpus) > 1 else ()
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
        phases=with_wire(phases, spec, job),
        ring_phases=_by_rings(job, spec, fabric, gpus),
        busbw_factor=busbw_factor(job.collective, len(gpus)),
        overlapped=job.collective == "all-to-all",
    )


def _by_rings(job: JobSpec, spec: ClusterSpec, fabric: Fabric, gpus: I32) -> tuple[Phase, ...]:
    """What rings would move, for a job whose switches reduce; else nothing."""
    if job.algorithm in ("auto", "ring"):
        return ()
    return phases_of(job.model_copy(update={"algorithm": "ring"}), fabric, gpus, spec.sim.seed)


def _trained(job: JobSpec, training: Training, site: Site, phases: tuple[Phase, ...]) -> JobProgram:
    """A training job; its message is what a rank sends in an iteration, a mean over ranks."""
    return JobProgram(
        name=job.name,
        collective=job.collective,
        gpus=site.gpus,
        message_bytes=sent_bytes(phases) / len(site.gpus),
        phases=phases,
        busbw_factor=1.0,
        training=training,
    )
