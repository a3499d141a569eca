"""What was published beside what comes out, and only for a plan that nobody has changed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from clusterscope.spec import presets
from clusterscope.spec.ready import ready_plans
from clusterscope.views.published import published_fact, ready_of

SPEC = presets.load("llama3-16k")
JOB = SPEC.jobs[0]


def facts(job=JOB, spec=SPEC, tflops=380.0):
    training = SimpleNamespace(mfu=0.4, tflops_per_gpu=tflops)
    spec = spec.model_copy(update={"jobs": (job,)})
    return SimpleNamespace(
        job=0, spec=spec, metrics=SimpleNamespace(training=training, iteration_s=7.0)
    )


def test_a_ready_plan_is_set_beside_its_paper():
    fact = published_fact(facts())
    assert fact.label == "published"
    assert fact.value == "400 TFLOPS a GPU; here 380 TFLOPS a GPU, −5.0 %"


@pytest.mark.parametrize("change", [{"ranks": 8192}, {"plan": None}])
def test_a_changed_job_is_not(change):
    assert published_fact(facts(JOB.model_copy(update=change))) is None


def test_neither_is_a_changed_plan_or_another_gpu():
    plan = JOB.plan.model_copy(update={"zero": 1})
    assert ready_of(JOB.model_copy(update={"plan": plan}), "H100-SXM") is None
    assert ready_of(JOB, "A100-SXM4-80GB") is None
    assert ready_of(JOB, "H100-SXM").name == "llama3-405b-16k"


def test_the_runs_of_llama_3_share_out_gradients_of_32_bits():
    rows = [plan for name, plan in ready_plans().items() if name.startswith("llama3-405b-")]
    said = [
        (plan.cut["zero"], plan.cut["grad_bytes"])
        for plan in rows
        if plan.source.startswith("Llama 3 Herd")
    ]
    assert said == [(2, 4)] * 3
