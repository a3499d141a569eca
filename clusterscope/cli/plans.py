"""`plans`: training jobs of public papers that a job can take by name."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from clusterscope.views.shapes import Table

# Columns that a terminal shows; a file, a pipe and JSON get all of them.
_SHOWN = 7


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def plans(name: str | None, as_json: bool) -> None:
    """List ready plans of public papers, or say all about NAME."""
    from clusterscope.export.json import write
    from clusterscope.spec.ready import ready_plan, ready_plans

    chosen = tuple(ready_plans().values()) if name is None else (ready_plan(name),)
    if as_json:
        click.echo(write({"plans": [dataclasses.asdict(plan) for plan in chosen]}), nl=False)
        return
    from clusterscope.views.plans import plans_table

    table = plans_table()
    if name is not None:
        click.echo(_told(table, tuple(ready_plans()).index(chosen[0].name)), nl=False)
        return
    whole = table if not sys.stdout.isatty() else _narrow(table)
    click.echo(_columns(whole) + f"\n{table.note}", nl=True)


def _narrow(table: Table) -> Table:
    """The table with what a reader chooses by."""
    return dataclasses.replace(table, columns=table.columns[:_SHOWN])


def _told(table: Table, row: int) -> str:
    """One plan, a line a column."""
    from clusterscope.export.plain import words

    width = max(len(column.name) for column in table.columns)
    return "".join(
        f"{column.name:<{width}}  {words(column[row], column.kind)}\n"
        for column in table.columns
        if column[row]
    )


def _columns(table: Table) -> str:
    """Lines of a table without bars."""
    import numpy as np

    from clusterscope.export.side_by_side import columns

    return columns(table, np.full((table.rows, len(table.columns) - 1), np.nan))


COMMANDS = (plans,)
