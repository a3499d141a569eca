"""From start to explorer: picker, loading, and mistakes on the way."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from clusterscope.tui.app import ClusterScopeApp
from clusterscope.tui.library import Library, Opened, PresetRow
from clusterscope.tui.screens.cluster import Explorer
from clusterscope.tui.screens.loading import Loading
from clusterscope.tui.screens.picker import Picker
from clusterscope.views.shapes import Note
from tests import small
from tests.tui.apps import settle, text_of

ROWS = [PresetRow("a", "one [b]rack[/b]", 72, "infiniband"), PresetRow("b", "two", 144, "rocev2")]


def shelf(load):
    return Library(lambda: ROWS, tuple, lambda name: Note(name, lines=(f"about {name}",)), load)


async def until(pilot, screen):
    for _ in range(100):
        await settle(pilot)
        if isinstance(pilot.app.screen, screen):
            return
        await asyncio.sleep(0.02)
    raise AssertionError(pilot.app.screen)


async def test_a_line_is_on_the_screen_before_the_cluster_is_built():
    gate = threading.Event()

    def build():
        gate.wait(5)
        return Timeline(small.scenario())

    app = ClusterScopeApp(build, what="colossus [b]")
    async with app.run_test() as pilot:
        await pilot.pause(0.1)
        assert isinstance(app.screen, Loading)
        assert "opening colossus [b] …" in text_of(app)
        gate.set()
        await until(pilot, Explorer)
        await settle(pilot)
        assert "2 utilization" in text_of(app)


async def test_a_spec_that_cannot_be_built_ends_the_app_with_one_sentence():
    def build():
        raise SpecError("x.toml", "leaf_ports = 65", "use 64")

    app = ClusterScopeApp(build)
    async with app.run_test() as pilot:
        for _ in range(50):
            await pilot.pause(0.02)
            if app.return_code is not None:
                break
    assert app.return_code == 2
    assert str(app.mistake) == "x.toml: leaf_ports = 65; use 64"


async def test_without_a_spec_there_is_a_picker():
    opened = []

    def load(name):
        opened.append(name)
        return Opened(Timeline(small.scenario()))

    app = ClusterScopeApp(shelf=shelf(load))
    async with app.run_test() as pilot:
        await settle(pilot)
        assert isinstance(app.screen, Picker)
        assert "about a" in text_of(app)
        await pilot.press("down", "enter")
        await until(pilot, Explorer)
        assert opened == ["b"]


async def test_a_preset_that_cannot_be_built_leaves_the_picker_open():
    def load(name):
        raise SpecError(name, "is broken")

    app = ClusterScopeApp(shelf=shelf(load))
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await pilot.pause(0.2)
        await settle(pilot)
        assert isinstance(app.screen, Picker)
        assert [n.message for n in app._notifications] == ["a: is broken"]
        await pilot.press("ctrl+p")
        await settle(pilot)
        assert "open the cluster under the cursor" in text_of(app)


async def test_q_leaves():
    app = ClusterScopeApp(shelf=shelf(None))
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("q")
    assert app.return_code == 0


def test_the_first_line_waits_for_neither_numpy_nor_pydantic():
    code = (
        "import sys, clusterscope.tui.app as a; "
        "print([m for m in ('numpy', 'pydantic', 'networkx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
