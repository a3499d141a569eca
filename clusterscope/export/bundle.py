"""A report as a directory: what a run gave, in every format, and what it takes to run it again.

    report.md  report.html  report.json  report.schema.json
    csv/VIEW.csv  svg/PLOT.svg
    spec.toml      the cluster
    replay.toml    the cluster, the injected events, and digests to compare
    manifest.json  what was run, and size and digest of every other file

The same run gives the same bytes: nothing holds a date, a path or a machine, unless asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from clusterscope import __version__
from clusterscope.engine import replay
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from clusterscope.export import csv, html, markdown, story
from clusterscope.export import json as json_text
from clusterscope.export.files import reason, whole_directory, write_text
from clusterscope.export.plain import spelled_out
from clusterscope.metrics.report import Levels, levels_of
from clusterscope.metrics.report import report as report_of
from clusterscope.metrics.schema import SCHEMA
from clusterscope.spec import write as spec_write
from clusterscope.views.shapes import Series, Shape, Table

Progress = Callable[[str, float], None]
Bundle = Literal["report", "comparison"]

FORMATS: Final = ("md", "html", "json", "csv", "svg")
MARKER: Final = "clusterscope report bundle"
MANIFEST: Final = "manifest.json"
CSV_ROWS: Final = 1000
_RUN_SHARE: Final = 0.6


def write_bundle(
    timeline: Timeline,
    directory: str | Path,
    *,
    steps: int,
    formats: Collection[str] = FORMATS,
    stamp: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Run a timeline to a step and write the bundle; gives the directory written.

    The directory appears whole or not at all. One that is there is replaced when it is empty or an
    earlier report, and left alone otherwise.

    Args:
        timeline: what is run.
        directory: where to write; parents are made.
        steps: step that the report is about.
        formats: which of FORMATS to write; spec, replay and manifest always are.
        stamp: put the time of writing into the manifest, which makes two bundles differ.
        progress: told what is being done and how much is done, 0 to 1.

    Raises:
        SpecError: the directory cannot be written, or holds what is not ours.
    """
    target = target_of(Path(directory), "report")
    tell = progress or _silent
    with whole_directory(target) as room:
        entries = []
        for name, text in _contents(timeline, steps, formats, tell):
            data = write_text(room / name, text)
            digest = hashlib.blake2b(data, digest_size=16).hexdigest()
            entries.append({"name": name, "size": len(data), "blake2b": digest})
        manifest = _manifest(timeline, steps, entries, stamp)
        write_text(room / MANIFEST, json_text.write(manifest))
        tell("done", 1.0)
    return target


def _silent(label: str, share: float) -> None:
    """Progress that nobody asked for."""


def _contents(
    timeline: Timeline, steps: int, formats: Collection[str], tell: Progress
) -> Iterator[tuple[str, str]]:
    """Name and text of every file but the manifest."""
    series, known = _run(timeline, steps, tell)
    tell("reading results", _RUN_SHARE)
    scenario, frame = timeline.scenario, timeline.at(steps)
    facts = report_of(timeline, steps, known)
    views: dict[str, Shape] = story.shapes(scenario, frame, facts)
    tell("drawing plots", 0.75)
    wanted = {"html", "svg"} & set(formats)
    plots = story.draw(scenario, frame, series) if wanted else {}
    told = story.sections(scenario, views, series, plots)
    tell("writing files", 0.9)
    if "md" in formats:
        yield "report.md", markdown.page(facts, told, linked=formats)
    if "html" in formats:
        yield "report.html", html.page(facts, told, linked=formats)
    if "json" in formats:
        yield "report.json", json_text.write(facts)
        yield "report.schema.json", json_text.write(SCHEMA)
    if "csv" in formats:
        for name, shape in (views | series).items():
            limit = CSV_ROWS if isinstance(shape, Table) else None
            yield f"csv/{name}.csv", csv.write(shape, limit=limit)
    if "svg" in formats:
        for name, plot in plots.items():
            yield f"svg/{name}.svg", plot.svg
    yield "spec.toml", spec_write.write(scenario.spec)
    yield "replay.toml", replay.dumps(timeline, steps)


