from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from clusterscope.export import html, plots
from clusterscope.export.story import Plot, Section
from clusterscope.views import heat
from clusterscope.views.shapes import Column, Table
from tests.export import tricky_shapes as tricky

VOID = {"meta", "br", "hr", "img", "link", "input"}
ALLOWED = re.findall(
    r"\w+",
    """html head meta title style body header nav main section footer div h1 h2 h3 p span small a b
    i bdi table thead tbody tr th td dl dt dd ul li figure figcaption svg g path use defs text tspan
    rect clippath""",
)


class Reader(HTMLParser):
    """Collects elements, attributes and text; checks that elements nest."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def page() -> str:
    return html.page(tricky.report(), sections(), ["csv"])


def sections() -> list[Section]:
    made = [Section(name, name, [make()]) for name, make in tricky.SHAPES.items()]
    lines = plots.lines(tricky.series(), band=(0.9, 1.0))
    spread = plots.histogram({"a": np.array([0.5])})
    pictures = [Plot("lines", tricky.NAMES[0], lines), Plot("spread", "spread", spread)]
    return [*made, Section("both", "Both", [tricky.table(), tricky.grid()], pictures)]


def test_names_stay_text(page: str) -> None:
    reader = Reader(page)
    assert reader.tags <= set(ALLOWED)
    for name in tricky.NAMES[:4]:
        assert name in reader.text
    assert "\\x1b[31mred" in reader.text
    assert not set("\x1b\x00\x07\u202e\ud800") & set(page)
    assert "{{ 7*7 }}" in reader.text


def test_nothing_is_fetched_and_nothing_runs(page: str) -> None:
    for tag, name, value in Reader(page).attributes:
        assert name not in ("src", "srcset", "action", "data", "poster", "background", "ping")
        assert not name.startswith("on")
        if name.endswith("href"):
            assert value.startswith("#"), (tag, value)
        assert name == "xmlns" or name.startswith("xmlns:") or "url(http" not in value
    style = page[page.index("<style>") : page.index("</style>")]
    assert "@import" not in style
    assert "url(" not in style
    assert "<script" not in page
    assert not re.search(r"(?i)url\(\s*['\"]?(?!#)", page.replace("url(#", ""))


def test_ids_are_unique_and_references_lead_somewhere(page: str) -> None:
    reader = Reader(page)
    assert len(reader.ids) == len(set(reader.ids))
    wanted = {v[1:] for _, name, v in reader.attributes if name.endswith("href")}
    wanted |= set(re.findall(r"url\(#([^)]+)\)", page))
    assert wanted <= set(reader.ids)


def test_the_page_is_the_same_every_time(page: str) -> None:
    assert html.page(tricky.report(), sections(), ["csv"]) == page


def test_headlines_come_first_and_in_words(page: str) -> None:
    head = page[: page.index('<section id="table"')]
    assert "371.0 GB/s" in head
    assert "330.0 to 371.0 GB/s" in head
    assert "93.0 %" in head
    assert "100,000 GPUs" in head


def test_cells_carry_level_and_glyph(page: str) -> None:
    cells = re.findall(r'<td class="(h\w)" title="[^"]*">(.)</td>', page)
    assert {css for css, _ in cells} == {*(f"h{i}" for i in range(8)), "hx", "hn"}
    signs = heat.GLYPHS + heat.LITTLE_GLYPH
    assert all(glyph in signs[int(css[1]) :: 8] for css, glyph in cells if css[1].isdigit())


def test_a_plot_takes_the_colors_of_the_page() -> None:
    svg = html.inline(Plot("p", 'a "title" <b>', plots.histogram({"a": np.array([0.5])})))
    assert plots.INK not in svg
    assert plots.PAPER not in svg
    assert 'aria-label="a &#34;title&#34; &lt;b&gt;"' in svg


def test_a_long_table_says_what_it_leaves_out() -> None:
    table = Table("t", (Column("i", "int", lambda row: row),), 1234)
    section = Section("t", "T", [table], rows=2)
    assert "1,232 more rows in the CSV files." in html.page(tricky.report(), [section], ["csv"])
    assert "1,232 more rows." in html.page(tricky.report(), [section], [])


def test_few_rows_of_many_columns_are_set_on_end() -> None:
    columns = tuple(Column(f"c{i}", "int", [i, i + 100], doc=f"d{i}") for i in range(12))
    text = html.page(tricky.report(), [Section("t", "T", [Table("t", columns, 2)])], [])
    row = '<tr><th scope="row">c7</th><td><bdi>7</bdi></td><td><bdi>107</bdi></td>'
    assert row + '<td class="quiet">d7</td></tr>' in text
