from __future__ import annotations

import numpy as np

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import Scenario, build
from clusterscope.engine.timeline import Timeline
from clusterscope.export import story
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.report import report
from clusterscope.spec.presets import load
from clusterscope.views.catalog import VIEWS
from clusterscope.views.shapes import Note
from clusterscope.views.summary import summary
from tests import small as cluster


def test_short_runs_are_sampled_in_full_and_long_ones_evenly() -> None:
    assert story.points(0) == [0]
    assert story.points(3) == [0, 1, 2, 3]
    many = story.points(1_000_001)
    assert len(many) <= story.POINTS + 2
    assert (many[0], many[-1]) == (0, 1_000_001)


def test_series_of_single_steps_are_joined_to_those_of_the_run(timeline: Timeline) -> None:
    parts = [story.lines(timeline, step) for step in range(4)]
    for name, whole in story.lines(timeline, 3).items():
        joined = story.joined([part[name] for part in parts])
        assert joined.x.tolist() == [0, 1, 2, 3]
        assert list(joined.y) == list(whole.y)
        assert all(y[-1] == whole.y[key][0] for key, y in joined.y.items())


def test_every_view_is_told_once_and_a_new_one_before_the_sources(timeline: Timeline) -> None:
    scenario, frame = timeline.scenario, timeline.at(2)
    views = story.shapes(scenario, frame, report(timeline, 2)) | {"new": Note("a new view")}
    parts = story.sections(scenario, views, {}, {})
    told = [shape for part in parts for shape in part.shapes]
    left_out = {
        view
        for section, _, names, _ in story._ORDER
        for view in names
        if not story.applies(scenario, section)
    }
    for name, shape in views.items():
        assert sum(shape is other for other in told) == (name not in left_out), name
    assert {"tenants", "tenant-map"} & left_out == set()
    assert set(views) == {v.name for v in VIEWS if v.files} | {"new"}
    assert [part.name for part in parts][-4:] == ["new", "sources", "method", "words"]


def test_events_are_those_of_the_whole_run(timeline: Timeline) -> None:
    table = story.events(report(timeline, 4))
    assert [[c[row] for c in table.columns] for row in range(table.rows)] == [
        [2, "fail", "leaf0:u0", None]
    ]


def test_phases_lie_one_after_the_other_on_the_clock(small: Scenario) -> None:
    jobs = job_metrics(small, Timeline(small).at(0))
    unit, bars = story.phase_bars(small, jobs)
    row = bars[jobs[0].name]
    assert row[0].start == 0
    assert np.allclose([b.start for b in row[1:]], np.cumsum([b.length for b in row[:-1]]))
    assert unit in ("s", "ms", "µs")


def test_a_phase_that_stalls_is_left_out(small: Scenario) -> None:
    job = small.spec.jobs[1]
    port = small.names.nic(int(small.fabric.gpu_nic_port[job.first_gpu]))
    frame = Timeline(small, [Event.named(small.names, "fail", port, step=0)]).at(0)
    _, bars = story.phase_bars(small, job_metrics(small, frame))
    assert bars[job.name] == []
    assert bars[small.spec.jobs[0].name] != []


def test_a_report_says_what_its_words_mean_and_how_much_is_lost() -> None:
    lossy = cluster.scenario(transport__loss_rate=1e-4)
    facts = {fact.label: fact.value for fact in story.method(lossy).facts}
    assert facts["packets lost"] == "0.01 %"
    assert {"busbw", "error band", "incast"} <= {fact.label for fact in story.words().facts}


def test_a_cluster_without_nics_is_named_by_its_scale_up_network() -> None:
    mesh = build(load("hgx-h200-mesh"))
    note = summary(mesh, Timeline(mesh).at(0))
    told = {fact.label: fact.value for fact in note.facts}
    assert told["transport"] == "none: nvlink alone, no NICs"
