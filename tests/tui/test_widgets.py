"""Widgets know shapes: drawn here on their own, from canned ones."""

from __future__ import annotations

import math
from contextlib import asynccontextmanager

import numpy as np
from textual.app import App
from textual.widget import Widget

from clusterscope.tui.messages import Entered, Pointed, SoughtStep
from clusterscope.tui.panes.base import Framed
from clusterscope.tui.theme import _palette
from clusterscope.tui.widgets.bars import Bar, Part, fitting
from clusterscope.tui.widgets.grid import HeatMap
from clusterscope.tui.widgets.note import NoteView, lines_of
from clusterscope.tui.widgets.scrubber import Scrubber
from clusterscope.tui.widgets.series import SeriesView, blocks
from clusterscope.tui.widgets.table import TableView
from clusterscope.tui.widgets.tree import Branch, TreeView, index_of, with_parents
from clusterscope.validation import words
from clusterscope.validation.cases import cases
from clusterscope.views.shapes import Column, Fact, Note, Series, Table
from tests import canned
from tests.tui.apps import settle, text_of


class Harness(App[None]):
    CSS = "ScrollView { height: 1fr; scrollbar-size: 0 0; } Bar, Scrubber { height: 1; }"

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.animation_level = "none"
        self.widget = widget
        self.heard: list[object] = []

    def compose(self):
        yield self.widget

    def on_pointed(self, message: Pointed) -> None:
        self.heard.append(message.key)

    def on_entered(self, message: Entered) -> None:
        self.heard.append(("enter", message.key))

    def on_sought_step(self, message: SoughtStep) -> None:
        self.heard.append(message.step)


@asynccontextmanager
async def shown(widget, size=(40, 8)):
    app = Harness(widget)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        widget.focus()
        await settle(pilot)
        yield app, pilot


async def test_a_heat_map_shows_levels_labels_and_the_cell_under_the_cursor():
    async with shown(HeatMap()) as (app, pilot):
        app.widget.draw(canned.grid())
        await settle(pilot)
        lines = text_of(app).splitlines()
        assert lines[0].split() == [f"c{c}" for c in range(8)]
        assert lines[1].startswith("row 0 ,,,,....::::----====++++****####")
        assert lines[3].startswith("row 2 XXXX????x:::----====++++****####")
        assert lines[-1].startswith("◂ cell 0 0  .05")
        await pilot.press("down", "down", "right", "right")
        assert app.heard[-1] == "cell 2 2"
        assert text_of(app).splitlines()[-1].startswith("◂ cell 2 2  .30  some down")
        await pilot.press("enter")
        assert app.heard[-1] == ("enter", "cell 2 2")


async def test_a_heat_map_wider_than_its_room_follows_the_cursor():
    async with shown(HeatMap()) as (app, pilot):
        app.widget.draw(canned.grid(rows=40, columns=100))
        await settle(pilot)
        await pilot.press("end", "pagedown", "pagedown")
        await settle(pilot)
        lines = text_of(app).splitlines()
        assert "c99" not in lines[0] or lines[0].rstrip().endswith("c99")
        assert app.widget.cursor == (12, 99)
        assert any(line.startswith("row 12") for line in lines)
        assert lines[-1].startswith("◂ cell 12 99")


async def test_a_heat_map_redraws_only_rows_that_changed():
    async with shown(HeatMap()) as (app, pilot):
        first = canned.grid()
        app.widget.draw(first)
        await settle(pilot)
        drawn = []
        original = app.widget.refresh_line
        app.widget.refresh_line = lambda y: (drawn.append(y), original(y))
        changed = canned.grid()
        changed.values[1, 3] = 0.99
        app.widget.draw(changed)
        assert drawn == [2, 7]  # row 1 below the heading, and the caption


async def test_an_empty_grid_is_no_trouble():
    async with shown(HeatMap()) as (app, pilot):
        app.widget.draw(canned.grid(rows=1, columns=1))
        empty = canned.grid()
        empty = type(empty)("e", np.zeros((0, 0)), np.zeros((0, 0), dtype=bool), (), ())
        app.widget.draw(empty)
        await pilot.press("down", "enter")
        await settle(pilot)


async def test_a_heat_map_too_narrow_for_its_cells_shows_its_labels():
    async with shown(HeatMap(), size=(6, 8)) as (app, pilot):
        app.widget.draw(canned.grid())
        await settle(pilot)
        assert app.widget.size.width == len("row 0 ")
        assert text_of(app).splitlines()[1].startswith("row 0")


