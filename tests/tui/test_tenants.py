"""The tenants screen: the matrix, the map of a job, and what it looks like."""

from __future__ import annotations

import math
from contextlib import asynccontextmanager

import numpy as np
import pytest
from textual.pilot import Pilot

from clusterscope.engine.timeline import Timeline
from clusterscope.tui.screens import tenants as screen_module
from clusterscope.tui.screens.explain import Explain
from clusterscope.tui.screens.tenants import Tenants
from clusterscope.tui.widgets.matrix import factor
from clusterscope.views.shapes import Column, Table
from tests import canned, small
from tests.tui.apps import CannedApp, driven, settle, text_of

SIZES = [(80, 24), (120, 36), (200, 50)]
GB = 1_000_000_000


def three():
    """Two jobs on the same GPUs, and one beside them that nobody meets."""
    rows = [
        ("llama", "permutation", 8, 0),
        ("moe", "permutation", 8, 0),
        ("vision", "all-reduce", 4, 12),
    ]
    jobs = [
        {"name": n, "collective": c, "ranks": r, "first_gpu": f, "message_bytes": GB}
        for n, c, r, f in rows
    ]
    return small.scenario(jobs=jobs)


@asynccontextmanager
async def tenants(size=(120, 36), built=None):
    app = CannedApp(Timeline(built or three()))
    async with driven(app, size) as (press, _):
        await press("T")
        assert isinstance(app.screen, Tenants)
        yield app, app.screen, press


async def test_the_matrix_says_who_slows_whom():
    async with tenants() as (app, screen, _):
        text = text_of(app)
        assert "iteration beside a column's job over that alone" in text
        rows = [line for line in text.splitlines() if "llama" in line or "vision" in line]
        assert " 2×" in rows[0]
        assert " 2×" not in rows[1]
        assert "slows A llama most" in text or "slows B moe most" in text
        assert screen.matrix.shape.columns[1][2] == "vision"


async def test_the_map_follows_the_cursor_and_why_explains_the_job():
    async with tenants() as (app, screen, press):
        assert "links of A llama" in text_of(app)
        await press("down")
        assert "links of B moe" in text_of(app)
        await press("W")
        assert isinstance(app.screen, Explain)
        assert "why moe" in text_of(app)
        await press("escape")
        assert app.screen is screen


async def test_enter_goes_to_the_link_where_jobs_meet():
    async with tenants() as (app, screen, press):
        name = screen.matrix.key_of(0)
        assert name
        assert screen.name_selected == name
        await press("enter")
        assert app.screen is app.explorer
        assert app.explorer.name_selected == name


async def test_a_job_that_meets_nobody_stays():
    async with tenants() as (app, screen, press):
        await press("down", "down", "enter")
        assert app.screen is screen
        assert "this job meets no other" in [note.message for note in app._notifications]


async def test_map_and_words_take_turns_where_there_is_no_room_for_both():
    async with tenants(size=(80, 24)) as (app, _, press):
        assert "what it says" in text_of(app)
        assert "links of A" not in text_of(app)
        await press("m")
        assert "links of A llama" in text_of(app)
        assert "what it says" not in text_of(app)


async def test_it_follows_a_failure():
    from clusterscope.engine.events import Event

    async with tenants() as (app, screen, press):
        names = app.explorer.scenario.names
        app.explorer.inject(Event.named(names, "fail", "node0", step=0))
        await press()
        assert math.isnan(screen.matrix.shape.columns[5][0])
        await press("u")
        assert screen.matrix.shape.columns[5][0] > 1.9


async def test_one_job_is_an_ai_factory():
    async with tenants(built=small.scenario()) as (app, _, _press):
        assert "AI factory" in text_of(app)


def test_factors_as_words():
    values = [1.0, 1.005, 1.2, 2.0, 10.94, 223.8, float("inf"), float("nan")]
    assert [factor(v) for v in values] == ["1×", "1×", "1.2×", "2×", "10.9×", "224×", "∞", "–"]


MATRIX = Table(
    "tenants",
    (
        Column("", "text", ["A", "B", "C"]),
        Column("job", "text", ["llama", "moe", "vision"]),
        Column("alone", "float", np.array([1.0, 1.05, np.nan])),
        Column("A", "float", np.array([1.0, 1.2, 1.0])),
        Column("B", "float", np.array([2.0, 1.0, 1.0])),
        Column("C", "float", np.array([4.0, 12.5, 1.0])),
        Column("all", "float", np.array([5.0, np.inf, 1.0])),
        Column("worst", "text", ["C", "C", ""]),
        Column("meets it on", "text", ["leaf0:u1>", "spine1", ""]),
    ),
    rows=3,
    keys=["leaf0:u1>", "spine1", ""],
    note="canned",
)
WORDS = ("C vision slows B moe most.", "Undisturbed: C vision.")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_picture(snap_compare, size, monkeypatch):
    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        for key in ("T", "down"):
            pilot.app.simulate_key(key)
            await settle(pilot)

    monkeypatch.setattr(screen_module, "tenant_table", lambda *_: MATRIX)
    monkeypatch.setattr(screen_module, "sentences", lambda *_: WORDS)
    monkeypatch.setattr(screen_module, "job_map", lambda *_: canned.grid())
    app = CannedApp(canned.CannedTimeline(three()))
    assert snap_compare(app, terminal_size=size, run_before=before)
