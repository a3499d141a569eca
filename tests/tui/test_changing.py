"""`:set`: the same history under another spec."""

from __future__ import annotations

import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import ClusterscopeError, SpecError
from clusterscope.tui.changing import changed, timeline_under
from tests import small


def history(*fails):
    built = small.scenario(transport={"name": "rocev2"})
    return Timeline(built, [Event.named(built.names, "fail", n, step=1) for n in fails])


def test_the_fabric_stays_where_nothing_of_it_changes():
    timeline = history("spine0")
    other = timeline_under(
        timeline, changed(timeline.scenario.spec, ["transport.qps=8", "prices.pue=1.3"])
    )()
    assert other.scenario.fabric is timeline.scenario.fabric
    assert other.scenario.transport.qps == 8
    assert other.scenario.spec.prices == {"pue": 1.3}
    assert other.log == timeline.log
    assert other.can_undo


def test_another_fabric_gets_the_events_by_name():
    timeline = history("spine0", "leaf0:u1")
    spec = changed(timeline.scenario.spec, ["scale_out.spines=3", "scale_out.leaf_up=3"])
    other = timeline_under(timeline, spec)()
    assert other.scenario.fabric is not timeline.scenario.fabric
    assert [event.name for event in other.log] == ["spine0", "leaf0:u1"]


def test_what_cannot_be_is_said_in_a_sentence():
    timeline = history("spine1")
    with pytest.raises(SpecError, match="names no setting"):
        changed(timeline.scenario.spec, [])
    with pytest.raises(ClusterscopeError, match="did you mean 'qps'"):
        changed(timeline.scenario.spec, ["transport.qsp=4"])
    one = ["scale_out.spines=1", "scale_out.spine_switch=generic-16"]
    spec = changed(timeline.scenario.spec, one)
    with pytest.raises(SpecError, match="an event does not fit"):
        timeline_under(timeline, spec)()
