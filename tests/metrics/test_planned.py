"""One job, all of it: its iteration, what bounds it, and where its groups are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.metrics.groups import groups, places
from clusterscope.metrics.iteration import sent
from clusterscope.metrics.planned import all_facts, job_facts, job_named
from clusterscope.metrics.training import Span
from tests import plans, small


def facts(built):
    return job_facts(built, Timeline(built).at(0), 0)


def test_the_rows_of_a_training_job_add_up_to_its_iteration():
    told = facts(plans.scenario())
    train = told.metrics.training
    assert told.exposed_s == pytest.approx(sum(train.exposed_s.values()))
    assert train.compute_s + train.bubble_s + told.exposed_s == pytest.approx(told.metrics.alone_s)
    assert sum(row.exposed_s for row in told.sent) == pytest.approx(told.exposed_s)
    assert sum(row.bytes for row in told.sent) == pytest.approx(
        sum(phase.bytes for phase in told.metrics.phases)
    )


def test_each_kind_of_bytes_has_the_network_and_the_link_that_bound_it():
    built = plans.scenario()
    rows = {(row.phase, row.kind): row for row in facts(built).sent}
    tensor = rows["microbatches", "tp"]
    assert tensor.network == "scale-up"
    assert built.names.link(tensor.bound_link).endswith(":nv>")
    assert tensor.groups == 8
    pipe = rows["pipeline sends", "pp"]
    assert pipe.network == "scale-out"
    assert ":u" in built.names.link(pipe.bound_link)
    assert pipe.exposed_s == pytest.approx(pipe.seconds)


def test_a_collective_has_a_row_a_phase():
    built = small.scenario()
    told = facts(built)
    assert [row.phase for row in told.sent] == [phase.name for phase in told.metrics.phases]
    assert [row.seconds for row in told.sent] == pytest.approx(
        [phase.seconds for phase in told.metrics.phases]
    )
    assert {span.kind for span in told.spans} == {"communication"}
    assert told.memory is None
    assert told.groups[0].cut == "all"
    assert max(span.end_s for span in told.spans) == pytest.approx(told.metrics.alone_s, rel=0.5)


def test_a_stalled_job_has_rows_up_to_where_it_stands_still():
    built = small.scenario()
    timeline = Timeline(built)
    from clusterscope.engine.events import Event

    timeline.inject(Event.named(built.names, "fail", "node0/nic0", step=0))
    timeline.inject(Event.named(built.names, "fail", "node0/nic1", step=0))
    told = job_facts(built, timeline.at(0), 0)
    assert not np.isfinite(told.sent[-1].seconds)
    assert told.sent[-1].stalled


def test_groups_say_what_they_span():
    rows = {row.cut: row for row in groups(plans.scenario(), 0)}
    assert (rows["tp"].size, rows["tp"].count) == (2, 8)
    assert rows["tp"].inside
    assert rows["tp"].leaves == 2
    assert (rows["dp"].size, rows["dp"].count, rows["dp"].domains) == (4, 4, 4)
    assert not rows["dp"].inside
    assert rows["pp"].size == 2
    assert "cp" not in rows


def test_the_places_of_a_group_are_its_ranks_in_order():
    built = plans.scenario()
    tensor = places(built, 0, "tp", 3)
    assert [rank for place in tensor for rank in place.ranks] == [6, 7]
    assert {place.node for place in tensor} == {3}
    assert len({place.leaf for place in tensor}) == 2
    pipe = places(built, 0, "pp", 0)
    assert [place.ranks for place in pipe] == [(0,), (8,)]
    with pytest.raises(SpecError, match="use 0 to 7"):
        places(built, 0, "tp", 8)
    with pytest.raises(SpecError, match="has no groups 'ep'"):
        places(built, 0, "ep", 0)


@settings(max_examples=30, deadline=None)
@given(
    tp=st.sampled_from([1, 2]), pp=st.sampled_from([1, 2, 4]),
    placement=st.sampled_from(["packed", "random"]),
)  # fmt: skip
def test_every_rank_is_in_one_group_of_each_cut(tp, pp, placement):
    built = plans.scenario(plan={"tp": tp, "pp": pp}, placement=placement)
    for row in groups(built, 0):
        ranks = []
        widest = 0
        for number in range(row.count):
            found = places(built, 0, row.cut, number)
            ranks += [rank for place in found for rank in place.ranks]
            widest = max(widest, len({place.leaf for place in found}))
        assert sorted(ranks) == list(range(16))
        assert widest == row.leaves


def test_jobs_are_found_by_name_and_the_first_that_trains_without_one():
    jobs = [
        {"name": "ring", "collective": "all-reduce", "ranks": 4, "message_bytes": 10**9},
        plans.job(ranks=8, first_gpu=8),
    ]
    built = small.scenario(jobs=jobs)
    assert job_named(built, None) == 1
    assert job_named(built, "ring") == 0
    with pytest.raises(UnknownNameError, match="did you mean 'train'"):
        job_named(built, "trian")
    with pytest.raises(SpecError, match="runs none"):
        job_named(small.scenario(jobs=[]), None)
    told = all_facts(built, Timeline(built).at(0))
    assert [one.name for one in told] == ["ring", "train"]
    assert sent(Timeline(built).at(0).network, 1, (Span("x", "compute", "", 0, 1),))


def test_phases_side_by_side_are_waited_for_once():
    told = facts(small.scenario(jobs=small.job("all-to-all")))
    assert len(told.sent) > 1
    waited = [row.exposed_s for row in told.sent]
    assert sum(waited) == pytest.approx(told.metrics.alone_s)
    assert sorted(waited)[:-1] == [0.0] * (len(waited) - 1)
    kinds = [span.kind for span in told.spans]
    assert kinds.count("communication") == 1
    assert kinds.count("hidden") == len(kinds) - 1
