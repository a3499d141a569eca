"""Files, text and `--set` become a spec."""

from __future__ import annotations

import pytest

from clusterscope.errors import SpecError
from clusterscope.spec.overrides import apply_overrides
from clusterscope.spec.read import MAX_FILE_BYTES, parse, read
from tests.spec.spec_samples import TEXT


def test_a_spec_is_read():
    spec = parse(TEXT)
    assert spec.gpus == 128
    assert spec.jobs[0].message_bytes == 2**30
    assert spec.sim.seed == 7


def test_a_byte_order_mark_is_harmless(tmp_path):
    path = tmp_path / "bom.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    assert read(path) == parse(TEXT)


@pytest.mark.parametrize(
    ("text", "size"),
    [("1024", 1024), ("64 MiB", 2**26), ("64MiB", 2**26), ("1.5 GB", 1_500_000_000), ("8 b", 8)],
)
def test_sizes(text, size):
    assert parse(TEXT.replace("1 GiB", text)).jobs[0].message_bytes == size


def test_settings_are_toml_or_bare_words():
    spec = parse(
        TEXT,
        overrides=[
            "node.count = 8",
            "node.gpu=H200-SXM",
            'node.nic="generic"',
            "scale_out.leaf_taper=2.0",
            "jobs.0.placement=strided",
            "jobs.0.hierarchical=false",
            'jobs.1={name="second", collective="incast", message_bytes=8}',
            "sim.steps=3",
        ],
    )
    assert (spec.node.count, spec.node.gpu, spec.node.nic) == (8, "H200-SXM", "generic")
    assert spec.scale_out is not None
    assert spec.scale_out.leaf_taper == 2.0
    assert spec.jobs[0].placement == "strided"
    assert not spec.jobs[0].hierarchical
    assert spec.jobs[1].name == "second"
    assert spec.sim.steps == 3
    assert spec.sources["node.count"].estimate


def test_settings_start_tables_from_their_defaults():
    text = TEXT.replace('[transport]\nname = "infiniband"\n', "")
    spec = parse(text, overrides=["transport.qps=4"])
    assert (spec.transport.name, spec.transport.qps) == ("infiniband", 4)


def test_settings_do_not_change_their_argument():
    data = {"node": {"count": 1}}
    assert apply_overrides(data, ["node.count=2"])["node"]["count"] == 2
    assert data == {"node": {"count": 1}}


def broken_file(tmp_path, content):
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff\xfename = 1", "is not UTF-8 text (line 1)"),
        (TEXT.encode() + b"\n# \xe9", "is not UTF-8 text (line 29)"),
        (b"\x7fELF\x00\x01", "is a binary file"),
        (b"name = ", "is not TOML; invalid value (at end of document)"),
        (b'name = "a"\nname = "b"\n', "at line 2"),
        (b"x = 1\n??\n", "at line 2"),
        (b"a = " + b"[" * 100_000, "is not TOML"),
        (b"a = " + b"9" * 5000, "a number is too long"),
        (b"", "is empty; a cluster needs a name and [node]"),
    ],
)
def test_files_that_are_no_spec(tmp_path, content, says):
    path = broken_file(tmp_path, content)
    with pytest.raises(SpecError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert says in message
    assert message.isprintable()


def test_files_that_cannot_be_read(tmp_path):
    for path, says in (
        (tmp_path, "is a directory"),
        (tmp_path / "none.toml", "there is no such file"),
        ("/dev/zero", "is not a regular file"),
        ("a\0b.toml", "cannot be read"),
        ("x" * 5000 + ".toml", "cannot be read"),
    ):
        with pytest.raises(SpecError, match=says):
            read(path)


def test_huge_files_are_refused(tmp_path):
    path = tmp_path / "huge.toml"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(SpecError, match="larger than 16 MiB"):
        read(path)


def test_odd_file_names_are_escaped(tmp_path):
    with pytest.raises(SpecError) as caught:
        read(tmp_path / "\x1b[31mred.toml")
    assert "\x1b" not in str(caught.value)
