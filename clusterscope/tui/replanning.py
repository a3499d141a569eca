"""Plans that are tried beside the explorer's: one after another, each worked out, none lost.

The fabric stays what it is, so that another plan costs its own flows and routes alone. A thread
does what is asked for; what it finds is one value, which the screen takes over as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import ClusterscopeError
from clusterscope.metrics.planned import JobFacts, job_facts, job_named
from clusterscope.spec.model import ClusterSpec
from clusterscope.tui.changing import timeline_under

# What makes another spec out of one; None leaves it as it is.
Change = Callable[[ClusterSpec], ClusterSpec | None]
# A change, or the name of what is done with the last one: "undo" or "redo".
Wish = Change | str


def job_shown(scenario: Scenario, shown: int) -> int:
    """The job that a screen is about: the one of the job bar, or else the first that trains."""
    return shown or (job_named(scenario, None) if scenario.program else 0)


@dataclass(frozen=True)
class Worked:
    """A job under a plan.

    Attributes:
        timeline: of the plan.
        tries: how many plans lead from the explorer's to this one.
        undone: how many were taken back and can be had again.
        frame: what the timeline is at; None before anything is worked out.
        facts: about the job; None likewise.
        before: about the job under the plan before; None when there is none.
        refused: why a change was not possible, "" when all were.
        unmet: undo and redo for which there was no plan.
    """

    timeline: Timeline
    tries: int = 0
    undone: int = 0
    frame: Frame | None = None
    facts: JobFacts | None = None
    before: JobFacts | None = None
    refused: str = ""
    unmet: tuple[str, ...] = ()


class Bench:
    """A job, and the plans that were tried for it.

    Args:
        timeline: the explorer's.
        job: index of the job.
    """

    def __init__(self, timeline: Timeline, job: int) -> None:
        self.job = job
        self.shown = Worked(timeline)
        self._own = self._timeline = timeline
        self._last: JobFacts | None = None
        self._before: JobFacts | None = None
        self._tried: list[tuple[ClusterSpec, JobFacts | None]] = []
        self._undone: list[ClusterSpec] = []
        self._spec = timeline.scenario.spec

    # What the screen reads

    @property
    def timeline(self) -> Timeline:
        """The one of the plan that is shown."""
        return self.shown.timeline

    @property
    def scenario(self) -> Scenario:
        """Cluster and jobs under the plan that is shown."""
        return self.shown.timeline.scenario

    @property
    def frame(self) -> Frame | None:
        """What the timeline is at."""
        return self.shown.frame

    @property
    def facts(self) -> JobFacts | None:
        """About the job; None until it is worked out."""
        facts = self.shown.facts
        return facts if facts is not None and facts.job == self.job else None

    @property
    def before(self) -> JobFacts | None:
        """About the job under the plan before."""
        return self.shown.before if self.facts is not None else None

    @property
    def tries(self) -> int:
        """How many plans lead from the explorer's to the one that is shown."""
        return self.shown.tries

    # What the thread does

    def work_out(
        self, wishes: Sequence[Wish], frame: Frame, log: Sequence[Event], job: int
    ) -> Worked:
        """Do what is asked for, one after another, and work a job out under the plan then.

        A plan that does not fit the fabric is dropped.

        Args:
            wishes: what is asked for.
            frame: what the explorer shows.
            log: events that were injected there.
            job: index of the job.
        """
        refused, unmet = "", []
        for wish in wishes:
            try:
                if not self._done(wish):
                    unmet.append(str(wish))
            except ClusterscopeError as error:
                refused = str(error)
        while True:
            try:
                facts, at = self._facts(frame, log, job)
                break
            except ClusterscopeError as error:
                if not self._tried:
                    raise
                refused = str(error)
                self._drop()
            except Exception:
                if self._tried:
                    self._drop()
                raise
        self._last, before = facts, self._before
        if before is not None and before.job != job:
            before = None
        tries, undone = len(self._tried), len(self._undone)
        return Worked(self._timeline, tries, undone, at, facts, before, refused, tuple(unmet))

    def _done(self, wish: Wish) -> bool:
        """Do what is asked for; False when there is no plan to do it with."""
        if not isinstance(wish, str):
            self._change(wish)
            return True
        if not (self._tried if wish == "undo" else self._undone):
            return False
        if wish == "undo":
            self._undone.append(self._spec)
            self._drop()
        else:
            *undone, spec = self._undone
            self._change(lambda _: spec)
            self._undone = undone
        return True

    def _change(self, change: Change) -> None:
        """Go on to another plan; the one before can be had back."""
        spec = change(self._spec)
        if spec is None or spec == self._spec:
            return
        self._tried.append((self._spec, self._before))
        self._before, self._spec = self._last, spec
        self._undone.clear()

    def _drop(self) -> None:
        """Be at the plan before again."""
        self._spec, self._before = self._tried.pop()

    def _facts(self, frame: Frame, log: Sequence[Event], job: int) -> tuple[JobFacts, Frame]:
        """About a job under the plan of now, and the frame of that."""
        if not self._tried:
            self._timeline = self._own
            return job_facts(self._own.scenario, frame, job), frame
        if self._timeline.scenario.spec != self._spec:
            self._timeline = timeline_under(self._own, self._spec)()
        elif tuple(self._timeline.log) != tuple(log):
            self._timeline = self._own.under(self._timeline.scenario)
        at = self._timeline.at(frame.step)
        return job_facts(self._timeline.scenario, at, job), at
