"""A replay file: spec, injected events, and digests of some frames.

A bug report is a replay file: it reopens in the explorer at the same step, and `verify` tells
whether this version still computes the same frames.
"""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import tomli_w

from clusterscope import __version__
from clusterscope.engine.events import named
from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from clusterscope.spec.events import parse_events
from clusterscope.spec.model import ClusterSpec, EventSpec
from clusterscope.spec.read import read_text, tables
from clusterscope.spec.validate import validate
from clusterscope.spec.wording import escaped, in_toml, shown, shown_name
from clusterscope.spec.write import to_tables

_KEYS = ("clusterscope", "step", "selection", "screen", "spec", "events", "digests")
_LONGEST = 200  # characters of a selection or the name of a screen
_TRIED = 1_000  # files of one name


@dataclass(frozen=True)
class Replay:
    """A saved timeline.

    Attributes:
        version: of ClusterScope that saved it.
        step: where the cursor was.
        spec: the cluster.
        events: injected events, by name.
        digests: frame digest by step.
        selection: name of what was selected, "" for nothing.
        screen: name of the screen that was on top, "" for the explorer.
    """

    version: str
    step: int
    spec: ClusterSpec
    events: tuple[EventSpec, ...]
    digests: dict[int, str]
    selection: str = ""
    screen: str = ""

    def timeline(self) -> Timeline:
        """The timeline, built anew.

        Raises:
            SpecError, UnknownNameError: as for building the spec and its events.
        """
        scenario = build(self.spec)
        return Timeline(scenario, named(scenario.names, self.events, "replay: events"))


def dumps(timeline: Timeline, step: int, *, selection: str = "", screen: str = "") -> str:
    """TOML text of a timeline with its cursor at a step, and of what was looked at there."""
    seen = {"selection": selection, "screen": screen}
    events = [
        {"step": e.step, "kind": e.kind, "target": e.name, "scale": e.scale} for e in timeline.log
    ]
    document = {
        "clusterscope": __version__,
        "step": step,
        **{key: value for key, value in seen.items() if value},
        "events": events,
        "digests": {str(k): timeline.at(k).digest() for k in sorted({0, step})},
        "spec": to_tables(timeline.scenario.spec),
    }
    return escaped(tomli_w.dumps(document), in_toml)


def read(path: str | PathLike[str]) -> Replay:
    """A replay file.

    Raises:
        SpecError: it cannot be read or is no replay file.
    """
    where = shown_name(path)
    data = tables(read_text(Path(path), where), where)
    odd = sorted(set(data) - set(_KEYS))
    if odd or "spec" not in data:
        problem = f"{shown(odd[0])} is not a key of a replay file" if odd else "has no [spec]"
        raise SpecError(where, problem, f"a replay file has {', '.join(_KEYS)}")
    step = data.get("step", 0)
    if not isinstance(step, int) or not 0 <= step <= 10_000_000:
        raise SpecError(f"{where}: step", f"{shown(step)} is not allowed", "use 0 to 10,000,000")
    return Replay(
        version=str(data.get("clusterscope", "")),
        step=step,
        spec=validate(_table(data, "spec", where), where),
        events=parse_events({"events": data.get("events", [])}, where),
        digests=_digests(_table(data, "digests", where), where),
        selection=_text(data, "selection", where),
        screen=_text(data, "screen", where),
    )


def save(
    timeline: Timeline, step: int, name: str = "", *, selection: str = "", screen: str = ""
) -> Path:
    """Write a replay file, whole or not at all and never over another one; gives its path.

    Args:
        timeline: what is saved.
        step: where its cursor is.
        name: of the file, ".replay.toml" may be left out; after the spec and the frame's digest
            when it is "". A name that is taken gets "-2" and so on.
        selection: name of what is selected.
        screen: name of the screen on top.

    Raises:
        SpecError: it cannot be written.
    """
    text = dumps(timeline, step, selection=selection, screen=screen)
    stem = name.removesuffix(".toml").removesuffix(".replay")
    if not stem:
        spec = re.sub(r"[^A-Za-z0-9._-]+", "-", timeline.scenario.spec.name)[:60].strip(".-")
        stem = f"{spec or 'cluster'}-{timeline.at(step).digest()[:8]}"
    for number in range(1, _TRIED):
        path = Path(f"{stem}{f'-{number}' if number > 1 else ''}.replay.toml")
        if _put(path, text):
            return path
    raise SpecError(shown_name(f"{stem}.replay.toml"), "is there too often", "give another name")


def _put(path: Path, text: str) -> bool:
    """Write a file beside its place and link it there; False when something is there already."""
    try:
        descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=".replay.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            Path(beside).chmod(0o644)
            # A link, unlike a rename, never takes the place of a file.
            path.hardlink_to(beside)
        finally:
            Path(beside).unlink()
    except FileExistsError:
        return False
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SpecError(shown_name(path), "cannot be written", reason.lower()) from None
    return True


def verify(path: str | PathLike[str]) -> tuple[int, ...]:
    """Steps whose frame differs from the saved digest.

    Raises:
        SpecError: as for `read`.
    """
    saved = read(path)
    if not saved.digests:
        raise SpecError(shown_name(path), "has no digests to compare", "save the run again")
    timeline = saved.timeline()
    return tuple(k for k, digest in saved.digests.items() if timeline.at(k).digest() != digest)


def _text(data: dict[str, Any], key: str, where: str) -> str:
    text = data.get(key, "")
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise SpecError(f"{where}: {key}", f"{shown(text)} is not allowed", "use a name")
    return text


def _table(data: dict[str, Any], key: str, where: str) -> dict[str, Any]:
    table = data.get(key, {})
    if not isinstance(table, dict):
        raise SpecError(f"{where}: {key}", f"{shown(table)} is not allowed", "use a table")
    return table


def _digests(table: dict[str, Any], where: str) -> dict[int, str]:
    digests = {}
    for key, value in table.items():
        if not key.isdecimal() or len(key) > 8 or not isinstance(value, str):
            raise SpecError(f"{where}: digests", f"{shown(key)} is not a step with a digest")
        digests[int(key)] = value
    return digests
