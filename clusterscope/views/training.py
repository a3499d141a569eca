"""Training jobs as shapes: what they reach, and one iteration row by row."""

from __future__ import annotations

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.training import Span, TrainingMetrics
from clusterscope.views.shapes import Column, Kind, Table
from clusterscope.views.text import sanitize

_WAITS = ("tp", "cp", "pp", "ep", "dp")


def training(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Table:  # noqa: ARG001
    """A row a training job: model, plan, speed, and where an iteration goes."""
    rows = _trained(scenario, frame)

    def of(name: str, kind: Kind, attribute: str, doc: str = "") -> Column:
        return Column(name, kind, [getattr(own, attribute) for _, own in rows], doc)

    return Table(
        "training",
        (
            Column("job", "text", [name for name, _ in rows]),
            Column("model", "text", [sanitize(own.model) for _, own in rows]),
            of("plan", "text", "plan"),
            of("tokens/s", "int", "tokens_per_s", "of all GPUs together"),
            of("MFU", "ratio", "mfu", "operations of the model over peak"),
            of("TFLOPS/GPU", "float", "tflops_per_gpu", "with what is computed again"),
            of("computing", "seconds", "compute_s", "of an iteration"),
            of("bubble", "seconds", "bubble_s", "stages of the pipeline idle"),
            *(
                Column(
                    f"waits {kind}",
                    "seconds",
                    [own.exposed_s.get(kind, 0.0) for _, own in rows],
                    "communication that is not hidden beside computing",
                )
                for kind in _WAITS
            ),
        ),
        rows=len(rows),
        note="computing at the fitted kernel efficiency unless plan.efficiency says otherwise",
    )


def iteration(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Table:  # noqa: ARG001
    """The Gantt chart of every training job's iteration, a row a span."""
    rows = [(job, span) for job, own in _trained(scenario, frame) for span in own.spans]

    def of(name: str, kind: Kind, attribute: str, doc: str = "") -> Column:
        return Column(name, kind, [getattr(span, attribute) for _, span in rows], doc)

    return Table(
        "iteration",
        (
            Column("job", "text", [job for job, _ in rows]),
            of("span", "text", "name"),
            of("kind", "text", "kind", "hidden: sent beside computing"),
            of("network", "text", "network"),
            of("begin", "seconds", "begin_s"),
            of("end", "seconds", "end_s"),
            Column("long", "seconds", [_long(span) for _, span in rows]),
        ),
        rows=len(rows),
    )


def _trained(scenario: Scenario, frame: Frame) -> list[tuple[str, TrainingMetrics]]:
    """Name and figures of every job that trains."""
    jobs = job_metrics(scenario, frame)
    return [(sanitize(job.name), job.training) for job in jobs if job.training is not None]


def _long(span: Span) -> float:
    return span.end_s - span.begin_s
