"""The jobs screen: an iteration, plans tried beside the explorer's, and the way back with them."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.groups import CutGroups
from clusterscope.metrics.iteration import Sent
from clusterscope.metrics.memory import Memory
from clusterscope.metrics.planned import JobFacts, job_facts
from clusterscope.metrics.training import Span, TrainingMetrics
from clusterscope.tui import replanning
from clusterscope.tui.screens.jobs import Jobs
from clusterscope.tui.screens.obey import obey
from clusterscope.tui.settings import Settings
from tests import canned, plans, small
from tests.tui.apps import CannedApp, driven, settle, text_of

SIZES = [(80, 24), (120, 36), (200, 50)]


@asynccontextmanager
async def jobs(size=(120, 36), built=None):
    app = CannedApp(Timeline(built or plans.scenario()))
    async with driven(app, size) as (press, _):
        await press("J")
        assert isinstance(app.screen, Jobs)
        yield app, app.screen, press


async def test_it_shows_an_iteration_and_its_plan():
    async with jobs() as (app, screen, press):
        text = text_of(app)
        for word in ("train · model · TP2 x PP2 x DP4", "computing", "tp scale-up", "× exposed"):
            assert word in text
        assert "tensor parallel ranks" in text
        assert "bound by" in text
        for title in ("groups · ", "tp group 0 of 8", "where its ranks are", "memory", "phases"):
            await press("m")
            assert title in text_of(app)
        assert screen.plan.key_of(0) == "tp"


async def test_a_plan_is_changed_compared_and_taken_back():
    async with jobs() as (app, screen, press):
        first = screen.bench.facts.metrics.training.mfu
        await press("down", "plus")
        text = text_of(app)
        assert "TP2 x PP4 x DP2" in text
        assert "points)" in text
        assert "1 tried" in text
        told = screen.bench.facts.metrics.training.mfu
        assert f"MFU {100 * told:.1f} %" in text.splitlines()[0]
        assert screen.bench.facts.metrics.training.mfu != first
        await press("u")
        assert "TP2 x PP2 x DP4" in text_of(app)
        assert screen.bench.facts.metrics.training.mfu == first
        assert screen.bench.tries == 0
        await press("U")
        assert "TP2 x PP4 x DP2" in text_of(app)


async def test_what_is_not_possible_says_why_and_changes_nothing():
    async with jobs() as (app, screen, press):
        await press("plus")
        assert "do not stay inside scale-up domains of 2" in text_of(app)
        assert screen.bench.tries == 0
        await press("slash", *"tp=3", "enter")
        assert "does not divide" in text_of(app)
        await press("slash", *"foo=1", "enter")
        assert "there is no field" in text_of(app)
        assert screen.bench.tries == 0


async def test_the_explorer_goes_on_under_the_plan_and_on_the_link():
    async with jobs() as (app, screen, press):
        await press("slash", *"pp=4 zero=2", "enter", "tab")
        link = screen.pages.table.key_of(0)
        await press("enter")
        await press()
        assert app.screen is app.explorer
        assert app.explorer.name_selected == link
        plan = app.explorer.scenario.spec.jobs[0].plan
        assert (plan.pp, plan.zero) == (4, 2)


async def test_groups_lead_to_places_and_places_to_leaves():
    async with jobs() as (app, screen, press):
        await press("m", "tab", "enter")
        assert "tp group 0 of 8" in text_of(app)
        await press("n")
        assert "tp group 1 of 8" in text_of(app)
        leaf = screen.pages.table.key_of(0)
        await press("enter")
        assert app.screen is app.explorer
        assert app.explorer.name_selected == leaf


async def test_a_phase_can_be_looked_at_closely():
    async with jobs() as (_, screen, press):
        whole = screen.gantt.text
        await press("tab", "z")
        assert screen.gantt.text != whole
        await press("z")
        assert screen.gantt.text == whole


async def test_collectives_have_phases_too_and_j_goes_on():
    rows = [
        {"name": "ring", "collective": "all-reduce", "ranks": 4, "message_bytes": 10**9},
        plans.job(ranks=8, first_gpu=8),
    ]
    async with jobs(built=small.scenario(jobs=rows)) as (app, screen, press):
        assert "train · model" in text_of(app)
        await press("J")
        assert "ring · all-reduce over 4 GPUs" in text_of(app)
        assert "busbw" in text_of(app)
        assert screen.bench.facts.memory is None


async def test_a_cluster_without_jobs_says_so():
    async with jobs(size=(80, 24), built=small.scenario(jobs=[])) as (app, _, press):
        assert "this cluster runs no job" in text_of(app)
        await press("plus", "m", "u", "escape")
        assert app.screen is app.explorer


def three() -> list[dict[str, object]]:
    """Two bare collectives, and a training job between them."""
    ring = {"collective": "all-reduce", "ranks": 4, "message_bytes": 10**9}
    return [
        {"name": "a", **ring},
        plans.job(ranks=8, first_gpu=4),
        {"name": "c", **ring, "first_gpu": 12},
    ]


async def at_once(app, press, *keys):
    """Press keys before any thread has answered."""
    for key in keys:
        app.simulate_key(key)
    await press()
    await press()


def jobs_tried(screen):
    return [job.model_dump(exclude_unset=True) for job in screen.bench.scenario.spec.jobs]


async def test_keys_act_on_the_job_that_was_turned_to_however_quick_they_are():
    async with jobs(built=small.scenario(jobs=three())) as (app, screen, press):
        before = jobs_tried(screen)
        await press("down", "down", "down")
        assert screen.field == "cp"
        await at_once(app, press, "J", "plus")  # on the first field of c, the placement
        assert screen.bench.facts.name == "c"
        after = jobs_tried(screen)
        assert after[:2] == before[:2]
        assert after[2] != before[2]
        await press("u")
        assert jobs_tried(screen) == before
        await at_once(app, press, "J", "J", "J", "J", "plus")
        assert screen.bench.facts.name == "a"
        assert [old == new for old, new in zip(before, jobs_tried(screen), strict=True)] == [
            False, True, True
        ]  # fmt: skip
        await at_once(app, press, "J", "down", "plus", "J", "u")
        assert screen.bench.facts.name == "c"
        assert jobs_tried(screen)[1] == before[1]


async def test_keys_right_after_opening_change_the_plan():
    app = CannedApp(Timeline(plans.scenario()))
    async with driven(app, (120, 36)) as (press, _):
        app.simulate_key("J")
        while not (isinstance(app.screen, Jobs) and app.screen.plan.rows):
            await asyncio.sleep(0)
        assert app.screen.bench.facts is None
        await at_once(app, press, "down", "plus")
        assert app.screen.bench.tries == 1
        assert app.screen.bench.facts.values["pp"] == "4"
        await at_once(app, press, "plus", "escape")  # a change that is under way is kept
        await press()
        assert app.explorer.scenario.spec.jobs[0].plan.pp == 8


async def test_the_stride_of_a_bare_collective_steps():
    async with jobs(built=small.scenario(jobs=three()[:1])) as (_, screen, press):
        await press("down", "plus")
        assert screen.bench.facts.values == {"placement": "strided", "stride": "2"}


async def test_groups_are_looked_through_while_another_plan_is_worked_out(monkeypatch):
    async with jobs() as (app, screen, press):
        await press("n", "slash", *"tp=1", "enter")
        assert screen.bench.facts.values["tp"] == "1"
        started, go_on = threading.Event(), threading.Event()
        real = replanning.job_facts

        def slow(*arguments):
            started.set()
            assert go_on.wait(10)
            return real(*arguments)

        monkeypatch.setattr(replanning, "job_facts", slow)
        app.simulate_key("u")
        while not started.is_set():
            await asyncio.sleep(0.01)
        for _ in range(3):
            app.simulate_key("n")
            await asyncio.sleep(0.01)
        assert screen.bench.scenario.spec is screen.bench.facts.spec
        go_on.set()
        await press()
        assert screen.bench.facts.values["tp"] == "2"


async def test_what_cannot_be_drawn_is_said_and_ends_nothing(monkeypatch):
    def broken(*_):
        raise ValueError("unheard-of")

    async with jobs() as (app, screen, press):
        monkeypatch.setattr(screen.pages, "draw", broken)
        await press("n")
        assert any("unheard-of" in note.message for note in app._notifications)
        monkeypatch.undo()
        await press("down", "plus")
        assert screen.bench.tries == 1


async def test_it_follows_a_failure():
    from clusterscope.engine.events import Event

    async with jobs() as (app, screen, press):
        await press("down", "plus")
        before = screen.bench.facts.metrics.iteration_s
        names = app.explorer.scenario.names
        app.explorer.inject(Event.named(names, "degrade", "node0/nic0:u0", step=0, scale=0.1))
        await press()
        assert screen.bench.facts.metrics.iteration_s > before


async def test_a_plan_is_a_command_too():
    app = CannedApp(Timeline(plans.scenario()))
    async with driven(app, (100, 30)) as (press, _):
        obey(app.explorer, "plan pp=4")
        await press()
        await press()
        assert app.explorer.scenario.spec.jobs[0].plan.pp == 4


# Pictures, from numbers of no model.


def canned_facts(scenario, frame, job) -> JobFacts:
    real = job_facts(scenario, frame, job)
    spans = (
        Span("first forward + parameter all-gather", "compute", "", 0.0, 0.2),
        Span("first forward + parameter all-gather: dp", "hidden", "scale-out", 0.0, 0.2),
        Span("first forward + parameter all-gather: dp", "communication", "scale-out", 0.2, 0.4),
        Span("microbatches", "compute", "", 0.4, 1.6),
        Span("microbatches: tp", "communication", "scale-up", 1.6, 1.8),
        Span("microbatches", "bubble", "", 1.8, 2.0),
    )
    fast = real.values["pp"] == "4"
    train = TrainingMetrics(
        "gpt", "TP2 x PP4 x DP2" if fast else "TP2 x PP2 x DP4", 1_000_000, 5e5,
        0.44 if fast else 0.4, 400.0, 1.4, 0.2, {"dp": 0.2, "tp": 0.2}, spans,
    )  # fmt: skip
    metrics = dataclasses.replace(
        real.metrics, name="train", ranks=16, iteration_s=1.8 if fast else 2.0, alone_s=2.0,
        training=train,
    )  # fmt: skip
    sends = (
        Sent(spans[0].name, "dp", "scale-out", 3e9, 0.4, 0.2, 0, 90.0, 4, 0),
        Sent("microbatches", "tp", "scale-up", 8e9, 0.2, 0.2, 81, 720.0, 8, 0),
    )
    told = Memory(1, 2, 20e9, 10e9, 30e9, 24e9, 0.0, 80e9, 2.0)
    rows = (CutGroups("tp", 2, 8, 1, 2, 2, 1), CutGroups("dp", 4, 4, 4, 1, 1, 1))
    return JobFacts(job, metrics, real.values, spans, sends, rows, told, False, scenario.spec)


def pictured(snap_compare, monkeypatch, size, keys=(), settings=None):
    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        for key in ("J", *keys):
            pilot.app.simulate_key(key)
            await settle(pilot)

    monkeypatch.setattr(replanning, "job_facts", canned_facts)
    monkeypatch.setattr(Jobs, "draw_head", lambda *_: None)
    app = CannedApp(canned.CannedTimeline(plans.scenario()), settings)
    assert snap_compare(app, terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_picture(snap_compare, monkeypatch, size):
    pictured(snap_compare, monkeypatch, size, ("down", "plus"))


def test_picture_without_colors(snap_compare, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    pictured(snap_compare, monkeypatch, (80, 24), ("m",))


def test_picture_in_ascii(snap_compare, monkeypatch):
    settings = dataclasses.replace(Settings(), ascii=True)
    pictured(snap_compare, monkeypatch, (80, 24), ("m", "m"), settings)
