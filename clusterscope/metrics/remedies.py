"""What would help: changes of the transport, the placement, the fabric or its health, each tried.

A change is applied to a copy of the scenario, the engine routes and shares it anew, and the gain is
what the subject gets then over what it gets now: the rate of a flow, the busbw of a job. Nothing is
estimated from a rule of thumb. A change that cannot be made, or that would take too long, says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import ClusterscopeError
from clusterscope.metrics.beside import Crowd
from clusterscope.metrics.changes import Change, TooDearError, changes
from clusterscope.metrics.explain import Explanation, explain
from clusterscope.metrics.subject import Subject, subject_of

Tell = Callable[[str, int, int], object]


@dataclass(frozen=True)
class Tried:
    """One change.

    Attributes:
        change: what is changed, in words.
        how: how to do it: an option of the command line, or an event.
        before: what the subject gets now, in its unit.
        after: what it would get; nan when the change was not tried.
        unit: "gbps", "GBps", or "tokens/s" of a service.
        why_not: why it was not tried, "" when it was.
    """

    change: str
    how: str
    before: float
    after: float
    unit: str
    why_not: str = ""

    @property
    def gain(self) -> float:
        """Growth, 0 when nothing changes; inf for what stands still now; nan when not tried."""
        if self.before == 0.0:
            return 0.0 if self.after == 0.0 else math.inf
        return self.after / self.before - 1.0


def remedies(
    found: Explanation,
    network: Network,
    tell: Tell = lambda what, done, of: None,  # noqa: ARG005 - says nothing
) -> tuple[Tried, ...]:
    """Every change that applies, the one that gains most first; those not tried last.

    Args:
        found: what holds the subject back now.
        network: where.
        tell: told of each change that is begun, as (words, done, of); may raise to end it.
    """
    if found.subject.job < 0:
        return ()
    measure = _Measure(found, network)
    todo = list(changes(found, network))
    out = []
    for done, change in enumerate(todo):
        tell(change.words, done, len(todo))
        out.append(measure.of(change))
    return tuple(
        sorted(out, key=lambda one: (bool(one.why_not), -one.gain if not one.why_not else 0.0))
    )


class _Measure:
    """What a subject gets with a change: its rate if it is a flow, else the busbw of its job."""

    def __init__(self, found: Explanation, network: Network) -> None:
        self.found, self.network = found, network
        self.job = _as_job(found.subject, network.scenario)
        whole = explain(self.job, network)
        self.by_job, self.unit = whole.value, whole.unit
        self.is_flow = found.subject.kind == "flow"

    def of(self, change: Change) -> Tried:
        """Try a change."""
        before, unit = (self.found.value, "gbps") if self.is_flow else (self.by_job, self.unit)
        try:
            after, same = self._after(change)
        except ClusterscopeError as error:
            return Tried(change.words, change.how, before, math.nan, unit, _short(error))
        except TooDearError as error:
            return Tried(change.words, change.how, before, math.nan, unit, str(error))
        if not same:
            before, unit = self.by_job, self.unit
        return Tried(change.words, change.how, before, after, unit)

    def _after(self, change: Change) -> tuple[float, bool]:
        """What the subject gets then; False when its flow is gone and its job was looked at."""
        network = change.make()
        subject, same = self.job, not self.is_flow
        if self.is_flow and network.scenario.fabric is self.network.scenario.fabric:
            try:
                subject = subject_of(network.scenario, network, self.found.subject.name)
                same = True
            except ClusterscopeError:
                same = False
        crowd = None
        if change.without >= 0:
            jobs = set(range(len(network.scenario.program))) - {change.without}
            crowd = Crowd(network, jobs)
        return explain(subject, network, crowd).value, same


def _short(error: ClusterscopeError) -> str:
    """An error as a reason: what is wrong without where."""
    return (str(error).partition(": ")[2] or str(error)).partition("; ")[0]


def _as_job(subject: Subject, scenario: Scenario) -> Subject:
    return Subject(scenario.program[subject.job].name, "job", subject.job)
