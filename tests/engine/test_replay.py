"""Replay files: saved whole, never over another, and read back where they were left."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterscope.engine import replay
from clusterscope.engine.events import Event, nearest
from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from tests import small


@pytest.fixture
def timeline(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    built = Timeline(small.scenario())
    built.inject(Event.named(built.scenario.names, "fail", "spine0", step=1))
    return built


def test_a_saved_session_reopens_where_it_was(timeline):
    path = replay.save(timeline, 2, selection="leaf1:u0", screen="links")
    digest = timeline.at(2).digest()
    assert path == Path(f"small-{digest[:8]}.replay.toml")
    saved = replay.read(path)
    assert (saved.step, saved.selection, saved.screen) == (2, "leaf1:u0", "links")
    assert saved.timeline().at(2).digest() == digest
    assert replay.verify(path) == ()


def test_a_name_that_is_taken_gets_a_number(timeline):
    names = [replay.save(timeline, 1, "mine").name for _ in range(3)]
    assert names == ["mine.replay.toml", "mine-2.replay.toml", "mine-3.replay.toml"]
    assert replay.save(timeline, 1, "mine.replay.toml").name == "mine-4.replay.toml"
    there = sorted(path.name for path in Path().iterdir())
    assert there == sorted([*names, "mine-4.replay.toml"])  # and nothing beside them


def test_a_link_that_leads_nowhere_is_not_followed(timeline, tmp_path):
    Path("mine.replay.toml").symlink_to(tmp_path / "elsewhere")
    assert replay.save(timeline, 0, "mine").name == "mine-2.replay.toml"
    assert not (tmp_path / "elsewhere").exists()


def test_the_name_of_a_cluster_is_never_a_path(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    built = Timeline(small.scenario(name="../../a b"))
    path = replay.save(built, 0)
    assert path.parent == Path()
    assert path.name.startswith("a-b-") or path.name.startswith("-..-a-b-")
    assert path.exists()


def test_what_cannot_be_written_is_one_sentence(timeline):
    with pytest.raises(SpecError, match="cannot be written; no such file or directory"):
        replay.save(timeline, 0, "nowhere/mine")


def test_old_files_have_no_selection(timeline):
    text = replay.dumps(timeline, 1)
    assert "selection" not in text
    Path("old.toml").write_text(text)
    saved = replay.read("old.toml")
    assert (saved.selection, saved.screen) == ("", "")


@pytest.mark.parametrize("value", ["3", "[]", f'"{"x" * 300}"'])
def test_a_selection_that_is_no_name_is_refused(timeline, value):
    Path("odd.toml").write_text(f"selection = {value}\n" + replay.dumps(timeline, 1))
    with pytest.raises(SpecError, match=r"selection: .* is not allowed; use a name"):
        replay.read("odd.toml")


def test_the_nearest_event():
    names = small.scenario().names
    events = [Event.named(names, "fail", f"leaf{n}", step=step) for n, step in enumerate((7, 3, 3))]
    assert nearest(events, 3, 1) is events[0]
    assert nearest(events, 7, -1) is events[1]
    assert nearest(events, 7, 1) is None
    assert nearest(events, 0, -1) is None
    assert nearest(events, 100, -1) is events[0]


def test_marks_that_turn_text_around_are_escaped():
    spec = small.spec()
    timeline = Timeline(build(spec.model_copy(update={"name": "mi\u202ene"})))
    assert 'name = "mi\\u202Ene"' in replay.dumps(timeline, 0)
