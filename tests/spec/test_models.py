"""Models of the catalogue, and what `[jobs.model]` and `[jobs.plan]` must satisfy."""

from __future__ import annotations

import pytest

from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.spec.cuts import check_domain
from clusterscope.spec.models import CATALOGUE, model, models, resolve_model
from clusterscope.spec.plans import resolve_plan
from clusterscope.spec.read import parse
from clusterscope.spec.training import ModelSpec, PlanSpec
from clusterscope.spec.write import write


@pytest.mark.parametrize("name", models())
def test_every_model_says_what_it_is_and_where_from(name):
    assert model(name).name == name
    assert CATALOGUE.text(name, "title")
    assert CATALOGUE.text(name, "source")


def test_own_keys_go_before_those_of_the_named_model():
    found = resolve_model(ModelSpec(name="Llama3-405B", sequence=131072), "m")
    assert (found.name, found.sequence, found.layers) == ("Llama3-405B", 131072, 126)


def test_widths_that_are_left_out_follow_from_the_others():
    own = ModelSpec(layers=2, hidden=64, heads=4, sequence=8, vocabulary=100)
    found = resolve_model(own, "m")
    assert (found.kv_heads, found.head_dim, found.ffn) == (4, 16, 256)


def test_an_unknown_model_names_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean 'llama3-70b'"):
        model("llama3-7b")
    with pytest.raises(SpecError, match=r"m\.name: there is no model 'gpt3'; did you mean"):
        resolve_model(ModelSpec(name="gpt3"), "m")


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"layers": 2}, r"m\.hidden: is missing"),
        ({"name": "gpt3-175b", "kv_heads": 5}, "5 does not divide heads = 96"),
        ({"name": "gpt3-175b", "experts": 4}, "nobody would visit the 4 experts"),
        ({"name": "gpt3-175b", "experts": 4, "top_k": 5}, "more than the 4 of a layer"),
        ({"name": "gpt3-175b", "q_rank": 4}, "kv_rank: is missing"),
        ({"name": "gpt3-175b", "dense_layers": 97}, "more than the 96 layers"),
    ],
)
def test_a_model_that_cannot_be(keys, sentence):
    with pytest.raises(SpecError, match=sentence):
        resolve_model(ModelSpec(**keys), "m")


def test_what_the_cuts_leave_is_data_parallel():
    plan = resolve_plan(
        PlanSpec(tp=8, pp=16, vp=8, microbatches=16), model("llama3-405b"), 16384, "p"
    )
    assert (plan.dp, plan.ranks, plan.schedule) == (128, 16384, "interleaved")
    assert plan.text == "TP8 x PP16 x DP128"


def test_microbatches_follow_from_the_batch():
    plan = resolve_plan(PlanSpec(tp=8, pp=12, global_batch=1536), model("gpt3-175b"), 384, "p")
    assert (plan.dp, plan.microbatches, plan.batch) == (4, 384, 1536)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"tp": 8, "dp": 3}, r"p\.dp: tp x cp x dp x pp = 24 is not the 64 ranks"),
        ({"pp": 5}, "tp x cp x pp = 5 does not divide the 64 ranks"),
        ({"pp": 64, "tp": 1}, "96 layers cannot be divided into pp x vp = 64 chunks"),
        (
            {"pp": 8, "vp": 4, "microbatches": 4},
            r"p\.vp: 4 microbatches cannot be interleaved over 8",
        ),
        ({"pp": 8, "vp": 4, "microbatches": 12}, r"allowed is vp = 1, or a multiple of 8 micro"),
        ({"pp": 8, "vp": 7}, r"p\.vp: 96 layers cannot be divided into pp x vp = 56"),
        ({"tp": 64}, r"64 does not divide model\.heads = 96"),
        ({"ep": 4}, r"4 does not divide model\.experts = 0"),
        ({"vp": 2}, "interleaved over stages, and pp is 1"),
        ({"pp": 2, "schedule": "interleaved"}, "'interleaved' does not go with vp = 1"),
        ({"global_batch": 65}, "65 is no multiple of dp x microbatch = 64"),
        ({"global_batch": 64, "microbatches": 2}, "say the same thing twice"),
    ],
)
def test_a_plan_that_cannot_be(keys, sentence):
    with pytest.raises(SpecError, match=sentence):
        resolve_plan(PlanSpec(**keys), model("gpt3-175b"), 64, "p")


def test_experts_divide_among_ranks_of_a_stage():
    deepseek = model("deepseek-v3")
    assert resolve_plan(PlanSpec(pp=16, ep=64), deepseek, 2048, "p").ep == 64
    with pytest.raises(SpecError, match="64 does not divide tp x cp x dp = 32"):
        resolve_plan(PlanSpec(pp=16, ep=64), deepseek, 512, "p")


def test_tensor_parallel_ranks_stay_in_a_domain_unless_told_otherwise():
    gpt = model("gpt3-175b")
    plan = resolve_plan(PlanSpec(tp=16), gpt, 64, "p")
    check_domain(plan, 16, 0, "p")
    with pytest.raises(SpecError, match="16 ranks from GPU 0 on do not stay inside"):
        check_domain(plan, 8, 0, "p")
    with pytest.raises(SpecError, match="from GPU 4 on"):
        check_domain(plan, 16, 4, "p")
    check_domain(resolve_plan(PlanSpec(tp=16, tp_over_nics=True), gpt, 64, "p"), 8, 0, "p")


def toml(job: str) -> str:
    return f"""
name = "x"
[node]
count = 16
gpus = 8
gpu = "H100-SXM"
nics = 8
nic_gbps = 400.0
[scale_up]
domain_gpus = 8
gpu_gbps = 3600.0
[scale_out]
tiers = 2
wiring = "rail"
su_nodes = 16
leaf_switch = "QM9700"
[[jobs]]
name = "train"
{job}
"""


def test_a_name_is_short_for_a_model_and_both_are_written_again():
    spec = parse(toml('model = "gpt3-175b"\n[jobs.plan]\ntp = 8\npp = 8\nmicrobatches = 64'))
    (job,) = spec.jobs
    assert (job.collective, job.model.name, job.plan.tp) == ("training", "gpt3-175b", 8)
    assert parse(write(spec)) == spec


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        ('collective = "training"\nmessage_bytes = 1', r"jobs\.0\.model: is missing, and the job"),
        ('collective = "all-reduce"\nmodel = "gpt3-175b"', "'all-reduce' does not go with a model"),
        ('collective = "incast"\nmessage_bytes = 1\n[jobs.plan]\ntp = 8', "for a job that trains"),
        ('model = "gpt3-175"', r"jobs\.0\.model\.name: there is no model 'gpt3-175'; did you mean"),
        ('model = "gpt3-175b"\n[jobs.plan]\ntp = 16', r"jobs\.0\.plan\.tp: 16 ranks from GPU 0"),
        ('model = "gpt3-175b"\n[jobs.plan]\npd = 1', "'pd' is not a key of"),
        ('model = "gpt3-175b"\n[jobs.plan]\npp = 7', "tp x cp x pp = 7 does not divide the 128"),
    ],
)
def test_a_training_job_that_cannot_be(job, sentence):
    with pytest.raises(SpecError, match=sentence):
        parse(toml(job))
