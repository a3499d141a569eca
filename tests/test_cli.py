"""The command line: output, exit codes, one sentence for every mistake."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest
import tomli_w

from clusterscope import cli, process
from clusterscope.errors import SpecError
from tests.small import tables


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.toml"
    file.write_text(tomli_w.dumps(tables()))
    return file


def run(capsys, *args: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        cli.main([str(a) for a in args])
    out = capsys.readouterr()
    code = stop.value.code
    return int(code or 0), out.out, out.err


def test_help_shows_both_ways_to_call(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "[SPEC] [OPTIONS]" in out
    for word in ("presets", "check", "schema", "replay", "--export", "--assert", "--fail"):
        assert word in out


@pytest.mark.parametrize(
    ("args", "nearest"),
    [
        (["chek", "x"], "check"),
        (["presest", "--json"], "presets"),
        (["replya", "f", "-x"], "replay"),
    ],
)
def test_a_misspelt_command_with_arguments_is_told_the_nearest(capsys, args, nearest):
    code, _, err = run(capsys, *args)
    assert code == 2
    assert err == f"clusterscope: there is no command {args[0]!r}; did you mean {nearest!r}?\n"


@pytest.mark.parametrize(
    "args", [["SMALL", "extra"], ["gb200-nvl72", "extra"], ["nofile.toml", "x"]]
)
def test_a_word_too_many_after_a_spec_is_no_misspelt_command(capsys, small, args):
    args = [str(small) if a == "SMALL" else a for a in args]
    code, _, err = run(capsys, *args)
    assert code == 2
    assert "unexpected extra argument" in err


def test_presets_lists_every_preset(capsys):
    code, out, _ = run(capsys, "presets")
    assert code == 0
    for name in ("xai-colossus-100k", "gb200-nvl72", "meta-24k-roce", "bytedance-10k"):
        assert name in out
    assert "100,000" in out
    rows = json.loads(run(capsys, "presets", "--json")[1])
    assert {"name", "gpus", "nodes", "transport"} <= set(rows[0])


def test_schema_is_a_schema_that_accepts_a_spec(capsys):
    code, out, _ = run(capsys, "schema")
    assert code == 0
    schema = json.loads(out)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(tables(), schema)


def test_check_prints_findings_and_fails_on_an_error(capsys, tmp_path):
    good = tmp_path / "good.toml"
    good.write_text(tomli_w.dumps(tables()))
    assert run(capsys, "check", good)[0] == 0
    bad = tmp_path / "bad.toml"
    bad.write_text(tomli_w.dumps(tables(expect={"leaf": 5})))
    code, out, _ = run(capsys, "check", bad)
    assert code == 1
    assert "error" in out
    assert json.loads(run(capsys, "check", "--json", bad)[1])[0]["severity"] == "error"


def test_export_writes_a_bundle_and_says_nothing_on_stdout(capsys, small, tmp_path):
    out = tmp_path / "out"
    code, stdout, _ = run(capsys, small, "--export", out, "--steps", "3")
    assert (code, stdout) == (0, "")
    names = {p.name for p in out.iterdir()}
    assert {"report.md", "report.html", "report.json", "manifest.json"} <= names
    report = json.loads((out / "report.json").read_text())
    assert report["steps"] == 3
    assert report["fabric"]["gpus"] == 16


def test_the_same_input_gives_the_same_bytes(capsys, small, tmp_path):
    def export(name: str) -> dict[str, bytes]:
        run(capsys, small, "--export", tmp_path / name, "--steps", "2", "--fail", "spine1@1")
        folder = tmp_path / name
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.*")}

    assert export("one") == export("two")


def test_changes_reach_the_run(capsys, small, tmp_path):
    events = tmp_path / "events.toml"
    events.write_text('[[events]]\nstep = 1\nkind = "fail"\ntarget = "leaf0:u1"\n')
    out = tmp_path / "out"
    code, _, err = run(
        capsys, small, "--export", out, "--format", "json", "--steps", "2", "--seed", "11",
        "--transport", "rocev2", "--set", "jobs.0.message_bytes=2 GiB",
        "--fail", "node3@2", "--events", events,
    )  # fmt: skip
    assert (code, err) == (0, f"wrote {out}\n")
    report = json.loads((out / "report.json").read_text())
    assert report["seed"] == 11
    assert report["transport"]["name"] == "rocev2"
    assert report["spec"]["jobs"][0]["message_bytes"] == 2 * 2**30
    assert {e["target"] for e in report["events"]} == {"leaf0:u1", "node3"}


def test_until_counts_steps(capsys, small, tmp_path):
    run(capsys, small, "--export", tmp_path / "o", "--format", "json", "--until", "0.05")
    assert json.loads((tmp_path / "o" / "report.json").read_text())["steps"] == 5


def test_assertions_decide_the_exit_code(capsys, small):
    assert run(capsys, small, "--assert", "jobs.0.busbw_GBps > 1")[0] == 0
    code, _, err = run(capsys, small, "--assert", "jobs.0.busbw_GBps >= 1e6")
    assert code == 3
    assert "it is" in err
    assert run(capsys, small, "--assert", "transport.name == spectrum-x")[0] == 0


def test_a_run_with_a_dead_node_has_no_busbw_to_assert(capsys, small):
    code, _, _ = run(capsys, small, "--fail", "node3", "--assert", "jobs.0.busbw_GBps >= 1")
    assert code == 3


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["xai-colosus-100k", "--export", "o"], ["xai-colossus-100k"]),
        (["presetz", "--export", "o"], ["presetz"]),
        (["/nowhere/x.toml", "--export", "o"], ["/nowhere/x.toml", "no such file"]),
        ([".", "--export", "o"], ["directory"]),
        (["SMALL", "--export", "o", "--fail", "spine7"], ["spine7", "spine0 to spine1"]),
        (["SMALL", "--export", "o", "--fail", "spine1@x"], ["'x'", "step"]),
        (["SMALL", "--export", "o", "--transport", "rocev3"], ["rocev3", "rocev2"]),
        (["SMALL", "--export", "o", "--set", "node.cuont=3"], ["cuont", "count"]),
        (["SMALL", "--export", "o", "--set", "node.count"], ["node.count", "="]),
        (["SMALL", "--export", "o", "--set", "node.count=0"], ["node.count", "0"]),
        (["SMALL", "--export", "o", "--set", "node.count=10000000000"], ["memory"]),
        (["bytedance-10k", "--export", "o", "--set", "node.nic_gbps=123"], ["123", "200"]),
        (["SMALL", "--export", "o", "--format", "pdf"], ["pdf", "html"]),
        (["SMALL", "--export", "o", "--steps", "-1"], ["--steps", "-1"]),
        (["SMALL", "--export", "o", "--steps", "1", "--until", "1"], ["--until"]),
        (["SMALL", "--assert", "jobs.0.busbw"], ["jobs.0.busbw", ">="]),
        (["SMALL", "--assert", "jobs.0.busbw_GBs >= 1"], ["jobs.0.busbw_GBps"]),
        (["SMALL", "--assert", "jobs >= 1"], ["jobs"]),
        (["SMALL", "--events", "/nowhere.toml", "--export", "o"], ["/nowhere.toml"]),
        (["SMALL", "--export", "o", "--until", "nan"], ["--until", "nan"]),
        (["SMALL", "--export", "o", "--until", "inf"], ["--until", "inf"]),
        (["SMALL", "--export", "o", "--until", "1e300"], ["--until", "1e+300"]),
        (["SMALL", "--export", "o", "--fail", "laef0"], ["--fail", "leaf0"]),
        (["SMALL", "--export", "o", "--fail", "cluster"], ["--fail", "cluster"]),
        (["SMALL", "--export", "o", "--fail", "leaf0@99"], ["leaf0", "99", "--steps"]),
        (["SMALL", "--export", "o", "--fail", "x" * 9000], ["--fail"]),
        (["SMALL", "--assert", "fabrik.gpus >= 1"], ["fabric.gpus"]),
        (["SMALL", "--assert", "jobs..name >= 1"], ["jobs..name"]),
        (
            ["SMALL", "--export", "o", "--set", f"jobs.0.message_bytes={'9' * 400}"],
            ["message_bytes"],
        ),
        (["SMALL", "--exprot", "o"], ["--exprot", "--export"]),
        (["check"], ["SPEC"]),
        (["replay", "/nowhere.toml"], ["/nowhere.toml"]),
        (["--export", "o"], ["SPEC"]),
        (["SMALL", "SMALL"], ["extra"]),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "",
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    args, words, small, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    code, out, err = run(capsys, *(str(small) if a == "SMALL" else a for a in args))
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("clusterscope: ")
    assert "Traceback" not in err
    for word in words:
        assert word.casefold() in err.casefold()
    assert set(tmp_path.iterdir()) == before


def test_fail_takes_a_rule_and_a_name_stays_a_name(capsys, small, tmp_path):
    def events(*fails: str) -> list[tuple[int, str]]:
        out = tmp_path / "out"
        args = [word for fail in fails for word in ("--fail", fail)]
        run(capsys, small, "--export", out, "--format", "json", "--steps", "3", *args)
        report = json.loads((out / "report.json").read_text())
        return [(event["step"], event["target"]) for event in report["events"]]

    assert events("spine1@2") == [(2, "spine1")]
    assert sorted(events("all spines@2", "leaf0:u1")) == [
        (0, "leaf0:u1"), (2, "spine0"), (2, "spine1"),
    ]  # fmt: skip
    assert len(events("3 random leaf-spine cables")) == 3
    code, _, err = run(capsys, small, "--export", tmp_path / "o", "--fail", "3 random spinse")
    assert code == 2
    assert "did you mean 'spine'" in err


def test_compare_prints_transports_side_by_side(capsys, small):
    code, out, err = run(capsys, "compare", small, "--fail", "1 random spine", "--steps", "3")
    assert (code, err) == (0, "")
    head, names, *_ = out.splitlines()
    assert head == "small: against spectrum-x: same flows, seed 1, failures; step 3"
    assert names.split() == ["spectrum-x", "●", "base", "infiniband", "rocev2", "uec"]
    for words in ("busbw", "lost to collisions", "reroute takes", "█", "is fastest"):
        assert words in out


def test_compare_as_json(capsys, small):
    code, out, _ = run(capsys, "compare", small, "--transports", "rocev2,infiniband", "--json")
    assert code == 0
    document = json.loads(out)
    assert [side["name"] for side in document["transports"]] == ["rocev2", "infiniband"]
    (job,) = document["transports"][0]["jobs"]
    lost = job["iteration_s"] - job["ideal_s"]
    assert sum(job["causes_s"].values()) == pytest.approx(lost)


def test_compare_names_what_is_wrong(capsys, small):
    code, out, err = run(capsys, "compare", small, "--transports", "rocev3")
    assert (code, out) == (2, "")
    assert "did you mean 'rocev2'" in err
    code, _, err = run(capsys, "compare", "gb200-nvl72")
    assert code == 2
    assert "no scale-out fabric" in err
    for several in ((small, small), (small, "--specs", f"gb200-nvl72,{small}")):
        code, _, err = run(capsys, "compare", *several)
        assert code == 2
        assert "is named twice; name each cluster once" in err


def test_names_in_messages_cannot_drive_the_terminal(capsys):
    code, _, err = run(capsys, "\x1b[2J\x07evil", "--export", "o")
    assert code == 2
    assert "\x1b" not in err
    assert "\x07" not in err


def test_an_interrupted_export_leaves_nothing_behind(small, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "clusterscope", str(small), "--export", str(out),
         "--steps", "10000000"],
        stderr=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert {p.name for p in tmp_path.iterdir()} == {"small.toml"}


def test_without_a_terminal_the_explorer_points_to_export(capsys, small, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    code, _, err = run(capsys, small)
    assert code == 2
    assert "--export" in err


def test_the_12_line_spec_of_the_readme_loads(tmp_path):
    from clusterscope.spec.presets import load

    readme = (Path(__file__).parent.parent / "README.md").read_text()
    blocks = [b.split("```")[0] for b in readme.split("```toml\n")[1:]]
    whole = [block for block in blocks if block.startswith("name")]
    assert whole
    for block in blocks:
        file = tmp_path / "own.toml"
        file.write_text(block if block in whole else whole[0] + block)
        assert load(str(file)).gpus > 0
        assert len(block.strip().splitlines()) <= 16


def test_a_replay_is_verified(capsys, small, tmp_path):
    run(capsys, small, "--export", tmp_path / "o", "--steps", "2", "--fail", "spine1@1")
    code, out, _ = run(capsys, "replay", tmp_path / "o" / "replay.toml", "--verify")
    assert (code, out) == (0, "every digest agrees\n")


def test_errors_carry_their_exit_code():
    assert SpecError("here", "is wrong").exit_code == 2


def test_set_changes_the_default_job_of_a_spec_without_jobs(capsys, tmp_path):
    spec = tables()
    del spec["jobs"]
    file = tmp_path / "own.toml"
    file.write_text(tomli_w.dumps(spec))
    out = tmp_path / "o"
    code, _, _ = run(
        capsys, file, "--set", "jobs.0.message_bytes=2GiB", "--export", out, "--format", "json"
    )
    assert code == 0
    job = json.loads((out / "report.json").read_text())["spec"]["jobs"][0]
    assert (job["name"], job["message_bytes"]) == ("all-reduce", 2 * 2**30)


def test_a_replay_without_digests_is_not_verified(capsys, small, tmp_path):
    run(capsys, small, "--export", tmp_path / "o", "--steps", "1")
    file = tmp_path / "o" / "replay.toml"
    text = file.read_text()
    start = text.index("[digests]")
    file.write_text(text[:start] + text[text.index("[spec", start) :])
    code, _, err = run(capsys, "replay", file, "--verify")
    assert code == 2
    assert "no digests" in err


@pytest.mark.parametrize("command", ["presets", "schema"])
def test_a_reader_that_has_seen_enough_is_no_failure(command):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "clusterscope", command], stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_is_one_sentence():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "clusterscope", "presets"], stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"clusterscope: cannot write")
    assert b"Traceback" not in done.stderr


def test_an_export_needs_no_stderr(small, tmp_path):
    command = f"{sys.executable} -m clusterscope {small} --steps 1 --export {tmp_path}/o 2>&-"
    assert subprocess.run(command, shell=True).returncode == 0
    assert (tmp_path / "o" / "report.json").exists()


def test_an_interrupt_that_was_dropped_is_heeded_at_the_next_step(
    capsys, small, tmp_path, monkeypatch
):
    from clusterscope.export import bundle

    def dropped(*args, progress, **more):
        process.Wish.stop = True
        progress("running", 0.5)

    monkeypatch.setattr(bundle, "write_bundle", dropped)
    assert run(capsys, small, "--export", tmp_path / "o")[0] == 130


def test_a_directory_with_a_fifo_for_a_manifest_is_refused(capsys, small, tmp_path):
    out = tmp_path / "o"
    out.mkdir()
    os.mkfifo(out / "manifest.json")
    assert run(capsys, small, "--export", out)[0] == 2


def test_validate_derives_cases_and_tells_each_number(capsys):
    code, out, err = run(capsys, "validate", "--only", "FAIR,TOPO-03")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    for word in ("case", "expected", "got", "tolerance", "verdict"):
        assert word in lines[0]
    assert "source: " in lines[2]
    assert max(map(len, lines)) < 120
    assert "FAIR-02" in out
    assert "DGX SuperPOD B200" in out
    assert lines[-1] == "6 pass, 0 fail, 0 miss; the bar is met by those derived"


def test_validate_as_json(capsys):
    code, out, _ = run(capsys, "validate", "--only", "FAIR-01", "--json")
    document = json.loads(out)
    assert code == 0
    (case,) = document["cases"]
    assert (case["id"], case["role"], case["verdict"]) == ("FAIR-01", "exact", "pass")
    assert case["expected"][0]["got"] == 40
    assert document["summary"]["pass"] == 1


def test_validate_lists_every_case(capsys):
    code, out, _ = run(capsys, "validate", "--list")
    assert code == 0
    assert len(out.splitlines()) == 77
    listed = json.loads(run(capsys, "validate", "--list", "--json")[1])["cases"]
    assert len(listed) == 76


def test_validate_exits_1_when_the_bar_is_not_met(capsys, monkeypatch):
    from clusterscope.validation import flows

    monkeypatch.setitem(flows.DERIVATIONS, "FAIR-01", lambda setup: {"rate_each": 39.0})
    code, out, _ = run(capsys, "validate", "--only", "FAIR-01,FAIR-02")
    assert code == 1
    assert "1 pass, 1 fail, 0 miss; the bar is not met" in out


def test_validate_refuses_a_case_that_is_not_there(capsys):
    code, out, err = run(capsys, "validate", "--only", "TOPO-98")
    assert (code, out) == (2, "")
    assert "there is no case 'TOPO-98'; did you mean" in err


@pytest.mark.parametrize("code", [0, 1, 3])
@pytest.mark.parametrize("busy", [True, False])
def test_a_thread_that_still_computes_is_left_alone_at_the_end(code, busy):
    """The interpreter would unwind it through compiled code, which aborts with 134."""
    program = f"""
