"""The `job` command: text, JSON, another plan, and what is refused."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from clusterscope import cli
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.export import story
from clusterscope.spec.validate import validate
from clusterscope.spec.write import save
from tests import plans, small


@pytest.fixture
def path(tmp_path):
    spec = validate(small.tables(jobs=[plans.job()]), "small")
    save(spec, tmp_path / "small.toml")
    return str(tmp_path / "small.toml")


def run(*words):
    return CliRunner().invoke(
        cli.cli, ["job", *words], catch_exceptions=False, standalone_mode=False
    )


def test_a_job_is_a_chart_and_tables(path):
    text = run(path).output
    assert text.startswith("train · model · TP2 x PP2 x DP4 · 16 GPUs\n")
    for word in ("computing    █", "tp scale-up", "MFU", "memory a GPU", "groups (", "bound by"):
        assert word in text
    assert "inside the scale-up domain" in text


def test_another_plan_comes_with_the_difference(path):
    text = run(path, "train", "--plan", "pp=4").output
    assert "TP2 x PP4 x DP2" in text
    assert " points)" in text
    told = json.loads(run(path, "--plan", "pp=4", "--json").output)
    assert told["plan"]["pp"] == "4"
    assert told["before"]["plan"]["pp"] == "2"
    assert told["mfu"] != told["before"]["mfu"]
    assert told["groups"][0]["where"] == "inside the scale-up domain"
    assert told["memory"]["needed_bytes"] > 0
    assert {row["network"] for row in told["phases"]} == {"scale-up", "scale-out"}


def test_the_same_facts_by_set_and_by_plan(path):
    by_set = json.loads(run(path, "--set", "jobs.0.plan.pp=4", "--set",
                            "jobs.0.plan.microbatches=8", "--json").output)  # fmt: skip
    by_plan = json.loads(run(path, "--plan", "pp=4", "--json").output)
    assert by_set["iteration_s"] == by_plan["iteration_s"]


def test_what_cannot_be_is_refused(path):
    with pytest.raises(SpecError, match="domains of 2"):
        run(path, "--plan", "tp=4")
    with pytest.raises(UnknownNameError, match="no job 'trian'; did you mean 'train'"):
        run(path, "trian")


def test_a_report_draws_the_iteration_of_a_training_job():
    built = plans.scenario()
    frame = Timeline(built).at(0)
    unit, lanes = story.gantt_lanes(built, frame)
    assert unit == "ms"
    assert [lane.name for lane in lanes][:1] == ["computing"]
    drawn = story.plots.gantt(lanes, unit)
    assert drawn.startswith("<svg")
    assert "communication, waited for" in drawn
    assert story.plots.gantt(lanes, unit) == drawn
