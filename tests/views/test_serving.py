"""Serving jobs as tables, facts and text."""

from __future__ import annotations

import json

import jsonschema
import pytest
from click.testing import CliRunner

from clusterscope.cli import cli
from clusterscope.engine.events import Event
from clusterscope.engine.step import start
from clusterscope.engine.timeline import Timeline
from clusterscope.export.headline import headlines
from clusterscope.export.served import listing, service_json, service_text
from clusterscope.export.story import applies
from clusterscope.fabric.find import find
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.report import json_safe, report
from clusterscope.metrics.schema import SCHEMA
from clusterscope.spec.services import services
from clusterscope.tui.headline import jobs as header
from clusterscope.views.inspector import inspector
from clusterscope.views.preview import preview
from clusterscope.views.serving import serving, stages
from clusterscope.views.summary import summary
from tests.small import scenario, spec

MODEL = {"layers": 4, "hidden": 512, "heads": 8, "sequence": 128, "vocabulary": 1024}
MOE = {"experts": 8, "top_k": 2, "expert_ffn": 256}
SERVE = {"prefill": {"gpus": 4, "instances": 2}, "decode": {"gpus": 8}}


def made(serve=SERVE, **more):
    return scenario(jobs=[{"name": "chat", "model": MODEL | MOE, "serve": serve}], **more)


def column(table, name):
    values = next(c for c in table.columns if c.name == name)
    return [values[row] for row in range(table.rows)]


def test_a_row_a_job_and_a_row_a_stage():
    built = made()
    frame = start(built)
    jobs, parts = serving(built, frame), stages(built, frame)
    assert column(jobs, "job") == ["chat"]
    assert column(parts, "stage") == ["prefill", "decode"]
    assert column(parts, "running") == [2, 1]
    for table in (jobs, parts):
        assert all(len(column(table, c.name)) == table.rows for c in table.columns)
    waits = zip(column(parts, "computing"), column(parts, "memory"), strict=True)
    exposed = zip(column(parts, "waits ep"), column(parts, "waits tp"), strict=True)
    whole = [sum(own) + sum(late) for own, late in zip(waits, exposed, strict=True)]
    assert column(parts, "step") == pytest.approx(whole, rel=1e-3)


def test_it_is_told_which_side_holds_requests_back_and_what_the_other_is_fed():
    built = made(SERVE | {"output_tokens": 4})
    frame = start(built)
    own = job_metrics(built, frame)[0].serving
    facts = {fact.label: fact.value for fact in summary(built, frame).facts}
    assert str(facts["chat: held back by"]).startswith(own.bound)
    assert "could take" in str(facts["chat: held back by"])
    fed = own.requests_per_s * 4 / 8 * 2  # tokens of all decode GPUs, on the two of a node
    assert own.bound != "decode"
    assert f"fed {fed:,.0f}" in str(facts["chat: decode"])


def test_a_dead_instance_is_told_alike_everywhere():
    built = made(SERVE | {"efficiency": 0.005, "input_tokens": 4096, "output_tokens": 32})
    timeline = Timeline(built, [Event.named(built.names, "fail", "node0", step=0)])
    timeline.at(1)
    found = json_safe(report(timeline))
    job, head = found["jobs"][0], headlines(found)[0]
    assert not job["stalled"]
    assert job["slowdown"] == pytest.approx(2.0, rel=0.02)
    assert not [one for one in found["findings"] if one["rule"] == "stalled"]
    assert f"{job['serving']['tokens_per_s']:,.0f} tokens/s" in head.sentence
    assert "1 of 2 prefill instances stands still" in head.sentence
    assert "busbw" not in head.sentence


def test_other_jobs_have_no_row():
    built = scenario()
    frame = start(built)
    assert serving(built, frame).rows == stages(built, frame).rows == 0
    assert not applies(built, "serving")
    assert applies(made(), "serving")


def test_header_summary_inspector_and_preview_tell_of_it():
    built = made()
    frame = start(built)
    words = " ".join(part.text for part in header(built, frame))
    assert "TPOT" in words
    assert "TTFT" in words
    assert "tokens/s" in words
    facts = {fact.label: fact.value for fact in summary(built, frame).facts}
    assert facts["chat: prefill"].startswith("2 x 4 GPUs, DP4, EP4; ")
    gpu = find(built.names, "node2/gpu0")
    told = {fact.label: fact.value for fact in inspector(built, frame, gpu).facts}
    assert "chat rank 4 (prefill 2 of 2)" in told.values()
    paper = {fact.label: fact.value for fact in preview(built.spec).facts}
    assert paper["job chat"].startswith("serving × 16 a model")


def test_an_instance_that_stands_still_is_told():
    built = made(transport__name="infiniband", transport__reroute_s=0.0)
    timeline = Timeline(built)
    timeline.inject(Event.named(built.names, "fail", "node0", step=0))
    frame = timeline.at(0)
    words = [part.text for part in header(built, frame)]
    assert "1 instance stands still" in words
    text = service_text(built, frame)
    assert "1 of 2 stands still" in text
    timeline.inject(Event.named(built.names, "fail", "node4", step=0))
    frame = timeline.at(0)
    assert "no request gets through" in [part.text for part in header(built, frame)]
    assert json.loads(service_json(built, frame))["jobs"][0]["tpot_s"] is None


def test_text_and_json_say_the_same():
    built = made()
    frame = start(built)
    found = json.loads(service_json(built, frame))
    assert found["schema"] == 1
    job = found["jobs"][0]
    assert job["name"] == "chat"
    assert job["decode"]["instances"] == 1
    assert f"{job['decode']['tokens_per_s_per_node']:,.0f}" in service_text(built, frame)


def test_a_report_with_a_service_follows_the_schema():
    jsonschema.validate(report(Timeline(made()), 0), SCHEMA)


def test_the_command_line(tmp_path):
    run = CliRunner().invoke
    assert all(name in run(cli, ["serve", "--list"]).output for name in services())
    assert listing() == run(cli, ["serve", "--list"]).output
    found = run(cli, ["serve", "--service", "deepseek-v3-nvl72", "--json"])
    own = json.loads(found.output)
    assert own["spec"] == "gb200-nvl72"
    assert own["jobs"][0]["ranks"] == 72
    less = ["--set", "jobs.0.serve.decode.batch=16"]
    other = run(cli, ["serve", "--service", "deepseek-v3-nvl72", "--json", *less])
    assert json.loads(other.output)["jobs"][0]["tpot_s"] < own["jobs"][0]["tpot_s"]
    nobody = run(cli, ["serve", "gb200-nvl72"])
    assert "no job of gb200-nvl72 serves a model" in str(nobody.exception)
    nothing = run(cli, ["serve"])
    assert "what to serve is missing" in str(nothing.exception)


def test_a_spec_of_a_service_builds_like_any_other():
    assert spec(jobs=[{"name": "chat", "model": MODEL, "serve": SERVE}]).jobs[0].serve is not None
