"""A replay file: spec, injected events, and digests of some frames.

A bug report is a replay file: it reopens in the explorer at the same step, and `verify` tells
whether this version still computes the same frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import tomli_w

from clusterscope import __version__
from clusterscope.engine.events import Event
from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from clusterscope.spec.events import parse_events
from clusterscope.spec.model import ClusterSpec, EventSpec
from clusterscope.spec.read import read_text, tables
from clusterscope.spec.validate import validate
from clusterscope.spec.wording import shown, shown_name
from clusterscope.spec.write import to_tables

_KEYS = ("clusterscope", "step", "spec", "events", "digests")


@dataclass(frozen=True)
class Replay:
    """A saved timeline.

    Attributes:
        version: of ClusterScope that saved it.
        step: where the cursor was.
        spec: the cluster.
        events: injected events, by name.
        digests: frame digest by step.
    """

    version: str
    step: int
    spec: ClusterSpec
    events: tuple[EventSpec, ...]
    digests: dict[int, str]

    def timeline(self) -> Timeline:
        """The timeline, built anew.

        Raises:
            SpecError, UnknownNameError: as for building the spec and its events.
        """
        scenario = build(self.spec)
        log = [
            Event.named(scenario.names, e.kind, e.target, step=e.step, scale=e.scale)
            for e in self.events
        ]
        return Timeline(scenario, log)


def dumps(timeline: Timeline, step: int) -> str:
    """TOML text of a timeline with its cursor at a step."""
    events = [
        {"step": e.step, "kind": e.kind, "target": e.name, "scale": e.scale} for e in timeline.log
    ]
    return tomli_w.dumps(
        {
            "clusterscope": __version__,
            "step": step,
            "events": events,
            "digests": {str(k): timeline.at(k).digest() for k in sorted({0, step})},
            "spec": to_tables(timeline.scenario.spec),
        }
    )


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
    )


def verify(path: str | PathLike[str]) -> tuple[int, ...]:
    """Steps whose frame differs from the saved digest.

    Raises:
        SpecError: as for `read`.
    """
    saved = read(path)
    timeline = saved.timeline()
    return tuple(k for k, digest in saved.digests.items() if timeline.at(k).digest() != digest)


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
