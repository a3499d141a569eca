"""`validate`: published numbers, derived again."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from typing import TYPE_CHECKING

import click

from clusterscope.cli.telling import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clusterscope.validation.cases import Case
    from clusterscope.validation.verdict import Result
    from clusterscope.views.shapes import Table

_CELL = 20  # widest cell of a table on a terminal, but for the last one


@click.command()
@click.option("--only", metavar="ID,...", default="",
              help="cases, or whole groups of them (TOPO,ROUT-05)")  # fmt: skip
@click.option("--list", "listing", is_flag=True, help="list the cases instead")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
@click.pass_context
def validate(ctx: click.Context, only: str, listing: bool, as_json: bool) -> None:
    """Derive published numbers again; exit 1 when the bar is not met."""
    from clusterscope.validation.cases import chosen
    from clusterscope.validation.summary import summarize

    cases = chosen(only.split(","))
    if listing:
        click.echo(_listing(cases, as_json), nl=False)
        return
    results = _derived(cases)
    click.echo(_document(results) if as_json else _tables(results), nl=False)
    ctx.exit(0 if summarize(results).met else 1)


def _derived(cases: Sequence[Case]) -> list[Result]:
    """Results of cases; on a terminal it is said which one is at work."""
    from clusterscope.process import heed
    from clusterscope.validation.run import run

    done = iter(range(len(cases)))

    def tell(case: Case) -> None:
        place = next(done)
        heed(case.id, place / len(cases))
        say(f"{place + 1} of {len(cases)}: {case.id} {case.title} …")

    results = list(run(cases, tell))
    say("")
    return results


def _document(results: Sequence[Result]) -> str:
    from clusterscope.export.json import write
    from clusterscope.validation.document import document

    return write(document(results))


def _tables(results: Sequence[Result]) -> str:
    """Every number, then the summary; as wide as the terminal, if there is one."""
    from clusterscope.validation import words
    from clusterscope.validation.shapes import number_table, summary_table
    from clusterscope.validation.summary import summarize

    summary, numbers = summarize(results), number_table(results)
    why = "".join(f"{line}\n" for line in words.shortfalls(results))
    note = "".join(f"{line}\n" for line in [words.footnote(summary)] if line)
    roles = f"{_columns(summary_table(summary))}{note}\n{words.headline(summary)}\n"
    told = f"\n{why}\n{roles}" if why else f"\n{roles}"
    if not sys.stdout.isatty():
        return _columns(numbers) + told
    width = shutil.get_terminal_size().columns
    lines = _columns(_narrow(numbers)).splitlines()
    return "".join(f"{_cut(line, width)}\n" for line in lines) + told


def _narrow(table: Table) -> Table:
    """The same table, with no cell but the last longer than a reader needs to know it by."""
    columns = tuple(
        dataclasses.replace(column, values=[_cut(str(column[r]), _CELL) for r in range(table.rows)])
        for column in table.columns[:-1]
    )
    return dataclasses.replace(table, columns=(*columns, table.columns[-1]))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _listing(cases: Sequence[Case], as_json: bool) -> str:
    from clusterscope.export.json import write
    from clusterscope.views.shapes import Column
    from clusterscope.views.shapes import Table as Shape

    names = ("id", "role", "category", "title", "source")
    if as_json:
        return write({"cases": [{n: getattr(c, n) for n in names} for c in cases]})
    table = Shape(
        "cases",
        tuple(Column(n, "text", [getattr(c, n) for c in cases]) for n in names[:-1]),
        rows=len(cases),
    )
    return _columns(table)


def _columns(table: Table) -> str:
    """Lines of a table without bars."""
    import numpy as np

    from clusterscope.export.side_by_side import columns

    return columns(table, np.full((table.rows, len(table.columns) - 1), np.nan))


COMMANDS = (validate,)
