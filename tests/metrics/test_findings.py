"""What `check` says of a cluster that a newcomer writes."""

from __future__ import annotations

import re
from pathlib import Path

from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.findings import findings
from clusterscope.spec.read import parse
from tests import small

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
MINE = next(t for t in re.findall(r"```toml\n(.*?)```", README, re.S) if 'name = "mine"' in t)


def found(text):
    built = build(parse(text))
    return findings(built, Timeline(built).at(0))


def test_the_cluster_of_the_readme_has_nothing_amiss():
    assert found(MINE) == ()


def test_without_scale_up_it_is_said_that_nics_carry_all():
    alone = MINE.replace("[scale_up]\ndomain_gpus = 8\n", "")
    assert alone != MINE
    rows = {finding.rule: finding for finding in found(alone)}
    assert set(rows) == {"no-scale-up", "imbalance"}
    assert "[scale_up] with domain_gpus = 8" in rows["no-scale-up"].message
    # Nobody wrote the job that is told of.
    assert rows["imbalance"].severity == "info"
    assert rows["imbalance"].message.endswith("since [[jobs]] is left out")
    job = '[[jobs]]\nname = "own"\ncollective = "all-reduce"\nmessage_bytes = "1 GiB"\n'
    rows = {finding.rule: finding for finding in found(alone + job)}
    assert rows["imbalance"].severity == "warning"
    assert "left out" not in rows["imbalance"].message


def test_a_node_of_one_gpu_needs_no_scale_up():
    built = small.scenario(node__gpus=1, node__nics=1, scale_up=None)
    assert "no-scale-up" not in {f.rule for f in findings(built, Timeline(built).at(0))}
