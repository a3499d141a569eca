"""`compare`: transports and fabrics side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clusterscope.cli.changes import cluster_of, refuse_late, run_options, spec_of
from clusterscope.cli.telling import say, tell, wrote
from clusterscope.errors import SpecError

if TYPE_CHECKING:
    from clusterscope.engine.timeline import Timeline
    from clusterscope.export.compared import Compared


@click.command()
@click.argument("specs", nargs=-1, required=True, metavar="SPEC [SPEC2 ...]")
@run_options
@click.option(
    "--specs", "more", metavar="A,B,...", help="more clusters, under the first one's jobs"
)
@click.option("--transports", metavar="A,B,...",
              help="which, or all; the main ones when left out, their own when there are several "
              "clusters")  # fmt: skip
@click.option("--export", "directory", type=click.Path(path_type=Path), metavar="DIR",
              help="write the comparison into DIR")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def compare(
    specs: tuple[str, ...],
    more: str | None,
    transports: str | None,
    directory: Path | None,
    as_json: bool,
    **changes: Any,  # noqa: ANN401 - the options of run_options, passed on as they are
) -> None:
    """Compare transports and fabrics on the same flows, seed and failures."""
    from clusterscope.export import side_by_side
    from clusterscope.metrics.compare import once

    given = (*specs, *_more(more))
    once(given, "compare", "cluster")
    if directory is not None:
        from clusterscope.export.bundle import target_of
        from clusterscope.export.comparison import write_comparison

        target_of(directory, "comparison")  # before minutes of work are lost to a wrong name
    compared = _compared(given, transports, changes)
    say("")
    if directory is not None:
        write_comparison(compared, directory)
        wrote(directory)
    write = side_by_side.json if as_json else side_by_side.text
    click.echo(write(compared), nl=False)


def _more(text: str | None) -> list[str]:
    """Clusters of --specs.

    Raises:
        SpecError: it names none.
    """
    names = [part.strip() for part in (text or "").split(",") if part.strip()]
    if text is not None and not names:
        hint = "use presets (clusterscope presets) or files, with commas between them"
        raise SpecError("--specs", f"{text!r} names no cluster", hint)
    return names


def _compared(names: tuple[str, ...], text: str | None, changes: dict[str, Any]) -> Compared:
    """Every cluster under every transport asked for."""
    from clusterscope.export.compared import Compared
    from clusterscope.metrics.compare import Rivals, joined
    from clusterscope.metrics.verdict import uses
    from clusterscope.process import heed

    timelines = _timelines(names, changes)
    comparisons, sides = [], []
    for timeline, steps in timelines:
        scenario = timeline.scenario
        rivals = Rivals(scenario)
        own = scenario.transport.name
        chosen = _chosen(text, timeline, alone=len(timelines) == 1)
        comparison = rivals.compare(timeline.at(steps), timeline.log, chosen, tell)
        comparisons.append((scenario.spec.name, comparison))
        sides += [
            (name, scenario if name == own else rivals.timeline(name).scenario, own)
            for name in chosen
        ]
    whole = joined(comparisons)
    labelled = [
        (side.label, scenario, own)
        for side, (_, scenario, own) in zip(whole.sides, sides, strict=True)
    ]

    def trying(words: str, done: int, of: int) -> None:
        heed(words, done / of)
        say(f"computing {words} …")

    tried = uses(whole.networks, trying)
    return Compared(whole, tried, [timeline.scenario for timeline, _ in timelines], labelled)


def _chosen(text: str | None, timeline: Timeline, *, alone: bool) -> tuple[str, ...]:
    """Transports of one cluster; its own when several clusters are compared and none is named."""
    from clusterscope.metrics.compare import names_of

    if text is None and not alone:
        return (timeline.scenario.transport.name,)
    return names_of(text, timeline.scenario)


def _timelines(names: tuple[str, ...], changes: dict[str, Any]) -> list[tuple[Timeline, int]]:
    """Each cluster's timeline, and the step that is compared: at one time for all."""
    from clusterscope.metrics.compare import same_jobs

    specs = [spec_of(name, changes) for name in names]
    if len(specs) > 1:
        specs = list(same_jobs(specs))
    first, steps = cluster_of(specs[0], changes)
    found = [(first, steps)]
    now = steps * specs[0].sim.dt_s
    for spec in specs[1:]:
        timeline, _ = cluster_of(spec, changes)
        found.append((timeline, round(now / spec.sim.dt_s)))
    for timeline, last in found:
        refuse_late(timeline, last)
    return found


COMMANDS = (compare,)
