"""What a busy egress of another job costs a job: links that are paused on the way there."""

from __future__ import annotations

import math

import numpy as np

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.shares import PhaseKey
from clusterscope.metrics.beside import together
from clusterscope.metrics.memo import per_frame
from clusterscope.units import BITS_PER_BYTE, GIGA


@per_frame
def paused_s(scenario: Scenario, frame: Frame) -> tuple[float, ...]:
    """Seconds that pauses add to an iteration, by job.

    Of the phases that run at a frame; of the whole iteration while that is worked out because none
    has been finished yet.
    """
    if len(frame.jobs) < 2 or not scenario.transport.pauses:
        return (0.0,) * len(frame.jobs)
    running = _running_s(scenario, frame)
    return tuple(
        together(frame.network)[job].paused_s if math.isnan(state.last_iteration_s) else paused
        for job, (state, paused) in enumerate(zip(frame.jobs, running, strict=True))
    )


def _running_s(scenario: Scenario, frame: Frame) -> list[float]:
    """Seconds that pauses add to the phases that run at a frame, by job."""
    running: list[PhaseKey] = []
    for job, state in enumerate(frame.jobs):
        running += [(job, state.phase + i) for i, left in enumerate(state.left) if (left > 0).any()]
    out = np.zeros(len(frame.jobs))
    if running:
        share = frame.network.share(tuple(running))
        for key, free in share.free_gbps.items():
            pace = share.pace_gbps[key]
            if pace.all() and free.all():
                size = scenario.loads[key[0]][key[1]].size_bytes
                more = float((size / pace).max() - (size / free).max()) * BITS_PER_BYTE / GIGA
                out[key[0]] = max(out[key[0]], more)
    seconds: list[float] = out.tolist()
    return seconds
