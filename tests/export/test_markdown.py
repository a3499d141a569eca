from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from clusterscope.export import markdown
from clusterscope.export.story import Plot, Section
from clusterscope.views.shapes import Column, Fact, Grid, Note, Series, Table
from tests.export import tricky_shapes as tricky

PLAIN = {"text", "paragraph_open", "paragraph_close", "inline", "text_special", "softbreak"}


def leaves(text: str) -> list[Token]:
    """Tokens of a text as GitHub would read it, inline ones included."""
    tokens = MarkdownIt("gfm-like", {"linkify": True}).parse(text)
    return [leaf for token in tokens for leaf in (token, *(token.children or ()))]


def read(text: str) -> str:
    return "".join(t.content for t in leaves(text) if t.type.startswith("text"))


def test_shapes_are_written_to_the_letter() -> None:
    table = Table(
        "links",
        (
            Column("link", "text", ("a|b", "c*d*")),
            Column("load", "gbps", np.array([371.25, 400.0])),
            Column("used", "ratio", [0.5, float("nan")]),
        ),
        2,
        note="worst first",
    )
    assert markdown.write(table) == (
        "| link | load | used |\n| --- | ---: | ---: |\n"
        "| a\\|b | 371.2 Gb/s | .50 |\n| c\\*d\\* | 400.0 Gb/s | – |\n\nworst first\n"
    )
    grid = Grid(
        "map",
        np.array([[0.5, 1.0, np.nan]]),
        np.array([[False, False, True]]),
        ("leaf",),
        ("p0", "p1", "p2"),
    )
    assert markdown.write(grid).startswith("```text\nleaf |-#X|\n```\n\nColumns: p0 to p2. ")
    series = Series("s", np.arange(2.0), "step", {"job": np.array([1.5, 2.0])}, "busbw", "GBps")
    assert markdown.write(series) == (
        "| step | job |\n| ---: | ---: |\n| 0 | 1.5 GB/s |\n| 1 | 2 GB/s |\n\nbusbw.\n"
    )
    note = Note("n", (Fact("power", 1e6, "watts", "estimate", "a guess"),), ("1. one",))
    assert markdown.write(note) == "- power: 1 MW (estimate: a guess)\n\n- 1\\. one\n"


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=30))
def test_any_name_is_read_as_text(name: str) -> None:
    assert {token.type for token in leaves("x " + markdown.escape(name))} <= PLAIN
    assert {token.type for token in leaves(markdown.block(name.strip()))} <= PLAIN


@pytest.mark.parametrize("name", tricky.NAMES)
def test_a_tricky_name_is_read_as_it_was_written(name: str) -> None:
    if name.isprintable() and "\u202e" not in name:
        assert read(markdown.escape(name)) == name


@pytest.mark.parametrize("name", tricky.SHAPES)
def test_every_tricky_shape_stays_what_it_is(name: str) -> None:
    kinds = {t.type for t in leaves(markdown.write(tricky.SHAPES[name]()))}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "em_open", "code_inline"}
    assert ("fence" in kinds) == (name == "grid")
    assert ("table_open" in kinds) == (name in ("table", "series"))


def test_a_long_table_says_what_it_leaves_out() -> None:
    table = Table("t", (Column("i", "int", lambda row: row),), 1234)
    text = markdown.write(table, rows=2, more="links.csv")
    assert text == "| i |\n| ---: |\n| 0 |\n| 1 |\n\n1,232 more rows in links.csv.\n"


def test_a_page_tells_each_section_once() -> None:
    sections = [
        Section("jobs", "Jobs", [tricky.table()], [Plot("p", "a [plot]", "<svg/>")]),
        Section("both", "Both", [tricky.note(), tricky.grid()]),
    ]
    text = markdown.page(tricky.report(), sections, ["svg"])
    assert text.count("\n## ") == 2
    assert text.count("\n### ") == 2
    assert "![a \\[plot\\]](svg/p.svg)" in text
    assert "\n\n\n" not in text
    assert text.endswith(".\n")
    assert "svg/" not in markdown.page(tricky.report(), sections, [])
