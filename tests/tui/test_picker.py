"""The picker: a list, a preview that never stops a key, and a line to type a path."""

from __future__ import annotations

import threading

import pytest
from textual.pilot import Pilot

from clusterscope.engine import replay
from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from clusterscope.spec import write as spec_write
from clusterscope.tui import library
from clusterscope.tui.app import ClusterScopeApp
from clusterscope.tui.library import Library, Opened, PresetRow
from clusterscope.tui.screens.cluster import Explorer
from clusterscope.tui.screens.help import Help
from clusterscope.tui.screens.picker import Picker, matching
from clusterscope.tui.start import Start
from clusterscope.views.shapes import Fact, Note
from tests import small
from tests.tui.apps import settle, text_of, typed
from tests.tui.test_app import until
from tests.tui.test_explorer import toasts

PRESETS = [
    PresetRow("big", "A hundred thousand of them", 100_000, "spectrum-x", 0.54),
    PresetRow("small", "One rack [b]", 72, "infiniband", 0.0),
]
FILES = [PresetRow("mine.toml", "a file here", 0, "")]


def look(name: str) -> Note:
    if name not in ("big", "small", "mine.toml"):
        raise SpecError(name, "there is no such file")
    facts = (
        Fact("GPUs", 100_000, "int", "source", "the operator's web page, 2024"),
        Fact("leaf", 1_600, "int", "estimate", "half of the ports down, half of them up"),
    )
    return Note(name, facts, (f"What {name} is.",))


def shelf(**more) -> Library:
    own = {
        "presets": lambda: PRESETS,
        "files": lambda: FILES,
        "look": look,
        "open": lambda name: Opened(Timeline(small.scenario())),
    }
    return Library(**{**own, **more})


def picker_app(**more) -> ClusterScopeApp:
    return ClusterScopeApp(shelf=shelf(**more))


@pytest.mark.parametrize(
    "size", [(60, 20), (80, 24), (120, 36), (200, 50)], ids=lambda s: f"{s[0]}x{s[1]}"
)
def test_picture(snap_compare, size):
    assert snap_compare(picker_app(), terminal_size=size, run_before=settle)


def test_picture_of_a_path_that_is_not_there(snap_compare):
    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await pilot.press("colon", *"nope.toml")
        await settle(pilot)

    assert snap_compare(picker_app(), terminal_size=(80, 24), run_before=before)


async def test_the_preview_follows_the_cursor():
    app = picker_app()
    async with app.run_test() as pilot:
        await settle(pilot)
        assert "What big is." in text_of(app)
        await pilot.press("down")
        await settle(pilot)
        assert "What small is." in text_of(app)
        assert "presets · 2 · files here · 1" in text_of(app)


async def test_a_slow_preview_holds_up_no_key_and_the_last_wish_wins():
    gate, asked = threading.Event(), []

    def slow(name):
        asked.append(name)
        gate.wait(5)
        return look(name)

    app = picker_app(look=slow)
    async with app.run_test() as pilot:
        await pilot.press("down", "down")
        assert app.screen._table.cursor == 2
        gate.set()
        await settle(pilot)
        assert "What mine.toml is." in text_of(app)
        assert asked == ["big", "mine.toml"]


async def test_filter_narrows_and_escape_shows_all():
    app = picker_app()
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("slash", *"rack", "enter")
        await settle(pilot)
        assert "/rack" in text_of(app)
        assert "What small is." in text_of(app)
        assert "100,000" not in text_of(app).split("preview")[0]
        await pilot.press("escape")
        await settle(pilot)
        assert "big" in text_of(app)
        await pilot.press("slash", *"zzz")
        await settle(pilot)
        assert "nothing is called so" in text_of(app)


async def test_a_typed_path_is_looked_at_and_opened():
    opened = []

    def load(name):
        opened.append(name)
        return Opened(Timeline(small.scenario()), Start(3))

    app = picker_app(open=load)
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("colon", *"nope.toml", "enter")
        await settle(pilot)
        assert isinstance(app.screen, Picker)
        assert "nope.toml: there is no such file" in text_of(app)
        await pilot.press("colon", *"mine", "enter")
        await until(pilot, Explorer)
        assert opened == ["mine.toml"]
        assert app.screen.frame.step == 3


async def test_t_opens_with_a_tour():
    app = picker_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("t")
        await until(pilot, Explorer)
        await settle(pilot)
        assert "tour 1/" in text_of(app)


