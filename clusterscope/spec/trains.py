"""Which jobs of a spec train, and whether their models and plans fit their GPUs."""

from __future__ import annotations

from clusterscope.errors import SpecError
from clusterscope.spec.model import ClusterSpec, JobSpec
from clusterscope.spec.models import models, resolve_model
from clusterscope.spec.plans import check_domain, resolve_plan
from clusterscope.spec.training import PlanSpec


def check_training(spec: ClusterSpec, job: JobSpec, key: str) -> None:
    """What must hold of `model` and `plan` of one job.

    Args:
        spec: the cluster.
        job: one of its jobs, whose ranks fit.
        key: the job, in error messages.

    Raises:
        SpecError: the first thing that does not hold.
    """
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
    domain = spec.scale_up.domain_gpus if spec.scale_up else 1
    if job.placement != "packed":  # which keeps the GPUs of a node together, not those of a domain
        domain = min(domain, spec.node.gpus)
    check_domain(plan, domain, job.first_gpu, f"{key}.plan")
