"""Another spec for the cluster that is open: what `:set` asks for.

Where the fabric stays, its arrays and the history stay too; else it is cabled anew and the events
of the log are looked up by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import build, with_spec
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import ClusterscopeError, SpecError
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.read import parse
from clusterscope.spec.write import write

# Tables of a spec that decide what is cabled to what.
_FABRIC = ("node", "scale_up", "scale_out", "dragonfly", "sim")


def changed(spec: ClusterSpec, settings: Sequence[str]) -> ClusterSpec:
    """The spec with every `table.key=value` applied.

    Raises:
        SpecError: not of that form, no such key, or no cluster that can be built.
        UnknownNameError: a part that is not there.
    """
    if not settings:
        raise SpecError(
            ":set", "names no setting", "type set KEY=VALUE, as set prices.SN5600=40000"
        )
    return parse(write(spec), spec.name, settings)


def timeline_under(timeline: Timeline, spec: ClusterSpec) -> Callable[[], Timeline]:
    """What builds the same history under another spec.

    The call raises SpecError when an event names what is not there any more.
    """
    scenario = timeline.scenario
    old, log = scenario.spec, timeline.log

    def make() -> Timeline:
        if all(getattr(old, name, None) == getattr(spec, name, None) for name in _FABRIC):
            return timeline.under(with_spec(scenario, spec))
        other = build(spec)
        try:
            events = [
                Event.named(other.names, e.kind, e.name, step=e.step, scale=e.scale) for e in log
            ]
        except ClusterscopeError as error:
            raise SpecError(":set", f"an event does not fit: {error}", "undo it first") from None
        return Timeline(other, events)

    return make
