"""Shapes that are hard to write: names that are markup, formulas, escape sequences; odd numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterscope.views.shapes import Column, Fact, Grid, Note, Series, Table

NAMES = (
    "<script>alert(1)</script>",
    "a|b `c` *d* [e](http://x.test/) ![f](g)",
    '=HYPERLINK("http://x.test/","y"), ok',
    "+1 @SUM(A1) -2",
    "\x1b[31mred\x07\x00 tab\t line\nbreak",
    "\u05e9\u05dc\u05d5\u05dd \u202egpj.exe",
    "\U0001f525 hot & \U0001f468\u200d\U0001f692 {{ 7*7 }} ${HOME} {% raw %}",
    "www.x.test https://x.test a@x.test :smile: $x^2$ \\end",
    "```",
    "\ud800 lone",
)
VALUES = np.array([0.0, 0.1, 1 / 3, 0.95, 1.0, np.nan, np.inf, -0.0, 1e-300, 0.5])


def table() -> Table:
    """One row a tricky name."""
    return Table(
        title=NAMES[0],
        columns=(
            Column("name", "text", NAMES, doc=NAMES[1]),
            Column("load", "gbps", VALUES * 400),
            Column("used", "ratio", lambda row: VALUES[row]),
            Column("size", "bytes", np.arange(len(NAMES), dtype=np.int64) * 2**30),
            Column("dead", "int", [None, True, False, *range(7)]),
        ),
        rows=len(NAMES),
        keys=NAMES,
        note=NAMES[1],
    )


def empty() -> Table:
    """No rows."""
    return Table(title="none", columns=(Column("name", "text", ()),), rows=0)


def bare() -> Table:
    """No columns either."""
    return Table(title="", columns=(), rows=0)


def grid() -> Grid:
    """Rows of tricky names, every level, a dead cell and one of nothing."""
    values = np.tile(np.linspace(0.0, 1.0, 9), (len(NAMES), 1))
    values[0, 0] = np.nan
    down = np.zeros(values.shape, dtype=np.bool_)
    down[1, 1] = True
    return Grid("map", values, down, NAMES, tuple(NAMES[:9]), note=NAMES[0])


def series() -> Series:
    """Lines called by tricky names."""
    x = np.arange(5.0)
    y = dict.fromkeys(NAMES, x * 10) | {"_gone": np.full(5, np.nan)}
    return Series(NAMES[0], x, "step", y, "busbw", "GBps", note=NAMES[2])


def note() -> Note:
    """Facts and sentences of tricky names."""
    facts = tuple(Fact(name, name, "text", "source", name) for name in NAMES)
    odd = (Fact("nan", float("nan"), "seconds"), Fact("n", np.int64(7), "int", "estimate"))
    return Note("note", facts + odd, (*NAMES, "# no heading", "1. no list", "- no list", "> no"))


SHAPES = {f.__name__: f for f in (table, empty, bare, grid, series, note)}


def report() -> dict[str, Any]:
    """The parts of a report.json that headlines are made from."""
    fast = {
        "name": NAMES[1],
        "collective": "all-reduce",
        "ranks": 100_000,
        "message_bytes": 2**30,
        "busbw_GBps": 371.0,
        "error_band": [330.0, 371.0],
        "iteration_s": 4.2e-3,
        "share_of_line": 0.93,
    }
    stalled = fast | {
        "name": NAMES[0],
        "busbw_GBps": 0.0,
        "error_band": [None, None],
        "iteration_s": None,
        "share_of_line": None,
    }
    return {
        "clusterscope": "0.1.0",
        "seed": 7,
        "steps": 20,
        "digest": "abc",
        "spec": {"name": "x", "title": NAMES[0], "description": f"two\nlines of {NAMES[4]}"},
        "fabric": {"gpus": 100_000, "nodes": 12_500, "switches": {"leaf": 1600, "core": 0}},
        "transport": {"name": "spectrum-x", "title": "Spectrum-X"},
        "jobs": [fast, stalled],
    }
