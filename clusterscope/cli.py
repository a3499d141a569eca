"""The command line: composition, exit codes, stderr.

stdout carries data, stderr narration. Every import of a room is inside the command that needs it,
so that `--help` costs nothing. Exit codes: 0 fine, 1 findings, 2 bad input, 3 assertion failed,
130 interrupted.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clusterscope import __version__
from clusterscope.errors import ClusterscopeError, SpecError
from clusterscope.opening import (
    FORMATS,
    describe,
    explore,
    explorer_options,
    refuse_places,
    start_of,
)
from clusterscope.process import guard, heed

if TYPE_CHECKING:
    from collections.abc import Callable

    from clusterscope.engine.timeline import Timeline
    from clusterscope.spec.model import ClusterSpec


_MOST_STEPS = 10_000_000


class SpecFirst(click.Group):
    """A group whose first word may be a spec: `clusterscope xai-colossus-100k --export out`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the hidden `open` command in front of anything that is not a command."""
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "--version")):
            args = ["open", *args]
        return super().parse_args(ctx, args)

    def format_usage(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """Usage in both of its forms."""
        formatter.write_usage("clusterscope", "[SPEC] [OPTIONS]")
        formatter.write_usage("clusterscope", "COMMAND [ARGS]...")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Options of the command that has no name."""
        with formatter.section("With a SPEC (preset name or TOML path)"):
            opener = self.commands["open"]
            records = [p.get_help_record(ctx) for p in opener.get_params(ctx)]
            formatter.write_dl([r for r in records if r and "--help" not in r[0]])


