"""`config`: where the settings are, and which are in force."""

from __future__ import annotations

import click

from clusterscope.opening import describe


@click.command()
@click.option("--default", is_flag=True, help="print a commented template instead")
def config(default: bool) -> None:
    """Print where the settings are, and which are in force."""
    click.echo(describe(default), nl=False)


COMMANDS = (config,)
