"""Results as plain values, for a file or another program."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from clusterscope.validation.summary import RoleCount, Summary, summarize
from clusterscope.validation.verdict import Check, Holds, Result


def document(results: Sequence[Result]) -> dict[str, Any]:
    """Cases and summary, with nothing in them that JSON does not know."""
    return {
        "schema": 1,
        "cases": [_case(result) for result in results],
        "summary": _summary(summarize(results)),
    }


def _case(result: Result) -> dict[str, Any]:
    case = result.case
    return {
        "id": case.id,
        "category": case.category,
        "title": case.title,
        "role": case.role,
        "verdict": result.verdict,
        "reason": result.reason or None,
        "of_tolerance": _finite(result.of_tolerance) if result.derived else None,
        "seconds": round(result.seconds, 3),
        "expected": [_check(check) for check in result.checks],
        "source": case.source,
        "source_status": case.source_status,
    }


def _check(check: Check) -> dict[str, Any]:
    expected = check.expected
    return {
        "name": expected.name,
        "value": _plain(expected.value),
        "got": _plain(check.got),
        "unit": expected.unit,
        "tol_kind": expected.tol_kind,
        "tol": _plain(expected.tol),
        "verdict": check.verdict,
        "of_tolerance": None if check.got is None else _finite(check.of_tolerance),
    }


def _summary(summary: Summary) -> dict[str, Any]:
    return {
        **{verdict: summary.total(verdict) for verdict in ("pass", "fail", "miss")},
        "bar_met": summary.met,
        "roles": {role.role: _role(role) for role in summary.roles},
    }


def _role(role: RoleCount) -> dict[str, Any]:
    return {
        "pass": role.passed,
        "fail": role.failed,
        "miss": role.missed,
        "beyond_twice_tolerance": role.beyond,
        "needed_share": role.needed,
        "orderings": {"held": role.held, "broken": role.broken, "barred": role.by_orderings},
        "met": role.met,
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - a number, a text or several of them
    if isinstance(value, Holds):
        return value.shown
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _finite(value) if isinstance(value, float) else value


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
