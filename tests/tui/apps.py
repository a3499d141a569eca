"""Apps that open at once on canned data, and how to wait for them."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from clusterscope.engine.timeline import Timeline
from clusterscope.tui.app import ClusterScopeApp
from clusterscope.tui.screens.cluster import Explorer
from clusterscope.tui.settings import Settings
from tests import canned


class CannedApp(ClusterScopeApp):
    """Opens an explorer on a timeline without the loading screen."""

    def __init__(
        self, timeline: Timeline | None = None, settings: Settings | None = None, **more: object
    ) -> None:
        super().__init__(settings=settings)
        self._timeline = timeline or canned.timeline()
        self._more = {"views": canned.VIEWS, **more}

    def begin(self) -> None:
        first = self._timeline.at(0)
        self.push_screen(Explorer(self._timeline, first, **self._more))

    @property
    def explorer(self) -> Explorer:
        screen = self.screen_stack[1]
        assert isinstance(screen, Explorer)
        return screen


async def settle(pilot: Pilot[None]) -> None:
    """Wait until every thread has answered and every message is through."""
    for _ in range(2):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def typed(pilot: Pilot[None], *keys: str) -> None:
    """Press keys as fast as they are taken, and settle; Pilot's own press sleeps 60 ms a key."""
    for key in keys:
        pilot.app.simulate_key(key)
        await pilot.pause()
    await settle(pilot)


@asynccontextmanager
async def driven(
    app: CannedApp, size: tuple[int, int]
) -> AsyncIterator[tuple[Callable[..., Awaitable[None]], Pilot[None]]]:
    """The app running at a size: a function that types keys, and the pilot."""
    async with app.run_test(size=size) as pilot:
        await settle(pilot)

        async def press(*keys: str) -> None:
            await typed(pilot, *keys)

        yield press, pilot
        text_of(app)  # whatever the test has looked at, the last screen can be drawn


async def closing_ends(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, key: str) -> None:
    """Assert that `escape` ends `owner.name`, at work for the screen of a key, by an error."""
    started, go_on = threading.Event(), threading.Event()
    ended: list[Exception] = []
    real = getattr(owner, name)

    def slow(*arguments: object) -> object:
        started.set()
        assert go_on.wait(10)
        try:
            return real(*arguments)
        except Exception as error:
            ended.append(error)
            raise

    monkeypatch.setattr(owner, name, slow)
    app = CannedApp()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        app.simulate_key(key)
        for _ in range(40):
            await pilot.pause()
            if started.is_set():
                break
        app.simulate_key("escape")
        await pilot.pause()
        assert app.screen is app.explorer
        go_on.set()
        await settle(pilot)
        assert len(ended) == 1


def text_of(app: ClusterScopeApp) -> str:
    """What is on the screen, as text."""
    lines = app.screen._compositor.render_strips()
    return "\n".join(line.text for line in lines)