def _run(
    timeline: Timeline, steps: int, tell: Progress
) -> tuple[dict[str, Series], dict[int, Levels]]:
    """Every series of the run, and levels by step; each step is computed once, in order."""
    parts: dict[str, list[Series]] = {}
    known: dict[int, Levels] = {}
    for step in story.points(steps):
        tell(f"step {step:,} of {steps:,}", _RUN_SHARE * step / max(1, steps))
        for name, part in story.lines(timeline, step).items():
            parts.setdefault(name, []).append(part)
        known[step] = levels_of(timeline.scenario, timeline.at(step))
    return {name: story.joined(pieces) for name, pieces in parts.items()}, known


def _manifest(
    timeline: Timeline, steps: int, entries: list[dict[str, Any]], stamp: bool
) -> dict[str, Any]:
    scenario = timeline.scenario
    spec = spec_write.write(scenario.spec).encode()
    events = sorted((*scenario.schedule, *timeline.log), key=lambda event: event.step)
    manifest: dict[str, Any] = {
        "marker": MARKER,
        "kind": "report",
        "clusterscope": __version__,
        "spec": scenario.spec.name,
        "spec_digest": hashlib.blake2b(spec, digest_size=16).hexdigest(),
        "seed": scenario.spec.sim.seed,
        "steps": steps,
        "transport": scenario.transport.name,
        "events": [f"step {event.step}: {event.text()}" for event in events],
        "digest": timeline.at(steps).digest(),
        "files": entries,
    }
    if stamp:
        manifest["written"] = datetime.now(UTC).isoformat(timespec="seconds")
    return manifest


def target_of(directory: Path, kind: Bundle) -> Path:
    """Where a bundle goes, once it is sure that nothing but an earlier one of its kind is there.

    Raises:
        SpecError: a file, a directory with other things in it, or one that cannot be replaced.
    """
    shown = spelled_out(str(directory))
    try:
        target = directory.resolve()
        if not target.exists():
            return target
        if not target.is_dir():
            raise SpecError(shown, "is a file", "name a directory")
        if os.path.ismount(target) or target == Path.cwd():
            raise SpecError(shown, "cannot be replaced as a whole", "name a directory inside it")
        _refuse_others(target, shown, kind)
    except (OSError, ValueError, RuntimeError) as error:
        raise SpecError(shown, "cannot be written", reason(error)) from None
    return target


def _refuse_others(target: Path, shown: str, kind: Bundle) -> None:
    """Raise SpecError when a directory holds more than an earlier bundle of this kind."""
    there = {p.relative_to(target).as_posix() for p in target.rglob("*") if not p.is_dir()}
    if not there and not any(target.iterdir()):
        return
    manifest = _manifest_of(target / MANIFEST)
    if manifest is None:
        raise SpecError(
            shown,
            f"is not empty and not an earlier {kind}",
            "name a new directory, or empty this one",
        )
    earlier = kind_of(manifest)
    if earlier != kind:
        raise SpecError(
            shown,
            f"holds a {earlier}, which a {kind} does not replace",
            "name a new directory, or remove this one",
        )
    foreign = sorted(there - _listed(manifest))
    if foreign:
        raise SpecError(
            shown,
            f"holds {spelled_out(foreign[0])!r}, which is no part of the earlier {kind}",
            "move it, or name a new directory",
        )


def kind_of(manifest: Mapping[str, Any]) -> str:
    """What kind of bundle a manifest is of; those before kinds were written are told by a key."""
    return str(manifest.get("kind", "comparison" if "compared" in manifest else "report"))


def _manifest_of(path: Path) -> Mapping[str, Any] | None:
    """A manifest of ours; None when it is not one."""
    if not path.is_file():
        return None
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    ours = isinstance(data, Mapping) and data.get("marker") == MARKER
    return data if ours else None


def _listed(manifest: Mapping[str, Any]) -> set[str]:
    """Files that a manifest lists, itself included."""
    files = manifest.get("files")
    entries = files if isinstance(files, list) else []
    return {MANIFEST, *(str(e.get("name")) for e in entries if isinstance(e, Mapping))}
