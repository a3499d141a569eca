"""`clusterscope collective`: tables that readers of nccl-tests take, and logs beside them."""

from __future__ import annotations

import json

import pytest

from clusterscope.spec.nccl_log import parse_log
from tests.test_cli import run

SIZES = ("-b", "1M", "-e", "1G", "-f", "32")


def test_the_table_is_one_of_nccl_tests_and_reads_back(capsys):
    code, out, err = run(capsys, "collective", "hgx-h200-nvswitch", *SIZES)
    assert (code, err) == (0, "")
    log = parse_log(out, "own")
    assert [row.size_bytes for row in log.rows] == [2**20, 2**25, 2**30]
    assert log.collective == "all-reduce"
    line = out.splitlines()[-1].split()
    assert line[1:5] == [str(2**28), "float", "sum", "-1"]
    assert line[8:] == ["nvls", "Simple"]


def test_a_log_is_printed_beside_the_model(capsys, tmp_path):
    path = tmp_path / "h100.log"
    path.write_text(
        "#  Rank  7 Group 0 Pid 1\n"
        "#  size count type redop root time algbw busbw #wrong\n"
        "1048576 262144 float sum -1 42.0 24.97 43.69 0\n"
        "1073741824 268435456 float sum -1 4029.2 266.49 466.36 0\n"
    )
    told = ("collective", "hgx-h200-nvswitch", "--overlay", str(path))
    code, out, _ = run(capsys, *told, "--json")
    assert code == 0
    document = json.loads(out)
    assert [row["size_bytes"] for row in document["rows"]] == [2**20, 2**30]
    last = document["rows"][-1]
    assert last["measured_busbw_GBps"] == 466.36
    assert last["measured_over_modeled"] == pytest.approx(466.36 / last["busbw_GBps"])
    _, shown, _ = run(capsys, *told)
    assert "measured" in shown
    assert f"{last['measured_over_modeled']:.2f}" in shown.splitlines()[-1]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("-c", "alltal"), "there is no collective 'alltal'; did you mean 'all-to-all'?"),
        (("-a", "tre"), "there is no algorithm 'tre'; did you mean 'tree'?"),
        (("-a", "sharp"), "algorithm: 'sharp' reduces in switches of a Clos"),
        (("-b", "8Q"), "--begin: '8Q' is not a size; write 8, 1K, 512M or 8G"),
        (("-b", "2M", "-e", "1M"), "--begin: 2M is more than --end 1M"),
        (("-f", "1.01"), "--factor: 1.01 gives"),
        (("-f", "nan"), "--factor: nan is no factor"),
        (("--ranks", "99"), "use at most 8"),
        (("--ranks", "2", "--nodes", "1"), "--nodes: cannot go with --ranks"),
        (("--job", "nobody"), "there is no job 'nobody'"),
        (("--csv", "--json"), "--csv: cannot go with --json"),
        (("--overlay", "/nowhere.log"), "/nowhere.log: "),
    ],
)
def test_what_cannot_be_is_one_sentence(capsys, args, says):
    code, out, err = run(capsys, "collective", "hgx-h200-nvswitch", *args)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("head", "line", "words"),
    [
        ("# nThread 1\n", "none -1 4029.2 266.49 233.18 0", "whose redop is none"),
        ("#  Rank 31 Group 0 Pid 1\n", "sum -1 4029.2 266.49 516.3 0", "ran on 32 ranks, not 8"),
        ("# nThread 1\n", "sum -1 4029.2 266.49 233.18 0", "whose busbw is 0.875 times its algbw"),
        ("# nThread 1\n", "sum -1 4029.2 266.49 466.36 7", "had wrong results at 1 size"),
        ("# all_gather_perf\n", "none -1 4029.2 266.49 233.18 0", "ran all-gather, not all-reduce"),
    ],
)
def test_a_log_of_something_else_is_doubted(capsys, tmp_path, head, line, words):
    path = tmp_path / "other.log"
    path.write_text(
        head + "#  size count type redop root time algbw busbw #wrong\n"
        f"1073741824 268435456 float {line}\n"
    )
    told = ("collective", "hgx-h200-nvswitch", "-c", "all-reduce", "--overlay", str(path))
    code, out, err = run(capsys, *told)
    assert (code, words in err, words in out) == (0, True, True)
    assert err.count("clusterscope:") == 1


def test_what_has_failed_shows_in_the_curve_and_in_the_band(capsys):
    told = ("collective", "hgx-h200-nvswitch", "-b", "1G", "-e", "1G", "--json")
    document = json.loads(run(capsys, *told)[1])
    (row,) = document["rows"]
    low, high = row["error_band"]
    assert document["transport"] == "nvlink"
    assert low < row["busbw_GBps"] < high
    hurt = json.loads(run(capsys, *told, "--fail", "node0/gpu0")[1])
    assert (hurt["failures"], hurt["rows"][0]["busbw_GBps"]) == (True, 0.0)


def test_sizes_without_an_element_are_no_rows(capsys):
    told = ("collective", "hgx-h200-nvswitch", "-b")
    code, _, err = run(capsys, *told, "1")
    assert (code, "less than an element of 4 bytes" in err) == (2, True)
    code, out, err = run(capsys, *told, "8", "-e", "64", "-c", "all-gather", "--json")
    assert [row["count"] for row in json.loads(out)["rows"]] == [1, 2]
    assert "sizes below 32 B leave no element for each rank" in err


@pytest.mark.parametrize("content", [None, b"\0\1", b"x" * (16 * 2**20 + 1)])
def test_what_is_no_log_is_not_asked_to_be_toml(capsys, tmp_path, content):
    path = tmp_path / "thing"
    path.mkdir() if content is None else path.write_bytes(content)
    code, _, err = run(capsys, "collective", "hgx-h200-nvswitch", "--overlay", str(path))
    assert (code, "TOML" in err) == (2, False)
    assert "allowed is a log of nccl-tests" in err
