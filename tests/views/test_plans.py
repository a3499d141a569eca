"""Ready plans as a table, and on the command line."""

from __future__ import annotations

import json

from click.testing import CliRunner

from clusterscope.cli import cli
from clusterscope.errors import UnknownNameError
from clusterscope.spec.ready import Published, ready_plans
from clusterscope.views.plans import plans_table
from clusterscope.views.published import published_words


def test_a_row_a_plan():
    table = plans_table()
    assert table.rows == len(ready_plans())
    row = {column.name: column[4] for column in table.columns}
    assert row["plan"] == "llama3-405b-8k"
    assert row["cut"] == "TP8 x PP16 x DP64"
    assert row["published"] == "430 TFLOPS a GPU"
    assert row["comes out"] == "within 10 %"
    assert row["preset"] == "meta-24k-roce"


def test_what_was_measured_in_words():
    assert published_words(None) == ""
    assert published_words(Published(measure="mfu", value=0.552, within=0.1)) == "MFU 55.2 %"
    step = Published(measure="step_s", value=8.42, within=0.1)
    assert published_words(step) == "8.42 s an iteration"


def test_plans_lists_them_and_tells_all_about_one():
    run = CliRunner()
    listed = run.invoke(cli, ["plans"])
    assert listed.exit_code == 0
    assert all(name in listed.output for name in ready_plans())
    one = run.invoke(cli, ["plans", "gpt-1t-sc21"])
    assert "163 TFLOPS a GPU" in one.output
    assert "why it does not come out" in one.output
    found = json.loads(run.invoke(cli, ["plans", "--json"]).output)["plans"]
    assert [plan["name"] for plan in found] == list(ready_plans())
    assert found[0]["published"]["value"] == 0.552


def test_an_unknown_plan_names_the_nearest():
    wrong = CliRunner().invoke(cli, ["plans", "lama3-405b-8k"])
    assert isinstance(wrong.exception, UnknownNameError)
    assert "did you mean 'llama3-405b-8k'?" in str(wrong.exception)


def test_the_list_fits_a_screen_and_one_plan_says_the_rest():
    lines = CliRunner().invoke(cli, ["plans"]).output.splitlines()
    assert max(map(len, lines)) <= 120
    assert "source" not in lines[0]
    assert "Llama 3 Herd" in CliRunner().invoke(cli, ["plans", "llama3-405b-16k"]).output
