"""Error bands: what the rates of a job may be in truth, over what the model gives.

A transport's band stands for its fabric. A job that never leaves the scale-up network has the band
of that, which is wider for small messages. A training job is uncertain only in what it waits for:
its computing is fitted apart.
"""

from __future__ import annotations

import math

from clusterscope.engine.scenario import Scenario
from clusterscope.metrics.training import TrainingMetrics
from clusterscope.traffic.flows import JobProgram
from clusterscope.units import GIB, MIB

# Measured over modeled: 0.97 to 1.01 of all-reduce of 16 MiB and more over the eight GPUs of a node
# (MEAS-01, MEAS-02), and 0.95 to 1.03 of 2 GiB and more over the 72 of a rack (MEAS-05).
SCALE_UP_BAND = (0.95, 1.05)
# Over the 72 of a rack 0.85 at 512 MiB and 0.90 at 1 GiB (MEAS-05). An estimate for what nobody has
# measured: smaller messages yet, and those of training and serving, which are no bare collective.
SMALL_MESSAGE_BAND = (0.84, 1.05)
_NODE_GPUS, _LARGE_NODE_BYTES, _LARGE_BYTES = 8, 16 * MIB, 2 * GIB

SCALE_UP_EVIDENCE = (
    "measured all-reduce over 8 GPUs of a node and 72 of a rack (MEAS-01, MEAS-02, MEAS-05)"
)

Band = tuple[float, float]


def stays_inside(program: JobProgram) -> bool:
    """True for a job that never leaves the scale-up network."""
    phases = program.phases
    return bool(phases) and all(phase.network == "scale-up" for phase in phases)


def error_band(scenario: Scenario, program: JobProgram) -> Band:
    """What the rates at which a job sends may be over what they are here, (low, high)."""
    if not stays_inside(program):
        return scenario.transport.error_band
    bare = program.training is None and program.serving is None
    return inside_band(len(program.gpus), program.message_bytes) if bare else SMALL_MESSAGE_BAND


def inside_band(ranks: int, message_bytes: float) -> Band:
    """The band of a collective that never leaves a domain, (low, high)."""
    large = _LARGE_NODE_BYTES if ranks <= _NODE_GPUS else _LARGE_BYTES
    return SCALE_UP_BAND if message_bytes >= large else SMALL_MESSAGE_BAND


def band_of_all(scenario: Scenario) -> tuple[Band, str]:
    """The widest band of the jobs of a scenario, (low, high), and what it rests on."""
    programs = scenario.program
    if not programs or not all(stays_inside(program) for program in programs):
        return scenario.transport.error_band, scenario.transport.evidence
    bands = [error_band(scenario, program) for program in programs]
    return (min(b[0] for b in bands), max(b[1] for b in bands)), SCALE_UP_EVIDENCE


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
