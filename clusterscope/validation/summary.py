"""Does it hold up: results counted by role, against the bar of each role.

The bar of `exact`, `statistical` and `predict` is a share of cases that pass. That of `band` is on
orderings: every ordering of a derived case holds. A band case whose numbers lie outside fails and
is counted so, but a coarse source gives no number that a model could be barred by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from clusterscope.validation.cases import ROLES, Role
from clusterscope.validation.verdict import Result, Verdict

# Share of the derived cases of a role that must pass.
NEEDED: Final[dict[Role, float]] = {
    "exact": 1.0,
    "statistical": 0.95,
    "predict": 0.8,
}
# A prediction may miss its tolerance now and then, but never by so much.
BEYOND: Final = 2.0


@dataclass(frozen=True)
class RoleCount:
    """Cases of one role.

    Attributes:
        role: the role.
        passed: within every tolerance.
        failed: outside of one.
        missed: not derived in full, or outside the model.
        beyond: predictions outside twice their tolerance.
        needed: share of passed among derived that the bar asks for; None when it asks nothing.
        held: orderings of derived cases that hold.
        broken: orderings of derived cases that do not.
    """

    role: Role
    passed: int
    failed: int
    missed: int
    beyond: int
    needed: float | None
    held: int = 0
    broken: int = 0

    @property
    def by_orderings(self) -> bool:
        """True when the bar is on orderings, not on cases."""
        return self.role == "band"

    @property
    def orderings(self) -> int:
        """Orderings of derived cases."""
        return self.held + self.broken

    @property
    def met(self) -> bool:
        """True when the bar is met by the cases that were derived."""
        if self.by_orderings:
            return not self.broken
        judged = self.passed + self.failed
        if self.needed is None or not judged:
            return True
        return self.passed >= self.needed * judged - 1e-9 and not self.beyond


@dataclass(frozen=True)
class Summary:
    """All roles that occur, and the whole."""

    roles: tuple[RoleCount, ...]

    @property
    def met(self) -> bool:
        """True when every role's bar is met by the cases that were derived."""
        return all(role.met for role in self.roles)

    def total(self, verdict: str) -> int:
        """Cases that passed, failed or missed ("pass", "fail", "miss")."""
        name = {"pass": "passed", "fail": "failed", "miss": "missed"}[verdict]
        return sum(getattr(role, name) for role in self.roles)


def summarize(results: Sequence[Result]) -> Summary:
    """Counts by role, in the order of `ROLES`."""
    counts = []
    for role in ROLES:
        own = [result for result in results if result.case.role == role]
        if own:
            verdicts = [result.verdict for result in own]
            orderings = _orderings(own)
            counts.append(
                RoleCount(
                    role,
                    verdicts.count("pass"),
                    verdicts.count("fail"),
                    verdicts.count("miss"),
                    _beyond(own) if role == "predict" else 0,
                    NEEDED.get(role),
                    orderings.count("pass"),
                    orderings.count("fail"),
                )
            )
    return Summary(tuple(counts))


def _beyond(results: Sequence[Result]) -> int:
    return sum(r.verdict == "fail" and r.of_tolerance > BEYOND for r in results)


def _orderings(results: Sequence[Result]) -> list[Verdict]:
    """Verdicts of the orderings that came out."""
    checks = (check for result in results for check in result.checks if check.got is not None)
    return [check.verdict for check in checks if check.expected.tol_kind == "order"]
