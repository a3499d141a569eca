"""A spec file on disk, or its text, to a `ClusterSpec`."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from clusterscope.errors import SpecError
from clusterscope.spec.derive import derive
from clusterscope.spec.front_end import derive_front_end
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.overrides import apply_overrides, split
from clusterscope.spec.validate import validate
from clusterscope.spec.wording import dotted, shown, shown_name
from clusterscope.units import MIB

MAX_FILE_BYTES = 16 * MIB


def read(path: str | PathLike[str], overrides: Iterable[str] = ()) -> ClusterSpec:
    """Read, validate and derive a spec file.

    Args:
        path: a TOML file.
        overrides: `table.key=value` settings on top.

    Raises:
        SpecError: the file cannot be read, is no TOML, or describes no cluster that can be built.
    """
    where = shown_name(path)
    return parse(read_text(Path(path), where), where, overrides)


def parse(text: str, where: str = "spec", overrides: Iterable[str] = ()) -> ClusterSpec:
    """As `read`, for text in memory; `where` names it in error messages."""
    settings = list(overrides)
    given = tables(text, where)
    if not given and not settings:
        hint = "a cluster needs a name and [node]; 'clusterscope schema' prints every key"
        raise SpecError(where, "is empty", hint)
    data = apply_overrides(given, settings)
    spec = validate(data, where, [dotted(split(setting)[0]) for setting in settings])
    told = f"{where} with --set" if settings else where
    derive(spec, told)
    derive_front_end(spec, told)
    return spec


def tables(text: str, where: str) -> dict[str, Any]:
    """TOML text as tables.

    Raises:
        SpecError: not TOML; names the line.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(where, "is not TOML", _lower(str(error)) + _line(text, error)) from None
    except (ValueError, RecursionError):
        raise SpecError(
            where, "is not TOML we can read", "a number is too long or arrays are too deep"
        ) from None


def _line(text: str, error: tomllib.TOMLDecodeError) -> str:
    """The line that the parser names, quoted."""
    match = re.search(r"at line (\d+)", str(error))
    lines = text.split("\n")
    return f": {shown(lines[int(match[1]) - 1].strip())}" if match else ""


def _lower(sentence: str) -> str:
    """A sentence of a library as part of ours: one line, no capital, escaped when odd."""
    line = " ".join(sentence.split())
    return shown_name(line[:1].lower() + line[1:])


def read_text(path: Path, where: str, allowed: str = "") -> str:
    """Contents of a text file of bearable size; `allowed` says what it should be if not TOML.

    Raises:
        SpecError: not there, not a file, not readable, too large or not UTF-8.
    """
    file = f"allowed is {allowed or 'a TOML file'}"
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise SpecError(where, "is a directory", file)
        if not stat.S_ISREG(mode):
            raise SpecError(where, "is not a regular file", file)
        with path.open("rb") as opened:
            data = opened.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise SpecError(where, "there is no such file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SpecError(where, "cannot be read", _lower(reason)) from None
    if len(data) > MAX_FILE_BYTES:
        raise SpecError(
            where,
            f"is larger than {MAX_FILE_BYTES // MIB} MiB",
            f"allowed is {allowed or 'a TOML spec'}",
        )
    text = f"allowed is {allowed or 'TOML, which is UTF-8 text'}"
    if b"\0" in data:
        raise SpecError(where, "is a binary file", text)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SpecError(where, f"is not UTF-8 text (line {line})", text) from None
