"""`presets` and `schema`: what can be opened, and how to write it."""

from __future__ import annotations

import json

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def presets(as_json: bool) -> None:
    """List the presets."""
    from clusterscope.spec.presets import grouped, summaries

    rows = summaries()
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows], indent=1, ensure_ascii=False))
        return
    name, kind = max(len(row.name) for row in rows), max(len(row.transport) for row in rows)
    click.echo(f"{'name':<{name}}  {'GPUs':>9}  {'nodes':>7}  {'transport':<{kind}}  title")
    for group, members in grouped(rows):
        click.echo(f"\n{group}")
        for row in members:
            size = f"{row.gpus:>9,}  {row.nodes:>7,}"
            click.echo(f"{row.name:<{name}}  {size}  {row.transport:<{kind}}  {row.title}")


@click.command()
def schema() -> None:
    """Print the JSON Schema of a spec."""
    from clusterscope.spec.presets import schema as spec_schema

    click.echo(json.dumps(spec_schema(), indent=1))


COMMANDS = (presets, schema)
