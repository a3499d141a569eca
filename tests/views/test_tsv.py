"""Tab-separated text: worked examples."""

from __future__ import annotations

import numpy as np
import pytest

from clusterscope.views.shapes import Column, Fact, Grid, Note, Series, Table
from clusterscope.views.tsv import tsv


def test_a_table_has_units_in_its_heading_and_numbers_in_full():
    table = Table(
        "t",
        (
            Column("link", "text", ["=leaf0:u0>", "a\tb"]),
            Column("load", "gbps", np.array([1 / 3, np.nan])),
            Column("jobs", "int", lambda row: row),
        ),
        2,
    )
    copied = tsv(table, 1000)
    assert copied.text == (
        "link\tload (Gb/s)\tjobs\n"
        "'=leaf0:u0>\t0.3333333333333333\t0\n"
        "a\N{REPLACEMENT CHARACTER}b\t\t1\n"
    )
    assert (copied.rows, copied.left_out) == (2, 0)


def test_only_whole_rows_are_copied():
    table = Table("t", (Column("n", "int", list(range(100_000))),), 100_000)
    copied = tsv(table, 100)
    assert len(copied.text.encode()) <= 100
    assert copied.text.endswith("\n")
    assert copied.rows + copied.left_out == 100_000
    assert copied.text.splitlines()[-1] == str(copied.rows - 1)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (
            Grid("g", np.array([[0.5, np.nan]]), np.array([[False, True]]), ("r",), ("a", "b")),
            "g\ta\tb\nr\t0.5\tX\n",
        ),
        (
            Series("s", np.array([0.0, 1.0]), "step", {"y": np.array([2.0, np.nan])}, "y", "GBps"),
            "step\ty (GB/s)\n0\t2\n1\t\n",
        ),
        (
            Note("n", (Fact("rate", 4.0, "gbps", "estimate", "why"),), ("hot.",)),
            "label\tvalue\tunit\tmark\tsource\nnote\thot.\t\t\t\nrate\t4\tGb/s\testimate\twhy\n",
        ),
    ],
    ids=["grid", "series", "note"],
)
def test_every_shape(shape, text):
    copied = tsv(shape, 10_000)
    assert copied.text == text
    assert copied.left_out == 0
