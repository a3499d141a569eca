"""Which jobs of a spec train, and whether their models and plans fit their GPUs."""

from __future__ import annotations

from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.spec.cuts import check_domain, domain_kept
from clusterscope.spec.model import ClusterSpec, JobSpec
from clusterscope.spec.models import models, resolve_model
from clusterscope.spec.plans import resolve_plan
from clusterscope.spec.ready import ready_plan
from clusterscope.spec.training import PlanSpec
from clusterscope.units import counted

# Below this rate times leave what a float can hold.
_LEAST_GBPS = 1e-6


def check_training(spec: ClusterSpec, job: JobSpec, key: str) -> None:
    """What must hold of `model` and `plan` of one job.

    Args:
        spec: the cluster.
        job: one of its jobs, whose ranks fit.
        key: the job, in error messages.

    Raises:
        SpecError: the first thing that does not hold.
    """
    if job.serve is not None or job.collective == "serving":
        return
    _check_name(job, key)
    _check_extras(job, job.ranks or spec.gpus - job.first_gpu, key)
    if job.model is None:
        if job.collective == "training":
            raise SpecError(
                f"{key}.model",
                "is missing, and the job trains",
                f"give a table, or a catalogue model ({', '.join(models())})",
            )
        if job.plan is not None:
            raise SpecError(
                f"{key}.plan",
                f"is for a job that trains, and this one runs {job.collective}",
                "give the job a model, or leave the plan out",
            )
        return
    if job.collective != "training":
        raise SpecError(
            f"{key}.collective",
            f"{job.collective!r} does not go with a model",
            "leave it out, or leave the model out",
        )
    ranks = job.ranks or spec.gpus - job.first_gpu
    model = resolve_model(job.model, f"{key}.model")
    plan = resolve_plan(job.plan or PlanSpec(), model, ranks, f"{key}.plan")
    check_domain(plan, domain_kept(spec, job), job.first_gpu, f"{key}.plan")


def _check_extras(job: JobSpec, ranks: int, key: str) -> None:
    """What must hold of `stragglers` and `checkpoint`."""
    slow, saved = job.stragglers, job.checkpoint
    for name, table in (("stragglers", slow), ("checkpoint", saved)):
        if job.model is None and table is not None:
            raise SpecError(
                f"{key}.{name}",
                f"is for a job that trains, and this one runs {job.collective}",
                f"give the job a model, or leave {name} out",
            )
    if saved is not None and saved.copy_gbps < _LEAST_GBPS:
        raise SpecError(
            f"{key}.checkpoint.copy_gbps",
            f"{saved.copy_gbps:g} is next to nothing",
            f"allowed is at least {_LEAST_GBPS:g}",
        )
    if slow is not None and slow.count > ranks:
        raise SpecError(
            f"{key}.stragglers.count",
            f"{slow.count} is more than the {counted(ranks, 'rank')} of the job",
            f"allowed is 0 to {ranks}",
        )


def _check_name(job: JobSpec, key: str) -> None:
    """The ready plan that a job names is one."""
    if job.plan is None or job.plan.name is None:
        return
    try:
        ready_plan(job.plan.name)
    except UnknownNameError as error:
        problem, _, hint = str(error).partition("; ")
        raise SpecError(f"{key}.plan", problem, hint) from None