def table(rows=100_000):
    return Table(
        "numbers",
        (
            Column("name", "text", lambda row: f"n{row}"),
            Column("square", "int", np.arange(rows) ** 2 % 1009),
            Column("load", "ratio", [None if row % 7 == 0 else row / rows for row in range(rows)]),
        ),
        rows,
        lambda row: f"key{row}",
    )


async def test_a_table_of_a_hundred_thousand_rows_moves_and_sorts():
    async with shown(TableView()) as (app, pilot):
        view = app.widget
        view.draw(table())
        await settle(pilot)
        assert text_of(app).splitlines()[1].split() == ["n0", "0", "–"]
        await pilot.press("end")
        assert app.heard[-1] == "key99999"
        await pilot.press("home")
        view.sort_next()
        view.sort_next()
        await settle(pilot)
        assert view.sorted_by == ("square", True)
        assert text_of(app).splitlines()[0].split() == ["name", "square↓", "load"]
        assert app.widget.key_of(0) != "key0"
        view.turn_around()
        view.sort_next()
        assert view.sorted_by == ("load", True)
        assert view.key_of(0) == "key99999"
        view.sort_next()
        assert view.sorted_by == (None, True)
        assert view.key_of(0) == "key0"


async def test_the_cursor_keeps_to_its_thing_when_rows_change_places():
    def ranked(*names):
        return Table("t", (Column("name", "text", names),), len(names), names)

    async with shown(TableView()) as (app, _):
        view = app.widget
        view.draw(ranked("a", "b", "c"))
        view.point(1)
        view.draw(ranked("c", "a", "b"))
        assert view.key_of(view.cursor) == "b"
        view.draw(ranked("c"))
        assert view.key_of(view.cursor) == "c"
        view.draw(ranked())
        assert view.key_of(view.cursor) == ""


async def test_the_lead_columns_come_first():
    async with shown(TableView(("load", "name"))) as (app, pilot):
        app.widget.draw(table(5))
        await settle(pilot)
        assert text_of(app).splitlines()[0].split() == ["load", "name", "square"]


CALLS: list[str] = []


def branch(key: str) -> Branch:
    depth = key.count("/")
    return Branch(key, key.split("/")[-1], f"level {depth}", 0.5, int(key.endswith("9")), depth < 2)


def below(key: str) -> list[Branch]:
    CALLS.append(key)
    return [branch(f"{key}/{n}") for n in range(1000)]


async def test_a_tree_asks_only_for_what_is_open():
    async with shown(TreeView(), (40, 12)) as (app, pilot):
        CALLS.clear()
        app.widget.draw("root", branch, below)
        await settle(pilot)
        assert CALLS == ["root"]
        await pilot.press("down", "right")
        assert CALLS == ["root", "root", "root/0"]
        assert app.widget.rows == 2001
        assert app.heard == ["root/0", "root/0"]
        await pilot.press("end")
        assert app.heard[-1] == "root/999"
        await pilot.press("home", "down", "left")
        assert app.widget.rows == 1001
        line = text_of(app).splitlines()[1]
        assert line.startswith(" ▸ 0 level 1")
        assert line.rstrip().endswith(".50")


async def test_a_filter_keeps_parents_and_says_how_many():
    async with shown(TreeView(), (40, 12)) as (app, pilot):
        app.widget.draw("root", branch, below)
        app.widget.filter("root/99")
        await settle(pilot)
        lines = [line.split()[1] for line in text_of(app).splitlines() if line.strip()]
        assert lines[0] == "root"
        assert "99" in lines
        assert app.widget.first_match == "root/99"
        app.widget.filter("")
        assert app.widget.rows == 1001


def test_lines_of_a_filter_hold_every_hit_once_below_its_parents():
    parents = {"a": "r", "b": "r", "a/1": "a", "a/2": "a", "b/1": "b"}
    lines = with_parents(["a/1", "a", "b/1", "a/2"], parents, "r")
    assert lines == [(0, "r"), (1, "a"), (2, "a/1"), (2, "a/2"), (1, "b"), (2, "b/1")]


def test_an_index_ends_somewhere():
    labels, parents = index_of("root", below)
    assert 3_000 <= len(labels) < 5_000
    assert len(parents) == len(labels) - 1


def text(lines):
    return ["".join(span for span, _ in line) for line in lines]


