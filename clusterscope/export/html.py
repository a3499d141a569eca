"""The report as one HTML page that needs nothing but itself.

Styles and plots are inline; there are no scripts and nothing is fetched. Jinja escapes whatever
comes in, so a name stays a name; sources are text, not links. The page follows the reader's light
or dark scheme and prints on paper.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, Final, assert_never

import jinja2
from markupsafe import Markup

from clusterscope.export.headline import headlines, title
from clusterscope.export.plain import spelled_out, words
from clusterscope.export.plots import COLORS, INK, PAPER, RULE
from clusterscope.export.story import Plot, Section
from clusterscope.views import heat
from clusterscope.views.levels import levels_of_grid
from clusterscope.views.shapes import Column, Grid, Note, Series, Table
from clusterscope.views.text import fmt

_WIDE: Final = 12
_SHORT: Final = 19
_MARKS: Final = ("error", "warning", "estimate", "doubt", "source", "derived")
_TEMPLATE: Final = "report.html.j2"
_ID: Final = re.compile(r'\b(id="|xlink:href="#|url\(#)([^")]+)')
_SIZE: Final = re.compile(r' width="[0-9.]+pt" height="[0-9.]+pt"')


def page(report: Mapping[str, Any], sections: Sequence[Section], linked: Collection[str]) -> str:
    """The whole page.

    Args:
        report: the dict of report.json, for the headline.
        sections: what follows it, in order.
        linked: formats that lie beside the page: longer tables refer to theirs when "csv" is one.
    """
    template = _environment().get_template(_TEMPLATE)
    text: str = template.render(
        report=report,
        **_title(report),
        headline=[(job, _fill(job.ratio)) for job in headlines(report)],
        sections=[_section(s) for s in sections if s.plots or _visible(s)],
        ramp=list(zip(_RAMP.colors, (0.0, *heat.THRESHOLDS), _STEPS, strict=True)),
        black_from=_RAMP.black_from,
        changes=heat.DIVERGING,
        black_changes=heat.DIVERGING_BLACK,
        down=heat.DOWN_COLOR,
        more=" in the CSV files" if "csv" in linked else "",
        colors=COLORS,
    )
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"


def _title(report: Mapping[str, Any]) -> dict[str, Any]:
    """Title, a line below it, and what kind of cluster it is."""
    spec, fabric = report["spec"], report["fabric"]
    tags = [f"{fabric['gpus']:,} GPUs", f"{fabric['nodes']:,} nodes"]
    tags += [f"{count:,} {tier}" for tier, count in fabric["switches"].items() if count]
    transport = report["transport"]
    return {
        "title": title(report),
        "subtitle": " ".join(spec["description"].split()),
        "tags": [*tags, transport.get("title") or transport["name"]],
    }


def _fill(value: object) -> str:
    """A ratio as the length of a bar, in percent; "" when it is none."""
    if isinstance(value, int | float) and math.isfinite(value):
        return f"{100 * min(1.0, max(0.0, float(value))):.1f}"
    return ""


def inline(plot: Plot) -> Markup:
    """A plot as an element of the page: ids of its own, colors of the page, a text alternative."""
    svg = plot.svg[plot.svg.index("<svg") :]
    svg = _ID.sub(lambda m: f"{m[1]}{plot.name}-{m[2]}", svg)
    svg = svg.replace(f"fill: {PAPER}", "fill: none").replace(f"stroke: {PAPER}", "stroke: none")
    svg = svg.replace(INK, "currentColor").replace(RULE, "var(--rule)")
    for place, color in enumerate(COLORS):
        svg = svg.replace(color, f"var(--c{place})")
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, count=1, flags=re.DOTALL)
    label = Markup(' role="img" aria-label="{}"').format(plot.title)
    return Markup(_SIZE.sub(label.replace("\\", r"\\"), svg, count=1))


def _section(section: Section) -> dict[str, Any]:
    return {
        "name": section.name,
        "title": section.title,
        "shapes": [_shape(shape, section.rows) for shape in _visible(section)],
        "grids": any(isinstance(shape, Grid) for shape in section.shapes),
        "plots": [{"title": plot.title, "svg": inline(plot)} for plot in section.plots],
    }


def _visible(section: Section) -> list[Table | Grid | Note]:
    """Shapes that the page shows; lines are there as plots."""
    return [shape for shape in section.shapes if not isinstance(shape, Series)]


def _shape(shape: Table | Grid | Note, rows: int) -> dict[str, Any]:
    """A shape as the template takes it: finished text, no numbers left to format."""
    match shape:
        case Table():
            return _table(shape, rows)
        case Grid():
            return _grid(shape)
        case Note():
            return _note(shape)
        case _:
            assert_never(shape)


def _table(table: Table, rows: int) -> dict[str, Any]:
    """Rows and columns; a few rows of many columns are set on end."""
    shown = min(table.rows, rows)
    body = [[_cell(c, row) for c in table.columns] for row in range(shown)]
    return {
        "kind": "upright" if len(table.columns) >= _WIDE and 0 < table.rows <= 4 else "table",
        "title": table.title,
        "note": table.note,
        "more": table.rows - shown,
        "head": [
            {"name": c.name, "doc": c.doc, "css": "" if c.kind == "text" else "n"}
            for c in table.columns
        ],
        "rows": body,
    }


def _cell(column: Column, row: int) -> dict[str, str]:
    value = column[row]
    text = words(value, column.kind)
    short = column.kind != "text" or len(text) <= _SHORT
    return {
        "text": text,
        "css": ("" if column.kind == "text" else "n ") + ("short" if short else ""),
        "mark": text if column.kind == "text" and text in _MARKS else "",
        "fill": _fill(_plain(value)) if column.kind == "ratio" else "",
    }


def _plain(value: object) -> object:
    """A numpy scalar as Python's own number."""
    return value.item() if hasattr(value, "item") else value


