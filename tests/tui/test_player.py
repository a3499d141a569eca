"""One thing at a time, at a speed apart from the frame rate."""

from __future__ import annotations

import pytest

from clusterscope.engine.timeline import Timeline
from clusterscope.tui.player import FPS, Player
from tests import small


@pytest.fixture(scope="module")
def timeline():
    return Timeline(small.scenario())


def run(player, seconds=0.001):
    job = player.take()
    frame = job.run()
    player.done(job, seconds)
    return job, frame


def test_requests_are_done_in_order(timeline):
    player = Player(timeline)
    player.go(3)
    player.ask(lambda _, step: step * 10)
    assert run(player)[1].step == 3
    assert run(player)[1].step == 30
    assert player.take() is None


def test_only_one_job_runs_at_a_time(timeline):
    player = Player(timeline)
    player.go(1)
    player.go(1)
    job = player.take()
    assert player.take() is None
    job.run()
    player.done(job, 0.0)
    assert player.take() is not None


def test_time_does_not_go_before_the_start(timeline):
    player = Player(timeline, 1)
    player.go(-5)
    assert run(player)[1].step == 0


@pytest.mark.parametrize(("speed", "steps"), [(1.0, 2), (4.0, 8), (64.0, 128)])
def test_two_seconds_of_ticks_are_two_seconds_of_speed(timeline, speed, steps):
    player = Player(timeline)
    player.playing, player.speed = True, speed
    for _ in range(2 * FPS):
        player.tick()
        if player._waiting:
            run(player)
    assert player.step == steps


def test_ticks_do_not_queue_behind_a_slow_step(timeline):
    player = Player(timeline)
    player.playing = True
    player.tick()
    player.take()
    for _ in range(10):
        player.tick()
    assert not player._waiting


def test_a_paused_player_asks_for_nothing(timeline):
    player = Player(timeline)
    player.tick()
    assert player.take() is None


def test_a_step_is_quick_only_after_quick_ones(timeline):
    player = Player(timeline)
    quick = []
    for _ in range(25):
        player.go(1)
        quick.append(run(player, 0.001)[0].quick)
    assert not quick[0]
    assert quick[-1]
    player.go(1)
    run(player, 0.5)
    player.go(1)
    assert not run(player, 0.001)[0].quick


def test_what_nobody_can_tell_the_cost_of_is_never_quick(timeline):
    player = Player(timeline)
    for _ in range(30):
        player.go(1)
        run(player, 0.0001)
    player.ask(lambda _, step: step)
    assert not run(player)[0].quick


def test_speed_has_bounds(timeline):
    player = Player(timeline)
    for _ in range(30):
        player.faster(2)
    assert player.speed == 1024
    for _ in range(30):
        player.faster(0.5)
    assert player.speed == 0.25
