"""The curve screen: by size, another algorithm and collective, a log beside it."""

from __future__ import annotations

import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.spec.presets import load
from clusterscope.tui.screens.curve import Curves
from tests.tui.apps import CannedApp, driven, text_of

LOG = """\
#  size count type redop root time algbw busbw #wrong
1048576 262144 float sum -1 42.0 24.97 43.69 0
"""


@pytest.mark.asyncio
async def test_a_collective_by_size_and_what_was_measured(tmp_path):
    path = tmp_path / "node.log"
    path.write_text(LOG)
    app = CannedApp(Timeline(build(load("hgx-h200-nvswitch"))))
    async with driven(app, (120, 36)) as (press, _):
        await press("B")
        screen = app.screen
        assert isinstance(screen, Curves)
        assert screen.found is not None
        assert {point.algorithm for point in screen.found.points} == {"ring", "nvls"}
        assert "all-reduce over 8 ranks in one domain" in text_of(app)
        await press("plus")
        assert {point.algorithm for point in screen.found.points} == {"ring"}
        screen.overlay(str(path))
        await press("minus")
        assert "measured" in text_of(app)
        assert "42 µs" in text_of(app)
        screen.overlay(str(tmp_path / "none.log"))
        await press()
        assert any("no such file" in note.message for note in app._notifications)
        await press("m")
        assert screen.found is not None
        assert screen.found.collective == "all-gather"
        await press("escape")
        assert app.screen is app.explorer


@pytest.mark.asyncio
async def test_the_curve_is_that_of_the_network_with_its_failures():
    timeline = Timeline(build(load("hgx-h200-nvswitch")))
    timeline.inject(Event.named(timeline.scenario.names, "fail", "node0/gpu0", step=0))
    app = CannedApp(timeline)
    async with driven(app, (120, 36)) as (press, _):
        await press("B")
        screen = app.screen
        assert isinstance(screen, Curves)
        assert screen.found is not None
        assert {point.busbw_GBps for point in screen.found.points} == {0.0}
        assert "with what has failed" in text_of(app)
