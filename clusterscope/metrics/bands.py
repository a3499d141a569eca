"""Error bands: what the rates of a job may be in truth, over what the model gives.

A transport's band stands for its fabric. A job that never leaves the scale-up network has the band
of that, and a training job is uncertain only in what it waits for: its computing is fitted apart.
"""

from __future__ import annotations

import math

from clusterscope.engine.scenario import Scenario
from clusterscope.metrics.training import TrainingMetrics
from clusterscope.traffic.flows import JobProgram

# The collectives of MEAS-02, on which the goodput is fitted, lie within 1 % of it, and other
# machines (MEAS-01, MEAS-05) within 5 %.
SCALE_UP_BAND = (0.95, 1.05)

Band = tuple[float, float]


def stays_inside(program: JobProgram) -> bool:
    """True for a job that never leaves the scale-up network."""
    phases = program.phases
    return bool(phases) and all(phase.network == "scale-up" for phase in phases)


def error_band(scenario: Scenario, program: JobProgram) -> Band:
    """What the rates at which a job sends may be over what they are here, (low, high)."""
    return SCALE_UP_BAND if stays_inside(program) else scenario.transport.error_band


def waited_band(band: Band, train: TrainingMetrics | None, iteration_s: float) -> Band:
    """What the speed of a job may be over what it is here, (low, high).

    Args:
        band: the same of the rates at which it sends.
        train: where an iteration goes; None for a job that only sends.
        iteration_s: one iteration.
    """
    if train is None or not math.isfinite(iteration_s):
        return band
    waits_s = sum(train.exposed_s.values())
    low, high = (iteration_s / (iteration_s + waits_s * (1.0 / end - 1.0)) for end in band)
    return low, high
