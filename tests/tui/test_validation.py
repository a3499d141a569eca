"""The validation screen, on results that are made by hand."""

from __future__ import annotations

import threading
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from clusterscope.tui.screens.cluster import Explorer
from clusterscope.tui.screens.validation import Validation
from clusterscope.validation.cases import Case, cases
from clusterscope.validation.verdict import Result, judge
from tests.tui.apps import CannedApp, settle, text_of


def canned(case: Case) -> Result:
    """A result with round numbers: every third case is off, routing is not derived."""
    if case.id.startswith("ROUT"):
        return judge(case, None)
    off = 1.5 if int(case.id[-1]) % 3 == 0 else 1.0
    got = {}
    for e in case.expected:
        if not isinstance(e.value, str) and e.tol_kind != "order":
            values = e.value if isinstance(e.value, tuple) else (e.value,)
            got[e.name] = [off * v for v in values]
    return judge(case, got, 0.25)


class ProofApp(CannedApp):
    """Begins with the screen, some cases derived."""

    def begin(self) -> None:
        super().begin()
        known = {case.id: canned(case) for case in cases()[:12]}
        self.push_screen(Validation(known, canned))


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_picture(snap_compare, size):
    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await pilot.press("down", "down", "down")
        await settle(pilot)

    assert snap_compare(ProofApp(), terminal_size=size, run_before=before)


@asynccontextmanager
async def screen(app: CannedApp | None = None):
    app = app or ProofApp()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)

        async def press(*keys: str) -> None:
            for key in keys:
                await pilot.press(key)
                await settle(pilot)

        yield app, press


async def test_the_explorer_opens_it_and_escape_comes_back():
    async with screen(CannedApp()) as (app, press):
        await press("V")
        assert isinstance(app.screen, Validation)
        assert "FAIR-01" in text_of(app)
        await press("escape")
        assert isinstance(app.screen, Explorer)


async def test_enter_derives_the_case_under_the_cursor():
    async with screen() as (app, press):
        await press("end")
        assert cases()[-1].id not in app.screen.results
        await press("enter")
        assert cases()[-1].id in app.screen.results
        assert len(app.screen.results) == 13


async def test_space_derives_all_that_are_listed():
    async with screen() as (app, press):
        await press("slash", *"rout", "enter", "space")
        listed = [case.id for case in app.screen.listed]
        assert listed
        assert set(listed) <= set(app.screen.results)
        assert not app.screen.working
        assert "miss" in text_of(app)
        await press("escape", "space")
        assert len(app.screen.results) == len(cases())
        assert "76 of 76 cases" in text_of(app)


async def test_space_again_stops_and_closing_stops_too():
    begun, go_on = threading.Event(), threading.Event()

    def slow(case: Case) -> Result:
        begun.set()
        go_on.wait(10)
        return canned(case)

    class SlowApp(CannedApp):
        def begin(self) -> None:
            super().begin()
            self.push_screen(Validation({}, slow))

    app = SlowApp()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("space")
        begun.wait(10)
        await pilot.pause()
        assert app.screen.working
        assert "76 to go: FAIR-01" in text_of(app)
        await pilot.press("space")
        assert not app.screen.working
        go_on.set()
        await settle(pilot)
        assert len(app.screen.results) <= 1
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, Explorer)


async def test_what_goes_wrong_in_a_case_is_told_and_the_screen_stays():
    def broken(case: Case) -> Result:
        raise ZeroDivisionError("by zero")

    class BrokenApp(CannedApp):
        def begin(self) -> None:
            super().begin()
            self.push_screen(Validation({}, broken))

    async with screen(BrokenApp()) as (app, press):
        await press("space")
        assert not app.screen.working
        assert any("ZeroDivisionError" in n.message for n in app._notifications)


async def test_filter_lists_by_verdict():
    async with screen() as (app, press):
        await press("slash", *"fail", "enter")
        failed = {name for name, result in app.screen.results.items() if result.verdict == "fail"}
        assert failed
        assert failed <= {case.id for case in app.screen.listed}
        assert len(app.screen.listed) < 20
