"""The explorer's one entry: what the command line calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from clusterscope.tui.terminal import require_terminal

if TYPE_CHECKING:
    from clusterscope.engine.timeline import Timeline
    from clusterscope.tui.edits import Export
    from clusterscope.tui.screens.picker import PresetRow


def run(
    title: str | None = None,
    opened: Callable[[], Timeline] | None = None,
    *,
    step: int = 0,
    load: Callable[[str], Timeline] | None = None,
    presets: Callable[[], Sequence[PresetRow]] | None = None,
    export: Export | None = None,
    playing: bool = False,
    mouse: bool = True,
) -> int:
    """Open the explorer, or the picker when nothing is named; gives the exit code.

    Args:
        title: what is opened, for the eyes; also what `load` takes when `opened` is left out.
        opened: builds the timeline to explore.
        step: where to begin.
        load: name to timeline, for the picker; presets and TOML files when left out.
        presets: rows of the picker; the shipped presets when left out.
        export: writes a report of a timeline, up to a step, into a directory.
        playing: True to run at once.
        mouse: False to leave the mouse to the terminal.

    Raises:
        SpecError: there is no terminal to draw on.
        ClusterscopeError: what should be opened cannot be built.
    """
    require_terminal()
    if hasattr(sys.stderr, "reconfigure"):
        # Frames and ramps need more than latin-1, which is what LC_ALL=C may have asked for.
        sys.stderr.reconfigure(encoding="utf-8")
    from clusterscope.tui.app import ClusterScopeApp

    by_name = load or load_timeline
    if opened is None and title is not None:
        opened = partial(by_name, title)
    app = ClusterScopeApp(
        opened,
        presets or preset_rows,
        by_name,
        export,
        what=title or "the cluster",
        step=step,
        playing=playing,
    )
    app.run(mouse=mouse)
    if app.mistake is not None:
        raise app.mistake
    return app.return_code or 0


def load_timeline(name: str) -> Timeline:
    """Timeline of a preset or a TOML file.

    Raises:
        ClusterscopeError: it is not there, or cannot be built.
    """
    from clusterscope.engine.scenario import build
    from clusterscope.engine.timeline import Timeline
    from clusterscope.spec.presets import load

    return Timeline(build(load(name)))


def preset_rows() -> Sequence[PresetRow]:
    """Shipped presets, as the picker lists them."""
    from clusterscope.spec.presets import summaries
    from clusterscope.tui.screens.picker import PresetRow

    return [PresetRow(s.name, s.title, s.gpus, s.transport) for s in summaries()]
