"""Frames are kept within a budget however long time runs, and any of them comes back the same."""

from __future__ import annotations

from clusterscope.engine import timeline as module
from clusterscope.engine.timeline import Timeline
from tests import small


def test_long_runs_keep_ever_fewer_of_the_old_frames():
    scenario = small.scenario()
    each = module._LINK_BYTES * scenario.fabric.links
    timeline = Timeline(scenario, budget_bytes=24 * each)
    digests = {step: timeline.at(step).digest() for step in (0, 100, 333)}
    timeline.at(2000)
    assert len(timeline._frames) <= 25
    latest = [step for step in timeline._frames if step > 2000 - module._KEYFRAME // 4]
    assert len(latest) == module._KEYFRAME // 4
    for step, digest in digests.items():
        assert timeline.at(step).digest() == digest
        assert len(timeline._frames) <= 26