import atexit, threading
from clusterscope import __main__, cli
def end():
    if {busy}:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    print("done")
    raise SystemExit({code})
cli.main = end
atexit.register(print, "and cleared up")
__main__.run()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == code
    assert done.stdout.split() == ["done"] if busy else ["done", "and", "cleared", "up"]


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_after_the_end_changes_nothing(number):
    """What was done is done: neither a signal's own end nor 130."""
    program = f"""
import atexit, os, signal
from clusterscope import __main__, cli
def end():
    print("done")
    raise SystemExit(3)
cli.main = end
atexit.register(os.kill, os.getpid(), signal.{number})
__main__.run()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, "done\n", "")


def test_a_report_and_a_comparison_do_not_replace_each_other(capsys, small, tmp_path):
    report, comparison = tmp_path / "report", tmp_path / "comparison"
    code, out, err = run(capsys, small, "--export", report, "--steps", "1", "--format", "json")
    assert (code, out, err) == (0, "", f"wrote {report}\n")
    compare = ("compare", small, "--transports", "rocev2,uec", "--steps", "1")
    code, out, err = run(capsys, *compare, "--export", comparison, "--json")
    assert (code, err) == (0, f"wrote {comparison}\n")
    assert json.loads(out)["transports"]
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    code, out, err = run(capsys, *compare, "--export", report)
    assert (code, out) == (2, "")
    assert err == (
        f"clusterscope: {report}: holds a report, which a comparison does not replace; "
        "name a new directory, or remove this one\n"
    )
    code, out, err = run(capsys, small, "--export", comparison, "--steps", "1")
    assert (code, out) == (2, "")
    assert "holds a comparison, which a report does not replace" in err
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
    # Each replaces its own kind, also one whose manifest does not name its kind yet.
    for directory, again in (
        (report, (small, "--export", report, "--steps", "2", "--format", "json")),
        (comparison, (*compare, "--export", comparison)),
    ):
        manifest = directory / "manifest.json"
        old = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({k: v for k, v in old.items() if k != "kind"}))
        assert run(capsys, *again)[0] == 0


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("validate", "--only", ""), "--only: '' names no case"),
        (("validate", "--only", " ,,"), "--only: ' ,,' names no case"),
        (("compare", "SMALL", "--specs", ",,"), "--specs: ',,' names no cluster"),
        (("compare", "SMALL", "--transports", ","), "--transports: names none"),
        (("check", ""), "SPEC: is empty"),
        (("SMALL", "--export", "OUT", "--until", "nan"), "--until: nan is no time"),
        (("SMALL", "--export", "OUT", "--transport", ""), "--transport: there is no transport ''"),
        (("SMALL", "--export", "OUT", "--transport", "uecc"), "did you mean 'uec'?"),
        (("explain", "SMALL", "nosuch"), "there is no job or thing 'nosuch'; names look like"),
    ],
)
def test_what_names_nothing_is_refused_in_one_sentence(capsys, small, tmp_path, args, words):
    places = {"SMALL": str(small), "OUT": str(tmp_path / "out")}
    code, out, err = run(capsys, *(places.get(arg, arg) for arg in args))
    assert (code, out) == (2, "")
    assert err.startswith("clusterscope: ")
    assert err.count("\n") == 1
    assert words in err
    assert err.count("there is no") <= 1
    assert not (tmp_path / "out").exists()
