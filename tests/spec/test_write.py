"""What is written is read back as it was, and a file is whole or untouched."""

from __future__ import annotations

import json
import stat
import tomllib

import pytest
from hypothesis import given

from clusterscope.errors import SpecError
from clusterscope.export import json as json_text
from clusterscope.spec import presets, read, write
from clusterscope.spec.validate import validate
from tests.spec.spec_samples import TEXT, specs


@given(specs())
def test_round_trip(spec):
    text = write.write(spec)
    again = validate(tomllib.loads(text), "again")
    assert again == spec
    assert write.write(again) == text


@pytest.mark.parametrize("name", presets.names())
def test_presets_round_trip(name):
    spec = presets.load(name)
    assert read.parse(write.write(spec)) == spec


def test_saved_file_is_read_back(tmp_path):
    spec = read.parse(TEXT)
    path = tmp_path / "out.toml"
    write.save(spec, path)
    assert read.read(path) == spec
    assert [p.name for p in tmp_path.iterdir()] == ["out.toml"]


def test_saving_keeps_permissions_and_replaces(tmp_path):
    path = tmp_path / "out.toml"
    path.write_text("old")
    path.chmod(0o640)
    write.save(read.parse(TEXT), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert "small" in path.read_text()


def test_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "out.toml"
    path.write_text("old")

    def broken(spec):
        raise KeyboardInterrupt

    monkeypatch.setattr(write, "write", broken)
    with pytest.raises(KeyboardInterrupt):
        write.save(read.parse(TEXT), path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.toml"]


def test_unwritable_place_is_one_sentence(tmp_path):
    with pytest.raises(SpecError, match="cannot be written; no such file or directory"):
        write.save(read.parse(TEXT), tmp_path / "none" / "out.toml")


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\U000e0041", "\u200b"])
def test_marks_that_turn_text_around_are_escaped_and_come_back(hidden):
    spec = read.parse(TEXT)
    named = spec.model_copy(update={"name": f"mi{hidden}ne 集群"})
    text = write.write(named)
    assert hidden not in text
    assert "集群" in text
    assert read.parse(text).name == named.name
    assert hidden not in json_text.write({"name": named.name})
    assert json.loads(json_text.write({"name": named.name}))["name"] == named.name
