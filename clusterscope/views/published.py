"""What a paper measured beside what comes out here, for a job that runs its plan unchanged."""

from __future__ import annotations

import tomllib
from functools import cache

from clusterscope.metrics.planned import JobFacts
from clusterscope.spec import presets
from clusterscope.spec.model import JobSpec
from clusterscope.spec.ready import Published, ReadyPlan, ready_plans
from clusterscope.spec.training import ModelSpec, PlanSpec
from clusterscope.views.shapes import Fact
from clusterscope.views.text import change, fmt, percent


def published_words(own: Published | None) -> str:
    """What was measured, in words; "" when nothing was."""
    return "" if own is None else _words(own, own.value)


def published_fact(facts: JobFacts) -> Fact | None:
    """What was measured of the plan of a job, and how far off it comes out here.

    None when the job runs no ready plan, runs it changed, or on other GPUs, and when nothing was
    measured of the plan.
    """
    ready, train = ready_of(facts.spec.jobs[facts.job], facts.spec.node.gpu), facts.metrics.training
    if ready is None or ready.published is None or train is None:
        return None
    own = ready.published
    got = {
        "mfu": train.mfu,
        "tflops": train.tflops_per_gpu,
        "step_s": facts.metrics.iteration_s,
    }[own.measure]
    off = change(got / own.value - 1)
    return Fact("published", f"{_words(own, own.value)}; here {_words(own, got)}, {off}")


def ready_of(job: JobSpec, gpu: str) -> ReadyPlan | None:
    """The ready plan that a job runs as it stands; None when it runs none, or a changed one."""
    if job.plan is None or job.plan.name is None:
        return None
    ready = ready_plans().get(job.plan.name)
    if ready is None or job.ranks != ready.gpus or gpu != _gpu_of(ready.cluster):
        return None
    same = job.model == ModelSpec(**ready.model) and job.plan == PlanSpec(
        **ready.cut, name=ready.name
    )
    return ready if same else None


def _words(own: Published, value: float) -> str:
    match own.measure:
        case "mfu":
            return f"MFU {percent(value)}"
        case "tflops":
            return f"{value:.4g} TFLOPS a GPU"
        case "step_s":
            return f"{fmt(value, 'seconds')} an iteration"


@cache
def _gpu_of(preset: str) -> str:
    """GPU part of a preset."""
    found: str = tomllib.loads(presets.text(preset))["node"]["gpu"]
    return found
