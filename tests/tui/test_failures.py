"""The failures screen: choose, read, then do; and what it looks like."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.faults import BlastRadius, JobImpact, Next, Uplinks
from clusterscope.tui.messages import Typed
from clusterscope.tui.screens import asking
from clusterscope.tui.screens import failures as screen_module
from clusterscope.tui.screens.failures import Failures
from clusterscope.views.shapes import Column, Table
from tests import canned, small
from tests.tui.apps import CannedApp, driven, settle, text_of

SIZES = [(80, 24), (120, 36), (200, 50)]
PERMUTATION = small.job("permutation")


@asynccontextmanager
async def failures(size=(120, 36), timeline=None):
    app = CannedApp(timeline)
    async with driven(app, size) as (press, _):
        await press("F")
        assert isinstance(app.screen, Failures)
        yield app, app.screen, press


async def typed(app, press, line):
    """Type a rule and have it looked at."""
    await press("slash")
    app.screen._input.value = line
    await press("enter")


def log(app):
    return [(event.step, event.text()) for event in app.explorer.player.timeline.log]


async def test_a_rule_is_looked_at_before_it_is_done():
    async with failures() as (app, _, press):
        await typed(app, press, "all spines")
        text = text_of(app)
        assert "2 spines: spine0, spine1" in text
        assert "8 of " in text or "16 of " in text
        assert "enter does it" in text
        assert log(app) == []
        await press("enter")
        assert log(app) == [(0, "fail spine0"), (0, "fail spine1")]
        assert not app.explorer.frame.health.switch_up[4:6].any()
        assert "fail 2 spines" in text_of(app)
        assert "u takes it back" in text_of(app)
        await press("u")
        assert log(app) == []
        await press("U")
        assert len(log(app)) == 2


async def test_a_line_is_explained_while_it_is_typed():
    async with failures() as (app, screen, press):
        await press("slash", *"2 spines")
        await press()
        screen._understand("2 spines")
        await press()
        assert "fail 2 spines: spine0, spine1" in text_of(app)
        screen._input.value = "2 spinse"
        screen._understand("2 spinse")
        await press()
        assert "did you mean" in text_of(app)
        await press("enter")
        assert "did you mean" in str(screen._note.shape.lines)
        await press("enter")
        assert log(app) == []


async def test_esc_goes_back_one_stage_at_a_time():
    async with failures() as (app, screen, press):
        await typed(app, press, "spine0")
        await press("escape")
        assert screen.focused is screen._input
        assert "Choose what fails" in text_of(app)
        await press("escape")
        assert screen.focused is screen._choices
        assert log(app) == []
        await press("escape")
        assert app.screen is app.explorer


async def test_a_choice_is_a_rule():
    async with failures() as (app, screen, press):
        rules = [screen._choices.key_of(row) for row in range(screen._choices.rows)]
        assert "3 random leaf-spine cables" in rules
        screen._choices.point(rules.index("3 random leaf-spine cables"))
        await press("enter")
        assert screen._input.value == "3 random leaf-spine cables"
        assert "3 cables: " in text_of(app)
        await press("enter")
        assert len(log(app)) == 3
        rules = [screen._choices.key_of(row) for row in range(screen._choices.rows)]
        assert rules[0] == "restore all"
        screen._choices.point(0)
        await press("enter", "enter")
        assert app.explorer.frame.health.healthy
        assert len(log(app)) == 6


async def test_at_another_step():
    async with failures() as (app, screen, press):
        await typed(app, press, "spine0")
        await press("at")
        assert screen._input.value == "spine0 @"
        await press(*"7", "enter")
        assert "at step 7" in text_of(app)
        await press("enter")
        assert log(app) == [(7, "fail spine0")]
        assert "to come" in text_of(app)
        assert app.explorer.frame.health.healthy


async def test_any_event_of_the_schedule_can_be_deleted_but_those_of_the_spec():
    built = small.scenario(events=[{"step": 3, "kind": "fail", "target": "leaf1"}])
    async with failures(timeline=Timeline(built)) as (app, screen, press):
        for line in ("spine0", "spine1 @5"):
            await typed(app, press, line)
            await press("enter")
        await press("d")
        assert len(log(app)) == 2
        screen._schedule.focus()
        screen._schedule.point(1)
        await press("d")
        assert len(log(app)) == 2  # that of the spec stays
        screen._schedule.point(0)
        await press("d")
        assert log(app) == [(5, "fail spine1")]
        await press("u")
        assert log(app) == [(0, "fail spine0"), (5, "fail spine1")]
        screen._schedule.point(2)
        await press("enter")
        assert app.explorer.frame.step == 5


async def test_degrade_and_restore():
    async with failures() as (app, _, press):
        await typed(app, press, "degrade leaf0:u1 to 0.25")
        await press("enter")
        assert log(app) == [(0, "degrade leaf0:u1 to 0.25")]
        await typed(app, press, "restore all")
        await press("enter")
        assert app.explorer.frame.health.healthy


async def test_a_new_rule_ends_the_computation_before(monkeypatch):
    started, go_on, asked = threading.Event(), threading.Event(), []
    real = asking.blast

    def slow(before, events):
        asked.append(events[0].name)
        if len(asked) == 1:
            started.set()
            assert go_on.wait(10)
        return real(before, events)

    monkeypatch.setattr(asking, "blast", slow)
    app = CannedApp()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        app.simulate_key("F")
        await settle(pilot)
        screen = app.screen
        screen._look("spine0")
        await pilot.pause()
        assert started.wait(10)
        screen._look("spine1")
        await pilot.pause()
        go_on.set()
        await settle(pilot)
        assert asked == ["spine0", "spine1"]
        assert screen._stage.events[0].name == "spine1"
        assert "spine1" in text_of(app)


async def test_what_is_looked_at_is_asked_again_when_the_log_changes():
    async with failures(timeline=Timeline(small.scenario(jobs=PERMUTATION))) as (app, _, press):
        await typed(app, press, "spine0")
        await press("enter")
        await typed(app, press, "spine1")
        assert "stands still for good" in text_of(app)
        await press("u")
        assert "stands still for good" not in text_of(app)


async def test_the_command_line_takes_rules_too():
    app = CannedApp()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        for line in ("fail all spines", "fail node1, node2 @4", "degrade 2 random cables to 0.5",
                     "restore all"):  # fmt: skip
            app.explorer.post_message(Typed("command", line, "done"))
            await settle(pilot)
        assert [text.split()[0] for _, text in log(app)] == [
            "fail", "fail", "fail", "fail", "degrade", "degrade", "restore", "restore",
            "restore", "restore",
        ]  # fmt: skip
        app.explorer.post_message(Typed("command", "fail 3 spinse", "done"))
        await settle(pilot)
        assert any("kind of thing 'spinse'" in note.message for note in app._notifications)
        app.simulate_key("u")
        await settle(pilot)
        assert len(log(app)) == 6


async def test_what_was_done_before_is_on_the_schedule_and_a_typed_rule_replaces_a_choice():
    made = Timeline(small.scenario(jobs=PERMUTATION))
    made.inject(Event.named(made.scenario.names, "fail", "spine0", step=0))
    async with failures(timeline=made) as (_, screen, press):
        assert screen._schedule.rows == 1
        await press("enter")
        assert screen._input.value
        await press("slash", *"1 leaf")
        assert screen._input.value == "1 leaf"


# Pictures

RADIUS = BlastRadius(
    events=(),
    jobs=(
        JobImpact("llama", 4.0, 4.5, 4.4, 0, 12, 0),
        JobImpact("moe", 2.0, float("inf"), 2.0, 0, 4, 0),
    ),
    links_gone=12,
    links=128,
    gone_by_tier={"nic-leaf": 4, "leaf-spine": 8},
    reroute_s=0.2,
    unreached=0,
    uplinks=Uplinks(1, 3, 4),
)


def canned_choices(scenario, frame):
    rules = ["leaf1:u3", "spine0", "3 random leaf-spine cables", "degrade 5 random cables to 0.25"]
    words = ["the hottest link", "the busiest spine", "3 cables by chance", "5 cables at a quarter"]
    return Table(
        "quick choices",
        (Column("choose", "text", words), Column("as a rule", "text", rules)),
        len(rules),
        rules,
    )


@pytest.fixture
def canned_blast(monkeypatch):
    def following(before, events, count, tell):
        event = events[0]
        return (Next(event, float("inf")), Next(event, 0.024))

    monkeypatch.setattr(asking, "blast", lambda before, events: RADIUS)
    monkeypatch.setattr(asking, "worst_next", following)
    monkeypatch.setattr(screen_module, "quick_choices", canned_choices)


def pictured(*, line="", then=()):
    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        pilot.app.simulate_key("F")
        await settle(pilot)
        if line:
            pilot.app.simulate_key("slash")
            pilot.app.screen._input.value = line
            pilot.app.screen._understand(line)
            await settle(pilot)
        for key in then:
            pilot.app.simulate_key(key)
            await settle(pilot)

    return before


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_picture_of_a_blast_radius(snap_compare, canned_blast, size):
    app = CannedApp(canned.timeline())
    before = pictured(line="spine0, leaf1:u3, node2", then=["enter"])
    assert snap_compare(app, terminal_size=size, run_before=before)


def test_picture_of_choices_and_a_schedule(snap_compare, canned_blast):
    before = pictured(line="spine0, leaf1:u3 @3", then=["enter", "enter", "down"])
    app = CannedApp(canned.timeline())
    assert snap_compare(app, terminal_size=(120, 36), run_before=before)


def test_picture_of_a_line_that_cannot_be_read(snap_compare, canned_blast):
    before = pictured(line="3 randon cables")
    app = CannedApp(canned.timeline())
    assert snap_compare(app, terminal_size=(80, 24), run_before=before)


async def test_escape_leads_from_a_choice_back_to_the_choices_and_out():
    async with failures() as (app, screen, press):
        await press("down", "enter")
        assert screen._input.value
        await press("escape")
        assert screen.focused is screen._choices
        assert not screen._input.value
        await press("escape")
        assert app.screen is app.explorer


async def test_a_rule_without_its_step_is_asked_for_it_and_not_refused():
    async with failures() as (app, screen, press):
        await press("enter", "at")
        await asyncio.sleep(0.2)
        await press()
        assert "at which step? type its number" in text_of(app)
        assert not screen._meaning.has_class("wrong")


async def test_what_the_line_suggests_can_be_done_to_a_hundred_thousand_gpus():
    assert "1% of optics" in screen_module._HINT
