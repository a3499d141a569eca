"""`explain`, `tenants` and `compare` with several clusters: output, files, exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import tomli_w

from clusterscope import cli
from tests.small import job, tables

GB = 1_000_000_000


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.toml"
    jobs = [
        job("permutation")[0] | {"name": "llama", "ranks": 8},
        job("permutation")[0] | {"name": "moe", "ranks": 8},
    ]
    file.write_text(tomli_w.dumps(tables(jobs=jobs)))
    return file


def run(capsys, *args: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        cli.main([str(a) for a in args])
    out = capsys.readouterr()
    return int(stop.value.code or 0), out.out, out.err


def test_explain_says_what_holds_a_job_back_and_tries_what_would_help(capsys, small):
    code, out, err = run(capsys, "explain", small, "llama")
    assert (code, err) == (0, "")
    for words in ("holds it back", "B moe takes", "Most would help", "moe elsewhere", "+100"):
        assert words in out


def test_explain_as_json_at_the_step_of_a_failure(capsys, small):
    code, out, _ = run(capsys, "explain", small, "llama", "--fail", "spine0@3", "--json")
    assert code == 0
    document = json.loads(out)
    assert document["kind"] == "job"
    assert document["sharers"][0]["ratio"] <= 1
    assert any(row["change"] == "spine0 repaired" for row in document["tried"])
    code, out, _ = run(
        capsys, "explain", small, "llama", "--fail", "spine0@3", "--at", "3", "--json"
    )
    assert json.loads(out) == document


def test_explain_without_a_thing_names_the_jobs(capsys, small):
    code, out, err = run(capsys, "explain", small)
    assert (code, out) == (2, "")
    assert "name a job (llama, moe)" in err


def test_explain_tries_no_transport_where_no_node_has_a_nic(capsys):
    code, out, _ = run(capsys, "explain", "hgx-h200-mesh", "all-reduce")
    assert code == 0
    assert "There is nothing to try here" in out
    assert "instead of" not in out
    assert "infiniband" not in out


def test_explain_names_what_is_wrong(capsys, small):
    code, out, err = run(capsys, "explain", small, "lama")
    assert (code, out) == (2, "")
    assert "did you mean 'llama'" in err
    code, _, err = run(capsys, "explain", small, "node0/gpu0 -> node0/gpu0")
    assert code == 2
    assert "is no flow of any job" in err


def test_tenants_as_text_and_json(capsys, small):
    code, out, _ = run(capsys, "tenants", small)
    assert code == 0
    assert "slows A llama most" in out or "slows B moe most" in out
    assert "alone over that at line rate" in out
    assert "Performance isolation changes nothing here." in out.replace("\n", " ")
    code, out, _ = run(capsys, "tenants", small, "--json")
    jobs = json.loads(out)["jobs"]
    assert [row["letter"] for row in jobs] == ["A", "B"]
    assert jobs[0]["slowdown"][1] == pytest.approx(2.0, rel=1e-2)
    assert jobs[0]["slowdown"][0] == 1.0


def test_compare_takes_several_clusters(capsys, small):
    code, out, _ = run(capsys, "compare", small, "gb200-superpod", "--steps", "0", "--json")
    assert code == 0
    sides = json.loads(out)["transports"]
    assert [(side["cluster"], side["name"]) for side in sides] == [
        ("small", "spectrum-x"), ("gb200-superpod", "infiniband"),
    ]  # fmt: skip
    assert {row["name"] for side in sides for row in side["jobs"]} == {"llama", "moe"}
    args = ("--specs", "gb200-superpod", "--transports", "rocev2,uec")
    code, out, _ = run(capsys, "compare", small, *args, "--steps", "0")
    assert "rocev2 on small base" in out
    assert "uec on gb200-superpod" in out


def test_compare_writes_a_directory_that_holds_it_all(capsys, small, tmp_path):
    there = tmp_path / "out"
    args = (
        "compare",
        small,
        "--transports",
        "rocev2,spectrum-x",
        "--steps",
        "2",
        "--export",
        there,
    )
    code, out, _ = run(capsys, *args)
    assert code == 0
    names = {p.relative_to(there).as_posix() for p in there.rglob("*") if p.is_file()}
    assert names == {
        "compare.md", "compare.html", "compare.json", "manifest.json", "spec-small.toml",
        "csv/compare.csv", "csv/jobs.csv", "csv/money.csv", "csv/uses.csv", "csv/prices.csv",
    }  # fmt: skip
    document = json.loads((there / "compare.json").read_text())
    told = " ".join(document["verdict"].split())
    assert told.startswith("For training (one all-reduce of ")
    assert told in " ".join(out.split())
    assert told.replace("$", "\\$") in (there / "compare.md").read_text()
    rows = list(csv.DictReader((there / "csv/prices.csv").open()))
    assert {row["trust"] for row in rows} <= {"source", "estimate"}
    assert all(row["from"] for row in rows)
    first = {p: p.read_bytes() for p in there.rglob("*") if p.is_file()}
    run(capsys, *args)
    assert first == {p: p.read_bytes() for p in there.rglob("*") if p.is_file()}


def test_prices_change_what_a_comparison_costs(capsys, small):
    def network(*sets):
        args = [word for one in sets for word in ("--set", one)]
        _, out, _ = run(capsys, "compare", small, "--transports", "rocev2", "--json", *args)
        return json.loads(out)["transports"][0]["economics"]

    plain, dear = network(), network("prices.generic-8=50000", "prices.energy_usd_per_kwh=0.5")
    assert dear["network_usd"] - plain["network_usd"] == pytest.approx(6 * (50_000 - 4_000))
    assert dear["energy_usd"] > 6 * plain["energy_usd"]
