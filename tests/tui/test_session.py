"""Baseline, zoom, jumps, saving, looks and other keys: asserted on the state and on the text."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager

import numpy as np
import pytest
from textual.pilot import Pilot

from clusterscope.engine import replay
from clusterscope.engine.timeline import Timeline
from clusterscope.tui.ascii import plain
from clusterscope.tui.keys import EXPLORER, FOOTER
from clusterscope.tui.library import Library, Opened
from clusterscope.tui.settings import Look, Settings
from clusterscope.tui.start import Start
from clusterscope.tui.theme import palette
from clusterscope.views import heat
from tests import canned, small
from tests.tui.apps import CannedApp, settle, text_of
from tests.tui.test_explorer import BIG, SMALL, command, explorer, toasts

SIZES = [(80, 24), (120, 36), (200, 50)]


@asynccontextmanager
async def with_settings(settings, size=BIG):
    app = CannedApp(settings=settings)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        yield app, pilot


async def until(pilot, arrived):
    for _ in range(200):
        await settle(pilot)
        if arrived():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(text_of(pilot.app))


# Baseline


async def test_b_pins_a_baseline_that_everything_is_compared_with():
    async with explorer((170, 36), timeline=Timeline(small.scenario())) as (app, screen, press, _):
        await press("b")
        assert screen.baseline is screen.frame
        await command(press, "fail leaf0:u0")
        await press("full_stop")
        text = text_of(app)
        assert "vs baseline step 0: 0.0 %" in text
        assert "change since step 0" in text
        assert "cooler v30=15-5.1 '1+5*15^30 hotter" in text
        assert "4 jobs · change, since step 0" in text
        assert "risers an" in text
        assert "busbw ±" in text
        await command(press, "select leaf0")
        assert "1, was 0" in text_of(app)
        tree = screen.stage.topology.branches
        assert tree.shape.columns[3].name == "change"
        await press("b")
        assert screen.baseline is None
        assert "vs baseline" not in text_of(app)
        assert " ,.10:25-40=55+70*85#95" in text_of(app)


async def test_the_change_is_in_the_one_line_of_a_small_terminal():
    async with explorer(SMALL) as (app, _, press, _):
        await press("b", "full_stop")
        assert "vs step 0: 0.0 %" in text_of(app).splitlines()[0]


async def test_the_map_of_a_baseline_is_written_as_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with explorer() as (_, screen, press, _):
        await press("2", "b")
        name, shape = screen.in_sight()
        assert name == "utilization"
        assert shape.signed


# Zoom


async def test_enter_zooms_in_to_single_links_and_escape_or_minus_out_again():
    async with explorer((150, 36)) as (app, screen, press, _):
        await press("2", "down", "enter")
        assert "2 utilization · ▸ spines: leaves by spines" in text_of(app)
        leaf = screen.name_selected
        assert leaf.startswith("leaf")
        assert f"◂ {leaf}" in text_of(app)
        await press("enter")
        assert f"▸ spines ▸ {leaf}: ports" in text_of(app)
        assert "to above" in text_of(app)
        await press("down", "right")
        assert screen.selection.kind == "link"
        link = screen.name_selected
        await press("enter")
        assert f"▸ spines ▸ {leaf}: ports" in text_of(app)
        tree = screen.stage.topology.branches
        await press("minus")
        assert "leaves by spines" in text_of(app)
        assert screen.name_selected == link
        assert screen.player.speed == 4.0
        await press("escape")
        assert "worst link of a cell" in text_of(app)
        await press("minus")
        assert screen.player.speed == 2.0
        assert tree is screen.stage.topology.branches


async def test_at_the_end_of_the_way_in_enter_inspects():
    async with explorer(SMALL) as (_, screen, press, _):
        await press("enter", "enter")
        assert screen.stage.active == 2
        await press("enter")
        assert screen.stage.active == 3
        await press("escape", "escape", "escape")
        assert screen.stage.active == 2
        assert not screen.stage.map.out()


async def test_the_cursor_of_the_map_follows_a_selection_made_elsewhere():
    async with explorer() as (app, screen, press, _):
        await press("1")
        await command(press, "select leaf3")
        cell = screen.stage.map._map.cursor
        assert cell == screen.stage.map._map.shape.where("leaf3")
        assert "◂ leaf3" in text_of(app)
        await command(press, "select node5/gpu1")
        assert "◂ node5/gpu1" in text_of(app)
        await press("2", "left", "right", "up")
        assert screen.selection.kind in ("nic", "switch")


async def test_a_quick_hand_on_the_map_is_not_taken_back():
    async with explorer() as (app, screen, press, pilot):
        await press("2")
        for key in ("down", "right", "down", "left", "up"):
            app.simulate_key(key)
        await settle(pilot)
        assert screen.stage.map._map.cursor == (1, 0)


async def test_every_view_of_the_map_keeps_the_place():
    async with explorer((150, 36)) as (app, _, press, _):
        await press("2", "enter", "m")
        assert "▸ spines: leaves by spines" in text_of(app)
        await press("m")
        await press("m")
        assert "▸ spines: leaves by spines" in text_of(app)


# Jumps


async def test_braces_go_from_event_to_event():
    async with explorer(timeline=Timeline(small.scenario())) as (app, screen, press, _):
        for step, name in ((3, "spine0"), (7, "leaf2")):
            await command(press, f"seek {step}")
            await command(press, f"fail {name}")
        await command(press, "seek 5")
        await press("left_curly_bracket")
        assert (screen.frame.step, screen.name_selected) == (3, "spine0")
        await press("left_curly_bracket")
        assert "no event before step 3" in toasts(app)
        await press("right_curly_bracket")
        assert (screen.frame.step, screen.name_selected) == (7, "leaf2")
        await press("right_curly_bracket")
        assert "no event after step 7" in toasts(app)


async def test_enter_on_an_event_goes_there():
    async with explorer(timeline=Timeline(small.scenario())) as (_, screen, press, _):
        for step, name in ((3, "spine0"), (7, "leaf2")):
            await command(press, f"seek {step}")
            await command(press, f"fail {name}")
        await press("5", "s", "home", "enter")  # by step, the last first
        assert (screen.frame.step, screen.name_selected) == (7, "leaf2")
        await press("down", "enter")
        assert (screen.frame.step, screen.name_selected) == (3, "spine0")
        assert screen.stage.active == 5


# Saving


async def test_w_writes_a_replay_that_reopens_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with explorer(timeline=Timeline(small.scenario())) as (app, screen, press, _):
        await command(press, "fail spine0")
        await command(press, "select leaf1")
        await press("full_stop", "w")
        digest = screen.frame.digest()[:8]
        assert f"wrote small-{digest}.replay.toml" in toasts(app)
        await command(press, "save mine")
        await command(press, "save mine")
        await command(press, "save nowhere/mine")
        assert "cannot be written" in toasts(app)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["mine-2.replay.toml", "mine.replay.toml", f"small-{digest}.replay.toml"]
    saved = replay.read("mine.replay.toml")
    assert (saved.step, saved.selection, saved.screen) == (1, "leaf1", "")


async def test_a_side_screen_is_saved_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with explorer(timeline=Timeline(small.scenario())) as (_, _, press, _):
        await press("L", "w")
    (path,) = tmp_path.iterdir()
    assert replay.read(path).screen == "links"


def reopening(start):
    def open_named(name):
        return Opened(Timeline(small.scenario()), start)

    return Library(tuple, tuple, lambda name: None, open_named)


async def test_open_puts_another_cluster_in_the_place_of_this_one():
    async with explorer() as (app, first, press, pilot):
        app._shelf = reopening(Start(2, "leaf1", "links"))
        await command(press, "open small.replay.toml")
        await until(pilot, lambda: app.explorer is not first and app.screen is not app.explorer)
        assert app.explorer.frame.step == 2
        assert app.explorer.name_selected == "leaf1"
        assert type(app.screen).__name__ == "Links"
        await until(pilot, lambda: "/leaf1" in text_of(app))
        tree = app.explorer.stage.topology.branches
        assert tree.key_of(tree.cursor) == "leaf1"


@pytest.mark.parametrize("start", [Start(0, "leaf77"), Start(0, "", "lynx")])
async def test_what_a_saved_session_points_at_may_be_gone(start):
    async with explorer() as (app, first, press, pilot):
        app._shelf = reopening(start)
        await command(press, "open small.replay.toml")
        await until(pilot, lambda: "there is no" in toasts(app))
        await settle(pilot)
        assert app.screen is first


# Looks and keys


async def test_c_turns_to_the_next_ramp_and_g_hides_the_signs():
    async with explorer() as (app, _, press, _):
        assert "####" in text_of(app)
        await press("c")
        assert app.look.ramp == "inferno"
        assert palette(app).levels[7].bgcolor.name == heat.RAMPS["inferno"].colors[7]
        shown = app.screen._compositor.render_strips()
        backs = {style.bgcolor.name for strip in shown for _, style, _ in strip if style.bgcolor}
        assert "#ffffaf" in backs
        assert "#d7af00" not in backs
        await press("g")
        assert "####" not in text_of(app)
        await command(press, "fail leaf2")
        assert "XX" in text_of(app)
        await press("g")
        assert "####" in text_of(app)


async def test_keys_of_the_settings_work_and_are_shown():
    settings = Settings(keys={"run": ("p",), "step(1)": ("n",), "side('neighborhood')": ("N",)})
    async with with_settings(settings) as (app, pilot):
        screen = app.explorer
        await pilot.press("n")
        await settle(pilot)
        assert screen.frame.step == 1
        await pilot.press("space", "full_stop")
        await settle(pilot)
        assert (screen.frame.step, screen.player.playing) == (1, False)
        await pilot.press("p")
        assert screen.player.playing
        await pilot.press("p")
        assert not screen.player.playing
        assert "p run" in text_of(app).splitlines()[-2]
        await pilot.press("question_mark")
        await settle(pilot)
        assert re.search(r"┃p +run or pause", text_of(app))


async def test_thresholds_of_the_settings_hold_everywhere():
    look = Look(thresholds=(0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07))
    async with with_settings(Settings(look)) as (app, _):
        text = text_of(app)
        assert ".1:2-3=4+5*6#7 %" in text
        assert "leaf-spine" not in text or "###" in text


async def test_plain_is_as_without_color():
    async with with_settings(Settings(Look("plain"))) as (app, _):
        for strip in app.screen._compositor.render_strips():
            for _, style, _ in strip:
                colors = (style.color, style.bgcolor) if style else ()
                assert all(color.is_default for color in colors if color)
        assert "####" in text_of(app)


async def test_ascii_leaves_nothing_else_on_the_screen():
    async with with_settings(Settings(ascii=True), (140, 36)) as (app, pilot):
        for key in ("b", "x", "question_mark"):
            await pilot.press(key)
            await settle(pilot)
            filters = app.get_line_filters()
            for strip in app.screen._compositor.render_strips():
                for filter_ in filters:
                    segments = filter_.apply(list(strip), app.screen.styles.background)
                assert "".join(segment.text for segment in segments).isascii()


def test_ascii_takes_as_many_cells():
    for text, like in (("┏━ ▸ a · b…", "+- > a . b~"), ("日本", "????"), ("plain", "plain")):
        assert plain(text) == like


# Pictures


def picture(*keys: str, commands: tuple[str, ...] = ()):
    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        for command_ in commands:
            await pilot.press("colon", *command_, "enter")
            await settle(pilot)
        for key in keys:
            await pilot.press(key)
            await settle(pilot)
        pilot.app.clear_notifications()
        await settle(pilot)

    return before


def changed():
    """A canned timeline whose step 1 has every size of change, either way."""
    changes = (-0.5, -0.2, -0.08, -0.02, 0.0, 0.02, 0.08, 0.2, 0.5)

    class Changed(Timeline):
        kept: dict = {}  # noqa: RUF012

        def at(self, index):
            real = super().at(index)
            kept = self.kept.get(index)
            if kept is None or kept[0] is not real:
                cables = np.resize(np.repeat(changes, 2), self.scenario.fabric.cables)
                ratio = np.repeat(0.5 + index * cables, 2)
                loads = ratio * real.network.link_gbps
                self.kept[index] = real, canned.with_loads(real, loads)
            return self.kept[index][1]

    return Changed(small.scenario())


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_picture_of_a_baseline(snap_compare, size):
    before = picture("b", "full_stop", "2", commands=("fail leaf2:u0", "select leaf0"))
    assert snap_compare(CannedApp(changed()), terminal_size=size, run_before=before)


def test_picture_of_a_baseline_without_color(snap_compare, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    before = picture("2", "enter", "b", "full_stop")
    assert snap_compare(CannedApp(changed()), terminal_size=(80, 24), run_before=before)


def test_picture_of_single_links(snap_compare):
    before = picture("2", "enter", "enter", commands=("fail leaf1:u1", "select leaf1"))
    assert snap_compare(CannedApp(), terminal_size=(80, 24), run_before=before)


@pytest.mark.parametrize("theme", ["light", "high-contrast"])
def test_picture_of_a_theme(snap_compare, theme):
    app = CannedApp(settings=Settings(Look(theme, "viridis" if theme == "light" else "inferno")))
    before = picture(commands=("fail leaf2",))
    assert snap_compare(app, terminal_size=(120, 36), run_before=before)


def test_picture_in_ascii(snap_compare):
    assert snap_compare(
        CannedApp(settings=Settings(ascii=True)), terminal_size=(120, 36), run_before=settle
    )


async def test_another_transport_keeps_selection_and_baseline():
    timeline = Timeline(small.scenario(jobs=small.job("permutation")))
    async with explorer((140, 36), timeline=timeline) as (app, _, press, pilot):
        await command(press, "select leaf1")
        await press("full_stop", "b")
        await command(press, "fail leaf0:u0")
        await command(press, "transport rocev2")
        await until(pilot, lambda: app.screen.scenario.transport.name == "rocev2")
        screen = app.screen
        assert screen.name_selected == "leaf1"
        assert screen.baseline.step == 1
        assert screen.baseline.network.scenario is screen.scenario
        assert screen.baseline.health.healthy
        assert not screen.frame.health.healthy
        assert "the baseline is step 1 under rocev2 now" in toasts(app)
        assert "vs baseline step 1" in text_of(app)
        press.screen = screen
        await press("b")
        assert screen.baseline is None
        await command(press, "transport infiniband")
        await until(pilot, lambda: app.screen.scenario.transport.name == "infiniband")
        assert app.screen.baseline is None


async def test_a_baseline_without_a_change_says_so_where_links_would_be():
    async with explorer((140, 36), timeline=Timeline(small.scenario())) as (app, _, press, _):
        await press("b")
        assert "no link carries more or less" in text_of(app)


async def test_undoing_a_rule_says_how_much_it_was():
    async with explorer(timeline=Timeline(small.scenario())) as (app, _, press, _):
        await command(press, "fail all spines")
        await press("u")
        assert "taken back: 2 events · U puts them back" in toasts(app)


async def test_a_report_that_takes_its_time_says_that_it_has_begun():
    class Exports:
        report = staticmethod(lambda *_: None)

    async with explorer(exports=Exports()) as (app, _, press, _):
        await press("e")
        assert "writing a report of 1 step …\nwrote small-report-step0" in toasts(app)


def test_the_footer_of_a_common_terminal_reaches_from_failing_to_quitting():
    by_id = {action.id: action for action in EXPLORER}
    until_quit = FOOTER[: FOOTER.index("app.quit") + 1]
    assert {"fail", "undo", "filter", "command", "help"} <= set(until_quit)
    shown = [by_id[name] for name in until_quit]
    assert sum(len(f"{a.shown_keys.split()[0]} {a.label}  ") for a in shown) <= 120
