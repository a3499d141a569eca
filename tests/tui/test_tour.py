"""The tour: each step is known to be done by what is shown, whoever did it and how."""

from __future__ import annotations

from dataclasses import replace

from clusterscope.tui.keys import EXPLORER, MOVES
from clusterscope.tui.tour import STEPS, Seen, Step, Tour, steps_for
from tests.tui.apps import text_of
from tests.tui.test_explorer import command, explorer

START = Seen(hottest=1.0)
# What is seen once each step is done, one after the other.
DONE = [
    {"kind": "link", "heat": 0.997},
    {"opened": 1},
    {"failed": 1},
    {"pane": "jobs"},
    {"failed": 0},
    {"screens": frozenset({"compare"})},
    {"baseline": True},
    {"reports": 1},
]


def test_each_step_is_done_by_its_own_deed_and_by_no_other():
    tour, seen = Tour(START), START
    for number, change in enumerate(DONE):
        assert tour.words[0] == f"{number + 1}/{len(STEPS)}"
        assert not tour.see(seen)
        seen = replace(seen, **change)
        assert tour.see(seen)
    assert tour.over
    assert tour.words == ("8/8", STEPS[-1].praise, "that was the tour")
    assert not tour.see(seen)


def test_a_link_that_is_not_the_hottest_does_not_do():
    tour = Tour(START)
    assert not tour.see(replace(START, kind="link", heat=0.9))
    assert not tour.see(replace(START, kind="switch", heat=1.0))
    assert not tour.see(replace(START, kind="link"))  # dead: no load at all
    assert tour.see(replace(START, kind="nic", heat=1.0))


def test_what_was_done_before_the_step_does_not_count():
    before = replace(START, failed=2, opened=5, reports=1)
    tour = Tour(before, (STEPS[1], STEPS[2]))
    assert not tour.see(before)
    assert tour.see(replace(before, opened=6))
    assert not tour.see(replace(before, opened=6))
    assert tour.see(replace(before, opened=6, failed=3))


def test_skipping_leaves_a_step_out_without_praise():
    tour = Tour(START, (Step("a", "well done", lambda *_: True), STEPS[1]))
    tour.skip(START)
    assert tour.words == ("2/2", "", STEPS[1].ask)
    tour.skip(START)
    tour.skip(START)
    assert tour.over


def test_steps_ask_only_for_what_there_is():
    assert steps_for({"baseline"}) == STEPS
    assert [s for s in STEPS if s not in steps_for(())] == [s for s in STEPS if s.needs]


def test_every_key_of_the_tour_is_a_key():
    keys = {key for action in (*EXPLORER, *MOVES) for key in action.shown_keys.split()}
    asked = " ".join(step.ask for step in steps_for({a.id for a in EXPLORER}))
    for key in ("6", "↓", "enter", "1", "→", "x", "4", "u", "U", "v", "esc", "e"):
        assert f" {key}" in f" {asked}"
        assert key in keys


async def test_the_tour_goes_along_with_what_is_done():
    async with explorer() as (app, screen, press, _):
        assert "new here? t: a tour" in text_of(app)
        await press("t")
        assert "find the hottest link" in text_of(app)
        hottest = screen.scenario.names.link(int(screen.frame.utilization.argmax()))
        await command(press, f"select {hottest}")
        assert "open a branch" in text_of(app)
        await press("1", "home", "down", "right")
        assert "break something" in text_of(app)
        await command(press, "fail spine0")
        assert "see which job got slower" in text_of(app)
        await press("4")
        assert "u undoes" in text_of(app)
        await press("u")
        assert "compare transports" in text_of(app)
        screen.guide.opened("compare")
        while screen.guide.on and "writes a report" not in text_of(app):
            await press("t")
        screen.guide.reported()
        await press()
        assert "that was the tour" in text_of(app)
        await press("t")
        assert not screen.guide.on
        assert "tour" not in text_of(app).split("topology")[0]


async def test_escape_ends_the_tour_and_t_begins_anew():
    async with explorer((80, 24)) as (app, screen, press, _):
        await press("t", "t")
        assert "tour 2/" in text_of(app)
        await press("escape")
        assert not screen.guide.on
        await press("t")
        assert "tour 1/" in text_of(app)
