from __future__ import annotations

import os
from pathlib import Path

import pytest

from clusterscope.errors import SpecError
from clusterscope.export.files import whole_directory, write_text, write_whole
from clusterscope.export.one import write_view
from clusterscope.views.shapes import Note


def names(directory: Path) -> list[str]:
    return sorted(p.name for p in directory.rglob("*"))


def test_a_directory_appears_whole(tmp_path: Path) -> None:
    with whole_directory(tmp_path / "a" / "b") as room:
        write_text(room / "sub" / "x", "1")
        assert not (tmp_path / "a" / "b").exists()
    assert names(tmp_path) == ["a", "b", "sub", "x"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_of_a_block_that_fails(tmp_path: Path, error: type[BaseException]) -> None:
    def fill() -> None:
        with whole_directory(tmp_path / "a" / "b" / "c") as room:
            write_text(room / "x", "1")
            raise error

    with pytest.raises(error):
        fill()
    assert names(tmp_path) == []


def test_a_failing_block_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with whole_directory(target) as room:
        write_text(room / "x", "old")

    def fill() -> None:
        with whole_directory(target) as room:
            write_text(room / "x", "new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fill()
    assert names(tmp_path) == ["out", "x"]
    assert (target / "x").read_text() == "old"


def test_a_swap_that_fails_half_way_puts_the_old_directory_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    with whole_directory(target) as room:
        write_text(room / "x", "old")
    rename, calls = Path.rename, []

    def second_fails(self: Path, to: Path) -> Path:
        calls.append(to)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return rename(self, to)

    def fill() -> None:
        with whole_directory(target) as room:
            write_text(room / "x", "new")

    monkeypatch.setattr(Path, "rename", second_fails)
    with pytest.raises(SpecError, match="no space left on device"):
        fill()
    assert names(tmp_path) == ["out", "x"]
    assert (target / "x").read_text() == "old"


def test_a_directory_is_replaced_as_a_whole(tmp_path: Path) -> None:
    for word in ("old", "new"):
        with whole_directory(tmp_path / "out") as room:
            write_text(room / word, word)
    assert names(tmp_path) == ["new", "out"]


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with whole_directory(tmp_path / "out"):
            pass
        write_whole(tmp_path / "file", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_a_parent_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(SpecError, match="cannot be written; not a directory"):
        write_whole(tmp_path / "f" / "g", "x")
    with pytest.raises(SpecError, match="is a directory"):
        write_whole(tmp_path, "x")
    with pytest.raises(SpecError, match="cannot be written"):
        write_whole(tmp_path / "a\x00b", "x")


def test_a_view_is_one_file(tmp_path: Path) -> None:
    path = write_view(Note("n", (), ("one",)), tmp_path / "new" / "n.csv")
    assert path.read_bytes() == b"label,value,unit,mark,source\nnote,one,,,\n"
    assert names(tmp_path) == ["n.csv", "new"]


def test_text_that_is_no_unicode_is_spelled_out(tmp_path: Path) -> None:
    assert write_text(tmp_path / "x", "\ud800\n") == b"\\ud800\n"
