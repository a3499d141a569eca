"""Lines over steps of a timeline."""

from __future__ import annotations

import numpy as np

from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.links import tier_levels
from clusterscope.views.shapes import Series
from clusterscope.views.text import sanitize


def utilization_series(timeline: Timeline, last: int, first: int = 0) -> Series:
    """Worst utilization by tier at each step from `first` to `last`, both included."""
    steps = range(first, last + 1)
    levels = [tier_levels(timeline.scenario, timeline.at(step)) for step in steps]
    names = levels[0] if levels else {}
    return Series(
        title="utilization by tier",
        x=np.array(steps, dtype=np.float64),
        x_label="step",
        y={name: np.array([level[name][1] for level in levels]) for name in names},
        y_label="worst live link",
        kind="ratio",
    )


def busbw_series(timeline: Timeline, last: int, first: int = 0) -> Series:
    """Bus bandwidth by job at each step from `first` to `last`, GB/s; 0 while a job stalls."""
    steps = range(first, last + 1)
    jobs = [job_metrics(timeline.scenario, timeline.at(step)) for step in steps]
    names = [sanitize(job.name) for job in timeline.scenario.program]
    return Series(
        title="busbw by job",
        x=np.array(steps, dtype=np.float64),
        x_label="step",
        y={
            name: np.array([frame[job].busbw_GBps for frame in jobs])
            for job, name in enumerate(names)
        },
        y_label="busbw",
        kind="GBps",
    )
