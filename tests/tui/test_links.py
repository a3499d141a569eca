"""The links screen: order, filter and what keys do to the link under the cursor."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from clusterscope.fabric.things import Thing
from clusterscope.tui.messages import Typed
from clusterscope.tui.screens.links import Links
from tests.tui.apps import CannedApp, driven, settle, text_of

SIZES = [(80, 24), (120, 36), (200, 50)]


@asynccontextmanager
async def links(size=(120, 24)):
    app = CannedApp()
    async with driven(app, size) as (press, _):
        await press("L")
        assert isinstance(app.screen, Links)
        yield app, app.screen, press


async def typed(screen, press, text, state="done"):
    screen.post_message(Typed("filter", text, state))
    await press()


def title(app):
    return text_of(app).splitlines()[1]


async def test_it_begins_with_all_links_hottest_first():
    async with links() as (app, screen, _):
        assert "links · 96 of 96 · by util ↓ " in title(app)
        assert screen.name_selected == "leaf3:u0>"
        assert text_of(app).splitlines()[3].split()[1:6] == [
            "leaf3", "spine0", "#1.00", ".", ".25",
        ]  # fmt: skip


async def test_s_sorts_by_the_next_column_and_capital_s_turns_the_order_around():
    async with links() as (app, screen, press):
        await press("s")
        assert "by peak ↓" in title(app)
        assert "peak↓" in text_of(app)
        await press("s", "s")
        assert "by capacity ↓" in title(app)
        assert screen.name_selected == "node0/gpu0:nv>"
        await press("S")
        assert "by capacity ↑" in title(app)
        assert screen.name_selected == "node0/nic0:u0>"
        await press("s", "s", "s")
        assert "by link ↑" in title(app)


async def test_a_filter_narrows_while_typing_and_escape_gives_it_up():
    async with links() as (app, screen, press):
        await press("slash", *"leaf2")
        assert "links · 16 of 96 · /leaf2 ·" in title(app)
        await press("enter")
        assert screen.focused is screen.table
        assert "16 of 96" in title(app)
        await press("slash", "escape")
        assert "links · 96 of 96 · by util" in title(app)
        assert "/ filter" in text_of(app)


async def test_a_filter_that_cannot_be_read_says_so_and_the_last_good_one_stays():
    async with links() as (app, screen, press):
        await typed(screen, press, "leaf2")
        await typed(screen, press, "leaf9", "changed")
        assert "links · 16 of 96 · /leaf2 ·" in title(app)
        assert "there is no thing 'leaf9'; leaves there: leaf0 to leaf3" in text_of(app)
        await typed(screen, press, "leaf1")
        assert "there is no thing" not in text_of(app)
        assert "/leaf1" in title(app)


async def test_nothing_is_said_about_the_links_before_they_were_looked_at(monkeypatch):
    monkeypatch.setattr(Links, "in_thread", lambda *_: None)
    async with links() as (app, _, _):
        assert "looking" in title(app)
        assert "no link is" not in text_of(app)


async def test_a_filter_that_nothing_obeys_leaves_an_empty_table():
    async with links() as (app, screen, press):
        await typed(screen, press, "down")
        assert "0 of 96" in title(app)
        assert "no link is all of that at once" in text_of(app)
        await press("down", "enter", "x")
        assert isinstance(app.screen, Links)
        assert screen.name_selected == ""
        assert not screen.explorer.player.timeline.log


async def test_the_order_is_kept_over_a_step_and_r_sorts_anew():
    async with links() as (app, screen, press):
        await press("down", "down")
        held = screen.name_selected
        await press("x")
        order = screen.table.key_of(0)
        await press("full_stop")
        assert screen.table.key_of(0) == order
        assert screen.name_selected == held
        assert "by util ↓ as of step 0, r sorts" in title(app)
        assert "down" in text_of(app).splitlines()[5]
        await press("r")
        assert "as of" not in title(app)
        assert screen.name_selected == held
        assert screen.table.cursor == 94  # dead links are last, and the cursor went along


async def test_while_time_runs_the_order_follows_at_the_top_alone():
    async with links() as (app, screen, press):
        screen.explorer.player.playing = True
        screen.draw_head(screen.frame)
        await press()
        assert "sorted at every step" in title(app)
        await press("down")
        assert "sorted at every step" not in title(app)
        await press("up")
        screen.explorer._deck.go(1)
        await press()
        assert screen._ordered_at is screen.frame
        assert screen.frame.step == 1


async def test_x_fails_the_cable_under_the_cursor_and_u_takes_it_back():
    async with links() as (_, screen, press):
        await press("x")
        log = screen.explorer.player.timeline.log
        assert [event.name for event in log] == ["leaf3:u0"]
        assert "down" in [screen.table._table.columns[7][row] for row in screen._order.rows]
        await press("u")
        assert screen.frame.health.healthy


async def test_enter_goes_back_with_the_link_selected_and_its_device_open():
    async with links((120, 36)) as (app, screen, press):
        name = screen.name_selected
        await press("enter")
        assert app.screen is app.explorer
        assert app.explorer.name_selected == name
        tree = app.explorer.stage.topology.branches
        assert tree.key_of(tree.cursor) == "leaf3"


async def test_escape_goes_back_and_changes_nothing():
    async with links() as (app, _, press):
        await press("down", "escape")
        assert app.screen is app.explorer
        assert app.explorer.selection == Thing("cluster")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_links(snap_compare, size):
    async def before(pilot):
        await settle(pilot)
        await pilot.press("L")
        await settle(pilot)
        await pilot.press("down", "x")
        await settle(pilot)
        pilot.app.clear_notifications()
        await settle(pilot)

    assert snap_compare(CannedApp(), terminal_size=size, run_before=before)


def test_links_filter_that_cannot_be_read(snap_compare):
    async def before(pilot):
        await settle(pilot)
        await pilot.press("L")
        await settle(pilot)
        await pilot.press("slash", *"warm")
        await settle(pilot)

    assert snap_compare(CannedApp(), terminal_size=(80, 24), run_before=before)


async def test_ramp_and_signs_change_here_as_well():
    async with links() as (app, _, press):
        ramp = app.look.ramp
        await press("c")
        assert app.look.ramp != ramp
        assert ".10:25-40=55+70*85#95" in text_of(app)
        await press("g")
        assert not app.look.glyphs
        assert ".10:25-40=55+70*85#95" not in text_of(app)
        assert "10 25 40 55 70 85 95" in text_of(app)


async def test_help_begins_with_the_keys_of_this_screen():
    async with links() as (app, screen, press):
        await press("question_mark")
        assert "help · links" in text_of(app)
        assert "sort anew by the numbers of now" in text_of(app)
        await press("escape")
        assert app.screen is screen


@pytest.mark.parametrize(("size", "cut"), [((80, 24), True), ((90, 24), True), ((120, 24), False)])
async def test_a_column_that_does_not_fit_says_so(size, cut):
    async with links(size) as (app, _, press):
        heading = text_of(app).splitlines()[2].strip("┃")
        assert ("→" in heading or "…" in heading) == cut
        await press("right")
        shown = text_of(app).splitlines()[2].strip("┃")
        assert shown.startswith("from") == cut
