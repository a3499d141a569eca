"""The compare screen: columns, base, live, never in the way; and what it looks like."""

from __future__ import annotations

import math
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.causes import CAUSES
from clusterscope.metrics.compare import Comparison, JobSide, Rivals, TransportSide
from clusterscope.metrics.economics import Economics
from clusterscope.metrics.jobs import JobMetrics
from clusterscope.metrics.rules import events_of, read
from clusterscope.tui import edits
from clusterscope.tui.screens import compare as screen_module
from clusterscope.tui.screens import judging
from clusterscope.tui.screens.compare import Compare
from clusterscope.tui.widgets.versus import Versus
from clusterscope.views.text import bar
from tests import canned, small
from tests.tui.apps import CannedApp, closing_ends, driven, settle, text_of
from tests.tui.test_explorer import toasts

SIZES = [(80, 24), (120, 36), (200, 50)]


@asynccontextmanager
async def compare(size=(120, 36), timeline=None):
    app = CannedApp(timeline or Timeline(small.scenario(jobs=small.job("permutation"))))
    async with driven(app, size) as (press, pilot):
        await press("v")
        app.pilot_press = pilot.press
        assert isinstance(app.screen, Compare)
        yield app, app.screen, press


def columns(screen):
    return [column.name for column in screen.query_one(Versus).shape.columns[1:]]


def busbw(screen):
    return [side.jobs[0].metrics.busbw_GBps for side in screen.comparison.sides]


async def test_every_transport_has_a_column_the_own_one_first():
    async with compare() as (app, screen, _):
        assert columns(screen) == ["spectrum-x ● base", "infiniband", "rocev2"]
        text = text_of(app)
        for words in ("busbw", "lost to collisions", "hottest leaf-spine link", "reroute takes"):
            assert words in text
        lines = screen._verdict.shape.lines
        assert lines[0].startswith("For training (one all-reduce of ")
        assert "is fastest" in lines[1]
        assert "against spectrum-x: same flows, seed 1, failures; step 0" in text


async def test_numbers_choose_and_b_sets_the_base():
    async with compare() as (_, screen, press):
        await press("1")
        assert columns(screen) == ["spectrum-x ● base", "rocev2"]
        await press("right", "b")
        assert columns(screen) == ["spectrum-x ●", "rocev2 base"]
        await press("2")
        assert columns(screen) == ["spectrum-x ● base"]
        await press("3")
        assert columns(screen) == ["spectrum-x ● base"]  # one stays
        await press("1")
        assert columns(screen) == ["spectrum-x ● base", "infiniband"]


async def test_it_is_live_while_stepping_and_failing():
    async with compare() as (app, screen, press):
        healthy = busbw(screen)
        await press("full_stop", "full_stop")
        assert screen.comparison.step == 2
        built = app.explorer.scenario
        app.explorer.inject(Event.named(built.names, "fail", "spine0", step=0))
        await press()
        assert busbw(screen) != healthy
        await press("u")
        assert busbw(screen) == healthy


async def test_enter_switches_the_explorer_with_its_log():
    async with compare() as (app, _, press):
        built = app.explorer.scenario
        events = events_of(read("spine0, node3"), built, built.whole, 0)
        app.explorer.ask(edits.injecting_all(events))
        await press()
        await press("enter")
        assert isinstance(app.screen, Compare)  # it runs on that already
        await press("right", "right", "enter")
        for _ in range(4):
            await press()
        explorer = app.screen
        assert explorer.scenario.transport.name == "rocev2"
        assert [event.name for event in explorer.player.timeline.log] == ["spine0", "node3"]
        await press("u")
        assert explorer.player.timeline.log == ()


async def test_closing_stops_the_computation(monkeypatch):
    await closing_ends(monkeypatch, Rivals, "compare", "v")


async def test_the_players_timeline_is_left_alone():
    async with compare() as (app, screen, press):
        timelines = screen.contest._rivals._timelines.values()
        assert app.explorer.player.timeline not in timelines
        assert len(timelines) == 2
        await press("full_stop")
        assert app.explorer.player.timeline.log == ()


