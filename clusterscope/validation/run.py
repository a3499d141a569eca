"""Deriving cases, one after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from clusterscope.validation.cases import Case
from clusterscope.validation.registry import derivation
from clusterscope.validation.shortfalls import SHORTFALLS
from clusterscope.validation.verdict import Result, judge

if TYPE_CHECKING:
    from clusterscope.validation.registry import Derivation

# Called before each case; may raise to end it.
Tell = Callable[[Case], object]


def derive(case: Case) -> Result:
    """One case, derived if there is a way to."""
    way: Derivation | None = derivation(case.id)
    if way is None:
        return judge(case, None)
    begin = time.perf_counter()
    outcome = way(case.setup)
    seconds = time.perf_counter() - begin
    return judge(case, outcome, seconds, SHORTFALLS.get(case.id, ""))


def run(cases: Iterable[Case], tell: Tell = lambda case: None) -> Iterator[Result]:  # noqa: ARG005 - says nothing
    """Results as they come, in the order of the cases."""
    for case in cases:
        tell(case)
        yield derive(case)
