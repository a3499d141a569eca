"""`validate`: published numbers, derived again."""

from __future__ import annotations

from itertools import groupby, zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from clusterscope.cli.telling import say
from clusterscope.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clusterscope.validation.cases import Case
    from clusterscope.validation.verdict import Result
    from clusterscope.views.shapes import Table

_WIDTH = 119
# Columns of the table of numbers, and their cells.
_WIDTHS = {"case": 8, "verdict": 7, "number": 27, "expected": 26, "got": 26, "tolerance": 13}


@click.command()
@click.option("--only", metavar="ID,...",
              help="cases, or whole groups of them (TOPO,ROUT-05)")  # fmt: skip
@click.option("--list", "listing", is_flag=True, help="list the cases instead")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
@click.pass_context
def validate(ctx: click.Context, only: str | None, listing: bool, as_json: bool) -> None:
    """Derive published numbers again; exit 1 when the bar is not met."""
    from clusterscope.validation.cases import chosen
    from clusterscope.validation.summary import summarize

    cases = chosen(() if only is None else _named(only))
    if listing:
        click.echo(_listing(cases, as_json), nl=False)
        return
    results = _derived(cases)
    click.echo(_document(results) if as_json else _tables(results), nl=False)
    ctx.exit(0 if summarize(results).met else 1)


def _named(text: str) -> list[str]:
    """Cases of a list with commas.

    Raises:
        SpecError: it names none.
    """
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        hint = "'clusterscope validate --list' lists them"
        raise SpecError("--only", f"{text!r} names no case", hint)
    return names


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
    """Every number, then what falls short, then the summary."""
    from clusterscope.validation import words
    from clusterscope.validation.shapes import number_table, summary_table
    from clusterscope.validation.summary import summarize

    summary = summarize(results)
    why = "".join(f"{line}\n" for line in words.shortfalls(results))
    note = "".join(f"{line}\n" for line in [words.footnote(summary)] if line)
    roles = f"{_columns(summary_table(summary))}{note}\n{words.headline(summary)}\n"
    numbers = "".join(f"{line}\n" for line in _numbers(number_table(results), results))
    return numbers + (f"\n{why}\n{roles}" if why else f"\n{roles}")


def _numbers(table: Table, results: Sequence[Result]) -> Iterator[str]:
    """A row a number, long cells on several lines; below those of a case where it comes from."""
    yield _row(_WIDTHS)
    columns = {column.name: column for column in table.columns}
    cases = {result.case.id: result.case for result in results}
    indent = " " * (_WIDTHS["case"] + 2)
    for key, rows in groupby(range(table.rows), table.key):
        for row in rows:
            cells = [wrap(str(columns[name][row]), size) for name, size in _WIDTHS.items()]
            yield from map(_row, zip_longest(*cells, fillvalue=""))
        case = cases[key]
        about = f"{case.role}: {case.title}; source: {case.source} [{case.source_status}]"
        yield from wrap(about, _WIDTH, initial_indent=indent, subsequent_indent=indent)


def _row(cells: Iterable[str]) -> str:
    padded = zip(cells, _WIDTHS.values(), strict=True)
    return "  ".join(f"{cell:<{size}}" for cell, size in padded).rstrip()


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
