"""How the command line opens the explorer: its flags, the user's settings, and who writes files."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import click

from clusterscope.errors import SpecError
from clusterscope.process import heed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from clusterscope.engine.timeline import Timeline
    from clusterscope.spec.model import ClusterSpec
    from clusterscope.tui.start import Start
    from clusterscope.views.shapes import Shape

FORMATS: Final = ("md", "html", "json", "csv", "svg")
_PLACES: Final = ("screen", "select", "at")


def explorer_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say where the explorer begins and how it looks."""
    for option in reversed(
        [
            click.option("--screen", metavar="NAME",
                         help="begin on a screen: links, failures, compare, neighborhood, jobs, "
                              "tenants, curves, explain, inside or networks"),
            click.option("--select", metavar="NAME", help="begin with a thing selected"),
            click.option("--at", type=click.IntRange(0, 10_000_000), metavar="STEP",
                         help="begin at a step"),
            click.option("--theme", metavar="NAME",
                         help="dark, light, high-contrast or plain (no colors)"),
            click.option("--no-mouse", is_flag=True, help="leave the mouse to the terminal"),
            click.option("--ascii", is_flag=True, help="draw with nothing but ASCII"),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


def refuse_places(flags: Mapping[str, Any], why: str, hint: str) -> None:
    """Refuse flags that say where the explorer begins.

    Raises:
        SpecError: one was given.
    """
    for name in _PLACES:
        if flags[name] not in (None, ""):
            raise SpecError(f"--{name}", why, hint)


def start_of(flags: Mapping[str, Any], saved: Start | None = None) -> Start:
    """Where to begin: as the flags say, else as it was saved."""
    from clusterscope.tui.start import Start

    saved = saved or Start()
    return Start(
        step=saved.step if flags["at"] is None else flags["at"],
        select=saved.select if flags["select"] is None else flags["select"],
        screen=saved.screen if flags["screen"] is None else flags["screen"],
    )


def explore(
    flags: Mapping[str, Any],
    title: str | None = None,
    opened: Callable[[], Timeline] | None = None,
    start: Start | None = None,
    spec: Callable[[], ClusterSpec] | None = None,
) -> None:
    """Open the explorer, or the picker when nothing is named.

    Args:
        flags: values of `explorer_options`.
        title: what is opened, for the eyes.
        opened: builds its timeline.
        start: where to begin.
        spec: gives what is opened, so that `start` can be checked.

    Raises:
        ClusterscopeError: a flag or the settings file cannot be used, told before anything is
            drawn; or what should be opened cannot be built.
        SystemExit: the explorer ended with another exit code than 0.
    """
    from clusterscope.tui.run import run
    from clusterscope.tui.settings import load

    settings = load().with_flags(
        theme=flags["theme"], mouse=not flags["no_mouse"], ascii=flags["ascii"]
    )
    if start is not None and spec is not None:
        start.check(spec)
    exports = Exports()
    try:
        code = run(title, opened, start=start, settings=settings, exports=exports)
    finally:
        exports.finish()
    if code:  # the screen broke; a script that started it must see that
        raise SystemExit(code)


def describe(default: bool) -> str:
    """Path of the settings file and the settings in force; or a commented template."""
    from clusterscope.tui.config import effective, template
    from clusterscope.tui.settings import load, path

    if default:
        return template()
    there = "" if path().exists() else "  (not there: all defaults)"
    return f"# {click.format_filename(path())}{there}\n{effective(load())}"


class Exports:
    """What the explorer can write; a writer is imported when it is first asked for."""

    def __init__(self) -> None:
        self._writing = Lock()

    def finish(self) -> None:
        """Wait for a report that is being written; an interrupt gives it up and tidies away.

        Raises:
            KeyboardInterrupt: the user does not want to wait.
        """
        if self._writing.locked():
            click.echo("clusterscope: finishing the report; ctrl-C gives it up", err=True)
        try:
            with self._writing:
                return
        except KeyboardInterrupt:
            with self._writing:  # until what was half written is gone
                raise

    def report(self, timeline: Timeline, directory: Path, steps: int) -> None:
        """Write a report of a timeline, up to a step, into a directory."""
        from clusterscope.export.bundle import write_bundle

        with self._writing:
            write_bundle(timeline, directory, steps=steps, formats=FORMATS, progress=heed)

    def view(self, shape: Shape, path: Path) -> None:
        """Write a shape as CSV."""
        from clusterscope.export.one import write_view

        write_view(shape, path)

    def picture(self, svg: str, path: Path) -> None:
        """Write a picture."""
        from clusterscope.export.one import write_picture

        write_picture(svg, path)
