"""Routes of the rows of phases: found once for all phases of a job that have the same rows."""

from __future__ import annotations

from clusterscope.columns import F64
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.shares import PhaseKey
from clusterscope.routing.route import route
from clusterscope.routing.routes import Bundles, Routes


class Walked:
    """Routes in one state of health."""

    def __init__(self) -> None:
        self._kept: dict[PhaseKey, tuple[Routes, Bundles]] = {}

    def of(self, scenario: Scenario, key: PhaseKey, cable_gbps: F64) -> tuple[Routes, Bundles]:
        """Routes of a phase whose demand is flows, and the bundles that they name.

        Args:
            scenario: what is simulated.
            key: the phase.
            cable_gbps: usable rate of every cable, (C,); the same at every call.
        """
        load = scenario.loads[key[0]][key[1]]
        alike = [place for place, own in enumerate(scenario.loads[key[0]]) if own.along(load)]
        kept = self._kept.get((key[0], alike[0]))
        if kept is not None:
            return kept
        policy = scenario.transport.policy
        found = route(scenario.fabric, cable_gbps, load.src, load.dst, load.entropy, policy)
        if len(alike) > 1:
            self._kept[key[0], alike[0]] = found
        return found
