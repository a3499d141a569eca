"""The inside of a node and the networks side by side, as screens."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.spec import presets
from clusterscope.tui.screens.inside import Inside
from clusterscope.tui.screens.networks import Networks
from tests.tui.apps import CannedApp, driven, text_of


@asynccontextmanager
async def opened(preset, key, size=(120, 40)):
    app = CannedApp(Timeline(build(presets.load(preset))))
    async with driven(app, size) as (press, _):
        await press(key)
        yield app, press


async def test_patterns_stand_above_the_links_of_the_one_at_the_cursor():
    async with opened("hgx-h200-nvswitch", "I") as (app, press):
        assert isinstance(app.screen, Inside)
        text = text_of(app)
        assert "a pair: gpu0 to gpu1     450.0 GB/s" in text
        assert "as it is built · a pair: gpu0 to gpu1" in text
        await press("down", "down", "down", "down")
        text = text_of(app)
        assert "as it is built · one GPU to CPU memory" in text
        first = text.splitlines()[text[: text.index(" there ")].count("\n") + 1]
        assert "memory of one server CPU" in first  # what is used stands first


async def test_m_shows_the_links_of_the_other_builds_in_turn():
    async with opened("hgx-h200-nvswitch", "I") as (app, press):
        await press("m")
        assert "if cables joined the GPUs in pairs" in text_of(app)
        await press("m")
        assert "if NVLink-C2C joined GPUs and CPUs" in text_of(app)
        await press("m")
        assert "as it is built" in text_of(app)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_networks_are_columns_and_lead_to_the_inside(size):
    async with opened("gb200-superpod", "M", size) as (app, press):
        assert isinstance(app.screen, Networks)
        head = text_of(app).splitlines()[2]
        assert "scale-up" in head
        if size[0] > 80:
            assert head.index("scale-up") < head.index("scale-out") < head.index("front-end")
            assert "the storage nodes" in text_of(app)
        await press("I")
        assert isinstance(app.screen, Inside)
        await press("escape")
        assert app.screen is app.explorer


async def test_a_mesh_is_mapped_gpu_by_gpu_and_its_cables_can_fail():
    async with opened("hgx-h200-mesh", "x") as (app, press):
        explorer = app.explorer
        explorer.selection = explorer.scenario.names.find("node0/gpu2:m3")
        await press("x")
        assert "fail node0/gpu2:m3" in str([event.text() for event in explorer.events])
        assert "X" in text_of(app)
