"""The explain screen: bottleneck, sharers, changes that can be made; and what it looks like."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.remedies import Tried
from clusterscope.tui.screens import explain as screen_module
from clusterscope.tui.screens.explain import Explain, command_of
from clusterscope.views.shapes import Column, Fact, Note, Table
from tests import canned, small
from tests.tui.apps import CannedApp, closing_ends, driven, settle, text_of

SIZES = [(80, 24), (120, 36), (200, 50)]


@asynccontextmanager
async def explained(size=(120, 36), built=None, keys=("W",)):
    app = CannedApp(Timeline(built or small.scenario(
        jobs=small.job("permutation"), transport={"name": "rocev2"}
    )))  # fmt: skip
    async with driven(app, size) as (press, _):
        await press(*keys)
        assert isinstance(app.screen, Explain)
        yield app, app.screen, press


async def test_the_selection_is_explained_and_changes_are_tried():
    async with explained() as (app, screen, _):
        text = text_of(app)
        for words in ("holds it back", "Most would help", "who shares", "instead of rocev2"):
            assert words in text
        assert screen.changes.shape.rows >= 5
        assert screen.name_selected.endswith(("<", ">"))


async def test_what_is_typed_is_explained():
    async with explained() as (app, screen, press):
        await press("slash", *"leaf0", "enter")
        assert "why leaf0" in text_of(app) or "why node" in text_of(app)
        await press("slash", *"nothing", "enter")
        assert any("no job or thing" in note.message for note in app._notifications)
        assert app.screen is screen


async def test_enter_makes_the_change():
    async with explained() as (app, screen, press):
        names = [str(screen.changes.shape.columns[3][row]) for row in range(3)]
        place = next(i for i, name in enumerate(names) if "instead of rocev2" in name)
        await press(*["down"] * place, "enter")
        for _ in range(4):
            await press()
        assert app.screen.scenario.transport.name == names[place].split()[0]


async def test_a_change_of_the_spec_is_made_too():
    async with explained() as (app, screen, press):
        rows = range(screen.changes.shape.rows)
        hows = [str(screen.changes.shape.columns[4][row]) for row in rows]
        place = next(i for i, how in enumerate(hows) if "transport.qps=16" in how)
        await press(*["down"] * place, "enter")
        for _ in range(4):
            await press()
        assert app.screen.scenario.transport.qps == 16


async def test_closing_ends_the_trying(monkeypatch):
    await closing_ends(monkeypatch, screen_module, "remedies", "W")


async def test_a_command_explains_too():
    app = CannedApp()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("colon", *"explain job", "enter")
        await settle(pilot)
        assert isinstance(app.screen, Explain)


async def test_prices_can_be_set():
    app = CannedApp()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("colon", *"set prices.pue=1.1", "enter")
        for _ in range(4):
            await settle(pilot)
        assert app.screen.scenario.spec.prices == {"pue": 1.1}


@pytest.mark.parametrize(
    ("how", "line"),
    [
        (":restore spine0", "restore spine0"),
        ("--transport uec", "transport uec"),
        ("--set a.b=1 --set c=2", "set a.b=1 c=2"),
        ("place it on other racks", ""),
    ],
)
def test_commands_of_changes(how, line):
    assert command_of(Tried("x", how, 1.0, 2.0, "GBps")) == line


NOTE = Note(
    "why llama",
    (
        Fact("job", "llama"),
        Fact("gets", 40.0, "GBps", "derived"),
        Fact("bottleneck", "leaf0:u1>, leaf-spine"),
        Fact("it carries", "100 Gb/s of 100 Gb/s, 100 %"),
    ),
    ("leaf0:u1> holds it back: B moe takes 60 % of what it carries, 40 % is its own.",),
)
SHARERS = Table(
    "who shares leaf0:u1>",
    (
        Column("", "text", ["B", "A"]),
        Column("job", "text", ["moe", "llama"]),
        Column("takes", "gbps", [60.0, 40.0]),
        Column("share", "ratio", [0.6, 0.4]),
        Column("flows", "int", [3, 2]),
    ),
    rows=2,
    keys=["leaf0:u1>"] * 2,
)
TRIED = (
    Tried("spectrum-x instead of rocev2", "--transport spectrum-x", 40.0, 80.0, "GBps"),
    Tried("16 queue pairs a connection (now 4)", "--set transport.qps=16", 40.0, 50.0, "GBps"),
    Tried("random instead of packed", "--set jobs.0.placement=random", 40.0, 30.0, "GBps"),
    Tried("one more spine a block (3)", "", 40.0, float("nan"), "GBps", "there is no port left"),
)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_picture(snap_compare, size, monkeypatch):
    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        pilot.app.simulate_key("W")
        await settle(pilot)

    monkeypatch.setattr(screen_module, "explain_note", lambda *_: NOTE)
    monkeypatch.setattr(screen_module, "sharers_table", lambda *_: SHARERS)
    monkeypatch.setattr(screen_module, "remedies", lambda *_: TRIED)
    app = CannedApp(canned.timeline())
    assert snap_compare(app, terminal_size=size, run_before=before)
