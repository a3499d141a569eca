"""Which jobs of a spec serve, and whether their services fit their GPUs."""

from __future__ import annotations

from clusterscope.errors import SpecError
from clusterscope.spec.cuts import check_domain, domain_kept
from clusterscope.spec.model import ClusterSpec, JobSpec
from clusterscope.spec.models import models, resolve_model
from clusterscope.spec.services import Service, model_of, ranks_of, resolve_service, services


def check_serving(spec: ClusterSpec, job: JobSpec, key: str) -> None:
    """What must hold of `model` and `serve` of one job.

    Args:
        spec: the cluster.
        job: one of its jobs, whose ranks fit.
        key: the job, in error messages.

    Raises:
        SpecError: the first thing that does not hold.
    """
    if job.serve is None:
        if job.collective == "serving":
            raise SpecError(
                f"{key}.serve",
                "is missing, and the job serves",
                f"give a table, or a service of the catalogue ({', '.join(services())})",
            )
        return
    if job.collective != "serving":
        raise SpecError(
            f"{key}.collective",
            f"{job.collective!r} does not go with serve",
            "leave it out, or leave serve out",
        )
    if job.plan is not None:
        raise SpecError(
            f"{key}.plan", "is for a job that trains, and this one serves", "leave it out"
        )
    service = service_of(job, key)
    _check_gpus(spec, job, service, key)
    domain, first = domain_kept(spec, job), job.first_gpu
    for own in (service.prefill, service.decode):
        if own is not None:
            check_domain(own, domain, first, f"{key}.serve.{own.kind}")
            first += own.ranks


def service_of(job: JobSpec, key: str) -> Service:
    """The service of a job that serves.

    Raises:
        SpecError: there is no model, or it does not fit.
    """
    assert job.serve is not None
    written = model_of(job.serve, job.model, f"{key}.serve")
    if written is None:
        raise SpecError(
            f"{key}.model",
            "is missing, and the job serves",
            f"give a table, or a catalogue model ({', '.join(models())})",
        )
    return resolve_service(job.serve, resolve_model(written, f"{key}.model"), f"{key}.serve")


def serving_ranks(job: JobSpec) -> int | None:
    """GPUs that a job takes: as written, those of its service, or None for all there are."""
    if job.serve is None:
        return job.ranks
    return ranks_of(job.serve, f"job {job.name!r}: serve")


def _check_gpus(spec: ClusterSpec, job: JobSpec, service: Service, key: str) -> None:
    """The instances fit into the cluster, and `ranks` says the same as they do."""
    ranks = service.ranks
    if job.ranks is not None and job.ranks != ranks:
        raise SpecError(
            f"{key}.ranks",
            f"{job.ranks} is not the {ranks} GPUs of the instances",
            "leave it out",
        )
    room = spec.gpus - (job.first_gpu if job.placement == "packed" else 0)
    if ranks > room:
        largest = max((i for i in (service.prefill, service.decode) if i), key=lambda i: i.ranks)
        raise SpecError(
            f"{key}.serve.{largest.kind}.instances",
            f"the instances take {ranks:,} GPUs, and there are {room:,}",
            "allowed are fewer or smaller instances",
        )