async def test_another_cluster_joins_and_leaves():
    async with compare() as (app, screen, press):
        await app.pilot_press("slash", *"gb200-superpod", "enter")
        await press()
        names = [side.label for side in screen.comparison.sides]
        assert names[0] == "spectrum-x on small"
        assert names[-1] == "infiniband on gb200-superpod"
        ranks = {side.jobs[0].metrics.ranks for side in screen.comparison.sides}
        assert ranks == {16}
        await app.pilot_press("slash", *"gb200-superpod", "enter")
        await press()
        assert screen.comparison.sides[0].label == "spectrum-x"
        await app.pilot_press("slash", *"gb200-superpad", "enter")
        assert any("did you mean 'gb200-superpod'" in n.message for n in app._notifications)


async def test_without_nics_there_is_nothing_to_compare():
    built = small.scenario(scale_out=None, scale_up__domain_gpus=16)
    async with compare(timeline=Timeline(built)) as (app, _, press):
        assert "no scale-out fabric to compare" in text_of(app)
        await press("1", "b", "enter", "escape")
        assert app.screen is app.explorer


# Pictures


def job(name, iteration, lost, low, *, still=False):
    ideal = 2.0
    metrics = JobMetrics(
        name=name, collective="all-reduce", ranks=16, message_bytes=2.0**30,
        iteration_s=iteration, alone_s=iteration, last_iteration_s=math.nan, ideal_s=ideal,
        healthy_s=2.4, latency_s=0.1, algbw_GBps=200.0 / iteration,
        busbw_GBps=0.0 if still else 400.0 / iteration, line_GBps=200.0,
        error_band=(low * 400.0 / iteration, 400.0 / iteration), phases=(), iterations=3,
        running_phase=0,
    )  # fmt: skip
    causes = dict.fromkeys(CAUSES, 0.0) | lost
    return JobSide(metrics, causes, 12 if still else 0)


def money(network, year, petabyte, run):
    return Economics(
        4e8, network, 2e6, 5e5, 2.2e7, 1.7e6, 1e8, year, 1e12, petabyte, 1100.0, run, 1
    )


CANNED = Comparison(
    7,
    0.07,
    1,
    (
        TransportSide(
            "spectrum-x",
            (job("llama", 2.5, {"headers": 0.1, "latency": 0.25, "failures": 0.15}, 0.87),),
            {"nic-leaf": 0.9, "leaf-spine": 0.5},
            1e-3,
            4e6,
            5e5,
            money(4e6, 1.04e6, 1.25, 12.5e6),
        ),
        TransportSide(
            "infiniband",
            (job("llama", 2.4, {"headers": 0.05, "latency": 0.1, "collisions": 0.25}, 0.9),),
            {"nic-leaf": 0.8, "leaf-spine": 0.7},
            3e-3,
            5e6,
            4e5,
            money(5e6, 1.3e6, 1.5, 12.4e6),
        ),
        TransportSide(
            "rocev2",
            (job("llama", math.inf, {"headers": 0.1, "failures": math.inf}, 0.72, still=True),),
            {"nic-leaf": 1.0, "leaf-spine": math.nan},
            0.2,
            3e6,
            4e5,
            money(3e6, 0.8e6, math.inf, math.inf),
        ),
    ),
)


@pytest.fixture
def canned_rivals(monkeypatch):
    monkeypatch.setattr(screen_module.Contest, "compare", lambda self, *args: CANNED)
    monkeypatch.setattr(judging, "uses", lambda *_: ())
    known = ("infiniband", "rocev2", "spectrum-x")
    monkeypatch.setattr(screen_module, "rivals_of", lambda _: known)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_picture_of_three_transports(snap_compare, canned_rivals, size):
    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        for key in ("v", "right"):
            pilot.app.simulate_key(key)
            await settle(pilot)

    app = CannedApp(canned.timeline())
    assert snap_compare(app, terminal_size=size, run_before=before)


def test_bars_begin_in_one_place_and_grow_with_their_part():
    lengths = [len(bar(part, 10)) for part in (0.0, 0.001, 0.5, 0.55, 1.0, 2.0, -1.0, math.nan)]
    assert lengths == [0, 1, 5, 6, 10, 10, 0, 0]


async def test_a_transport_beyond_the_digits_is_typed():
    async with compare() as (app, screen, press):
        await press("slash", *"infin")
        await press("tab", "enter")
        assert columns(screen) == ["spectrum-x ● base", "rocev2"]
        await press("slash", *"rocev3")
        await press("enter")
        assert "did you mean" in toasts(app)
        assert columns(screen) == ["spectrum-x ● base", "rocev2"]
        await press("slash")
        await press("escape")
        assert app.screen is screen
        assert "← → marks a transport" in text_of(app)
