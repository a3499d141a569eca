"""Another plan for a job: what follows, what may come next, and why not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.spec.presets import load
from clusterscope.spec.replan import FIELDS, parse_changes, planned, replanned, stepped
from clusterscope.spec.validate import validate
from tests import plans, small


def spec(**changes):
    return validate(small.tables(jobs=[plans.job(**changes)]), "small")


def now(found):
    return planned(found, 0).values


KINDS = {
    "bare": {"name": "bare", "collective": "all-reduce", "ranks": 8, "message_bytes": 10**6},
    "training": plans.job(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("way", [1, -1])
def test_every_field_of_every_kind_of_job_steps_or_says_why(kind, name, way):
    found = validate(small.tables(jobs=[KINDS[kind]]), "small")
    try:
        other = stepped(found, 0, name, way)
    except SpecError as error:
        told = str(error)
    else:
        told = now(other)[name]
    assert told.count("\n") == 0
    assert told != now(found).get(name)


@pytest.mark.parametrize("name", ["tp", "placement", "stride"])
def test_fields_of_a_job_that_serves_step_or_say_why(name):
    found = load("deepseek-v3-serve")
    for way in (1, -1):
        with pytest.raises(SpecError) as caught:
            raise SpecError("", f"{now(stepped(found, 0, name, way))}")
        assert "\n" not in str(caught.value)


def test_a_bare_job_goes_from_stride_to_stride():
    found = validate(small.tables(jobs=[KINDS["bare"]]), "small")
    two = stepped(found, 0, "stride", 1)
    assert now(two) == {"placement": "strided", "stride": "2"}
    assert now(stepped(two, 0, "stride", -1))["stride"] == "1"


def test_dp_follows_and_the_batch_stays():
    other = replanned(spec(), 0, parse_changes("tp=1 pp=4"))
    assert {key: now(other)[key] for key in ("tp", "pp", "dp", "batch")} == {
        "tp": "1", "pp": "4", "dp": "4", "batch": "16"
    }  # fmt: skip
    assert now(replanned(other, 0, {"pp": "1"}))["dp"] == "16"


def test_a_number_of_dp_ranks_makes_the_job_as_large():
    other = replanned(spec(), 0, {"dp": "2"})
    assert other.jobs[0].ranks == 8
    assert now(other)["batch"] == "16"
    with pytest.raises(SpecError, match=r"jobs\.0\.ranks: 32 is more than the 16 GPUs"):
        replanned(spec(), 0, {"dp": "8"})


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("tp=3", "3 does not divide model.heads = 16|does not divide the 16 ranks"),
        ("tp=0", r"^plan\.tp: 0 is not allowed; allowed is a whole number"),
        ("stride=0", r"^stride: 0 is not allowed"),
        ("tp=4", "do not stay inside scale-up domains of 2"),
        ("pp=16", "8 layers do not divide|does not divide"),
        ("batch=6", "6 is no multiple of dp x microbatch = 4"),
        ("microbatch=3", "no multiple of dp x microbatch = 12"),
        ("schedule=interleaved", "does not go with vp = 1"),
        ("overlap=dp+xx", "'xx' is no kind of communication"),
        ("dp=no", "'no' is not a number of them"),
        ("zero=4", "allowed is"),
        ("placement=there", "packed"),
    ],
)
def test_an_impossible_plan_says_why_in_one_sentence(typed, why):
    with pytest.raises(SpecError, match=why) as caught:
        replanned(spec(), 0, parse_changes(typed))
    assert "\n" not in str(caught.value)


def test_what_was_typed_is_read_or_refused():
    assert parse_changes("TP=4, global_batch=8") == {"tp": "4", "batch": "8"}
    for wrong in ("", "tp", "tp=", "=3"):
        with pytest.raises(SpecError, match="FIELD=VALUE"):
            parse_changes(wrong)
    with pytest.raises(UnknownNameError, match="did you mean 'schedule'"):
        parse_changes("shedule=1f1b")


def test_words_and_kinds_of_overlap_change_too():
    other = replanned(spec(), 0, parse_changes("overlap=none recompute=full zero=2 stride=2"))
    told = now(other)
    assert (told["overlap"], told["recompute"], told["zero"]) == ("none", "full", "2")
    assert (told["placement"], told["stride"]) == ("strided", "2")
    assert now(replanned(spec(), 0, {"vp": "2"}))["schedule"] == "interleaved"


def test_a_collective_has_a_placement_and_no_plan():
    bare = validate(small.tables(), "small")
    assert now(replanned(bare, 0, {"placement": "random"}))["placement"] == "random"
    with pytest.raises(SpecError, match="tp is for a job that trains"):
        replanned(bare, 0, {"tp": "2"})


def test_a_plan_of_a_paper_is_its_own_once_it_is_changed():
    paper = load("bytedance-10k", ["jobs.0.plan=megascale-175b"])
    other = replanned(paper, 0, {"vp": "3"})
    assert other.jobs[0].plan.name is None
    assert now(other)["vp"] == "3"
    assert now(other)["overlap"] == now(paper)["overlap"]


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(list(FIELDS)), way=st.sampled_from([1, -1]))
def test_a_step_there_and_back_is_no_step(name, way):
    first = spec(plan={"global_batch": 64, "microbatches": None, "vp": 2})
    try:
        there = stepped(first, 0, name, way)
    except SpecError:
        return
    assert now(there)[name] != now(first)[name]
    try:
        back = stepped(there, 0, name, -way)
    except SpecError:
        return
    assert now(back)[name] == now(first)[name]


def test_a_step_skips_what_is_not_possible_and_says_why_at_the_end():
    assert now(stepped(spec(), 0, "pp", 1))["pp"] == "4"
    with pytest.raises(SpecError, match="domains of 2"):
        stepped(spec(), 0, "tp", 1)
    with pytest.raises(SpecError, match="there is nothing above 1"):
        stepped(spec(), 0, "ep", 1)