def test_a_note_marks_what_is_estimated_and_says_what_marks_mean():
    note = Note(
        "n",
        (
            Fact("latency", 1e-6, "seconds", "estimate"),
            Fact("ports", 64, "int", "source", "data sheet"),
        ),
        ("one two three four five six seven",),
    )
    assert text(lines_of(note, 24, _palette("256"))) == [
        "one two three four five",
        "six seven",
        "",
        "latency 1 µs~",
        "ports   64§",
        "",
        "§ ports: data sheet",
        "",
        "~ estimate  § published",
    ]
    wide = text(lines_of(note, 80, _palette("256")))
    assert "          data sheet" in wide


def test_a_note_marks_what_is_in_doubt():
    fact = Fact("GPUs", 25_000, "int", "doubt", "in doubt: another report says 20,000")
    lines = text(lines_of(Note("n", (fact,)), 80, _palette("256")))
    assert lines[0] == "GPUs 25,000?"
    assert any("another report says 20,000" in line for line in lines)
    assert lines[-1] == "? in doubt"


def test_a_long_value_moves_left_before_it_wraps():
    note = Note("n", (Fact("kind", 1.0, "text"), Fact("load", "359,938 Gb/s")))
    lines = text(lines_of(Note("n", (*note.facts, Fact("a long label", "x"))), 26, _palette("16")))
    assert lines[1].rstrip().endswith("359,938 Gb/s")


def test_no_name_of_a_fact_is_cut():
    names = [expected.name for case in cases() for expected in case.expected]
    for width in (24, 40, 80):
        note = Note("n", tuple(Fact(words.named(name), "1.5") for name in names))
        lines = text(lines_of(note, width, _palette("256")))
        told = " ".join(" ".join(lines).split())
        for name in names:
            assert f"{words.named(name)} 1.5" in told


async def test_a_table_tells_its_frame_of_columns_out_of_sight():
    table = TableView()
    frame = Framed(table)
    async with shown(frame, size=(24, 8)) as (app, pilot):
        names = ("first", "second", "third", "fourth")
        columns = tuple(Column(name, "text", ["value 1"]) for name in names)
        table.draw(Table("t", columns, 1, ["k"]))
        await settle(pilot)
        assert str(frame._border_subtitle) == "→ 2 more columns"
        assert "first" in text_of(app)
        table.focus()
        await pilot.press("right", "right")
        await settle(pilot)
        assert str(frame._border_subtitle) == "← back"
        assert "fourth" in text_of(app)


def test_a_name_that_has_no_room_beside_its_label_is_below_it_in_one_piece():
    note = Note("n", (Fact("worst in any phase", "pod00/leaf00:u00>", "text", "derived"),))
    lines = text(lines_of(note, 24, _palette("16")))
    assert [line.strip() for line in lines[:2]] == ["worst in any phase", "pod00/leaf00:u00>="]
    assert all(len(line) <= 24 for line in lines)


def test_markup_in_a_note_is_text():
    assert text(lines_of(Note("n", (), ("[red]x[/]\x1b[0m",)), 40, _palette("16"))) == [
        "[red]x[/]�[0m"
    ]


async def test_a_note_scrolls():
    async with shown(NoteView(), (20, 4)) as (app, pilot):
        app.widget.draw(Note("n", (), tuple(f"line {n}" for n in range(9))))
        await settle(pilot)
        await pilot.press("down", "down")
        await settle(pilot)
        assert text_of(app).splitlines()[0].strip() == "line 2"


def test_parts_of_higher_rank_give_way_first():
    parts = [Part("aaaa", rank=0), Part("bbbb", rank=2), Part("cccc", rank=1)]
    assert [p.text for p in fitting(parts, 40)] == ["aaaa", "bbbb", "cccc"]
    assert [p.text for p in fitting(parts, 12)] == ["aaaa", "cccc"]
    assert [p.text for p in fitting(parts, 1)] == ["aaaa"]


async def test_a_bar_paints_only_what_is_new():
    async with shown(Bar()) as (app, pilot):
        app.widget.draw([Part("left"), Part("right", right=True)])
        await settle(pilot)
        line = text_of(app).splitlines()[0]
        assert line.startswith(" left")
        assert line.endswith("right ")
        painted = []
        app.widget.refresh = lambda *a, **k: painted.append(1)
        app.widget.draw([Part("left"), Part("right", right=True)])
        assert painted == []


async def test_the_scrubber_marks_events_and_seeks():
    async with shown(Scrubber(), (60, 1)) as (app, pilot):
        app.widget.draw(10, 40, {0: "X", 20: "r"}, "leaf1")
        await settle(pilot)
        line = text_of(app).splitlines()[0]
        assert line.startswith(" ├X")
        assert line.index("●") < line.index("r")
        assert "10/40" in line
        await pilot.click(offset=(line.index("┤") - 1, 0))
        await pilot.click(offset=(2, 0))
        assert app.heard == [40, 0]


