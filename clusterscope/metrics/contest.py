"""A cluster under several transports beside other clusters that run the same jobs.

Every cluster runs the jobs of the first, on as many GPUs as the smallest has; events go by name,
and those that name nothing elsewhere are left out there. Clusters but the first keep their own
transport. For one thread at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario, build, with_spec
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import UnknownNameError
from clusterscope.metrics.compare import Comparison, Rivals, Tell, joined, same_jobs
from clusterscope.spec.model import ClusterSpec


class Contest:
    """Several clusters.

    Args:
        scenario: the first, with its jobs.
        others: specs of the others.

    Raises:
        SpecError: a cluster has no room for the jobs.
    """

    def __init__(self, scenario: Scenario, others: Sequence[ClusterSpec] = ()) -> None:
        specs = same_jobs([scenario.spec, *others])
        smaller = any(spec.gpus < scenario.fabric.gpus for spec in others)
        self.first = with_spec(scenario, specs[0]) if smaller else scenario
        self._same = self.first is scenario
        self._rivals = Rivals(self.first)
        self._own = Timeline(self.first)
        self._others = [Timeline(build(spec)) for spec in specs[1:]]

    def compare(
        self, frame: Frame, log: Sequence[Event], names: Sequence[str], tell: Tell
    ) -> Comparison:
        """Every cluster at the time of a frame of the first, under its log."""
        if not self._same:
            self._own.follow(log)
            frame = self._own.at(frame.step)
        found = [(self.first.spec.name, self._rivals.compare(frame, log, names, tell))]
        for timeline in self._others:
            scenario = timeline.scenario
            name = scenario.transport.name
            timeline.follow(_moved(log, scenario))
            step = round(frame.time_s / scenario.spec.sim.dt_s)
            tell(f"{scenario.spec.name}", 0, step)
            there = timeline.at(step)
            compared = Rivals(scenario).compare(there, timeline.log, (name,), tell)
            found.append((scenario.spec.name, compared))
        return joined(found)

    def sides(self, names: Sequence[str]) -> list[Scenario]:
        """Every cluster under its transport, in the order of a comparison's sides."""
        own = self.first.transport.name
        first = [self.first if n == own else self._rivals.timeline(n).scenario for n in names]
        return [*first, *(timeline.scenario for timeline in self._others)]


def _moved(log: Sequence[Event], scenario: Scenario) -> tuple[Event, ...]:
    """Events on the things of the same name in another cluster."""
    out = []
    for event in log:
        try:
            moved = Event.named(
                scenario.names, event.kind, event.name, step=event.step, scale=event.scale
            )
        except UnknownNameError:
            continue
        out.append(moved)
    return tuple(out)
