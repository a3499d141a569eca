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
    assert last["measured_over_modeled"] == pytest.approx(last["time_us"] / 4029.2)
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
