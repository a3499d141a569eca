"""The jobs of a spec, compiled to programs; and the two bandwidths that nccl-tests prints."""

from __future__ import annotations

from dataclasses import replace

from clusterscope.errors import SpecError
from clusterscope.fabric.arrays import Fabric
from clusterscope.spec.model import ClusterSpec, JobSpec
from clusterscope.traffic.choice import selected
from clusterscope.traffic.collectives import busbw_factor, overlaps, phases_of
from clusterscope.traffic.flows import JobProgram, Phase
from clusterscope.traffic.phasing import sent_bytes
from clusterscope.traffic.placed import Placed, placed
from clusterscope.traffic.placement import place
from clusterscope.traffic.pricing import priced
from clusterscope.traffic.reduction import check_trees, with_wire
from clusterscope.traffic.serving import serving_phases
from clusterscope.traffic.serving_task import serving_of
from clusterscope.traffic.task import speeds_of, training_of
from clusterscope.traffic.training import training_phases
from clusterscope.traffic.wires import Site
from clusterscope.units import GIGA, counted


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
    site = Site(job.name, fabric, gpus, job.hierarchical)
    serving = serving_of(job, spec)
    if serving is not None:
        program = _working(job, site, serving_phases(serving, site))
        return replace(program, overlapped=True, serving=serving)
    training = training_of(job, spec, len(gpus))
    if training is not None:
        program = _working(job, site, training_phases(training, site))
        speed = speeds_of(job, len(gpus), spec.sim.seed)
        return replace(program, training=training, speed=speed)
    if len(gpus) < 2:
        raise _still(job, len(gpus))
    return _collective(placed(job, fabric, gpus), spec)


def _collective(job: Placed, spec: ClusterSpec) -> JobProgram:
    """A collective by the algorithm that its spec asks for, or a library would choose."""
    job, cost = selected(job, spec)
    phases = with_wire(phases_of(job, spec.sim.seed), spec, job.spec)
    if not phases:
        raise _still(job.spec, job.ranks)
    at_once = overlaps(job.spec.collective, job.spec.algorithm)
    return JobProgram(
        name=job.spec.name,
        collective=job.spec.collective,
        gpus=job.gpus,
        message_bytes=job.size_bytes,
        phases=phases if cost is None else priced(phases, cost, at_once=at_once),
        ring_phases=_by_rings(job, spec.sim.seed, at_once=at_once),
        busbw_factor=busbw_factor(job.spec.collective, job.ranks),
        overlapped=at_once,
        algorithm="" if cost is None else job.spec.algorithm,
        protocol="" if cost is None else cost.protocol,
    )


def _still(job: JobSpec, ranks: int) -> SpecError:
    return SpecError(
        f"job {job.name!r}: ranks",
        f"{counted(ranks, 'rank')} {'moves' if ranks == 1 else 'move'} nothing over any link",
        "use two or more ranks that do not all share one NIC",
    )


def _by_rings(job: Placed, seed: int, *, at_once: bool) -> tuple[Phase, ...]:
    """What rings would move, for a job whose switches reduce; else nothing."""
    if job.spec.algorithm not in ("sharp", "nvls", "nvls-tree"):
        return ()
    return phases_of(job.by("rail-ring" if at_once and not job.alone else "ring"), seed)


def _working(job: JobSpec, site: Site, phases: tuple[Phase, ...]) -> JobProgram:
    """A job that trains or serves; its message is what a rank sends in all, a mean over ranks."""
    return JobProgram(
        name=job.name,
        collective=job.collective,
        gpus=site.gpus,
        message_bytes=sent_bytes(phases) / len(site.gpus),
        phases=phases,
        busbw_factor=1.0,
    )