@click.group(cls=SpecFirst, context_settings={"help_option_names": ["--help", "-h"]})
@click.version_option(__version__, message="clusterscope %(version)s")
def cli() -> None:
    """Terminal explorer and digital twin for AI cluster networks."""


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that change what is simulated."""
    for option in reversed(
        [
            click.option("--set", "sets", multiple=True, metavar="KEY=VALUE",
                         help="change a key of the spec (jobs.0.message_bytes=2GiB)"),
            click.option("--transport", metavar="NAME", help="another transport, at its defaults"),
            click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="seed of all chance"),
            click.option("--steps", type=click.IntRange(0, 10_000_000), help="steps to run"),
            click.option("--until", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
                         help="run until this simulated time instead"),
            click.option("--fail", "fails", multiple=True, metavar="NAME|RULE[@STEP]",
                         help="fail a thing by name, or what a rule names ('3 random cables')"),
            click.option("--events", type=click.Path(path_type=Path), metavar="FILE",
                         help="TOML file with [[events]]"),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


@cli.command("open", hidden=True)
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
    timeline, steps = _timeline(spec, changes)
    _refuse_late(timeline, steps)
    if directory is not None:
        _export(timeline, directory, steps, chosen, stamp)
    if wanted:
        from clusterscope.metrics.report import report

        facts = report(timeline, steps)
        for assertion in wanted:
            assertion.check(facts)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def presets(as_json: bool) -> None:
    """List the presets."""
    from clusterscope.spec.presets import summaries

    rows = summaries()
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows], indent=1, ensure_ascii=False))
        return
    width = max(len(row.name) for row in rows)
    click.echo(f"{'name':<{width}}  {'GPUs':>9}  {'nodes':>7}  {'transport':<11} title")
    for row in rows:
        click.echo(
            f"{row.name:<{width}}  {row.gpus:>9,}  {row.nodes:>7,}  {row.transport:<11} {row.title}"
        )


@cli.command()
def schema() -> None:
    """Print the JSON Schema of a spec."""
    from clusterscope.spec.presets import schema as spec_schema

    click.echo(json.dumps(spec_schema(), indent=1))


@cli.command()
@click.argument("spec")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="change a key of the spec")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
@click.pass_context
def check(ctx: click.Context, spec: str, sets: tuple[str, ...], as_json: bool) -> None:
    """Print findings about SPEC; exit 1 when one is an error."""
    from clusterscope.engine.scenario import build
    from clusterscope.engine.timeline import Timeline
    from clusterscope.metrics.findings import findings
    from clusterscope.spec.presets import load

    timeline = Timeline(build(load(spec, sets)))
    found = findings(timeline.scenario, timeline.at(0))
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(f) for f in found], indent=1, ensure_ascii=False))
    else:
        for finding in found:
            click.echo(
                f"{finding.severity:<7} {finding.where}: {finding.message}  [{finding.rule}]"
            )
    if any(f.severity == "error" for f in found):
        ctx.exit(1)


@cli.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--verify", is_flag=True, help="recompute the digests and compare; exit 1 if they differ"
)
@explorer_options
@click.pass_context
def replay(ctx: click.Context, /, file: Path, verify: bool, **flags: Any) -> None:  # noqa: ANN401 - the options of explorer_options
    """Reopen a saved timeline in the explorer, or verify it."""
    from clusterscope.engine import replay as saved

    if verify:
        differing = saved.verify(file)
        for step in differing:
            click.echo(f"step {step}: digest differs")
        click.echo("the replay gives other frames" if differing else "every digest agrees")
        ctx.exit(1 if differing else 0)
    recorded = saved.read(file)
    from clusterscope.tui.start import Start

    start = start_of(flags, Start.of(recorded))
    explore(flags, str(file), recorded.timeline, start, lambda: recorded.spec)


@cli.command()
@click.option("--default", is_flag=True, help="print a commented template instead")
def config(default: bool) -> None:
    """Print where the settings are, and which are in force."""
    click.echo(describe(default), nl=False)


@cli.command()
@click.argument("spec")
@run_options
@click.option("--transports", metavar="A,B,...", help="which; all of the catalogue when left out")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def compare(spec: str, transports: str | None, as_json: bool, **changes: Any) -> None:  # noqa: ANN401 - the options of run_options, passed on as they are
    """Compare transports on the same flows, seed and failures."""
    from clusterscope.export import side_by_side
    from clusterscope.metrics.compare import Rivals, names_of

    timeline, steps = _timeline(spec, changes)
    _refuse_late(timeline, steps)
    names = names_of(transports, timeline.scenario)
    rivals = Rivals(timeline.scenario)
    comparison = rivals.compare(timeline.at(steps), timeline.log, names, _tell)
    _tell("", 0, 0)
    write = side_by_side.json if as_json else side_by_side.text
    click.echo(write(timeline.scenario, comparison), nl=False)


def _tell(name: str, step: int, of: int) -> None:
    """Say on a terminal what is being computed; "" wipes the line."""
    if sys.stderr.isatty():
        line = f"computing {name}, step {step:,} of {of:,} …" if name else ""
        click.echo(f"\r{line:<60}\r", err=True, nl=False)


def _formats(text: str) -> tuple[str, ...]:
    chosen = tuple(part.strip() for part in text.split(",") if part.strip())
    for part in chosen:
        if part not in FORMATS:
            raise SpecError("--format", f"{part!r} is not a format", f"use {', '.join(FORMATS)}")
    if not chosen:
        raise SpecError("--format", "names no format", f"use {', '.join(FORMATS)}")
    return chosen


def _spec(name: str, changes: dict[str, Any]) -> ClusterSpec:
    from clusterscope.spec.presets import load

    sets = list(changes["sets"])
    if changes["transport"] is not None:
        sets.append("transport=" + json.dumps(changes["transport"]))
    if changes["seed"] is not None:
        sets.append(f"sim.seed={changes['seed']}")
    return load(name, sets)


def _timeline(name: str, changes: dict[str, Any]) -> tuple[Timeline, int]:
    """The timeline asked for, and how many steps to run it."""
    from clusterscope.engine.events import Event, named
    from clusterscope.engine.scenario import build
    from clusterscope.engine.timeline import Timeline
    from clusterscope.metrics.rules import Deed, events_of, health_at
    from clusterscope.metrics.targets import is_rule
    from clusterscope.spec.events import read_events

    if changes["steps"] is not None and changes["until"] is not None:
        raise SpecError("--until", "cannot go with --steps", "give one of them")
    spec = _spec(name, changes)
    scenario = build(spec)
    timeline = Timeline(scenario)
    if changes["events"] is not None:
        where = f"{click.format_filename(changes['events'])}: events"
        for event in named(scenario.names, read_events(changes["events"]), where):
            timeline.inject(event)
    for text in changes["fails"]:
        target, step = _at(text)
        try:
            if is_rule(target):
                health = health_at(scenario, timeline.log, step)
                timeline.inject_all(events_of(Deed("fail", target), scenario, health, step))
            else:
                timeline.inject(Event.named(scenario.names, "fail", target, step=step))
        except ClusterscopeError as error:
            raise SpecError("--fail", str(error)) from None
    steps = spec.sim.steps if changes["steps"] is None else changes["steps"]
    if changes["until"] is not None:
        steps = _steps_until(changes["until"], spec.sim.dt_s)
    return timeline, steps


def _steps_until(until_s: float, dt_s: float) -> int:
    """Steps to a simulated time, at least one."""
    count = until_s / dt_s
    if not count <= _MOST_STEPS:
        raise SpecError(
            "--until",
            f"{until_s!r} is more than {_MOST_STEPS:,} steps of {dt_s!r} s",
            "use a shorter time or a larger sim.dt_s",
        )
    return max(1, round(count))


def _refuse_late(timeline: Timeline, steps: int) -> None:
    """Raise SpecError for an event that the run would never come to."""
    for event in timeline.log:
        if event.step > steps:
            raise SpecError(
                f"{event.text()} at step {event.step}",
                f"the run ends at step {steps}",
                "use --steps to run longer",
            )


def _at(text: str) -> tuple[str, int]:
    """Name and step of NAME[@STEP]."""
    name, at, step = text.rpartition("@")
    if not at:
        return text, 0
    if not (step.isascii() and step.isdecimal()) or len(step) > 8:
        raise SpecError("--fail", f"{step!r} after @ is not a step", "write NAME or NAME@STEP")
    return name, int(step)


def _export(
    timeline: Timeline, directory: Path, steps: int, formats: tuple[str, ...], stamp: bool
) -> None:
    from clusterscope.export.bundle import write_bundle

    if not sys.stderr.isatty():
        write_bundle(timeline, directory, steps=steps, formats=formats, stamp=stamp, progress=heed)
        return
    with click.progressbar(length=1000, label="running", file=sys.stderr, show_eta=False) as bar:

        def progress(label: str, share: float) -> None:
            heed(label, share)
            bar.label = label
            bar.update(max(0, int(share * 1000) - bar.pos))

        write_bundle(
            timeline, directory, steps=steps, formats=formats, stamp=stamp, progress=progress
        )
    click.echo(f"wrote {click.format_filename(directory)}", err=True)


def _explore(spec: str | None, changes: dict[str, Any]) -> None:
    if spec is None:
        refuse_places(changes, "needs a SPEC", "name a preset (clusterscope presets) or a file")
        explore(changes)
        return
    from clusterscope.spec.presets import names

    if spec not in names() and not Path(spec).exists():
        _spec(spec, changes)
    explore(
        changes,
        spec,
        lambda: _timeline(spec, changes)[0],
        start_of(changes),
        lambda: _spec(spec, changes),
    )


def main(args: list[str] | None = None) -> None:
    """Run the command line and exit."""
    guard(lambda: cli.main(args, prog_name="clusterscope", standalone_mode=False))
