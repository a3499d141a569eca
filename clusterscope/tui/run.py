"""The explorer's one entry: what the command line calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from clusterscope.tui.terminal import end_with_terminal, require_terminal, tell_escapes_apart

if TYPE_CHECKING:
    from clusterscope.engine.timeline import Timeline
    from clusterscope.tui.exports import Exports
    from clusterscope.tui.library import Library
    from clusterscope.tui.settings import Settings
    from clusterscope.tui.start import Start


def run(
    title: str | None = None,
    opened: Callable[[], Timeline] | None = None,
    *,
    start: Start | None = None,
    shelf: Library | None = None,
    exports: Exports | None = None,
    settings: Settings | None = None,
    playing: bool = False,
) -> int:
    """Open the explorer, or the picker when nothing is named; gives the exit code.

    Args:
        title: what is opened, for the eyes.
        opened: builds the timeline to explore.
        start: where to begin.
        shelf: what the picker offers; presets and the files here when left out.
        exports: writers of files; None when there are none.
        settings: what the user has set; all defaults when left out.
        playing: True to run at once.

    Raises:
        SpecError: there is no terminal to draw on.
        ClusterscopeError: what should be opened cannot be built.
    """
    require_terminal()
    end_with_terminal()
    tell_escapes_apart()
    if hasattr(sys.stderr, "reconfigure"):
        # Frames and ramps need more than latin-1, which is what LC_ALL=C may have asked for.
        sys.stderr.reconfigure(encoding="utf-8")
    from clusterscope.tui.app import ClusterScopeApp

    app = ClusterScopeApp(
        opened,
        shelf,
        exports,
        what=title or "the cluster",
        start=start,
        settings=settings,
        playing=playing,
    )
    app.run(mouse=app.settings.mouse)
    if app.mistake is not None:
        raise app.mistake
    return app.return_code or 0
