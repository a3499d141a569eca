"""Cases as words: numbers with their units, tolerances, verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from clusterscope.validation.cases import Expected
from clusterscope.validation.summary import RoleCount, Summary
from clusterscope.validation.verdict import Check, Got, Holds, Result
from clusterscope.views.text import size

# A tolerance below this is rounding: the value must come out exactly.
_EXACT = 1e-6
# Distances from here on, in tolerances, are all alike: far off.
_FAR = 10
# More values than this are shown by their first and last ones.
_SHOWN = 8
# Digits that are told; more where two numbers that differ would look alike.
_DIGITS = (4, 6, 9, 15)
_THOUSAND = 1000
# Units of the cases as a person reads them.
_UNITS = {"us": "µs", "count": "", "rel": "", "bool": "", "days": "d"}


def named(name: str) -> str:
    """Name of a number in words."""
    return name.replace("_", " ")


def both(check: Check) -> tuple[str, str]:
    """What was expected and what came out, in as many digits as tell them apart if they must."""
    wanted, unit = check.expected.value, check.expected.unit
    for digits in _DIGITS:
        pair = value(wanted, unit, digits), value(check.got, unit, digits)
        if check.verdict == "pass" or pair[0] != pair[1]:
            break
    return pair


def value(number: Got | None, unit: str = "", digits: int = _DIGITS[0]) -> str:
    """A value, or several, with its unit; "–" for nothing."""
    if number is None:
        return "–"
    if isinstance(number, Holds):
        return number.shown
    if isinstance(number, str):
        return number
    if not isinstance(number, int | float):
        text = _several(number, digits)
    elif unit == "B":
        return size(number)
    else:
        text = _number(number, digits)
    if unit.startswith(":"):
        return f"{text}{unit}"
    if unit == "USD":
        return f"${text}"
    return f"{text} {_UNITS.get(unit, unit)}".rstrip()


def tolerance(expected: Expected) -> str:
    """What is accepted: "±2 %", "±0.5", "0.4 to 0.9", "exact", "must hold", "not to be met"."""
    tol = expected.tol
    if expected.tol_kind == "order":
        # A number without a tolerance is there to be seen beside ours, not to be met.
        return "must hold" if isinstance(expected.value, str) else "not to be met"
    if isinstance(tol, tuple):
        return f"{_number(tol[0])} to {_number(tol[1])}"
    if tol <= _EXACT:
        return "exact"
    return f"±{100 * tol:g} %" if expected.tol_kind == "rel" else f"±{tol:g}"


def wanted(expected: Expected) -> str:
    """What is expected, and how far off it may be."""
    return f"{value(expected.value, expected.unit)} ({tolerance(expected)})"


def outcome(check: Check) -> str:
    """What came of a number: verdict, what was got, what was expected."""
    expected, came = both(check)
    got = "" if check.got is None else f" {came},"
    return f"{check.verdict}:{got} expected {expected} ({tolerance(check.expected)})"


def distance(result: Result) -> str:
    """The worst distance of a case as a share of its tolerance; "" when nothing came out."""
    if not result.derived:
        return ""
    off = result.of_tolerance
    return f"{off:.0%}".replace("%", " %") if off < _FAR else f">{_FAR:,.0%}".replace("%", " %")


def verdict(result: Result) -> str:
    """The verdict with the reason of a miss."""
    return f"{result.verdict}: {result.reason}" if result.reason else result.verdict


def bar(role: RoleCount) -> str:
    """What the bar of a role asks for, and whether the derived cases meet it."""
    if role.by_orderings:
        verdict = "met" if role.met else "not met"
        return f"all orderings hold: {verdict}, {role.held} of {role.orderings}"
    if role.needed is None:
        return "no bar"
    asked = f"at least {100 * role.needed:.0f} %" if role.needed < 1 else "all"
    beyond = f", {role.beyond} beyond twice the tolerance" if role.beyond else ""
    return f"{asked}: {'met' if role.met else 'not met'}{beyond}"


def headline(summary: Summary) -> str:
    """All cases in a sentence."""
    passed, failed, missed = (summary.total(v) for v in ("pass", "fail", "miss"))
    met = "the bar is met by those derived" if summary.met else "the bar is not met"
    return f"{passed} pass, {failed} fail, {missed} miss; {met}"


def shortfalls(results: Sequence[Result]) -> list[str]:
    """A line for each case that fails and why, as far as that is known."""
    return [f"{r.case.id} fails: {r.reason or 'why is not known'}" for r in _failed(results)]


def footnote(summary: Summary) -> str:
    """What the bar of a coarse source leaves out; "" when it leaves nothing out."""
    outside = sum(role.failed for role in summary.roles if role.by_orderings and role.met)
    if not outside:
        return ""
    cases = (
        "1 case fails by its numbers" if outside == 1 else f"{outside} cases fail by their numbers"
    )
    return f"band: {cases}; the bar of a coarse source is on its orderings alone"


def _failed(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.verdict == "fail"]


def _several(numbers: Sequence[float], digits: int) -> str:
    """Values in a row; equal ones once, long rows by their ends."""
    texts = [_number(number, digits) for number in numbers]
    if len(texts) > 1 and len(set(texts)) == 1:
        return f"{texts[0]} each"
    if len(texts) > _SHOWN:
        texts = [*texts[: _SHOWN - 2], "…", texts[-1]]
    return ", ".join(texts)


def _number(number: float, digits: int = _DIGITS[0]) -> str:
    """Whole numbers in full, others to some digits."""
    if isinstance(number, bool):
        return "yes" if number else "no"
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    if abs(number) >= 10**digits:
        return f"{number:,.0f}"
    text = f"{number:.{digits}g}"
    whole, point, rest = text.partition(".")
    return f"{int(whole):,}{point}{rest}" if abs(number) >= _THOUSAND else text
