"""The lines on top: what is told of a job, and what is left where room is short."""

from __future__ import annotations

import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.jobs import job_metrics
from clusterscope.tui import headline
from clusterscope.tui.player import Player
from clusterscope.tui.widgets.bars import fitting
from clusterscope.views.text import fmt, percent
from tests.small import job, scenario


def two_jobs():
    first, second = job("all-reduce"), job("all-gather")
    jobs = [{**first[0], "name": "a", "ranks": 8}, {**second[0], "name": "b", "first_gpu": 8}]
    jobs[1]["ranks"] = 8
    return scenario(jobs=jobs)


def words(parts):
    return "  ".join(part.text for part in parts if part.text)


@pytest.mark.parametrize(
    ("band", "text"),
    [
        ((0.96, 1.04), "±4 %"),
        ((0.85, 1.02), "−15/+2 %"),
        ((1.0, 1.0), ""),
        ((0.9, 1.0), "−10/+0 %"),
    ],
)
def test_band(band, text):
    assert headline.band_words(band) == text


def test_the_job_bar_tells_of_the_job_that_is_asked_for():
    built = two_jobs()
    frame = Timeline(built).at(0)
    _, two = job_metrics(built, frame)
    told = words(headline.jobs(built, frame, 1))
    assert "2/2 b: all-gather × 8" in told
    assert f"busbw {fmt(two.busbw_GBps, 'GBps')}" in told
    assert f"algbw {fmt(two.algbw_GBps, 'GBps')}" in told
    assert f"iter {fmt(two.iteration_s, 'seconds')}" in told
    assert f"{percent(two.share_of_line, 0)} of line" in told
    assert "1/2 a: all-reduce" in words(headline.jobs(built, frame, 0))
    assert headline.jobs(built, frame, 9) == headline.jobs(built, frame, 1)


def test_the_short_line_keeps_bandwidth_hot_spot_and_step():
    built = scenario()
    timeline = Timeline(built)
    parts = headline.short(built, timeline.at(0), Player(timeline))
    told = words(fitting(parts, 80))
    assert "busbw" in told
    assert "hot ." in told
    assert "‖ step 0" in told
    assert told.startswith("small")


def test_a_stalled_job_says_when_it_will_move_again():
    built = scenario(transport={"name": "rocev2", "reroute_s": 1.0})
    timeline = Timeline(built)
    timeline.inject(Event.named(built.names, "fail", "spine0", step=0))
    told = words(headline.jobs(built, timeline.at(0)))
    assert "1 switch down, rerouting" in told
    assert "stalled" in told
    assert "until rerouted at 1 s, then" in told


def test_a_cluster_without_load_has_no_hot_spot_to_name():
    built = scenario(jobs=[])
    timeline = Timeline(built)
    assert "no job" in words(headline.short(built, timeline.at(0), Player(timeline)))