async def test_a_series_runs_from_zero_and_ratios_to_one():
    async with shown(SeriesView()) as (app, pilot):
        x = np.arange(4.0)
        series = Series("s", x, "step", {"half": np.full(4, 0.5)}, "load", "ratio")
        app.widget.draw(series)
        await settle(pilot)
        assert "▄▄▄▄" in text_of(app)


def test_blocks_keep_peaks_and_holes():
    assert blocks(np.array([0.0, 1.0, math.nan, 0.5]), 4, 1.0) == " █ ▄"
    assert "█" in blocks(np.eye(1, 1000, 500)[0], 10, 1.0)
    assert blocks(np.zeros(3), 5, 0.0) == "     "


def speeds():
    return Table(
        "speeds",
        (
            Column("name", "text", ["a first name", "b"]),
            Column("busbw", "GBps", [152.2, 40.0]),
            Column("iteration", "seconds", [0.226, 0.0556]),
            Column("what it is", "text", ["short", "a rather long story"]),
        ),
        2,
        ["a", "b"],
    )


async def test_a_column_that_is_cut_says_so_and_never_shows_half_a_number():
    async with shown(TableView(), size=(30, 4)) as (app, pilot):
        app.widget.draw(speeds())
        await settle(pilot)
        assert [line.rstrip() for line in text_of(app).splitlines()[:3]] == [
            "name               busbw     …",
            "a first name  152.2 GB/s     …",
            "b                40 GB/s     …",
        ]
        await pilot.press("right")
        await settle(pilot)
        assert [line.rstrip() for line in text_of(app).splitlines()[:3]] == [
            "     busbw  iteration        …",
            "152.2 GB/s     226 ms  short",
            "   40 GB/s    55.6 ms  a rath…",
        ]
        await pilot.press("right", "right")
        await settle(pilot)
        last = text_of(app).splitlines()
        assert last[0].startswith("iteration  what it is") or last[0].startswith("what it is")
        assert "…" not in last[2].rstrip()[-1]
        await pilot.press("left", "left", "left")
        await settle(pilot)
        assert text_of(app).splitlines()[0].startswith("name")


async def test_a_table_of_other_columns_is_seen_from_its_first():
    async with shown(TableView(), size=(30, 4)) as (app, pilot):
        app.widget.draw(speeds())
        await settle(pilot)
        await pilot.press("right", "right")
        await settle(pilot)
        assert app.widget.scroll_offset.x > 0
        app.widget.draw(speeds())
        await settle(pilot)
        assert app.widget.scroll_offset.x > 0
        app.widget.draw(table(rows=3))
        await settle(pilot)
        assert app.widget.scroll_offset.x == 0


async def test_a_filtered_tree_shows_what_it_has_opened():
    rows = {"root": ("one", "two"), "one": ("one/a", "one/b"), "two": ("two/a",)}

    def branch(key):
        return Branch(key, key, "", 0.1, 0, key in rows)

    async with shown(TreeView()) as (app, pilot):
        app.widget.draw("root", branch, lambda key: [branch(child) for child in rows.get(key, ())])
        app.widget.filter("one")
        await settle(pilot)
        lines = [line[:9].rstrip() for line in text_of(app).splitlines()[:4]]
        assert lines == ["▾ root", " ▾ one", "    one/a", "    one/b"]
        app.widget.filter("tw")
        await settle(pilot)
        assert [line[:9].rstrip() for line in text_of(app).splitlines()[:3]] == [
            "▾ root",
            " ▾ two",
            "    two/a",
        ]
        app.widget.filter("")
        await settle(pilot)
        assert text_of(app).splitlines()[1].startswith(" ▸ one")


def test_sentences_of_a_note_stand_below_each_other_where_there_is_room():
    facts = (
        Fact("leaf uplinks", "all of them"),
        Fact("job", "4 s to 4.4 s an iteration, slower by 10.0 % of it"),
        Fact("load", "12,345,678 Gb/s"),
    )

    def texts(width):
        return text(lines_of(Note("", facts), width, _palette("256")))

    assert texts(52) == [
        "leaf uplinks all of them",
        "job          4 s to 4.4 s an iteration, slower by",
        "             10.0 % of it",
        "load         12,345,678 Gb/s",
    ]
    assert texts(25)[-1] == "load     12,345,678 Gb/s"
    for width in range(20, 60):
        assert not any(line.strip().startswith("%") for line in texts(width))
