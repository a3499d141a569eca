"""What came out against what was expected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Literal

from clusterscope.validation.cases import Case, Expected

Verdict = Literal["pass", "fail", "miss"]

# Digits of the numbers in the case file; one with all of them has been rounded to them.
_DIGITS: Final = 6
NOT_DERIVED: Final = "not yet derived"
LIMIT: Final = "known to be outside the model: reported, not tuned"


@dataclass(frozen=True)
class Holds:
    """Whether an ordering or behavior holds, and the numbers that show it."""

    holds: bool
    shown: str


Got = float | str | Sequence[float] | Holds
Outcome = Mapping[str, Got]


@dataclass(frozen=True)
class Check:
    """One expected number and what came out.

    Attributes:
        expected: what should come out.
        got: what did; None when nothing was derived.
        verdict: pass, fail, or miss when nothing was derived or a limit does not come out.
        of_tolerance: distance in tolerances, 1 at the edge; 0 or inf for an ordering.
    """

    expected: Expected
    got: Got | None
    verdict: Verdict
    of_tolerance: float


@dataclass(frozen=True)
class Result:
    """One case and what came of it.

    Attributes:
        case: the case.
        verdict: pass when every number is within its tolerance; miss when the case is not derived,
            or lies outside the model by its role.
        checks: number by number, in the order of the case.
        reason: why it is a miss, or fails as far as that is known, else "".
        seconds: what deriving it took.
    """

    case: Case
    verdict: Verdict
    checks: tuple[Check, ...]
    reason: str = ""
    seconds: float = 0.0

    @property
    def derived(self) -> bool:
        """True when any number came out."""
        return any(check.got is not None for check in self.checks)

    @property
    def of_tolerance(self) -> float:
        """The worst distance of the numbers that came out, in tolerances; 0 when none did.

        An ordering has no tolerance: one that does not hold fails its case, and that is all.
        """
        numbers = [c for c in self.checks if c.got is not None and c.expected.tol_kind != "order"]
        return max((check.of_tolerance for check in numbers), default=0.0)


def judge(case: Case, outcome: Outcome | None, seconds: float = 0.0, shortfall: str = "") -> Result:
    """A case from the numbers that were derived by name, or from none at all.

    Args:
        case: the case.
        outcome: what came out.
        seconds: what deriving it took.
        shortfall: why it fails if it does, when that is known.

    Raises:
        ValueError: a derived number is not one of the case, which is a mistake of ours.
    """
    outcome = outcome or {}
    strange = set(outcome) - {expected.name for expected in case.expected}
    if strange:
        msg = f"{case.id} does not expect {', '.join(sorted(strange))}"
        raise ValueError(msg)
    checks = tuple(_check(expected, outcome.get(expected.name)) for expected in case.expected)
    if case.role == "limit":
        # Nobody is asked for what lies outside the model, so no number of it can fail.
        shown = (replace(c, verdict="miss") if c.verdict == "fail" else c for c in checks)
        return Result(case, "miss", tuple(shown), LIMIT, seconds)
    missing = [check.expected.name for check in checks if check.verdict == "miss"]
    if any(check.verdict == "fail" for check in checks):
        return Result(case, "fail", checks, shortfall, seconds)
    if missing:
        partly = f": {', '.join(missing)}" if outcome else ""
        return Result(case, "miss", checks, NOT_DERIVED + partly, seconds)
    return Result(case, "pass", checks, "", seconds)


def _check(expected: Expected, got: Got | None) -> Check:
    if got is None:
        return Check(expected, None, "miss", 0.0)
    if isinstance(got, Holds):
        return Check(expected, got, "pass" if got.holds else "fail", 0.0 if got.holds else math.inf)
    if isinstance(got, str) or isinstance(expected.value, str):
        same = got == expected.value
        return Check(expected, got, "pass" if same else "fail", 0.0 if same else math.inf)
    if isinstance(expected.value, tuple):
        distance = _farthest(expected, expected.value, got)
        return Check(expected, got, "pass" if distance <= 1 else "fail", distance)
    # One number stands for all that came out: the worst of them, which no mean can hide.
    several = (got,) if isinstance(got, int | float) else tuple(got)
    distances = [_off(expected, expected.value, value) for value in several]
    distance = max(distances)
    found = several[distances.index(distance)]
    return Check(expected, found, "pass" if distance <= 1 else "fail", distance)


def _farthest(expected: Expected, wanted: tuple[float, ...], got: float | Sequence[float]) -> float:
    """The worst distance of several numbers, in tolerances; inf when they are not as many.

    What is accepted as a range holds for each number that came out, however many there are.
    """
    found = (got,) if isinstance(got, int | float) else tuple(got)
    if expected.tol_kind == "range":
        return max(_off(expected, x, x) for x in found)
    if len(found) != len(wanted):
        return math.inf
    return max(_off(expected, v, x) for v, x in zip(wanted, found, strict=True))


def _off(expected: Expected, wanted: float, got: float) -> float:
    """Distance over the allowed distance; what the printed digits leave open is allowed too."""
    if isinstance(expected.tol, tuple):
        return _outside(got, *expected.tol)
    off = abs(got - wanted)
    allowed = expected.tol * abs(wanted) if expected.tol_kind == "rel" else expected.tol
    allowed += _rounding(wanted)
    if off == 0:
        return 0.0
    return off / allowed if allowed and math.isfinite(off) else math.inf


def _outside(value: float, low: float, high: float) -> float:
    """Distance from the middle of what is accepted, in halves of its width."""
    half, middle = (high - low) / 2, (high + low) / 2
    if low <= value <= high:
        return min(1.0, abs(value - middle) / half) if half else 0.0
    return abs(value - middle) / half if half else math.inf


def _rounding(value: float) -> float:
    """Half a unit of the last digit of a number that was printed with all its digits, else 0."""
    if not math.isfinite(value) or (value == int(value) and abs(value) < 10**_DIGITS):
        return 0.0
    number = Decimal(repr(value)).normalize()
    if len(number.as_tuple().digits) < _DIGITS:
        return 0.0
    return 0.5 * 10.0 ** (number.adjusted() - _DIGITS + 1)
