from __future__ import annotations

import csv as reader
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.export import csv
from clusterscope.views.cells import number
from clusterscope.views.shapes import Column, Fact, Grid, Note, Series, Table
from tests.export import tricky_shapes as tricky


def parsed(text: str) -> list[list[str]]:
    return list(reader.reader(io.StringIO(text, newline=""), strict=True))


def test_a_small_table_is_written_to_the_letter() -> None:
    table = Table(
        "links",
        (
            Column("link", "text", ("leaf0:p1 -> spine0", 'a "b", c')),
            Column("load", "gbps", np.array([371.25, 400.0])),
            Column("used", "ratio", [1 / 3, float("nan")]),
            Column("bus bw", "GBps", [0.1, None]),
        ),
        2,
    )
    assert csv.write(table) == (
        "link,load_gbps,used,bus_bw_GBps\n"
        "leaf0:p1 -> spine0,371.25,0.3333333333333333,0.1\n"
        '"a ""b"", c",400,,\n'
    )


def test_other_shapes_are_written_to_the_letter() -> None:
    grid = Grid(
        "map", np.array([[0.5, np.nan]]), np.array([[False, True]]), ("leaf",), ("pod0", "pod1")
    )
    assert csv.write(grid) == "row,column,ratio,down\nleaf,pod0,0.5,false\nleaf,pod1,,true\n"
    series = Series("s", np.arange(2.0), "step", {"job": np.array([1.5, np.inf])}, "busbw", "GBps")
    assert csv.write(series) == "step,job_GBps\n0,1.5\n1,inf\n"
    note = Note("n", (Fact("power", 1e6, "watts", "estimate", "a guess"),), ("a, b",))
    assert csv.write(note) == (
        'label,value,unit,mark,source\npower,1000000,w,estimate,a guess\nnote,"a, b",,,\n'
    )


@pytest.mark.parametrize("name", tricky.SHAPES)
def test_every_tricky_shape_reads_back_as_a_rectangle_without_formulas(name: str) -> None:
    text = csv.write(tricky.SHAPES[name]())
    rows = parsed(text)
    assert len({len(row) for row in rows}) == 1
    assert not any(c in text for c in "\x1b\x00\x07\r\u202e")
    for row in rows:
        for cell in row:
            assert not cell.startswith(("=", "+", "@", "\t")), cell
            assert not cell.startswith("-") or math.isfinite(float(cell)), cell


def test_a_table_without_rows_has_a_header() -> None:
    assert csv.write(tricky.empty()) == "name\n"


def test_rows_past_the_limit_are_left_out() -> None:
    table = Table("t", (Column("i", "int", lambda row: row),), 10**9)
    assert csv.write(table, limit=2) == "i\n0\n1\n"


def test_a_unit_is_named_once() -> None:
    assert csv.header("busbw_GBps", "GBps") == "busbw_GBps"


@given(st.floats(allow_nan=False))
@settings(max_examples=100, deadline=None)
def test_a_number_reads_back_as_itself(value: float) -> None:
    assert float(number(value)) == value


@given(st.lists(st.text(max_size=12), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_any_text_stays_in_its_cell(cells: list[str]) -> None:
    table = Table("t", (Column("a", "text", cells), Column("b", "text", cells)), len(cells))
    rows = parsed(csv.write(table))
    assert len(rows) == 1 + len(cells)
    assert all(len(row) == 2 and row[0] == row[1] for row in rows[1:])
