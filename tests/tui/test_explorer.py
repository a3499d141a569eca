"""What keys do: asserted on the selection, the frame and the text on the screen."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path

from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.things import Thing
from clusterscope.tui import deck
from clusterscope.tui.messages import Typed
from clusterscope.tui.screens.help import Help
from clusterscope.tui.screens.inside import Inside
from clusterscope.tui.screens.neighborhood import Neighborhood
from clusterscope.tui.widgets.table import TableView
from tests import small
from tests.tui.apps import CannedApp, driven, settle, text_of

BIG, SMALL = (110, 30), (80, 24)  # the smallest of their kinds


@asynccontextmanager
async def explorer(size=BIG, timeline=None, **more):
    app = CannedApp(timeline, **more)
    async with driven(app, size) as (press, pilot):
        press.screen = app.explorer
        yield app, app.explorer, press, pilot


async def command(press, line):
    """Have a command carried out as if it had been typed, which takes a test much longer."""
    press.screen.post_message(Typed("command", line, "done"))
    await press()


async def test_all_panes_are_in_sight_where_there_is_room():
    async with explorer() as (app, _, _, _):
        for title in ("1 topology", "2 utilization", "3 inspector", "4 jobs", "5 events"):
            assert title in text_of(app)


async def test_one_pane_is_in_sight_where_there_is_not_and_numbers_switch():
    async with explorer(SMALL) as (app, screen, press, _):
        assert screen.stage.active == 2
        assert "1 topology" not in text_of(app)
        await press("4")
        assert screen.stage.active == 4
        assert "4 jobs" in text_of(app)
        assert "2 utilization" not in text_of(app)
        assert "llama" in text_of(app)
        await press("tab")
        assert screen.stage.active == 5
        await press("shift+tab")
        assert screen.stage.active == 4


async def test_below_sixty_by_sixteen_there_is_a_hint():
    async with explorer((50, 12)) as (app, _, _, pilot):
        assert "too small" in text_of(app)
        await pilot.resize_terminal(*SMALL)
        await settle(pilot)
        assert "2 utilization" in text_of(app)
        await pilot.resize_terminal(*BIG)
        await settle(pilot)
        assert "1 topology" in text_of(app)


async def test_the_tree_drives_the_selection_and_the_inspector():
    async with explorer() as (app, screen, press, _):
        await press("1", "down", "down")
        assert screen.selection == screen.scenario.names.find("leaf0")
        assert "3 inspector · leaf0" in text_of(app)
        await press("right", "down")
        assert screen.selection.kind == "node"
        await press("left")
        assert screen.selection == screen.scenario.names.find("leaf0")


async def test_the_map_drives_the_selection_and_enter_reveals_it_in_the_tree():
    async with explorer() as (app, screen, press, _):
        await press("2", "down", "right")
        assert screen.name_selected == "leaf3"
        await press("down", "enter")
        assert screen.selection.kind == "nic"
        assert screen.name_selected.split("/")[-1] in text_of(app).split("2 utilization")[-1]
        tree = screen.stage.topology.branches
        assert tree.key_of(tree.cursor) == screen.name_selected


async def test_x_fails_the_selection_and_restores_it_and_u_takes_it_back():
    async with explorer() as (app, screen, press, _):
        await command(press, "select spine0")
        await press("x")
        spine = screen.selection.index
        assert not screen.frame.health.switch_up[spine]
        assert "1 switch down" in text_of(app)
        assert "fail spine0" in text_of(app)
        await press("x")
        assert screen.frame.health.switch_up[spine]
        assert [event.kind for event in screen.player.timeline.log] == ["fail", "restore"]
        await press("u")
        assert not screen.frame.health.switch_up[spine]
        await press("u")
        assert screen.frame.health.healthy
        assert "all up" in text_of(app)
        await press("U")
        assert not screen.frame.health.switch_up[spine]
        await press("ctrl+r")
        assert screen.frame.health.healthy


async def test_a_quick_hand_fails_what_the_cursor_is_on():
    async with explorer() as (app, screen, press, pilot):
        await press("1")
        for key in ("down", "down", "x"):
            app.simulate_key(key)
        await settle(pilot)
        assert [event.text() for event in screen.player.timeline.log] == ["fail leaf0"]


async def test_what_cannot_fail_is_refused_in_a_sentence():
    async with explorer() as (app, screen, press, _):
        await press("x")
        assert "select a switch, cable, node, NIC port or GPU in it, or F: rules" in toasts(app)
        await press("down", "D")
        assert "spines: cannot degrade at one key; select a cable" in toasts(app)
        assert screen.player.timeline.log == ()


async def test_degrade_halves_a_cable_and_restores_it():
    async with explorer() as (_, screen, press, _):
        await command(press, "select leaf1:u2")
        cable = screen.selection.index
        await press("D")
        assert screen.frame.health.cable_scale[cable] == 0.5
        await press("D")
        assert screen.frame.health.cable_scale[cable] == 1.0
        await command(press, "degrade leaf1:u2 0.25")
        assert screen.frame.health.cable_scale[cable] == 0.25


async def test_degrade_slows_a_gpu_and_all_gpus_of_a_node():
    async with explorer() as (app, screen, press, _):
        await command(press, "select node1/gpu0")
        await press("D")
        assert screen.frame.health.gpu_speed[screen.selection.index] == 0.5
        assert "1 GPU slow" in text_of(app)
        await press("D")
        assert screen.frame.health.healthy
        await command(press, "degrade node2 to 0.7")
        assert (screen.frame.health.speeds(2, whole_node=True) == 0.7).all()


async def test_steps_go_forward_back_and_to_a_number():
    async with explorer() as (app, screen, press, _):
        await press("full_stop")
        assert screen.frame.step == 1
        await press("comma")
        assert screen.frame.step == 11
        await press("left_square_bracket", "left_square_bracket")
        assert screen.frame.step == 9
        await command(press, "seek 3")
        assert screen.frame.step == 3
        assert "3/20" in text_of(app)
        await command(press, "step 4")
        assert screen.frame.step == 7
        await press(*["left_square_bracket"] * 9)
        assert screen.frame.step == 0


async def test_an_event_lands_on_the_step_that_is_shown():
    async with explorer() as (_, screen, press, _):
        await command(press, "seek 5")
        await command(press, "fail spine1")
        assert [event.step for event in screen.player.timeline.log] == [5]
        await press("left_square_bracket")
        assert screen.frame.health.healthy


async def test_space_runs_and_pauses(monkeypatch):
    async with explorer() as (app, screen, press, pilot):
        assert not screen.player.playing
        await press("space")
        assert screen.player.playing
        assert "▶ 4/s" in text_of(app)
        await press("plus")
        assert "▶ 8/s" in text_of(app)
        await press("minus", "minus")
        assert "▶ 2/s" in text_of(app)
        await press("space")
        stopped = screen.player.step
        screen._deck._tick()
        await settle(pilot)
        assert screen.player.step == stopped
        assert "paused" in text_of(app)


async def test_time_stands_still_while_another_program_has_the_terminal():
    async with explorer() as (app, screen, press, _):
        await press("space")
        clock = screen._deck._clock
        app.app_suspend_signal.publish(app)
        await press()
        assert not clock._active.is_set()
        app.app_resume_signal.publish(app)
        await press()
        assert clock._active.is_set()
        await press("space")
        app.app_resume_signal.publish(app)
        await press()
        assert not clock._active.is_set()


async def test_ticks_advance_while_time_runs():
    async with explorer() as (_, screen, press, pilot):
        await press("space")
        before = screen.player.step
        for _ in range(4):
            screen._deck._tick()
            await settle(pilot)
        assert screen.player.step >= before + 4
        assert screen.frame.step == screen.player.step


async def test_frames_are_dropped_rather_than_queued_for_a_slow_terminal(monkeypatch):
    async with explorer() as (_, screen, press, pilot):
        monkeypatch.setattr(deck, "backlog", lambda app: 5)
        await press("space")
        for _ in range(4):
            screen._deck._tick()
            await settle(pilot)
        assert screen.frame.step == 0
        assert screen.player.step >= 4
        assert screen._deck.skipped >= 4
        await press("space", "full_stop")
        assert screen.frame.step == screen.player.step


async def test_the_filter_finds_by_part_of_a_name_and_escape_clears_it():
    async with explorer() as (app, screen, press, pilot):
        await pilot.press("slash", *"leaf3")
        await settle(pilot)
        assert "/leaf3" in text_of(app)
        assert "1 found" in text_of(app)
        await press("enter")
        assert screen.name_selected == "leaf3"
        await press("escape")
        assert screen.stage.topology.branches.filtered == ""
        await pilot.press("slash", *"node7/gpu1", "enter")
        await settle(pilot)
        assert screen.name_selected == "node7/gpu1"


async def test_a_wrong_name_is_one_sentence_and_markup_in_it_is_text():
    async with explorer() as (app, screen, press, pilot):
        await pilot.press("colon", *"fail [red]leaf9", "enter")
        await settle(pilot)
        assert "[red]leaf9" in toasts(app)
        await command(press, "explode leaf1")
        assert "there is no command 'explode'" in toasts(app)
        assert screen.player.timeline.log == ()


async def test_escape_gives_a_command_up():
    async with explorer() as (_, screen, press, pilot):
        await pilot.press("colon", *"fail leaf1", "escape")
        await settle(pilot)
        assert screen.player.timeline.log == ()
        await press("full_stop")
        assert screen.frame.step == 1


async def test_zoom_gives_one_pane_the_whole_stage():
    async with explorer() as (app, _, press, _):
        await press("4", "z")
        assert "4 jobs" in text_of(app)
        assert "1 topology" not in text_of(app)
        await press("escape")
        assert "1 topology" in text_of(app)


async def test_enter_inspects_where_the_inspector_is_out_of_sight_and_escape_comes_back():
    async with explorer(SMALL) as (_, screen, press, _):
        await press("4", "6")
        await press("enter")
        assert screen.stage.active == 3
        await press("escape")
        assert screen.stage.active == 6


async def test_m_turns_to_the_other_views_of_a_pane():
    async with explorer() as (app, _, press, _):
        await press("2", "m")
        assert "peak" in text_of(app)
        await press("m", "m")
        assert "peak utilization" not in text_of(app)
        await press("3", "m")
        assert "one view only" in toasts(app)


async def test_s_sorts_the_table_of_the_active_pane():
    async with explorer() as (_, screen, press, _):
        await press("4", "s", "s")
        table = screen.stage.table
        assert isinstance(table, TableView)
        assert table.sorted_by == ("busbw", True)
        await press("S")
        assert table.sorted_by == ("busbw", False)


async def test_copy_sends_the_name_to_the_terminal():
    async with explorer() as (app, _, press, _):
        await command(press, "select leaf2")
        await press("y")
        assert app.clipboard == "leaf2"


async def test_export_is_done_by_whoever_was_given_for_it():
    asked = []

    class Writers:
        def report(self, timeline: Timeline, path: Path, steps: int) -> None:
            asked.append((timeline, path, steps))

    async with explorer(exports=Writers()) as (app, screen, press, _):
        await press("full_stop", "e")
        assert asked == [(screen.player.timeline, Path("small-report-step1"), 1)]
        assert "wrote small-report-step1" in toasts(app)


async def test_an_export_that_fails_says_why():
    class Writers:
        def report(self, timeline: Timeline, path: Path, steps: int) -> None:
            raise PermissionError(13, "no", "there")

    async with explorer(exports=Writers()) as (app, _, press, _):
        await press("e")
        assert "there" in toasts(app)


async def test_help_opens_and_closes():
    async with explorer() as (app, screen, press, _):
        await press("question_mark")
        assert isinstance(app.screen, Help)
        assert "run or pause" in text_of(app)
        await press("escape")
        assert app.screen is screen


async def test_enter_leads_into_a_node_from_the_tree():
    async with explorer() as (app, screen, press, _):
        screen.show(screen.scenario.names.find("node0"))
        await press("1", "enter", "down")
        assert "» inside" in text_of(app)
        assert screen.name_selected == "node0"  # the row stands for the node
        await press("enter")
        assert isinstance(app.screen, Inside)
        await press("escape", "down", "enter")  # a row that does not open
        assert isinstance(app.screen, Inside)
        assert screen.name_selected == "node0/nic0"
        await press("escape", "up", "x")
        assert [event.text() for event in screen.player.timeline.log] == ["fail node0"]


async def test_enter_on_a_switch_without_nodes_shows_what_is_around_it():
    async with explorer() as (app, screen, press, _):
        screen.show(screen.scenario.names.find("spine1"))
        await press("1", "enter")
        assert isinstance(app.screen, Neighborhood)
        assert screen.name_selected == "spine1"


async def test_clicks_select_seek_and_press_keys():
    async with explorer() as (app, screen, _, pilot):
        tree = screen.stage.topology.branches
        await pilot.click(tree, offset=(5, 3))
        await settle(pilot)
        assert screen.name_selected == "leaf1"
        lines = text_of(app).splitlines()
        await pilot.click(offset=(lines[-2].index("baseline") + 1, len(lines) - 2))
        await settle(pilot)
        assert screen.baseline is screen.frame
        await pilot.click(offset=(lines[-3].index("┤") - 1, len(lines) - 3))
        await settle(pilot)
        assert screen.frame.step == 20


async def test_another_transport_keeps_log_and_step():
    async with explorer(timeline=Timeline(small.scenario())) as (app, _, press, _):
        await command(press, "seek 2")
        await command(press, "fail spine0")
        await command(press, "transport rocev2")
        await press("3")
        screen = app.screen
        assert screen.scenario.transport.name == "rocev2"
        assert screen.frame.step == 2
        assert [event.text() for event in screen.player.timeline.log] == ["fail spine0"]


async def test_nothing_is_painted_while_nothing_changes(painting):
    async with explorer() as (app, _, _, pilot):
        painted = []
        original = app._display
        app._display = lambda *a, **k: (painted.append(1), original(*a, **k))
        await pilot.pause(0.6)
        assert painted == []


async def test_a_selection_survives_a_resize():
    async with explorer(SMALL) as (_, screen, press, pilot):
        await command(press, "select spine1")
        await pilot.resize_terminal(130, 40)
        await settle(pilot)
        assert screen.selection == Thing("switch", screen.scenario.names.find("spine1").index)


def toasts(app):
    return "\n".join(notification.message for notification in app._notifications)
