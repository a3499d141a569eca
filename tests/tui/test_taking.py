"""What can be taken along: names, tables, views, pictures; never over what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterscope.errors import SpecError
from clusterscope.tui.exports import free_path, plain
from tests.tui.test_explorer import command, explorer, toasts


class Writers:
    """Writes a word and remembers what it was asked for."""

    def __init__(self):
        self.shapes = []

    def report(self, timeline, directory, steps):
        Path(directory).mkdir()

    def view(self, shape, path):
        self.shapes.append(shape)
        Path(path).write_text("view")

    def picture(self, svg, path):
        Path(path).write_text(svg)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_paths_are_free_and_plain(here):
    assert free_path("a b/../c", "jobs", 3, "csv") == Path("a-b-..-c-jobs-step3.csv")
    Path("x-jobs-step0.csv").touch()
    Path("x-jobs-step0-2.csv").symlink_to("nowhere")
    assert free_path("x", "jobs", 0, "csv") == Path("x-jobs-step0-3.csv")
    assert plain("../..") == "cluster"
    assert plain("-rf") == "rf"
    assert len(plain("x" * 200)) == 60


async def test_e_writes_the_active_pane_and_says_where(here):
    writers = Writers()
    async with explorer(exports=writers) as (app, _, press, _):
        await press("4", "E")
        assert Path("small-jobs-step0.csv").read_text() == "view"
        assert "wrote small-jobs-step0.csv" in toasts(app)
        await press("E")
        assert Path("small-jobs-step0-2.csv").exists()
        await press("1", "full_stop", "E")
        assert Path("small-topology-step1.csv").exists()
        topology = writers.shapes[-1]
        assert [topology.key(row) for row in range(2)] == ["cluster", "spines"]
        await press("5", "E")
        assert writers.shapes[-1].title == "events"


async def test_a_table_is_written_in_the_order_of_the_screen(here):
    writers = Writers()
    async with explorer(exports=writers) as (_, _, press, _):
        await press("4", "s", "s", "S", "E")
        table = writers.shapes[-1]
        ranks = next(column for column in table.columns if column.name == "ranks")
        assert [ranks[row] for row in range(2)] == [4, 12]


async def test_p_writes_a_picture(here):
    async with explorer(exports=Writers()) as (app, _, press, _):
        await press("P")
        assert "<svg" in Path("small-explorer-step0.svg").read_text()
        assert "wrote small-explorer-step0.svg" in toasts(app)


async def test_what_cannot_be_written_is_said_in_a_sentence(here):
    class Full(Writers):
        def view(self, shape, path):
            raise SpecError(str(path), "cannot be written", "no space left on device")

    async with explorer(exports=Full()) as (app, _, press, _):
        await press("4", "E")
        assert "small-jobs-step0.csv: cannot be written; no space left on device" in toasts(app)


async def test_without_writers_there_is_a_word():
    async with explorer() as (app, _, press, _):
        await press("E", "P")
        assert toasts(app).splitlines() == ["no writer here"] * 2


async def test_y_copies_the_name_and_capital_y_the_table():
    async with explorer() as (app, _, press, _):
        await command(press, "select spine1")
        await press("y")
        assert app.clipboard == "spine1"
        assert "copied spine1" in toasts(app)
        await press("4", "Y")
        assert app.clipboard.splitlines()[0].startswith("job\tbusbw (GB/s)\t")
        assert "copied 2 rows of jobs" in toasts(app)


async def test_a_table_that_is_too_long_is_cut_and_that_is_said(monkeypatch):
    monkeypatch.setattr("clusterscope.tui.screens.taking.CLIPBOARD_BYTES", 300)
    async with explorer() as (app, _, press, _):
        await press("6", "Y")
        assert len(app.clipboard.encode()) <= 300
        assert "more do not fit, E writes all" in toasts(app)
