"""What keeps the explorer quick, on counts and order rather than on a clock."""

from __future__ import annotations

import asyncio
import gc
import threading
import time

import pytest
from textual.content import Content

from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.things import Thing
from clusterscope.tui import deck, terminal
from clusterscope.tui.app import ClusterScopeApp
from clusterscope.tui.panes import gallery
from clusterscope.tui.panes.gallery import Gallery
from clusterscope.tui.player import Player
from clusterscope.tui.threads import Threads
from tests import canned, small
from tests.tui.apps import CannedApp, settle, text_of


def test_threads_are_daemons_and_idle_ones_are_used_again():
    threads = Threads()
    first = threads.submit(threading.current_thread).result(5)
    time.sleep(0.05)
    second = threads.submit(threading.current_thread).result(5)
    assert first is second
    assert first.daemon


def test_threads_hand_on_what_went_wrong():
    future = Threads().submit(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        future.result(5)


async def test_the_event_loop_waits_for_no_thread_at_its_end():
    gate = threading.Event()
    asyncio.get_running_loop().set_default_executor(Threads())
    asyncio.get_running_loop().run_in_executor(None, gate.wait, 60)
    begin = time.monotonic()
    await asyncio.get_running_loop().shutdown_default_executor()
    assert time.monotonic() - begin < 5
    gate.set()


def slow_view(calls, seconds):
    def view(scenario, frame, thing):
        calls.append((threading.current_thread() is threading.main_thread(), thing))
        time.sleep(seconds)
        return canned.VIEWS["inspector"](scenario, frame, thing)

    return view


def test_a_view_that_was_slow_once_is_left_to_a_thread():
    timeline, calls = Timeline(small.scenario()), []
    frame = timeline.at(0)
    shown = Gallery(timeline.scenario, {"inspector": slow_view(calls, 2 * gallery.QUICK_S)})
    assert shown.ready("inspector", frame, Thing("cluster")) is not None
    assert shown.ready("inspector", frame, Thing("pod", 0)) is None
    shape = shown.shape("inspector", frame, Thing("pod", 0))
    assert shown.ready("inspector", frame, Thing("pod", 0)) is shape
    assert len(calls) == 2


async def test_what_is_slow_is_computed_in_a_thread_and_shown_then():
    calls: list[tuple[bool, Thing]] = []
    views = {**canned.VIEWS, "inspector": slow_view(calls, 0.03)}
    app = CannedApp(views=views)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        app.simulate_key("1")
        await settle(pilot)
        calls.clear()
        for _ in range(4):
            app.simulate_key("down")
        await settle(pilot)
        assert calls
        assert not any(on_loop for on_loop, _ in calls)
        assert calls[-1][1] == app.explorer.selection


def test_a_long_run_rests_so_that_keys_get_their_turn(monkeypatch):
    rests = []
    monkeypatch.setattr(time, "sleep", rests.append)
    player = Player(Timeline(small.scenario()))
    player.go(500)
    job = player.take()
    assert job is not None
    assert job.run().step == 500
    assert len(rests) > 2
    assert player.reached == 500


def test_a_single_step_takes_no_rest(monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("rested"))
    player = Player(Timeline(small.scenario()))
    player.go(1)
    job = player.take()
    assert job is not None
    assert job.run().step == 1


def test_a_run_that_nobody_waits_for_ends_where_it_is():
    player = Player(Timeline(small.scenario()))
    player.go(1_000_000)
    job = player.take()
    assert job is not None
    player.ended = True
    assert job.run().step == 0


async def test_what_breaks_in_a_thread_is_one_sentence_and_time_goes_on():
    app = CannedApp()
    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)

        def broken(timeline, step):
            raise ZeroDivisionError("by zero")

        app.explorer._deck.ask(broken)
        await settle(pilot)
        assert "that did not work: ZeroDivisionError: by zero" in [
            note.message for note in app._notifications
        ]
        app.simulate_key("full_stop")
        await settle(pilot)
        assert app.explorer.frame.step == 1


async def test_frames_that_a_slow_terminal_cannot_take_are_left_out(monkeypatch):
    app = CannedApp()
    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        explorer = app.explorer
        explorer.action_run()
        monkeypatch.setattr(deck, "backlog", lambda _: 5)
        shown = explorer.frame
        for _ in range(4):
            explorer._deck._tick()
            await settle(pilot)
        assert explorer.frame is shown
        assert explorer._deck.skipped >= 4
        assert explorer.player.step > shown.step
        monkeypatch.setattr(deck, "backlog", lambda _: 0)
        explorer._deck._tick()
        await settle(pilot)
        assert explorer.frame.step == explorer.player.step


async def test_words_on_a_border_paint_one_line():
    app = CannedApp()
    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        pane = app.explorer.stage.topology
        pane._exchange_repaint_regions()
        terminal.write_on_border(pane, Content("1 topology · other words"))
        regions = list(pane._exchange_repaint_regions())
        assert [(region.y, region.height) for region in regions] == [(0, 1)]
        await pilot.pause()
        assert "other words" in text_of(app)


async def test_working_is_said_only_when_it_takes_long():
    app = CannedApp()
    async with app.run_test(size=(110, 30)) as pilot:
        await settle(pilot)
        gate = threading.Event()

        def long(timeline, step):
            gate.wait(5)
            return step + 1

        app.explorer._deck.ask(long)
        app.explorer.draw_bars()
        await pilot.pause()
        assert "working" not in text_of(app)
        await pilot.pause(deck.PATIENCE_S + 0.1)
        assert "working …" in text_of(app)
        gate.set()
        await settle(pilot)
        assert "working" not in text_of(app)


async def test_the_collector_is_on_once_a_cluster_is_open():
    app = CannedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert gc.isenabled()


async def test_a_view_that_takes_long_does_not_keep_a_new_frame_back(monkeypatch):
    monkeypatch.setattr(gallery, "LONG_S", 0.02)
    calls: list[tuple[bool, Thing]] = []
    app = CannedApp(views={**canned.VIEWS, "inspector": slow_view(calls, 0.03)})
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        stage = app.explorer.stage
        stage.prepare(app.explorer.frame)
        calls.clear()
        new = app.explorer.player.timeline.at(1)
        stage.preparing()(new)
        assert not calls  # it comes after the frame
        app.simulate_key("full_stop")
        await settle(pilot)
        assert len(calls) == 1
        assert not calls[0][0]
        assert app.explorer.frame.step == 1


async def test_q_leaves_while_a_cluster_is_built():
    gate = threading.Event()
    app = ClusterScopeApp(lambda: gate.wait(20) and Timeline(small.scenario()))
    async with app.run_test() as pilot:
        await pilot.pause(0.05)
        app.simulate_key("q")
        await pilot.pause(0.05)
        assert app.return_code == 0
        gate.set()
