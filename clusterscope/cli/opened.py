"""`clusterscope SPEC`: the explorer, or a report bundle without a screen."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clusterscope.cli.changes import refuse_late, run_options, spec_of, timeline_of
from clusterscope.cli.group import Opener
from clusterscope.cli.telling import wrote
from clusterscope.errors import SpecError
from clusterscope.opening import FORMATS, explore, explorer_options, refuse_places, start_of
from clusterscope.process import heed

if TYPE_CHECKING:
    from clusterscope.engine.timeline import Timeline


@click.command("open", cls=Opener, hidden=True)
@click.argument("spec", required=False)
@run_options
@explorer_options
@click.option("--export", "directory", type=click.Path(path_type=Path), metavar="DIR",
              help="run headless and write a report bundle into DIR")  # fmt: skip
@click.option("--format", "formats", default=",".join(FORMATS), show_default=True,
              help="what to write")  # fmt: skip
@click.option("--assert", "asserts", multiple=True, metavar="EXPR",
              help="exit 3 unless it holds ('jobs.0.busbw_GBps >= 350')")  # fmt: skip
@click.option("--stamp", is_flag=True, help="put the time of the run into the manifest")
def open_command(
    spec: str | None,
    directory: Path | None,
    formats: str,
    asserts: tuple[str, ...],
    stamp: bool,
    **changes: Any,  # noqa: ANN401 - the other options, passed on as they are
) -> None:
    """Open the explorer on SPEC, or run it headless with --export."""
    from clusterscope.assertions import Assertion

    wanted = tuple(Assertion.parse(text) for text in asserts)
    chosen = _formats(formats)
    if directory is None and not wanted:
        _explore(spec, changes)
        return
    if spec is None:
        raise SpecError(
            "--export", "needs a SPEC", "name a preset (clusterscope presets) or a file"
        )
    refuse_places(changes, "is for the explorer", "leave it out of a run without a screen")
    timeline, steps = timeline_of(spec, changes)
    refuse_late(timeline, steps)
    if directory is not None:
        _export(timeline, directory, steps, chosen, stamp)
    if wanted:
        from clusterscope.metrics.report import report

        facts = report(timeline, steps)
        for assertion in wanted:
            assertion.check(facts)


def _formats(text: str) -> tuple[str, ...]:
    chosen = tuple(part.strip() for part in text.split(",") if part.strip())
    for part in chosen:
        if part not in FORMATS:
            raise SpecError("--format", f"{part!r} is not a format", f"use {', '.join(FORMATS)}")
    if not chosen:
        raise SpecError("--format", "names no format", f"use {', '.join(FORMATS)}")
    return chosen


def _export(
    timeline: Timeline, directory: Path, steps: int, formats: tuple[str, ...], stamp: bool
) -> None:
    from clusterscope.export.bundle import write_bundle

    if not sys.stderr.isatty():
        write_bundle(timeline, directory, steps=steps, formats=formats, stamp=stamp, progress=heed)
        wrote(directory)
        return
    with click.progressbar(length=1000, label="running", file=sys.stderr, show_eta=False) as bar:

        def progress(label: str, share: float) -> None:
            heed(label, share)
            bar.label = label
            bar.update(max(0, int(share * 1000) - bar.pos))

        write_bundle(
            timeline, directory, steps=steps, formats=formats, stamp=stamp, progress=progress
        )
    wrote(directory)


def _explore(spec: str | None, changes: dict[str, Any]) -> None:
    if spec is None:
        refuse_places(changes, "needs a SPEC", "name a preset (clusterscope presets) or a file")
        explore(changes)
        return
    from clusterscope.spec.presets import names

    if spec not in names() and not Path(spec).exists():
        spec_of(spec, changes)
    explore(
        changes,
        spec,
        lambda: timeline_of(spec, changes)[0],
        start_of(changes),
        lambda: spec_of(spec, changes),
    )


COMMANDS = (open_command,)