async def test_o_comes_back_to_the_explorer_or_replaces_it():
    app = picker_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await until(pilot, Explorer)
        first = app.screen
        await pilot.press("full_stop")
        await settle(pilot)
        await pilot.press("o")
        await settle(pilot)
        assert isinstance(app.screen, Picker)
        assert "esc: back to small" in text_of(app)
        await pilot.press("escape")
        await settle(pilot)
        assert app.screen is first
        assert first.frame.step == 1
        await pilot.press("o", "down", "enter")
        for _ in range(50):
            await settle(pilot)
            if app.screen is not first and isinstance(app.screen, Explorer):
                break
        assert app.screen is not first
        assert sum(isinstance(screen, Explorer) for screen in app.screen_stack) == 1


async def test_escape_in_the_first_picker_says_what_there_is_to_do():
    app = picker_app()
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert "nothing is open yet" in toasts(app)


def test_rows_match_by_name_and_title():
    assert [row.name for row in matching(PRESETS, "HUNDRED")] == ["big"]
    assert matching(PRESETS, "") == PRESETS


def test_the_library_knows_presets_files_and_replays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(spec_write.write(small.spec()))
    timeline = Timeline(small.scenario())
    timeline.inject(Event.named(timeline.scenario.names, "fail", "spine0", step=1))
    (tmp_path / "saved.toml").write_text(replay.dumps(timeline, 2))
    (tmp_path / "broken.toml").write_text("name = ")
    assert [row.name for row in library.file_rows()] == ["broken.toml", "mine.toml", "saved.toml"]
    assert {"xai-colossus-100k", "gb200-nvl72"} <= {row.name for row in library.preset_rows()}
    assert library.look("mine.toml").title == "small"
    assert "1 event by hand, saved at step 2" in library.look("saved.toml").lines[0]
    opened = library.open_named("saved.toml")
    assert opened.start.step == 2
    assert [event.text() for event in opened.timeline.log] == ["fail spine0"]
    assert library.open_named("mine.toml").start.step == 0
    with pytest.raises(SpecError, match=r"broken.toml: is not TOML"):
        library.look("broken.toml")


def test_a_file_that_changed_is_read_anew(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.toml"
    path.write_text(spec_write.write(small.spec()))
    assert library.look("mine.toml").title == "small"
    path.write_text(spec_write.write(small.spec(name="other, and longer")))
    assert library.look("mine.toml").title == "other, and longer"


async def test_the_way_back_is_shown_where_there_is_one_and_help_knows_this_screen():
    app = picker_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        assert "esc back" not in text_of(app).splitlines()[-1]
        await pilot.press("question_mark")
        await settle(pilot)
        assert "help · picker" in text_of(app)
        await pilot.press("escape", "enter")
        await until(pilot, Explorer)
        await pilot.press("o")
        await settle(pilot)
        assert "esc back" in text_of(app).splitlines()[-1]


GROUPED = [
    PresetRow("big", "A hundred thousand of them", 100_000, "spectrum-x", 0.54, "Ethernet"),
    PresetRow("mid", "Some of them", 1_000, "rocev2", 0.5, "Ethernet"),
    PresetRow("small", "One rack [b]", 72, "infiniband", 0.0, "InfiniBand"),
]


async def test_groups_have_headings_that_the_cursor_passes_over():
    app = picker_app(presets=lambda: GROUPED, files=list, look=lambda name: Note(name))
    async with app.run_test() as pilot:
        await settle(pilot)
        table = app.screen._table
        assert [table.key_of(row) for row in range(table.rows)] == ["", "big", "mid", "", "small"]
        assert table.key_of(table.cursor) == "big"
        assert "presets · 3" in text_of(app)
        for keys, name in (
            ("up", "big"), ("down", "mid"), ("down", "small"), ("down", "small"),
            ("up", "mid"), ("home", "big"), ("end", "small"), ("pageup", "big"),
        ):  # fmt: skip
            await pilot.press(keys)
            assert table.key_of(table.cursor) == name, keys
        await pilot.press("slash", *"rack")
        await settle(pilot)
        assert [table.key_of(row) for row in range(table.rows)] == ["", "small"]
        assert table.key_of(table.cursor) == "small"


async def test_letters_of_a_name_begin_the_filter_and_documented_keys_keep_working():
    async with picker_app().run_test() as pilot:
        await settle(pilot)
        await typed(pilot, *"sma")
        app = pilot.app
        assert app.screen._text == "sma"
        assert "presets · 1 · /sma" in text_of(app)
        await typed(pilot, "enter", "escape", "j")
        assert app.screen._table.cursor == 2
        await typed(pilot, "h", "escape")  # no list to go left in: it begins a name
        assert app.screen._text == ""
        await typed(pilot, "question_mark")
        assert isinstance(app.screen, Help)
