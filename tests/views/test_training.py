"""Training jobs as tables."""

from __future__ import annotations

import pytest

from clusterscope.engine.step import start
from clusterscope.views.training import iteration, training
from tests.small import scenario

MODEL = {"layers": 8, "hidden": 1024, "heads": 8, "sequence": 512, "vocabulary": 1024}


def column(table, name):
    values = next(c for c in table.columns if c.name == name)
    return [values[row] for row in range(table.rows)]


def test_a_row_a_job_says_where_its_iteration_goes():
    plan = {"tp": 2, "pp": 2, "microbatches": 4}
    built = scenario(jobs=[{"name": "llm", "model": MODEL, "plan": plan}])
    frame = start(built)
    table = training(built, frame)
    assert column(table, "job") == ["llm"]
    assert column(table, "plan") == ["TP2 x PP2 x DP4"]
    parts = ("computing", "bubble", *(f"waits {kind}" for kind in ("tp", "cp", "pp", "ep", "dp")))
    rows = iteration(built, frame)
    whole = column(rows, "end")[-1]
    assert sum(column(table, name)[0] for name in parts) == pytest.approx(whole)
    shown = zip(column(rows, "kind"), column(rows, "long"), strict=True)
    assert sum(long for kind, long in shown if kind != "hidden") == pytest.approx(whole)


def test_a_collective_has_no_row():
    built = scenario()
    frame = start(built)
    assert training(built, frame).rows == iteration(built, frame).rows == 0
