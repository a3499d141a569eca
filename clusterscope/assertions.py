"""`--assert`: a path into the report, a comparison, a number."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from clusterscope.errors import AssertionFailedError, SpecError, UnknownNameError, nearest

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
# By what the name of a value ends in.
_UNITS = {"GBps": "GB/s", "gbps": "Gb/s", "s": "s", "bytes": "bytes", "usd": "US$", "watts": "W"}
_FORM = re.compile(r"\s*([A-Za-z_][\w.\-]*)\s*(>=|<=|==|!=|>|<)\s*(\S.*?)\s*")


@dataclass(frozen=True)
class Assertion:
    """One expression such as `jobs.0.busbw_GBps >= 350`."""

    text: str
    path: str
    sign: str
    value: float | str

    @classmethod
    def parse(cls, text: str) -> Assertion:
        """Read an expression.

        Raises:
            SpecError: it is not of the form PATH OPERATOR VALUE.
        """
        match = _FORM.fullmatch(text)
        if not match:
            raise SpecError(
                "--assert",
                f"{text!r} is not PATH OPERATOR VALUE",
                "write it like 'jobs.0.busbw_GBps >= 350', with one of " + " ".join(_OPERATORS),
            )
        path, sign, value = match.groups()
        try:
            number = float(value)
        except ValueError:
            number = None
        if number is not None and math.isnan(number):
            raise SpecError("--assert", f"nothing can be {sign} nan in {text!r}", "use a number")
        if number is not None:
            return cls(text, path, sign, number)
        if sign not in ("==", "!="):
            raise SpecError(
                "--assert", f"{value!r} in {text!r} is not a number", f"{sign} needs one"
            )
        return cls(text, path, sign, value.strip("'\""))

    def check(self, report: dict[str, Any]) -> None:
        """Hold the expression against a report.

        Raises:
            UnknownNameError: the report has nothing at the path.
            SpecError: what is there cannot be compared.
            AssertionFailedError: it does not hold.
        """
        found = _look_up(report, self.path)
        if isinstance(found, dict | list):
            raise SpecError(
                "--assert", f"{self.path!r} is a table, not a value", "name a value in it"
            )
        if isinstance(self.value, float) and not isinstance(found, int | float):
            if found is not None:
                raise SpecError("--assert", f"{self.path!r} is {found!r}, not a number")
            raise AssertionFailedError(f"--assert: {self.text}: {self.path} has no value here")
        if not _OPERATORS[self.sign](found, self.value):
            raise AssertionFailedError(f"--assert: {self.text}: it is {self._words(found)}")

    def _words(self, found: Any) -> str:  # noqa: ANN401 - any value of a report
        """A value in as few digits as show that it differs, and its unit."""
        if isinstance(found, bool) or not isinstance(found, int | float):
            return repr(found)
        rounded = (found,) if isinstance(found, int) else _rounded(found)
        apart = (value for value in rounded if value != self.value)
        holds = _OPERATORS[self.sign]
        short = next((value for value in apart if not holds(value, self.value)), found)
        unit = _UNITS.get(self.path.rpartition("_")[2], "") if "_" in self.path else ""
        return f"{f'{short:,}'.removesuffix('.0')} {unit}".rstrip()


def _rounded(value: float) -> Iterator[float]:
    """A number to four digits, to five, and so on."""
    return (float(f"{value:.{digits}g}") for digits in range(4, 18))


def _look_up(report: dict[str, Any], path: str) -> Any:  # noqa: ANN401 - any value of a report
    """Value at a dotted path; list items go by index."""
    here: Any = report
    parts = path.split(".")
    for place, part in enumerate(parts):
        items = {str(i): item for i, item in enumerate(here)} if isinstance(here, list) else here
        if not isinstance(items, dict) or part not in items:
            raise _missing(parts, place, list(items) if isinstance(items, dict) else [])
        here = items[part]
    return here


def _missing(parts: list[str], place: int, keys: list[str]) -> UnknownNameError:
    part, path = parts[place], ".".join(parts)
    hint = f"{part!r} is not one of {', '.join(keys[:12])}" if keys else "it is a single value"
    near = nearest(part, keys)
    known = [".".join([*parts[:place], near, *parts[place + 1 :]])] if near else []
    return UnknownNameError("value in the report at", path, known, hint)
