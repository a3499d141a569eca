"""`serve`: how jobs that serve a model answer requests."""

from __future__ import annotations

import json
from typing import Any

import click

from clusterscope.cli.changes import refuse_late, run_options, timeline_of
from clusterscope.errors import SpecError


@click.command()
@click.argument("spec", required=False)
@click.option("--service", metavar="NAME", help="run this service of the catalogue instead of the "
              "jobs of SPEC; on its own preset without SPEC")  # fmt: skip
@run_options
@click.option("--at", type=click.IntRange(0, 10_000_000), metavar="STEP",
              help="at this step; that of the last event when left out")  # fmt: skip
@click.option("--list", "listed", is_flag=True, help="list the services of the catalogue instead")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def serve(
    spec: str | None,
    service: str | None,
    at: int | None,
    listed: bool,
    as_json: bool,
    **changes: Any,  # noqa: ANN401 - the options of run_options, passed on as they are
) -> None:
    """Print time to first token, time a token and tokens/s of jobs of SPEC that serve a model."""
    from clusterscope.export.served import listing, service_json, service_text
    from clusterscope.spec.services import CATALOGUE

    if listed:
        click.echo(listing(), nl=False)
        return
    if service is not None:
        preset = CATALOGUE.text(service, "preset")
        spec = spec or preset
        job = {"name": "serve", "serve": {"name": service}}
        changes["sets"] = (f"jobs=[{_toml(job)}]", *changes["sets"])
    if spec is None:
        hint = f"name a preset or a file, or give --service ({', '.join(CATALOGUE.names)})"
        raise SpecError("serve", "what to serve is missing", hint)
    timeline, steps = timeline_of(spec, changes)
    if not any(program.serving for program in timeline.scenario.program):
        raise SpecError(
            "serve",
            f"no job of {timeline.scenario.spec.name} serves a model",
            f"give one [jobs.serve], or --service ({', '.join(CATALOGUE.names)})",
        )
    if at is None:
        asked = changes["steps"] is not None or changes["until"] is not None
        at = steps if asked else max((event.step for event in timeline.log), default=0)
    refuse_late(timeline, at)
    write = service_json if as_json else service_text
    click.echo(write(timeline.scenario, timeline.at(at)), nl=False)


def _toml(table: dict[str, Any]) -> str:
    """A table as TOML on one line; its texts are written as JSON, which TOML reads alike."""
    pairs = (
        f"{key} = {_toml(value) if isinstance(value, dict) else json.dumps(value)}"
        for key, value in table.items()
    )
    return "{" + ", ".join(pairs) + "}"


COMMANDS = (serve,)
