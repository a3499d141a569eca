"""Shapes as GitHub Markdown.

Names are data: whatever Markdown, HTML, a table or an autolink would make of their characters is
escaped. A heat map is a block of glyphs, since Markdown has no colors.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, assert_never

import numpy as np

from clusterscope.export.headline import Headline, headlines, title
from clusterscope.export.plain import spelled_out, words
from clusterscope.export.story import ROWS, Section
from clusterscope.units import counted
from clusterscope.views import heat
from clusterscope.views.levels import levels_of_grid
from clusterscope.views.shapes import Fact, Grid, Note, Series, Shape, Table

# Signs that always mean something; "_" at the edge of a word; ":" of an address or an emoji's name;
# "&" of an entity.
_SPECIAL: Final = re.compile(
    r"[\\`*\[\]<>|~$@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//|[\w+-]+:)|&(?=#?\w+;)"
)
_AUTOLINK: Final = re.compile(r"(?i)\bwww\.")
_BLOCK: Final = re.compile(r"^(\s*)(?:([-+=#])|(\d+)([.)]))")
_SERIES_ROWS: Final = 12


def write(shape: Shape, *, rows: int = ROWS, more: str = "") -> str:
    """A shape as Markdown, without a heading.

    Args:
        shape: what to write.
        rows: rows of a table to show at most.
        more: where the rest is, added to "n more rows".
    """
    match shape:
        case Table():
            body = _table(shape, rows, more)
        case Grid():
            body = _grid(shape)
        case Series():
            body = _series(shape)
        case Note():
            body = _note(shape)
        case _:
            assert_never(shape)
    return "".join(f"{line}\n" for line in body)


def escape(text: str) -> str:
    """Text that GitHub shows as it is, inside a line."""
    text = _SPECIAL.sub(lambda m: "\\" + m[0], spelled_out(text))
    return _AUTOLINK.sub(lambda m: m[0][:-1] + r"\.", text)


def block(text: str) -> str:
    """Text that GitHub shows as it is, at the start of a line too."""
    return _BLOCK.sub(_guarded, escape(text))


def _guarded(match: re.Match[str]) -> str:
    indent, sign, digits, dot = match.groups()
    return f"{indent}\\{sign}" if sign else f"{indent}{digits}\\{dot}"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _table(table: Table, rows: int, more: str) -> Iterator[str]:
    shown = min(table.rows, rows)
    if table.columns and shown:
        yield _row(escape(c.name) for c in table.columns)
        yield _row("---" if c.kind == "text" else "---:" for c in table.columns)
        for row in range(shown):
            yield _row(escape(words(c[row], c.kind)) for c in table.columns)
    else:
        yield "None."
    if table.rows > shown:
        yield ""
        yield f"{counted(table.rows - shown, 'more row')}" + (f" in {more}." if more else ".")
    yield from _remark(table.note)


def _remark(text: str) -> Iterator[str]:
    if text:
        yield ""
        yield block(text)


def _grid(grid: Grid) -> Iterator[str]:
    labels = [_cell_label(label) for label in grid.row_labels]
    width = max(map(len, labels), default=0)
    yield "```text"
    for label, line in zip(labels, levels_of_grid(grid).tolist(), strict=True):
        yield f"{label:<{width}} |{''.join(map(heat.glyph, line))}|"
    yield "```"
    yield ""
    columns = grid.column_labels
    span = f"Columns: {columns[0]} to {columns[-1]}. " if len(columns) > 1 else ""
    yield f"{escape(span)}{escape(heat.legend(signed=grid.signed))}"
    yield from _remark(grid.note)


def _cell_label(label: str) -> str:
    """A row label that cannot close the fence."""
    return spelled_out(label).replace("`", "'")


def _series(series: Series) -> Iterator[str]:
    count = len(series.x)
    picked = np.unique(np.linspace(0, max(0, count - 1), min(count, _SERIES_ROWS)).astype(int))
    yield _row([escape(series.x_label), *map(escape, series.y)])
    yield _row(["---:"] * (1 + len(series.y)))
    for at in picked.tolist():
        x = float(series.x[at])
        yield _row(
            [f"{x:g}", *(escape(words(float(y[at]), series.kind)) for y in series.y.values())]
        )
    yield from _remark(series.note or (f"{series.y_label}." if series.y_label else ""))


def _note(note: Note) -> Iterator[str]:
    for fact in note.facts:
        yield f"- {block(fact.label)}: {escape(words(fact.value, fact.kind))}{_trust(fact)}"
    if note.facts and note.lines:
        yield ""
    for line in note.lines:
        yield f"- {block(line)}"


def _trust(fact: Fact) -> str:
    known = [part for part in (fact.mark, fact.source) if part]
    return f" ({escape(': '.join(known))})" if known else ""


def page(report: Mapping[str, Any], sections: Sequence[Section], linked: Collection[str]) -> str:
    """The whole report.

    Args:
        report: the dict of report.json, for the headline.
        sections: what follows it, in order.
        linked: formats that lie beside the report: plots are shown when "svg" is one, and longer
            tables refer to theirs when "csv" is.
    """
    lines = [f"# {escape(title(report))}", ""]
    about = " ".join(report["spec"]["description"].split())
    lines += [block(about), ""] if about else []
    lines += [_headline(job) for job in headlines(report)]
    lines.append("")
    for section in sections:
        lines += [f"## {escape(section.title)}", ""]
        for shape in section.shapes:
            if len(section.shapes) > 1:
                lines += [f"### {escape(shape.title)}", ""]
            more = "the CSV files" if "csv" in linked else ""
            lines.append(write(shape, rows=section.rows, more=more))
        if "svg" in linked:
            lines += [f"![{escape(p.title)}](svg/{p.name}.svg)\n" for p in section.plots]
    digest = report["digest"]
    lines.append(f"ClusterScope {report['clusterscope']}, frame digest {digest}.")
    text = "\n".join(line.rstrip() for line in "\n".join(lines).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


def _headline(job: Headline) -> str:
    """One bullet a job."""
    facts = f"{job.sentence}; {job.collective}, {job.size}, {job.ranks}" + (
        f"; {job.settled}" if job.settled else ""
    )
    return f"- **{block(job.name)}**: {escape(facts)}"
