"""`check`: findings about a spec."""

from __future__ import annotations

import dataclasses
import json

import click


@click.command()
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


COMMANDS = (check,)
