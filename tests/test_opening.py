"""Deep links and settings from the command line: told in a sentence before anything is drawn."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import tomli_w

from clusterscope import cli, opening
from clusterscope.engine import replay
from clusterscope.engine.timeline import Timeline
from clusterscope.tui import run as tui_run
from clusterscope.tui.screens.sides import NAMES
from clusterscope.tui.settings import Look, Settings
from clusterscope.tui.start import Start
from tests import small


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """What the explorer was called with; the terminal is never asked for."""
    calls = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tui_run, "run", lambda *args, **more: calls.append((args, more)) or 0)
    Path("small.toml").write_text(tomli_w.dumps(small.tables()))
    return calls


def call(capsys, *args):
    with pytest.raises(SystemExit) as stop:
        cli.main([str(a) for a in args])
    return int(stop.value.code or 0), capsys.readouterr()


def test_the_explorer_begins_where_the_flags_say(opened, capsys):
    flags = ["--screen", "links", "--select", "leaf1", "--at", "3"]
    looks = ["--theme", "light", "--no-mouse", "--ascii"]
    assert call(capsys, "small.toml", *flags, *looks)[0] == 0
    (title, build), more = opened[0]
    assert title == "small.toml"
    assert build().scenario.fabric.gpus == 16
    assert more["start"] == Start(3, "leaf1", "links")
    assert more["settings"] == Settings(Look("light"), mouse=False, ascii=True)


def test_a_replay_reopens_where_it_was_saved_unless_a_flag_says_otherwise(opened, capsys):
    path = replay.save(Timeline(small.scenario()), 2, selection="leaf1", screen="compare")
    assert call(capsys, "replay", path)[0] == 0
    assert opened[0][1]["start"] == Start(2, "leaf1", "compare")
    assert call(capsys, "replay", path, "--at", "0", "--screen", "explorer")[0] == 0
    assert opened[1][1]["start"] == Start(0, "leaf1", "explorer")
    assert opened[1][1]["start"].side == ""


def test_the_help_names_every_screen(capsys):
    words = call(capsys, "--help")[1].out.replace(",", " ").split()
    assert set(NAMES) <= set(words)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["small.toml", "--select", "leaf9"], ["'leaf9'", "leaf0 to leaf3"]),
        (["small.toml", "--screen", "linsk"], ["no screen 'linsk'", "did you mean 'links'"]),
        (["small.toml", "--at", "-1"], ["--at", "-1"]),
        (["small.toml", "--at", "soon"], ["--at", "soon"]),
        (["small.toml", "--theme", "pink"], ["--theme", "'pink'", "'plain'"]),
        (["small.toml", "--export", "o", "--select", "leaf1"], ["--select", "explorer"]),
        (["--screen", "links"], ["--screen", "needs a SPEC"]),
        (["replay", "odd.toml"], ["'leaf77'"]),
    ],
)
def test_bad_values_are_one_sentence_before_the_terminal_is_touched(opened, capsys, args, words):
    text = replay.dumps(Timeline(small.scenario()), 0, selection="leaf77")
    Path("odd.toml").write_text(text)
    code, out = call(capsys, *args)
    assert code == 2
    assert len(out.err.splitlines()) == 1
    for word in words:
        assert word in out.err
    assert opened == []


def test_a_mistake_in_the_settings_is_told_first(opened, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "clusterscope" / "config.toml"
    file.parent.mkdir()
    file.write_text("[keys]\nfly = 'f'\n")
    for args in (["small.toml"], ["config"], []):
        code, out = call(capsys, *args)
        assert code == 2
        assert out.err.startswith(f"clusterscope: {file}: keys.'fly': there is no such action")
    assert opened == []
    # A run without a screen does not care.
    assert call(capsys, "small.toml", "--export", "o", "--steps", "1")[0] == 0


def test_config_prints_where_the_settings_are_and_which_are_in_force(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    code, out = call(capsys, "config")
    assert code == 0
    assert f"{tmp_path}/clusterscope/config.toml  (not there" in out.out
    assert 'theme = "dark"' in out.out
    code, out = call(capsys, "config", "--default")
    assert code == 0
    assert '# "run" = "space"  # run or pause' in out.out


def test_a_broken_screen_is_seen_in_the_exit_code(opened, monkeypatch, capsys):
    monkeypatch.setattr(tui_run, "run", lambda *_, **__: 1)
    assert call(capsys, "small.toml")[0] == 1


def test_the_end_waits_for_a_report_that_is_being_written(monkeypatch, capsys):
    began, go_on, written = threading.Event(), threading.Event(), []

    def slow(timeline, directory, **more):
        began.set()
        assert go_on.wait(10)
        written.append(directory)

    monkeypatch.setattr("clusterscope.export.bundle.write_bundle", slow)
    exports = opening.Exports()
    exports.finish()
    writer = threading.Thread(target=exports.report, args=(None, "out", 1))
    writer.start()
    assert began.wait(10)
    threading.Timer(0.2, go_on.set).start()
    exports.finish()
    assert written == ["out"]
    writer.join()
    assert capsys.readouterr().err.count("finishing the report") == 1
