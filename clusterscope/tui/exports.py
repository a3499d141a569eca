"""What the explorer can write, and how files are called; writing itself is done by another room."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from clusterscope.errors import SpecError

if TYPE_CHECKING:
    from clusterscope.engine.timeline import Timeline
    from clusterscope.views.shapes import Shape

CLIPBOARD_BYTES = 100_000  # what terminals take of OSC 52 without dropping it
_TRIED = 1_000


class Exports(Protocol):
    """Writers of whole files. All may be called in a thread and raise SpecError in a sentence."""

    def report(self, timeline: Timeline, directory: Path, steps: int) -> object:
        """Write a report of a timeline, up to a step, into a directory."""

    def view(self, shape: Shape, path: Path) -> object:
        """Write a shape as CSV."""

    def picture(self, svg: str, path: Path) -> object:
        """Write a picture."""


def free_path(spec: str, pane: str, step: int, suffix: str) -> Path:
    """A path in the current directory that nothing has yet: SPEC-PANE-stepK.csv, then -2, ...

    Without a suffix it is one for a directory.

    Raises:
        SpecError: all of them are taken.
    """
    stem = f"{plain(spec)}-{plain(pane)}-step{step}"
    suffix = f".{suffix}" if suffix else ""
    for number in range(1, _TRIED):
        path = Path(f"{stem}{f'-{number}' if number > 1 else ''}{suffix}")
        if not path.exists() and not path.is_symlink():
            return path
    raise SpecError(f"{stem}{suffix}", f"is there {_TRIED:,} times already", "tidy up first")


def plain(name: str) -> str:
    """A name as part of a file name: letters, digits, dots and dashes; never a path."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:60].strip(".-") or "cluster"
