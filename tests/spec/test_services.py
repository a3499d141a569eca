"""`[jobs.serve]`: what is filled in, and what is refused in one sentence."""

from __future__ import annotations

import pytest

from clusterscope.engine.scenario import build
from clusterscope.errors import SpecError
from clusterscope.spec.derive import derive
from clusterscope.spec.models import model
from clusterscope.spec.presets import load
from clusterscope.spec.read import read
from clusterscope.spec.services import CATALOGUE, resolve_service, services
from clusterscope.spec.serving import DecodeSpec, PrefillSpec, ServeSpec
from clusterscope.spec.write import write
from tests.small import spec, tables

KNOWN = {*ServeSpec.model_fields, "title", "preset", "model", "precision", "source"} - {"name"}
MODEL = {"layers": 4, "hidden": 256, "heads": 4, "sequence": 128, "vocabulary": 512}
EXPERTS = MODEL | {"experts": 8, "top_k": 2, "expert_ffn": 128}


def served(serve, model=MODEL, **more):
    return spec(jobs=[{"name": "chat", "model": model, "serve": serve, **more}])


@pytest.mark.parametrize("name", services())
def test_a_service_of_the_catalogue_runs_on_its_preset(name):
    table = CATALOGUE.entry(name)
    assert set(table) <= KNOWN
    assert set(table.get("prefill", {})) <= set(PrefillSpec.model_fields)
    assert set(table.get("decode", {})) <= set(DecodeSpec.model_fields)
    assert table["title"]
    assert table["source"]
    found = load(table["preset"], [f'jobs=[{{name="chat",serve="{name}"}}]'])
    program = build(found).program[0]
    assert len(program.gpus) == program.serving.service.ranks


def test_what_is_left_out_follows_from_the_model():
    moe = model("deepseek-v3")
    found = resolve_service(ServeSpec(prefill=PrefillSpec(gpus=32)), moe, "serve")
    assert (found.prefill.ep, found.prefill.microbatches) == (32, 2)
    assert (found.prefill.exchange, found.decode) == ("forwarded", None)
    dense = resolve_service(ServeSpec(decode=DecodeSpec(gpus=8, tp=4)), model("llama3-70b"), "s")
    assert (dense.decode.ep, dense.decode.microbatches, dense.decode.dp) == (1, 1, 2)
    assert dense.text == "decode 1 x 8 GPUs, TP4, DP2"


def test_own_keys_go_before_those_of_the_service_named():
    own = ServeSpec(name="deepseek-v3-h800", decode=DecodeSpec(batch=32), output_tokens=7)
    found = resolve_service(own, model("deepseek-v3"), "serve")
    assert (found.decode.batch, found.decode.gpus, found.output_tokens) == (32, 144, 7)
    assert found.prefill.gpus == 32


def test_a_serving_job_is_written_as_it_is_read(tmp_path):
    first = served({"prefill": {"gpus": 4}, "decode": {"gpus": 8, "batch": 3}})
    path = tmp_path / "x.toml"
    path.write_text(write(first))
    assert read(path).jobs == first.jobs


@pytest.mark.parametrize(
    ("jobs", "words"),
    [
        ({"serve": {"decode": {"gpus": 8}}}, "jobs.0.model: is missing"),
        ({"model": MODEL, "collective": "serving"}, "jobs.0.serve: is missing"),
        ({"serve": "deepseek-v3-h80"}, "did you mean 'deepseek-v3-h800'"),
        ({"model": MODEL, "serve": {}}, "neither prefill nor decode"),
        ({"model": MODEL, "serve": {"decode": {}}}, "jobs.0.serve.decode.gpus: is missing"),
        ({"model": MODEL, "serve": {"decode": {"gpus": 17}}}, "take 17 GPUs, and there are 16"),
        ({"model": MODEL, "serve": {"decode": {"gpus": 8, "ep": 2}}}, "2 does not divide a dense"),
        ({"model": EXPERTS, "serve": {"decode": {"gpus": 12}}}, "12 does not divide model.experts"),
        ({"model": MODEL, "serve": {"decode": {"gpus": 8, "tp": 4}}}, "do not stay inside"),
        ({"model": MODEL, "serve": {"decode": {"gpus": 9, "tp": 2}}}, "2 does not divide gpus = 9"),
        ({"model": MODEL, "serve": {"decode": {"gpus": 8}}, "plan": {}}, "jobs.0.plan: is for"),
        ({"model": MODEL, "serve": {"decode": {"gpus": 8}}, "ranks": 4}, "4 is not the 8 GPUs"),
        (
            {"model": MODEL, "serve": {"decode": {"gpus": 8}}, "collective": "all-reduce"},
            "'all-reduce' does not go with serve",
        ),
        (
            {"model": MODEL, "serve": {"decode": {"gpus": 8, "redundant_experts": 8}}},
            "the model has no experts",
        ),
        (
            {"model": EXPERTS, "serve": {"decode": {"gpus": 8, "batch": 2, "microbatches": 4}}},
            "4 parts are more than batch = 2",
        ),
    ],
)
def test_what_does_not_fit_is_one_sentence(jobs, words):
    with pytest.raises(SpecError) as refused:
        derive(spec(jobs=[{"name": "chat", **jobs}]))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_value_of_a_wrong_kind_says_what_is_allowed():
    with pytest.raises(SpecError, match=r"allowed is a whole number from 1 to"):
        served({"decode": {"gpus": "many"}})


def test_nobody_is_served_without_memory_or_nics():
    long = {"decode": {"gpus": 8, "batch": 4096}, "input_tokens": 10_000_000}
    with pytest.raises(SpecError, match="allowed is at most") as refused:
        build(served(long))
    assert "decode.batch: 4096 need" in str(refused.value)
    with pytest.raises(SpecError, match="GB of weights, more than"):
        build(served({"decode": {"gpus": 8}}, "llama3-405b"))
    bare = tables(jobs=[{"name": "c", "model": EXPERTS, "serve": {"decode": {"gpus": 8}}}])
    bare["node"] = bare["node"] | {"nics": 0}
    del bare["scale_out"]
    from clusterscope.spec.validate import validate

    with pytest.raises(SpecError, match="have no scale-out NICs"):
        build(validate(bare, "x"))