def _grid(grid: Grid) -> dict[str, Any]:
    levels = levels_of_grid(grid).tolist()
    values, kind = grid.values.tolist(), grid.kind
    return {
        "kind": "grid",
        "title": grid.title,
        "note": grid.note,
        "columns": grid.column_labels,
        "rows": [
            {
                "label": label,
                "cells": [
                    {
                        "css": _css(level),
                        "glyph": heat.glyph(level),
                        "title": f"{label} · {column}: "
                        + ("" if math.isnan(value) else fmt(value, kind))
                        + _DEAD.get(heat.glyph(level), ""),
                    }
                    for column, level, value in zip(
                        grid.column_labels, levels[row], values[row], strict=True
                    )
                ],
            }
            for row, label in enumerate(grid.row_labels)
        ],
    }


_RAMP: Final = heat.RAMPS[heat.DEFAULT_RAMP]
_STEPS: Final = heat.LITTLE_GLYPH + heat.GLYPHS[1:]
_DEAD: Final = {heat.DOWN_GLYPH: " down", heat.PARTLY_GLYPH: " partly down"}


def _css(level: int) -> str:
    """Class of a cell."""
    if level == heat.NO_DATA:
        return "hn"
    if heat.glyph(level) in _DEAD:
        return "hx"
    if level == heat.LITTLE:
        return "h0"
    return f"h{level}" if level < heat.LEVELS else f"c{level - heat.CHANGE}"


def _note(note: Note) -> dict[str, Any]:
    return {
        "kind": "note",
        "title": note.title,
        "facts": [
            {
                "label": fact.label,
                "text": words(fact.value, fact.kind),
                "mark": fact.mark,
                "source": fact.source,
            }
            for fact in note.facts
        ],
        "lines": note.lines,
    }


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("clusterscope", "export"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> object:
    """What an expression of the template prints: text without hidden characters."""
    return spelled_out(value) if type(value) is str else value
