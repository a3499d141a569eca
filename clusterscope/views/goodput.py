"""What keeps training jobs from computing: slow GPUs, checkpoints and failures."""

from __future__ import annotations

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.metrics.checkpoints import Checkpoints, checkpoints
from clusterscope.metrics.jobs import JobMetrics, job_metrics
from clusterscope.metrics.training import Straggler
from clusterscope.views.shapes import Column, Fact, Table
from clusterscope.views.text import fmt, percent, sanitize


def goodput(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Table:  # noqa: ARG001
    """A row a training job: its slowest GPU, its checkpoints, and what failures leave it."""
    rows = [
        (job, own, own.training.straggler)
        for job, own in enumerate(job_metrics(scenario, frame))
        if own.training is not None
    ]
    saved = [checkpoints(scenario, job, own.iteration_s) for job, own, _ in rows]
    slow = [straggler for _, _, straggler in rows]
    names = scenario.names
    return Table(
        "what training jobs lose",
        (
            Column("job", "text", [sanitize(own.name) for _, own, _ in rows]),
            Column("slowest GPU", "text", ["" if s is None else names.gpu(s.gpu) for s in slow]),
            Column("at", "ratio", [None if s is None else s.speed for s in slow], "of its speed"),
            Column("slow GPUs", "int", [0 if s is None else s.ranks for s in slow]),
            Column(
                "lost to it",
                "seconds",
                [0.0 if s is None else s.lost_s for s in slow],
                "computing of an iteration that full speed would spare",
            ),
            Column("checkpoint", "bytes", [None if c is None else c.bytes for c in saved]),
            Column("write", "seconds", [None if c is None else c.write_s for c in saved]),
            Column("held back by", "text", ["" if c is None else c.narrowest for c in saved]),
            Column("waits", "seconds", [None if c is None else c.stall_s for c in saved]),
            Column("every", "seconds", [None if c is None else c.interval_s for c in saved]),
            Column(
                "best every", "seconds", [None if c is None else c.best_interval_s for c in saved]
            ),
            Column("failures every", "seconds", [None if c is None else c.mtbf_s for c in saved]),
            Column(
                "goodput",
                "ratio",
                [None if c is None else c.goodput for c in saved],
                "share of time that computes, with checkpoints and failures",
            ),
        ),
        rows=len(rows),
        note="failures as [jobs.checkpoint] says, or as often as those of Llama 3",
    )


def goodput_facts(scenario: Scenario, job: int, own: JobMetrics) -> list[Fact]:
    """What a training job waits for besides its network; empty when for nothing."""
    assert own.training is not None
    name, facts = sanitize(own.name), []
    if own.training.straggler is not None:
        facts.append(Fact(f"{name}: waits for", _slowest(scenario, own.training.straggler)))
    saved = checkpoints(scenario, job, own.iteration_s)
    if saved is not None:
        facts.append(Fact(f"{name}: checkpoint", _saving(saved), "text", "derived"))
        often = f"a failure every {fmt(saved.mtbf_s, 'seconds')}"
        facts.append(Fact(f"{name}: goodput", percent(saved.goodput), "text", "derived", often))
    return facts


def _slowest(scenario: Scenario, own: Straggler) -> str:
    """The slowest GPU of a job in words."""
    others = f", and {own.ranks - 1:,} more are slow" if own.ranks > 1 else ""
    lost = f"{fmt(own.lost_s, 'seconds')} an iteration"
    gpu = scenario.names.gpu(own.gpu)
    return f"{gpu} (rank {own.rank:,}) at {percent(own.speed)} of its speed: {lost}{others}"


def _saving(own: Checkpoints) -> str:
    """One checkpoint in words."""
    size, write = fmt(own.bytes, "bytes"), fmt(own.write_s, "seconds")
    every = fmt(own.interval_s, "seconds")
    waits = f"the job waits {fmt(own.stall_s, 'seconds')} every {every}"
    return f"{size} in {write}, held back by {own.narrowest}; {waits} ({percent(own.stall_ratio)})"
