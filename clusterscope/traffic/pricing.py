"""What a library takes besides bytes, put on the phases of a collective.

The start and the filling of a pipeline are shared out over phases that follow one another, so that
equal phases stay equal. Phases that run at once are one pipeline through NICs and domains: each
waits for all of its steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from clusterscope.traffic.choice import Cost
from clusterscope.traffic.flows import Phase


def priced(phases: Sequence[Phase], cost: Cost, *, at_once: bool) -> tuple[Phase, ...]:
    """Phases with the latencies and the wire bytes of a library."""
    waits = waiting_s(phases, cost, at_once=at_once)
    return tuple(
        dataclasses.replace(
            phase,
            step_s=_step_s(phase, cost),
            extra_s=wait - phase.serial_steps * _step_s(phase, cost),
            wire_ratio=phase.wire_ratio * cost.wire,
        )
        for phase, wait in zip(phases, waits, strict=True)
    )


def waiting_s(phases: Sequence[Phase], cost: Cost, *, at_once: bool) -> list[float]:
    """What a library makes each phase wait besides its bytes, over one switch, seconds."""
    steps = [
        phase.serial_steps * _step_s(phase, cost) + phase.inner_steps * cost.inside_s
        for phase in phases
    ]
    filling = cost.start_s + cost.fill_s
    if at_once:
        return [filling + max(steps, default=0.0)] * len(steps)
    return [filling / len(steps) + own for own in steps]


def _step_s(phase: Phase, cost: Cost) -> float:
    return cost.inside_s if phase.network == "scale-up" else cost.between_s
