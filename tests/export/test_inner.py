"""The inside of a node and the networks of a cluster, on the command line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from clusterscope.cli import cli


def run(*args: str) -> str:
    result = CliRunner().invoke(cli, args)
    assert result.exit_code == 0, result.output
    return result.output


def test_inside_prints_patterns_and_links():
    text = run("inside", "hgx-h200-mesh")
    assert text.startswith("inside a node (two-socket server with PCIe switches: 8 × GPU")
    rows = {line.split("  ")[0]: line for line in text.splitlines()}
    assert "64 GB/s" in rows["a pair: gpu0 to gpu1"]
    assert "448.0 GB/s" in rows["all-to-all of all GPUs"]
    assert "links in a node" in text


def test_inside_as_json_has_every_build():
    got = json.loads(run("inside", "hgx-h200-mesh", "--json"))
    assert [one["build"] for one in got["builds"]] == ["as built", "switch", "C2C"]
    pair = [one["patterns"][0]["each_GBps"] for one in got["builds"]]
    assert pair == pytest.approx([64, 450, 64])
    assert {"from", "to", "what", "gbps"} == set(got["builds"][0]["links"][0])


def test_networks_as_text_and_json():
    assert "the storage nodes" in run("networks", "gb200-superpod")
    got = json.loads(run("networks", "gb200-superpod", "--json"))
    assert [one["name"] for one in got["networks"]] == ["scale-up", "scale-out", "front-end"]
    assert got["storage"]["seconds"] == pytest.approx(576 * 30e9 * 8 / 12_800e9)
    assert json.loads(run("networks", "hgx-h200-mesh", "--json"))["storage"] is None


def test_a_set_key_changes_what_is_printed():
    rows = run("networks", "gh200-256", "--set", "scale_up.group_taper=2.0").splitlines()
    assert any("between halves" in row and "28,800 GB/s" in row for row in rows)
