"""Library: what can be opened, by preset name or path, and what is known of it beforehand.

Runs in a thread: nothing here touches the screen, and everything heavy is imported when needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clusterscope.tui.start import Pinned, Start
from clusterscope.units import counted
from clusterscope.views.shapes import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clusterscope.engine.timeline import Timeline

_LISTED = 200  # TOML files of a directory that are worth listing
_LOOKED_AT = 4096  # bytes that tell a replay from a spec
_KEPT = 64


@dataclass(frozen=True)
class PresetRow:
    """One cluster to choose.

    Attributes:
        name: what opens it: a preset or the path of a file.
        title: what it is.
        gpus: how large it is; 0 when nobody has looked.
        transport: what it runs on.
        estimates: share of its numbers that are estimates, 0 to 1; nan when nobody has looked.
        group: what it is listed under, "" when the list has no groups.
    """

    name: str
    title: str
    gpus: int
    transport: str
    estimates: float = float("nan")
    group: str = ""


class Opened(NamedTuple):
    """A timeline, where to begin, and the baseline that is pinned from the start."""

    timeline: Timeline
    start: Start = Start()
    pinned: Pinned | None = None


class Library(NamedTuple):
    """Where the picker's rows, previews and timelines come from.

    Attributes:
        presets: rows of the shipped clusters.
        files: rows of the files here.
        look: preview of a name or path; raises ClusterscopeError in one sentence.
        open: timeline of a name or path; raises likewise.
    """

    presets: Callable[[], Sequence[PresetRow]]
    files: Callable[[], Sequence[PresetRow]]
    look: Callable[[str], Note]
    open: Callable[[str], Opened]


def library() -> Library:
    """The shipped presets and the files of the current directory."""
    return Library(preset_rows, file_rows, look, open_named)


def preset_rows() -> Sequence[PresetRow]:
    """Shipped presets, by group and size."""
    from clusterscope.spec.presets import grouped, summaries

    return [
        PresetRow(s.name, s.title, s.gpus, s.transport, s.estimate_share, group)
        for group, members in grouped(summaries())
        for s in members
    ]


def file_rows() -> Sequence[PresetRow]:
    """TOML files of the current directory, by name."""
    try:
        found = sorted(path.name for path in Path().glob("*.toml") if path.is_file())
    except OSError:
        return []
    none = float("nan")
    return [PresetRow(name, "a file here", 0, "", none, "files") for name in found[:_LISTED]]


def open_named(name: str) -> Opened:
    """Timeline of a preset, a TOML spec or a replay file.

    Raises:
        ClusterscopeError: it is not there, or cannot be built.
    """
    from clusterscope.engine import replay
    from clusterscope.engine.scenario import build
    from clusterscope.engine.timeline import Timeline
    from clusterscope.spec.presets import load

    if _is_replay(name):
        saved = replay.read(name)
        return Opened(saved.timeline(), Start.of(saved))
    return Opened(Timeline(build(load(name))), Start())


def look(name: str) -> Note:
    """What a preset, spec or replay file describes; nothing is built.

    Raises:
        ClusterscopeError: it is not there, or describes no cluster that can be built.
    """
    return _look(name, _stamp(name))


@lru_cache(maxsize=_KEPT)
def _look(name: str, stamp: tuple[int, int]) -> Note:  # noqa: ARG001 - a changed file is read anew
    from clusterscope.engine import replay
    from clusterscope.spec.presets import load
    from clusterscope.views.preview import preview

    if not _is_replay(name):
        return preview(load(name))
    saved = replay.read(name)
    done = f"A replay: {counted(len(saved.events), 'event')} by hand, saved at step {saved.step:,}"
    return preview(saved.spec, [f"{done} by version {saved.version or 'unknown'}."])


def _stamp(name: str) -> tuple[int, int]:
    """Time and size of a file; zeros when there is none."""
    try:
        found = Path(name).stat()
    except (OSError, ValueError):
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _is_replay(name: str) -> bool:
    """True for a file that begins as a replay does: only those have a step and a [spec]."""
    from clusterscope.spec.presets import names

    try:
        path = Path(name)
        if name in names() or not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(_LOOKED_AT)
    except (OSError, ValueError):
        return False
    lines = [line.strip() for line in head.splitlines()]
    return any(line.startswith((b"clusterscope =", b"[spec", b"[digests]")) for line in lines)
