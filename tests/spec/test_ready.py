"""Ready plans of papers: the catalogue, and jobs that name one."""

from __future__ import annotations

import pytest

from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.spec import presets
from clusterscope.spec.models import resolve_model
from clusterscope.spec.plans import resolve_plan
from clusterscope.spec.read import parse
from clusterscope.spec.ready import expanded, ready_plan, ready_plans
from clusterscope.spec.training import ModelSpec, PlanSpec
from clusterscope.spec.write import write

CLUSTER = """
name = "small"
node = { count = 128, gpus = 8, gpu = "A100-SXM4-80GB", nics = 8, nic_gbps = 200.0 }
scale_up = { domain_gpus = 8, gpu_gbps = 2400.0 }
scale_out = { tiers = 2, wiring = "rail", su_nodes = 32, leaf_switch = "QM9700" }
"""


def job(text: str):
    return parse(f"{CLUSTER}\n[[jobs]]\nname = 'job'\n{text}").jobs[0]


@pytest.mark.parametrize("name", ready_plans())
def test_every_plan_has_a_source_and_fits_its_model_its_gpus_and_its_preset(name):
    plan = ready_plan(name)
    assert plan.title
    assert plan.source
    model = resolve_model(ModelSpec(**plan.model), name)
    assert resolve_plan(PlanSpec(**plan.cut), model, plan.gpus, name).ranks == plan.gpus
    spec = presets.load(plan.cluster, [f"jobs.0.plan={name}"])
    assert spec.jobs[0].ranks == plan.gpus <= spec.gpus
    assert spec.jobs[0].collective == "training"
    assert spec.jobs[0].name == name


def test_a_name_fills_in_model_cut_and_ranks():
    named = job("plan = 'gpt3-175b-selective'")
    assert (named.ranks, named.model.name, named.plan.pp) == (64, "gpt3-175b", 8)
    assert named.plan.name == "gpt3-175b-selective"
    assert job("plan = 'GPT3-175B-Selective'") == named


def test_what_a_job_says_goes_before_the_plan():
    own = job(
        "ranks = 128\nmodel = { sequence = 4096 }\n"
        "plan = { name = 'gpt3-175b-selective', recompute = 'none', global_batch = 256 }"
    )
    assert (own.ranks, own.model.sequence, own.model.name) == (128, 4096, "gpt3-175b")
    assert (own.plan.recompute, own.plan.global_batch, own.plan.microbatches) == ("none", 256, None)
    other = job("model = 'megascale-175b'\nplan = 'gpt3-175b-selective'\nranks = 64")
    assert (other.model.name, other.plan.tp) == ("megascale-175b", 8)


def test_a_job_without_a_name_is_left_alone():
    tables = {"name": "job", "plan": {"tp": 2}}
    assert expanded(tables) == tables
    assert expanded({"name": "job"}) == {"name": "job"}


def test_a_named_plan_with_changes_reads_back_as_it_was_written():
    spec = parse(
        f"{CLUSTER}\n[[jobs]]\nname = 'job'\n"
        "plan = { name = 'gpt3-175b-selective', recompute = 'none', vp = 1, overlap = ['dp'] }"
    )
    assert parse(write(spec)) == spec


def test_a_plan_may_be_set_on_the_command_line():
    spec = presets.load(
        "superpod-h100-1016",
        ["jobs.0.ranks=512", "jobs.0.plan=gpt3-175b-h100", "jobs.0.plan.vp=6"],
    )
    own = spec.jobs[0]
    assert (own.ranks, own.plan.vp, own.plan.tp, own.message_bytes) == (512, 6, 4, 1)
    assert own.name == "gpt3-175b-h100"


def test_a_name_in_a_file_may_be_changed_key_by_key():
    text = f"{CLUSTER}\n[[jobs]]\nname = 'job'\nplan = 'gpt3-175b-selective'"
    own = parse(text, overrides=["jobs.0.plan.microbatches=32"]).jobs[0]
    assert (own.plan.microbatches, own.plan.pp) == (32, 8)


@pytest.mark.parametrize("plan", ["'gpt3-175b-selectiv'", "{ name = 'gpt3-175b-selectiv' }"])
def test_an_unknown_plan_is_one_sentence_with_the_nearest(plan):
    with pytest.raises(SpecError) as caught:
        job(f"plan = {plan}")
    assert str(caught.value) == (
        "spec: jobs.0.plan: there is no plan 'gpt3-175b-selectiv'; "
        "did you mean 'gpt3-175b-selective'?"
    )
    with pytest.raises(UnknownNameError):
        ready_plan("gpt3-175b-selectiv")


def test_a_plan_too_large_for_the_cluster_is_refused():
    with pytest.raises(SpecError, match=r"jobs\.0\.ranks: 16,384 is more than the 1,024 GPUs"):
        job("plan = 'llama3-405b-16k'")


def test_a_plan_does_not_go_with_a_collective():
    with pytest.raises(SpecError, match="'all-reduce' does not go with a model"):
        job("collective = 'all-reduce'\nmessage_bytes = 1\nplan = 'gpt3-175b-selective'")
