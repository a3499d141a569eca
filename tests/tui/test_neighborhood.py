"""The neighborhood screen: walking from neighbor to neighbor, and failing what is between."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from clusterscope.engine.timeline import Timeline
from clusterscope.tui.screens.neighborhood import Neighborhood
from tests import small
from tests.tui.apps import CannedApp, driven, settle, text_of

SIZES = [(80, 24), (120, 36), (200, 50)]


@asynccontextmanager
async def near(name, size=(80, 24), timeline=None):
    app = CannedApp(timeline)
    async with driven(app, size) as (press, _):
        app.explorer.selection = app.explorer.scenario.names.find(name)
        await press("n")
        assert isinstance(app.screen, Neighborhood)
        yield app, app.screen, press


def center(screen):
    return screen.scenario.names.thing(screen.center)


async def test_a_leaf_is_between_its_spines_and_its_nodes():
    async with near("leaf2") as (app, screen, _):
        lines = text_of(app).splitlines()
        spines = next(y for y, line in enumerate(lines) if "spine0 ×2" in line)
        middle = next(y for y, line in enumerate(lines) if "├─┤ leaf2" in line)
        nodes = next(y for y, line in enumerate(lines) if "node4 " in line)
        assert spines < middle < nodes
        assert "↑* .90 ↓* .90" in lines[spines + 1]
        assert "┌─┴" in lines[spines + 2]
        assert "↑: .30 ↓: .30" in lines[nodes + 1]
        assert "▲ 2 spines, 4 cables" in text_of(app)
        assert "▼ 4 nodes, 4 cables" in text_of(app)
        assert center(screen) == "leaf2"


async def test_arrows_walk_and_minus_goes_back_to_where_one_came_from():
    async with near("leaf2") as (app, screen, press):
        await press("up", "right")
        assert screen.name_selected == "spine1"
        assert "spine1 by leaf2:u1, u3" in text_of(app)
        await press("up")
        assert center(screen) == "spine1"
        assert "leaf2 › spine1" in text_of(app)
        await press("down", "right", "right", "right", "down")
        assert center(screen) == "leaf3"
        await press("minus")
        assert (center(screen), screen.name_selected) == ("spine1", "leaf3")
        await press("backspace")
        assert (center(screen), screen.name_selected) == ("leaf2", "spine1")
        await press("minus")
        assert center(screen) == "leaf2"


async def test_the_scale_up_domain_is_at_the_side():
    async with near("node3/gpu1") as (app, screen, press):
        assert "├───── domain3" in text_of(app)
        await press("right")
        assert screen.name_selected == "domain3"
        await press("left")
        assert screen.name_selected == "node3/gpu1"
        await press("right", "right")
        assert center(screen) == "domain3"
        await press("down", "enter", "enter")
        assert center(screen) == "node3/gpu0"


async def test_from_the_center_only_where_there_is_something():
    async with near("spine0") as (_, screen, press):
        await press("up", "left", "right", "home", "enter")
        assert (center(screen), screen.name_selected) == ("spine0", "spine0")
        await press("down", "end", "right")
        assert screen.name_selected == "leaf3"
        await press("home", "up")
        assert screen.name_selected == "spine0"


async def test_x_fails_a_cable_and_capital_x_the_device_and_u_takes_it_back():
    async with near("leaf2") as (app, screen, press):
        await press("up", "x")
        assert [event.name for event in app.explorer.player.timeline.log] == ["leaf2:u0"]
        assert "↑x .90 ↓x .90" in text_of(app)
        assert "1 of 2 dead" in text_of(app)
        await press("x")
        assert screen.frame.health.healthy
        await press("X")
        assert not screen.frame.health.switch_up[screen._tie().thing.index]
        assert "X spine0 ×2" in text_of(app)
        assert "╳" in text_of(app)
        await press("u", "u", "u")
        assert screen.frame.health.healthy
        assert "╳" not in text_of(app)


async def test_what_has_no_cable_between_fails_itself():
    async with near("node3") as (app, _, press):
        await press("down", "right", "right", "x")
        assert [event.name for event in app.explorer.player.timeline.log] == ["node3/gpu0"]
        await press("up", "x")
        assert app.explorer.player.timeline.log[-1].name == "node3"
        assert "X node3" in text_of(app)
        assert "node, 2 GPUs, failed" in text_of(app)


async def test_m_takes_trunks_apart_and_the_cursor_stays_on_the_neighbor():
    async with near("leaf2") as (app, screen, press):
        await press("up", "right", "m")
        assert "▲ 2 spines, 4 cables" in text_of(app)
        assert "×2" not in text_of(app)
        assert "cable by cable" in text_of(app)
        assert screen.name_selected == "spine1"
        await press("right", "x")
        assert app.explorer.player.timeline.log[-1].name == "leaf2:u3"
        await press("m")
        assert "↑x .90" in text_of(app)


async def test_a_band_that_does_not_fit_says_what_is_in_sight_and_scrolls():
    wide = small.scenario(
        node__count=256,
        scale_out__su_nodes=128,
        scale_out__leaf_switch="generic-256",
        scale_out__leaf_down=128,
        scale_out__leaf_up=128,
        scale_out__spine_switch="generic-256",
    )
    async with near("leaf0", timeline=Timeline(wide)) as (app, screen, press):
        assert "128 nodes, 128 cables · 1 to 15 in sight" in text_of(app)
        await press("down", "end")
        assert screen.name_selected == "node127"
        assert "node127" in text_of(app)
        assert "· 116 to 128 in sight" in text_of(app)
        await press("pageup")
        assert screen.name_selected == "node112"


async def test_a_cable_begins_at_its_lower_end_and_a_group_with_its_members():
    async with near("leaf1:u1<") as (_, screen, press):
        assert (center(screen), screen.name_selected) == ("leaf1", "spine1")
        await press("escape")
    async with near("cluster") as (app, screen, press):
        assert "▼ 1 all spines, 4 leaves" in text_of(app)
        await press("down", "right", "enter")
        assert center(screen) == "leaf0"


async def test_it_is_live_and_escape_selects_the_center():
    async with near("leaf2") as (app, screen, press):
        await press("full_stop")
        assert screen.frame.step == 1
        assert "step 1" in text_of(app)
        await press("up", "enter", "escape")
        assert app.screen is app.explorer
        assert app.explorer.name_selected == "spine0"


async def test_nothing_is_drawn_when_nothing_changes():
    async with near("leaf2") as (_, screen, _):
        drawn = []
        screen.wiring.refresh = lambda *regions, **_: drawn.append(regions)
        screen.redraw(screen.frame)
        assert drawn == []
        screen.wiring.action_move("up")
        assert len(drawn[0]) == 2  # the row of spines, and the center


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_neighborhood(snap_compare, size):
    async def before(pilot):
        await settle(pilot)
        explorer = pilot.app.explorer
        explorer.selection = explorer.scenario.names.find("leaf2")
        await settle(pilot)
        await pilot.press("n", "up", "x", "right", "X")
        await settle(pilot)
        pilot.app.clear_notifications()
        await settle(pilot)

    assert snap_compare(CannedApp(), terminal_size=size, run_before=before)


def test_neighborhood_of_a_node(snap_compare):
    async def before(pilot):
        await settle(pilot)
        explorer = pilot.app.explorer
        explorer.selection = explorer.scenario.names.find("node3")
        await settle(pilot)
        await pilot.press("n")
        await settle(pilot)

    assert snap_compare(CannedApp(), terminal_size=(80, 24), run_before=before)


async def test_ramp_and_signs_change_here_as_well():
    async with near("leaf2") as (app, _, press):
        ramp = app.look.ramp
        await press("c", "g")
        assert app.look.ramp != ramp
        assert ".10:25-40=55+70*85#95" not in text_of(app)
