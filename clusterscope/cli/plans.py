"""`plans`: training jobs of public papers that a job can take by name."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from clusterscope.views.shapes import Table

# Columns of the list with the most cells of each; `plans NAME` and JSON have the others as well.
WIDTHS = {
    "plan": 22,
    "GPUs": 6,
    "cut": 18,
    "published": 14,
    "comes out": 11,
    "preset": 17,
    "what it is": 20,
}
_MORE = "'clusterscope plans NAME' says where one is from, what is left open, and what goes wrong"


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
    from clusterscope.export.wrapped import wrapped

    click.echo(f"{wrapped(table, WIDTHS)}\n{table.note}\n{_MORE}")


def _told(table: Table, row: int) -> str:
    """One plan, a line a column."""
    from clusterscope.export.plain import words

    width = max(len(column.name) for column in table.columns)
    return "".join(
        f"{column.name:<{width}}  {words(column[row], column.kind)}\n"
        for column in table.columns
        if column[row]
    )


COMMANDS = (plans,)
