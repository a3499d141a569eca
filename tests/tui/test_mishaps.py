"""Whatever goes wrong in a thread ends in one sentence; the screen goes on."""

from __future__ import annotations

import pytest

from clusterscope.engine.timeline import Timeline
from clusterscope.tui.app import ClusterScopeApp
from clusterscope.tui.mishaps import guarded
from clusterscope.tui.screens import compare, failures, links
from clusterscope.tui.screens.picker import Picker
from tests import small
from tests.tui.apps import settle, text_of
from tests.tui.test_app import until
from tests.tui.test_explorer import BIG, explorer, toasts
from tests.tui.test_picker import picker_app

SENTENCE = "that did not work: ZeroDivisionError: too thin"


def broken(*_: object, **__: object) -> None:
    raise ZeroDivisionError("too thin")


def timeline() -> Timeline:
    return Timeline(small.scenario(jobs=small.job("permutation")))


def test_an_invariant_of_ours_is_no_mishap():
    def work():
        raise AssertionError

    with pytest.raises(AssertionError):
        guarded(work, print)()


@pytest.mark.parametrize(
    ("key", "module", "name"),
    [
        ("L", links.all_links, "link_table"),
        ("v", compare.Contest, "compare"),
        ("F", failures, "quick_choices"),
    ],
)
async def test_a_side_screen_says_what_went_wrong_and_goes_on(monkeypatch, key, module, name):
    async with explorer(BIG, timeline()) as (app, screen, press, _):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, broken)
            await press(key)
            assert toasts(app) == SENTENCE
            await press("full_stop")
            assert screen.frame.step == 1
        await press("x" if key == "L" else "full_stop")
        await press("full_stop")
        assert "computing" not in text_of(app)
        assert "looking" not in text_of(app)
        await press("escape")
        assert app.screen is screen


async def test_time_stops_where_the_next_frame_would_fare_no_better(monkeypatch):
    async with explorer(BIG, timeline()) as (_, screen, press, _):
        await press("L")
        monkeypatch.setattr(links.all_links, "link_table", broken)
        screen.action_run()
        screen.player.playing = True
        await press("full_stop")
        assert not screen.player.playing


async def test_a_rule_that_breaks_is_answered_all_the_same(monkeypatch):
    async with explorer(BIG, timeline()) as (app, _, press, _):
        await press("F")
        monkeypatch.setattr(failures, "ask", broken)
        await press("enter")
        assert text_of(app).count(SENTENCE.split(": ")[2]) >= 1
        assert "reading the rule" not in text_of(app)
        await press("escape")
        assert not isinstance(app.screen, failures.Failures)


async def test_a_picture_that_cannot_be_written_is_told(monkeypatch):
    class Exports:
        picture = staticmethod(broken)

    async with explorer(BIG, exports=Exports()) as (app, _, press, _):
        await press("P")
        assert SENTENCE in toasts(app)


async def test_a_preview_that_breaks_leaves_the_picker_open():
    app = picker_app(look=broken)
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        assert SENTENCE in text_of(app)


async def test_a_cluster_that_breaks_while_it_is_built_leads_back_to_the_picker():
    app = picker_app(open=broken)
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await until(pilot, Picker)
        await settle(pilot)
        assert SENTENCE in toasts(app)


async def test_the_only_cluster_that_breaks_ends_the_app_with_the_sentence():
    app = ClusterScopeApp(broken)
    async with app.run_test() as pilot:
        for _ in range(50):
            await pilot.pause(0.02)
            if app.return_code is not None:
                break
    assert str(app.mistake) == SENTENCE
