"""Plans that are tried beside the explorer's: one after another, each worked out, none lost.

The fabric stays what it is, so that another plan costs its own flows and routes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.planned import JobFacts, job_facts, job_named
from clusterscope.spec.model import ClusterSpec
from clusterscope.tui.changing import timeline_under

# What makes another spec out of one; None leaves it as it is.
Change = Callable[[ClusterSpec], ClusterSpec | None]


def job_shown(scenario: Scenario, shown: int) -> int:
    """The job that a screen is about: the one of the job bar, or else the first that trains."""
    return shown or (job_named(scenario, None) if scenario.program else 0)


class Bench:
    """A job, and the plans that were tried for it.

    Args:
        timeline: the explorer's.
        job: index of the job.
    """

    def __init__(self, timeline: Timeline, job: int) -> None:
        self._own = timeline
        self.job = job
        self.timeline = timeline
        self.frame: Frame | None = None
        self.facts: JobFacts | None = None
        self.before: JobFacts | None = None
        self._tried: list[tuple[ClusterSpec, JobFacts | None]] = []
        self._undone: list[ClusterSpec] = []
        self._spec = timeline.scenario.spec

    @property
    def scenario(self) -> Scenario:
        """Cluster and jobs under the plan that is shown."""
        return self.timeline.scenario

    @property
    def tries(self) -> int:
        """How many plans lead from the explorer's to the one that is shown."""
        return len(self._tried)

    def change(self, change: Change) -> None:
        """Go on to another plan; the one before can be had back.

        Raises:
            SpecError: it is not possible, and why.
        """
        spec = change(self._spec)
        if spec is None or spec == self._spec:
            return
        self._tried.append((self._spec, self.before))
        self.before = self.facts
        self._spec = spec
        self._undone.clear()

    def back(self) -> ClusterSpec | None:
        """Take the last plan back; None when there is none."""
        if not self._tried:
            return None
        self._undone.append(self._spec)
        self._spec, self.before = self._tried.pop()
        return self._spec

    def drop(self) -> None:
        """Forget the last plan, which turned out not to be possible."""
        self._spec, self.before = self._tried.pop()

    def again(self) -> ClusterSpec | None:
        """Put the plan back that was taken back last; None when there is none."""
        if not self._undone:
            return None
        undone = self._undone[:-1]
        spec = self._undone[-1]
        self.change(lambda _: spec)
        self._undone = undone
        return spec

    def turn_to(self, job: int) -> None:
        """Look at another job; plans that were tried stay."""
        self.job, self.facts, self.before = job, None, None

    def work_out(self, frame: Frame, log: Sequence[Event]) -> None:
        """Work the job out under the plan of now.

        Args:
            frame: what the explorer shows.
            log: events that were injected there.

        Raises:
            SpecError: the plan does not fit the fabric.
        """
        if not self._tried:
            self.timeline, self.frame = self._own, frame
            self.facts = job_facts(self._own.scenario, frame, self.job)
            return
        if self.timeline.scenario.spec != self._spec:
            self.timeline = timeline_under(self._own, self._spec)()
        elif tuple(self.timeline.log) != tuple(log):
            self.timeline = self._own.under(self.timeline.scenario)
        scenario = self.timeline.scenario
        self.frame = self.timeline.at(frame.step)
        self.facts = job_facts(scenario, self.frame, self.job)
