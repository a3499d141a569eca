"""A comparison as a directory: the verdict, the tables and every price, in each format.

    compare.md  compare.html  compare.json
    csv/compare.csv  csv/jobs.csv  csv/money.csv  csv/uses.csv  csv/prices.csv
    spec-CLUSTER.toml   each cluster as it was compared
    manifest.json       what was compared, and size and digest of every other file

The same comparison gives the same bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

from clusterscope import __version__
from clusterscope.export import csv, html, markdown
from clusterscope.export import json as json_text
from clusterscope.export.bundle import MANIFEST, MARKER, target_of
from clusterscope.export.compared import Compared, document
from clusterscope.export.files import whole_directory, write_text
from clusterscope.export.story import Section
from clusterscope.fabric.counts import counts
from clusterscope.spec import write as spec_write
from clusterscope.views.behind import trunks_note
from clusterscope.views.compare import compare_table, money_note, verdict
from clusterscope.views.numbers import jobs_table, money_table, prices_table
from clusterscope.views.shapes import Note, Shape, Table
from clusterscope.views.verdict import uses_table

FORMATS: Final = ("md", "html", "json", "csv")
_SAFE: Final = re.compile(r"[^A-Za-z0-9._-]")


def write_comparison(
    compared: Compared, directory: str | Path, formats: Collection[str] = FORMATS
) -> Path:
    """Write a comparison into a directory, whole or not at all; gives the directory written.

    Raises:
        SpecError: the directory cannot be written, or holds what is not ours.
    """
    target = target_of(Path(directory), "comparison")
    with whole_directory(target) as room:
        entries = []
        for name, text in _contents(compared, formats):
            data = write_text(room / name, text)
            digest = hashlib.blake2b(data, digest_size=16).hexdigest()
            entries.append({"name": name, "size": len(data), "blake2b": digest})
        manifest = {
            "marker": MARKER,
            "kind": "comparison",
            "clusterscope": __version__,
            "compared": [label for label, _, _ in compared.sides],
            "seed": compared.comparison.seed,
            "step": compared.comparison.step,
            "files": entries,
        }
        write_text(room / MANIFEST, json_text.write(manifest))
    return target


def _contents(compared: Compared, formats: Collection[str]) -> Iterator[tuple[str, str]]:
    """Name and text of every file but the manifest."""
    tables, report = _tables(compared), _report(compared)
    told = [
        Section("verdict", "Verdict", [_note(compared)]),
        *(Section(name, shape.title.capitalize(), [shape]) for name, shape in tables.items()),
    ]
    if "md" in formats:
        yield "compare.md", markdown.page(report, told, linked=formats)
    if "html" in formats:
        yield "compare.html", html.page(report, told, linked=formats)
    if "json" in formats:
        yield "compare.json", json_text.write(document(compared))
    if "csv" in formats:
        for name, shape in tables.items():
            yield f"csv/{name}.csv", csv.write(shape)
    names: set[str] = set()
    for scenario in compared.clusters:
        name = _SAFE.sub("_", scenario.spec.name)[:60]
        name = name if name not in names else f"{name}-{len(names)}"
        names.add(name)
        yield f"spec-{name}.toml", spec_write.write(scenario.spec)


def _tables(compared: Compared) -> dict[str, Table]:
    comparison = compared.comparison
    base = comparison.sides[0].label
    tables = {
        "compare": compare_table(comparison, base, ""),
        "jobs": jobs_table(comparison),
        "money": money_table(comparison),
        "uses": uses_table(compared.uses),
        "prices": prices_table(compared.sides),
    }
    return {name: shape for name, shape in tables.items() if shape.rows}


def _note(compared: Compared) -> Shape:
    comparison = compared.comparison
    lines = (
        compared.verdict,
        *verdict(comparison),
        trunks_note(comparison),
        money_note(comparison),
    )
    return Note("verdict", (), tuple(line for line in lines if line))


def _report(compared: Compared) -> dict[str, Any]:
    """What the head of a page says: the first cluster and what is compared."""
    first = compared.clusters[0]
    labels = ", ".join(label for label, _, _ in compared.sides)
    title = first.spec.title or first.spec.name
    return {
        "clusterscope": __version__,
        "spec": {
            "name": first.spec.name,
            "title": f"{title}: compared",
            "description": f"{labels}: the same flows, seed and failures.",
        },
        "seed": compared.comparison.seed,
        "steps": compared.comparison.step,
        "time_s": compared.comparison.time_s,
        "fabric": dict(counts(first.fabric)),
        "transport": {"name": labels, "title": ""},
        "jobs": [],
        "digest": first.fabric.digest(),
    }
