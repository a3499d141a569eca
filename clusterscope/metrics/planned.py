"""All there is to know of one job at a frame, for the Jobs screen, the command and reports."""

from __future__ import annotations

from dataclasses import dataclass

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.metrics.groups import CutGroups, groups
from clusterscope.metrics.iteration import Sent, sent, spans_of
from clusterscope.metrics.jobs import JobMetrics, job_metrics
from clusterscope.metrics.memo import per_frame
from clusterscope.metrics.memory import Memory, memory
from clusterscope.metrics.training import Span
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.replan import planned


@dataclass(frozen=True)
class JobFacts:
    """One job at a frame.

    Attributes:
        job: its index.
        metrics: how fast it is.
        values: its plan, by the names of `spec.replan.FIELDS`.
        spans: one iteration, as rows of a Gantt chart.
        sent: what it sends in an iteration, phase by phase.
        groups: its parallel groups.
        memory: what a GPU holds; None for a job that does not train.
        serves: it serves a model.
        spec: the cluster that this is about.
    """

    job: int
    metrics: JobMetrics
    values: dict[str, str]
    spans: tuple[Span, ...]
    sent: tuple[Sent, ...]
    groups: tuple[CutGroups, ...]
    memory: Memory | None
    serves: bool
    spec: ClusterSpec

    @property
    def name(self) -> str:
        """Name of the job."""
        return self.metrics.name

    @property
    def exposed_s(self) -> float:
        """Seconds of an iteration that wait for communication."""
        spans = self.spans
        if self.metrics.training is None:
            return self.metrics.alone_s
        return sum(span.end_s - span.begin_s for span in spans if span.kind == "communication")


def job_facts(scenario: Scenario, frame: Frame, job: int) -> JobFacts:
    """One job at a frame."""
    program, metrics = scenario.program[job], job_metrics(scenario, frame)[job]
    spans = spans_of(metrics, program)
    return JobFacts(
        job=job,
        metrics=metrics,
        values=planned(scenario.spec, job).values,
        spans=spans,
        sent=sent(frame.network, job, spans),
        groups=groups(scenario, job),
        memory=None if program.training is None else memory(program.training),
        serves=program.serving is not None,
        spec=scenario.spec,
    )


@per_frame
def all_facts(scenario: Scenario, frame: Frame) -> tuple[JobFacts, ...]:
    """Every job at a frame, in the order of the spec."""
    return tuple(job_facts(scenario, frame, job) for job in range(len(scenario.program)))


def job_named(scenario: Scenario, name: str | None) -> int:
    """Index of a job by its name; without one the first that trains, or else the first.

    Raises:
        UnknownNameError: no such job; names the nearest.
        SpecError: there are no jobs.
    """
    programs = scenario.program
    if not programs:
        raise SpecError("jobs", "this cluster runs none", "add a table [[jobs]]")
    if name is None:
        return next((at for at, program in enumerate(programs) if program.training), 0)
    known = [program.name for program in programs]
    if name not in known:
        raise UnknownNameError("job", name, known, "jobs are " + ", ".join(known[:8]))
    return known.index(name)
