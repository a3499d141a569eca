from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Collection
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from clusterscope.engine import replay
from clusterscope.engine.scenario import Scenario, build
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from clusterscope.export import bundle, csv
from clusterscope.export.bundle import MANIFEST, write_bundle
from clusterscope.spec.presets import load, names
from clusterscope.spec.read import read
from clusterscope.views.catalog import VIEWS

BIG = {"xai-colossus-100k", "million"}


def content(directory: Path) -> dict[str, bytes]:
    files = (p for p in directory.rglob("*") if p.is_file())
    return {p.relative_to(directory).as_posix(): p.read_bytes() for p in files}


@pytest.fixture(scope="module")
def written(small: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bundle(Timeline(small), tmp_path_factory.mktemp("run") / "out", steps=4)


def test_a_bundle_holds_every_view_and_plot_and_what_it_takes_to_run_it_again(
    written: Path,
) -> None:
    views = {f"csv/{v.name}.csv" for v in VIEWS if v.files}
    series = {"csv/utilization-by-step.csv", "csv/busbw-by-step.csv"}
    svgs = {f"svg/{name}.svg" for name in ("utilization", "spread", "phases", "busbw")}
    reports = {"report.md", "report.html", "report.json", "report.schema.json"}
    rerun = {"spec.toml", "replay.toml", MANIFEST}
    assert set(content(written)) == views | series | svgs | reports | rerun


def test_the_manifest_is_true(written: Path) -> None:
    files = content(written)
    manifest = json.loads(files.pop(MANIFEST))
    assert {e["name"]: (e["size"], e["blake2b"]) for e in manifest["files"]} == {
        name: (len(data), hashlib.blake2b(data, digest_size=16).hexdigest())
        for name, data in files.items()
    }
    assert "written" not in manifest
    assert manifest["digest"] == json.loads(files["report.json"])["digest"]


def test_the_report_keeps_its_schema(written: Path) -> None:
    schema = json.loads((written / "report.schema.json").read_bytes())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads((written / "report.json").read_bytes()), schema)


def test_the_run_can_be_reopened(timeline: Timeline, tmp_path: Path) -> None:
    out = write_bundle(timeline, tmp_path / "out", steps=4, formats=("json",))
    assert read(out / "spec.toml") == timeline.scenario.spec
    assert replay.verify(out / "replay.toml") == ()
    again = replay.read(out / "replay.toml")
    assert again.step == 4
    assert again.timeline().log == timeline.log
    assert json.loads((out / MANIFEST).read_bytes())["events"] == ["step 2: fail leaf0:u0"]


def test_every_text_is_utf8_with_lf_and_every_svg_is_xml(written: Path) -> None:
    for name, data in content(written).items():
        text = data.decode("utf-8")
        assert "\r" not in text
        assert text.endswith("\n")
        if name.endswith(".svg"):
            ET.fromstring(text)


def test_two_runs_give_the_same_bytes(small: Scenario, written: Path, tmp_path: Path) -> None:
    again = write_bundle(Timeline(small), tmp_path / "elsewhere", steps=4)
    assert content(again) == content(written)


def test_only_the_formats_asked_for_are_written(small: Scenario, tmp_path: Path) -> None:
    out = write_bundle(Timeline(small), tmp_path / "out", steps=1, formats=["md"])
    assert set(content(out)) == {"report.md", "spec.toml", "replay.toml", MANIFEST}
    assert b"svg/" not in (out / "report.md").read_bytes()


def test_a_stamp_is_put_in_when_asked_for(small: Scenario, tmp_path: Path) -> None:
    out = write_bundle(Timeline(small), tmp_path / "out", steps=0, formats=["md"], stamp=True)
    assert "written" in json.loads((out / MANIFEST).read_bytes())


def test_progress_goes_forward_to_the_end(small: Scenario, tmp_path: Path) -> None:
    told: list[float] = []
    write_bundle(
        Timeline(small),
        tmp_path / "out",
        steps=3,
        formats=["json"],
        progress=lambda label, share: told.append(share),
    )
    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_writer_that_fails_midway_leaves_nothing(
    small: Scenario,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
) -> None:
    def fail(*_: object, **__: object) -> str:
        raise error

    monkeypatch.setattr(csv, "write", fail)
    with pytest.raises(error):
        write_bundle(Timeline(small), tmp_path / "new" / "out", steps=0, formats=["md", "csv"])
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_sentence_and_leaves_the_earlier_report(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = write_bundle(Timeline(small), tmp_path / "out", steps=0, formats=["json"])
    before = content(tmp_path)

    def full(path: Path, text: str) -> bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(bundle, "write_text", full)
    with pytest.raises(SpecError, match="out: cannot be written; no space left on device"):
        write_bundle(Timeline(small), out, steps=1, formats=["json"])
    assert content(tmp_path) == before


def test_an_earlier_report_is_replaced_with_everything_in_it(
    small: Scenario, tmp_path: Path
) -> None:
    out = write_bundle(Timeline(small), tmp_path / "out", steps=0, formats=["csv"])
    write_bundle(Timeline(small), out, steps=0, formats=["json"])
    assert not (out / "csv").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda d: (d / "notes.txt").write_text("mine"), "is not empty and not an earlier report"),
        (lambda d: (d / "empty").mkdir(), "is not empty and not an earlier report"),
        (lambda d: (d / MANIFEST).write_text("{}"), "is not empty and not an earlier report"),
        (lambda d: (d / MANIFEST).write_text("["), "is not empty and not an earlier report"),
        (
            lambda d: [
                (d / MANIFEST).write_text(json.dumps({"marker": bundle.MARKER, "files": [1]})),
                (d / "mine").write_text("x"),
            ],
            "holds 'mine', which is no part of the earlier report",
        ),
    ],
)
def test_what_is_not_ours_is_refused_and_untouched(
    small: Scenario, tmp_path: Path, make: object, sentence: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    make(out)
    before = content(tmp_path)
    with pytest.raises(SpecError, match=sentence):
        write_bundle(Timeline(small), out, steps=0, formats=["json"])
    assert content(tmp_path) == before


def test_places_that_cannot_be_written_are_one_sentence(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.chdir(tmp_path)
    for place, sentence in (
        ("file", "is a file"),
        ("file/out", "cannot be written; not a directory"),
        (".", "cannot be replaced as a whole"),
        ("a\x00b", "cannot be written"),
        ("x" * 300, "cannot be written; file name too long"),
    ):
        with pytest.raises(SpecError, match=sentence):
            write_bundle(Timeline(small), place, steps=0, formats=["json"])
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_link_to_a_directory_is_followed(small: Scenario, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_bundle(Timeline(small), tmp_path / "link", steps=0, formats=["json"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / MANIFEST).exists()


def exported(name: str, out: Path, formats: Collection[str]) -> dict[str, bytes]:
    files = content(write_bundle(Timeline(build(load(name))), out, steps=2, formats=formats))
    jsonschema.validate(json.loads(files["report.json"]), json.loads(files["report.schema.json"]))
    assert all(len(data) < 3_000_000 for data in files.values())
    return files


@pytest.mark.parametrize("name", [n for n in names() if n not in BIG])
def test_every_preset_exports(name: str, tmp_path: Path) -> None:
    exported(name, tmp_path / "out", ["md", "json", "csv"])


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_every_preset_exports_in_every_format(name: str, tmp_path: Path) -> None:
    files = exported(name, tmp_path / "out", bundle.FORMATS)
    assert {"report.html", "svg/spread.svg"} <= set(files)
