"""What failures cost a long job: mean time between them, checkpoints, and the time that is left.

Model
    Failures come as a Poisson process of rate 1/M, also while a checkpoint is written or read
    back. A job computes for tau, blocks for delta to write a checkpoint, and goes on; a failure
    loses what was done since the last checkpoint and costs a restart R, which may fail as well.

Equation
    Time of one stretch of tau with all its failures, ``M e^(R/M) (e^((tau + delta)/M) - 1)``, so
    that the share of time that computes is ``tau`` over that. Young's interval is the optimum for
    delta far below M, Daly's is of higher order in delta/M.

Source
    J. W. Young, *A first order approximation to the optimum checkpoint interval*, CACM 17(9), 1974.
    J. T. Daly, *A higher order estimate of the optimum checkpoint interval for restart dumps*,
    FGCS 22(3), 2006: equations 20 (time) and 37 (interval).

All functions take and return seconds and plain ratios.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal

# Golden section, by which a search interval shrinks in each round.
_GOLDEN: Final = (math.sqrt(5) - 1) / 2
# Relative width at which the search for the best interval ends.
_CLOSE: Final = 1e-9
# Above this exponent nothing is left of the time, and floats end.
_OVERFLOW: Final = 700.0


def mtbf_s(period_s: float, failures: float) -> float:
    """Mean time between failures that were counted over a period; inf when there were none."""
    return period_s / failures if failures else math.inf


def job_mtbf_s(unit_rate_per_s: float, units: float) -> float:
    """Mean time between failures of a job that stops when any one of its units fails.

    Model: units fail independently and alike, so that rates add up.
    """
    return mtbf_s(1.0, unit_rate_per_s * units)


def expected_failures(unit_rate_per_s: float, units: float, period_s: float) -> float:
    """Failures of a number of units over a period, on average."""
    return unit_rate_per_s * units * period_s


def productive_share(interval_s: float, stall_s: float) -> float:
    """Share of time that is left when each failure, one an interval, stalls the job for so long."""
    return max(0.0, 1.0 - stall_s / interval_s)


def after_stall(stall_s: float, timeout_s: float) -> Literal["job aborts", "stall then resume"]:
    """What becomes of a job that stands still for so long, by the timeout of its library."""
    return "job aborts" if stall_s > timeout_s else "stall then resume"


@dataclass(frozen=True)
class Interruptions:
    """Interruptions of a run, counted by cause."""

    by_cause: Mapping[str, float]

    @property
    def total(self) -> float:
        """All of them."""
        return sum(self.by_cause.values())

    def share(self, causes: Collection[str]) -> float:
        """Share of some causes among all interruptions.

        Raises:
            KeyError: a cause that was not counted.
        """
        return sum(self.by_cause[cause] for cause in causes) / self.total


@dataclass(frozen=True)
class Checkpointing:
    """A job that writes checkpoints.

    Attributes:
        write_s: how long a checkpoint blocks the job, delta.
        restart_s: from a failure until the job computes again, R.
        mtbf_s: mean time between failures, M.
    """

    write_s: float
    restart_s: float
    mtbf_s: float

    @property
    def young_s(self) -> float:
        """Young's checkpoint interval."""
        return math.sqrt(2 * self.write_s * self.mtbf_s)

    @property
    def daly_s(self) -> float:
        """Daly's checkpoint interval; M when writing takes 2 M or more."""
        if self.write_s >= 2 * self.mtbf_s:
            return self.mtbf_s
        ratio = self.write_s / (2 * self.mtbf_s)
        return self.young_s * (1 + math.sqrt(ratio) / 3 + ratio / 9) - self.write_s

    def efficiency(self, interval_s: float) -> float:
        """Share of time that computes, 0 to 1, with a checkpoint after each interval."""
        stretch = (interval_s + self.write_s) / self.mtbf_s
        if stretch + self.restart_s / self.mtbf_s > _OVERFLOW:
            return 0.0
        lost = math.exp(self.restart_s / self.mtbf_s) * math.expm1(stretch)
        return interval_s / (self.mtbf_s * lost) if lost else 0.0

    @property
    def best_interval_s(self) -> float:
        """The interval of the highest efficiency, found by golden section.

        Efficiency has one maximum, since ``tau / (e^(tau/M + c) - 1)`` has.
        """
        low, high = 0.0, 4 * self.young_s + self.mtbf_s
        while high - low > _CLOSE * high:
            width = _GOLDEN * (high - low)
            left, right = high - width, low + width
            if self.efficiency(left) < self.efficiency(right):
                low = left
            else:
                high = right
        return (low + high) / 2

    @property
    def best_efficiency(self) -> float:
        """Share of time that computes at the best interval."""
        return self.efficiency(self.best_interval_s)

    def write_share(self, interval_s: float) -> float:
        """Time that writing adds to computing, as a share of it."""
        return self.write_s / interval_s

    @staticmethod
    def rollback_s(interval_s: float) -> float:
        """Computing that a failure loses on average: half an interval, as failures come evenly."""
        return interval_s / 2
