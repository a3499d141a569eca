"""The cases: published or derivable results with their roles and tolerances, from `cases.json`.

A role says what a case may be used for: `exact` (closed form or counting), `statistical` (random,
averaged over seeds), `calibrate` (may fit a constant), `predict` (must come out after calibrating
on the former alone), `band` (a coarse source: direction and band), `limit` (known to lie outside
the model: reported as a miss, never tuned).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from clusterscope.errors import UnknownNameError

Role = Literal["exact", "statistical", "calibrate", "predict", "band", "limit"]
TolKind = Literal["rel", "abs", "range", "order"]
Value = float | str | tuple[float, ...]

ROLES: Final[tuple[Role, ...]] = (
    "exact",
    "statistical",
    "predict",
    "band",
    "calibrate",
    "limit",
)

ROLE_WORDS: Final[dict[Role, str]] = {
    "exact": "closed form or counting",
    "statistical": "a mean over random draws",
    "predict": "predicted, with constants fitted elsewhere",
    "band": "a coarse source: direction and band",
    "calibrate": "may be used to fit a constant",
    "limit": "known to be outside the model: reported, not tuned",
}


@dataclass(frozen=True)
class Expected:
    """One number (or ordering) that a case expects.

    Attributes:
        name: what it is, unique in the case.
        value: as published; a tuple when there are several of a kind.
        unit: of the value, "" for a bare number.
        tol_kind: rel and abs are distances from the value, range is what is accepted, order an
            ordering or behavior that must hold.
        tol: tolerance, or (lowest, highest) accepted.
        note: a remark of the source.
    """

    name: str
    value: Value
    unit: str
    tol_kind: TolKind
    tol: float | tuple[float, float]
    note: str = ""


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        id: as in TOPO-07.
        category: "D. topology".
        title: what it is about.
        role: what it may be used for.
        setup: the arrangement that is measured or computed, by name.
        expected: what comes out.
        formula: closed form, "" when there is none.
        worked: the arithmetic, or what must hold.
        source: where it was published or derived.
        source_status: how the source was read.
    """

    id: str
    category: str
    title: str
    role: Role
    setup: Mapping[str, Any]
    expected: tuple[Expected, ...]
    formula: str
    worked: str
    source: str
    source_status: str


@cache
def cases() -> tuple[Case, ...]:
    """Every case, by category."""
    text = files(__package__).joinpath("cases.json").read_text("utf-8")
    return tuple(_case(table) for table in json.loads(text)["cases"])


def chosen(ids: Iterable[str]) -> tuple[Case, ...]:
    """Cases by id or by the front of it ("TOPO"), in the order of the file; all without ids.

    Raises:
        UnknownNameError: no case begins so.
    """
    every, wanted = cases(), [name.strip().upper() for name in ids if name.strip()]
    for name in wanted:
        if not any(_named(case, name) for case in every):
            known = [*(case.id for case in every), *{case.id.split("-")[0] for case in every}]
            hint = "'clusterscope validate --list' lists them"
            raise UnknownNameError("case", name, sorted(known), hint)
    return tuple(c for c in every if not wanted or any(_named(c, name) for name in wanted))


def _named(case: Case, name: str) -> bool:
    return case.id == name or case.id.startswith(f"{name.rstrip('-')}-")


def _case(table: dict[str, Any]) -> Case:
    return Case(
        id=table["id"],
        category=table["category"],
        title=table["title"],
        role=table["role"],
        setup=table["setup"],
        expected=tuple(_expected(row) for row in table["expected"]),
        formula=table["formula"] or "",
        worked=table["worked"] or "",
        source=table["source"],
        source_status=table["source_status"],
    )


def _expected(row: dict[str, Any]) -> Expected:
    value, tol = row["value"], row["tol"]
    return Expected(
        name=row["name"],
        value=tuple(map(float, value)) if isinstance(value, list) else value,
        unit=row["unit"],
        tol_kind=row["tol_kind"],
        tol=(float(tol[0]), float(tol[1])) if isinstance(tol, list) else float(tol),
        note=row.get("note", ""),
    )
