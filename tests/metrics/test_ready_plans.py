"""Ready plans of papers against what the papers measured."""

from __future__ import annotations

import pytest

from clusterscope.engine.scenario import build
from clusterscope.engine.step import start
from clusterscope.metrics.jobs import JobMetrics, job_metrics
from clusterscope.spec import presets
from clusterscope.spec.ready import ReadyPlan, ready_plans

# Above this many GPUs a job takes seconds.
LARGE = 4096
MEASURED = [plan for plan in ready_plans().values() if plan.published is not None]
CASES = [
    pytest.param(plan, id=plan.name, marks=[pytest.mark.slow] if plan.gpus > LARGE else [])
    for plan in MEASURED
]


def measured(plan: ReadyPlan) -> JobMetrics:
    scenario = build(presets.load(plan.cluster, [f"jobs.0.plan={plan.name}"]))
    return job_metrics(scenario, start(scenario))[0]


@pytest.mark.parametrize("plan", CASES)
def test_a_plan_comes_out_as_published_or_says_that_it_does_not(plan):
    job = measured(plan)
    got = {
        "mfu": job.training.mfu,
        "tflops": job.training.tflops_per_gpu,
        "step_s": job.iteration_s,
    }[plan.published.measure]
    off = abs(got / plan.published.value - 1)
    assert (off > plan.published.within) == bool(plan.misses), f"{got:.4g}, off by {off:.1%}"


def test_the_parallel_block_and_overlap_are_what_megascale_gains():
    named = {plan.name: plan for plan in MEASURED}
    own, baseline = (measured(named[n]) for n in ("megascale-175b-3k", "megatron-175b-3k"))
    gain = baseline.iteration_s / own.iteration_s
    assert gain == pytest.approx(29.02 / 23.66, rel=0.1)  # MegaScale, NSDI 2024, table 2
