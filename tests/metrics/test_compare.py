"""Transports side by side: each as if it ran alone, and causes that add up."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import build, with_transport
from clusterscope.engine.step import start
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import ClusterscopeError
from clusterscope.metrics.causes import CAUSES, causes
from clusterscope.metrics.compare import (
    MAIN,
    Rivals,
    as_dict,
    joined,
    names_of,
    rivals_of,
    same_jobs,
    side_of,
)
from clusterscope.metrics.cost import cost
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.networks import network_name, networks
from clusterscope.metrics.verdict import uses
from clusterscope.spec import parts
from clusterscope.spec.presets import load
from clusterscope.views.behind import held_back_by, trunks_note
from clusterscope.views.compare import compare_bars, compare_table, money_note, verdict
from clusterscope.views.verdict import paragraph
from tests.small import job, scenario

COLLECTIVES = ("all-reduce", "all-gather", "all-to-all", "permutation", "incast")


def compared(built, *fails, step=2, names=None):
    log = [Event.named(built.names, "fail", name, step=1) for name in fails]
    timeline = Timeline(built, log)
    return Rivals(built).compare(timeline.at(step), log, names or rivals_of(built))


@pytest.mark.parametrize("transport", rivals_of(scenario()))
@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("fails", [(), ("leaf0:u1",), ("spine0", "leaf3:u1")])
def test_causes_add_up_to_what_is_lost_against_line_rate(transport, collective, fails):
    built = scenario(
        jobs=job(collective), transport={"name": transport, "reroute_s": 0.0}, scale_out__leaf_up=2
    )
    timeline = Timeline(built, [Event.named(built.names, "fail", n, step=0) for n in fails])
    (metrics,), (split,) = (f(built, timeline.at(0)) for f in (job_metrics, causes))
    lost = metrics.iteration_s - metrics.ideal_s
    assert tuple(split) == CAUSES
    assert math.isinf(lost) or sum(split.values()) == pytest.approx(lost, rel=1e-12)
    assert not math.isnan(sum(split.values()))


def test_each_cause_is_its_own_mechanism():
    """A permutation on plain ECMP, worked out: 8 nodes x 2 NICs of 100 Gb/s, 2 of 4 uplinks."""

    def split(**changes):
        built = scenario(jobs=job("permutation"), **changes)
        return causes(built, Timeline(built).at(0))[0]

    perfect = split(transport={"name": "spectrum-x"})
    assert perfect["collisions"] == perfect["failures"] == perfect["reroute"] == 0.0
    # 1 GB at 100 Gb/s is 80 ms; 82 of 4178 bytes are headers.
    assert perfect["headers"] == pytest.approx(0.08 * 82 / 4096)
    hashed = split(transport={"name": "rocev2"})
    assert hashed["collisions"] > 0.04  # two flows that meet take twice the time
    assert hashed["headers"] == perfect["headers"]
    narrow = split(transport={"name": "spectrum-x"}, scale_out__leaf_up=2)
    assert narrow["few uplinks"] > 0.04
    assert narrow["collisions"] == 0.0
    assert 0 < perfect["latency"] < 1e-5
    assert perfect["scale-up goodput"] == 0.0


def test_failures_the_wait_for_routes_and_other_jobs_are_told_apart():
    changes = {"jobs": job("permutation"), "transport": {"name": "spectrum-x", "reroute_s": 0.015}}
    built = scenario(**changes, scale_out__leaf_up=2)
    timeline = Timeline(built, [Event.named(built.names, "fail", "spine0", step=1)])
    before, waiting, after = (causes(built, timeline.at(step))[0] for step in (0, 1, 4))
    assert before["failures"] == before["reroute"] == 0.0
    assert waiting["failures"] == after["failures"] > 0.0
    assert waiting["reroute"] == after["reroute"] == 0.0  # sprayed: what is left carries all
    hashed = scenario(jobs=job("permutation"), transport={"name": "rocev2", "reroute_s": 0.015})
    timeline = Timeline(hashed, [Event.named(hashed.names, "fail", "spine0", step=1)])
    waiting, after = (causes(hashed, timeline.at(step))[0] for step in (1, 4))
    assert math.isinf(waiting["reroute"])
    assert after["reroute"] == 0.0
    two = [*job("permutation"), {**job("permutation")[0], "name": "other"}]
    shared = scenario(jobs=two, transport={"name": "spectrum-x"})
    frame = Timeline(shared).at(60)
    assert all(split["other jobs"] > 0.0 for split in causes(shared, frame))


def test_a_job_that_stands_still_names_the_cause():
    built = scenario(jobs=job("permutation"))
    timeline = Timeline(built, [Event.named(built.names, "fail", "node3", step=0)])
    (split,) = causes(built, timeline.at(0))
    assert [name for name in CAUSES if math.isinf(split[name])] == ["failures"]


def test_every_side_is_what_its_transport_shows_alone():
    built = scenario(jobs=job("permutation"), transport={"name": "rocev2"})
    got = compared(built, "spine0", "leaf2:u1", step=40)
    assert [side.name for side in got.sides] == list(rivals_of(built))
    for side in got.sides:
        other = with_transport(built, side.name)
        log = [Event.named(built.names, "fail", n, step=1) for n in ("spine0", "leaf2:u1")]
        alone = side_of(other, Timeline(other, log).at(40), "rocev2")
        assert side == alone


def test_rivals_follow_the_log_and_the_step():
    built = scenario(jobs=job("permutation"))
    timeline, rivals = Timeline(built), Rivals(built)
    fail = Event.named(built.names, "fail", "spine0", step=2)

    def busbw(step):
        return [
            side.jobs[0].metrics.busbw_GBps
            for side in rivals.compare(timeline.at(step), timeline.log, rivals_of(built)).sides
        ]

    healthy = busbw(60)
    timeline.inject(fail)
    assert busbw(60) != healthy
    assert busbw(1) == healthy
    timeline.undo()
    assert busbw(60) == healthy


def test_progress_is_told_and_may_end_it():
    built, told = scenario(jobs=job("permutation")), []
    frame = Timeline(built).at(3)
    Rivals(built).compare(frame, (), ("spectrum-x", "rocev2"), lambda *at: told.append(at))
    assert told[0] == ("spectrum-x", 3, 3)
    assert ("rocev2", 2, 3) in told

    def stop(*at):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Rivals(built).compare(frame, (), ("rocev2",), stop)


def test_names():
    built = scenario(transport={"name": "rocev2"})
    assert names_of(None, built)[0] == "rocev2"
    assert set(names_of("all", built)) == set(rivals_of(built)) < set(parts.transports())
    assert set(names_of(None, built)) == set(MAIN) == {*MAIN, "rocev2"}
    assert names_of(None, scenario(transport={"name": "infiniband-ar"}))[0] == "infiniband-ar"
    assert names_of(" infiniband, rocev2,", built) == ("infiniband", "rocev2")
    for text, words in (
        ("rocev3", "did you mean 'rocev2'"),
        (",", "names none"),
        ("rocev2,rocev2", "named twice"),
    ):
        with pytest.raises(ClusterscopeError, match=words):
            names_of(text, built)
    with pytest.raises(ClusterscopeError, match="no scale-out fabric"):
        names_of(None, scenario(scale_out=None, scale_up__domain_gpus=16))


def test_the_document_is_json_and_stalls_are_null():
    document = as_dict(compared(scenario(jobs=job("permutation")), "node3"))
    text = json.dumps(document, allow_nan=False)
    assert json.loads(text)["transports"][0]["jobs"][0]["iteration_s"] is None


def test_uneven_trunks_can_be_balanced():
    # Leaves have three or four cables to each spine: adaptive routing limits some pairs of leaves.
    built = build(load("gb200-superpod", ["transport=spectrum-x"]))
    (metrics,) = job_metrics(built, Timeline(built).at(0))
    assert 0.7 < metrics.share_of_line < 1.0


# The view


def cells(table, label):
    rows = [row for row in range(table.rows) if table.columns[0][row].strip(" ├└") == label]
    return [str(column[rows[0]]) for column in table.columns[1:]]


def test_the_table_has_a_column_a_transport_and_says_what_differs():
    built = scenario(jobs=job("permutation"), transport={"name": "spectrum-x"})
    got = compared(built, names=("spectrum-x", "rocev2"))
    table = compare_table(got, "spectrum-x", "spectrum-x")
    assert [column.name for column in table.columns] == ["", "spectrum-x ● base", "rocev2"]
    assert cells(table, "iteration")[1].endswith(" %")
    assert "(" in cells(table, "busbw")[0]
    assert cells(table, "lost to collisions")[0] == "0.0 %"
    assert "+" in cells(table, "lost to collisions")[1]
    assert cells(table, "cost and power") == ["as the others: same parts", '"']
    assert cells(table, "reroute takes") == ["1 ms", "200 ms"]
    short = compare_table(got, "rocev2", "spectrum-x", full=False)
    assert [column.name for column in short.columns[1:]] == ["spectrum-x ●", "rocev2 base"]
    assert "(" not in cells(short, "busbw")[0]
    bars = compare_bars(got, "spectrum-x")
    assert table.note == "against spectrum-x: same flows, seed 1, failures; step 2"
    assert bars.shape == (table.rows, 2) == (short.rows, 2)


def test_line_rate_and_losses_fill_an_iteration():
    built = scenario(jobs=job("permutation"))
    got = compared(built)
    table, bars = compare_table(got, "rocev2", "rocev2"), compare_bars(got, "rocev2")
    labels = [str(table.columns[0][row]) for row in range(table.rows)]
    parts_ = [row for row, text in enumerate(labels) if "line rate" in text or "lost" in text]
    assert bars[parts_].sum(axis=0) == pytest.approx([1.0] * len(got.sides))


def test_the_verdict_names_winner_distance_and_cause():
    built = scenario(jobs=job("permutation"), transport={"name": "spectrum-x"})
    (sentence,) = verdict(compared(built, names=("spectrum-x", "rocev2")))
    assert sentence.startswith("job: spectrum-x is fastest, ")
    assert "rocev2 takes 3.0 times as long" in sentence
    assert "collisions (flows that meet" in sentence
    (still,) = verdict(compared(built, "node3"))
    assert "stands still under all" in still
    assert verdict(compared(built, names=("rocev2",))) == ()


def test_the_verdict_says_until_when_a_job_waits_for_new_routes():
    built = scenario(jobs=job("permutation"), transport={"name": "spectrum-x"})
    (sentence,) = verdict(compared(built, "spine0", names=("spectrum-x", "rocev2")))
    assert (
        "rocev2 stands still for 190 ms, until its routes react, then " in sentence
    )  # dead from 10 ms on


def test_an_outage_of_a_moment_is_no_end_of_a_run():
    built = scenario(jobs=job("permutation"), transport={"name": "spectrum-x"})
    found = compared(built, "spine0", names=("spectrum-x", "rocev2"))
    table = compare_table(found, "spectrum-x", "spectrum-x")
    assert cells(table, "iteration")[1] == "stalled for 190 ms"
    assert cells(table, "once routes react")[1].startswith("in 190 ms: ")
    assert "never ends" not in cells(table, "a training run")
    assert "–" not in cells(table, "a petabyte delivered")


def test_who_is_as_fast_is_said_of_all_and_one_alone_has_no_others():
    built = scenario(transport={"name": "infiniband"}, jobs=job("all-reduce", ranks=2))
    found = compared(built, names=("infiniband", "infiniband-ar"))
    alike = dataclasses.replace(
        found, sides=tuple(dataclasses.replace(s, jobs=found.sides[0].jobs) for s in found.sides)
    )
    (sentence,) = verdict(alike)
    if "never leaves" not in sentence:
        assert "infiniband and infiniband-ar are as fast as each other, " in sentence
        assert "fastest" not in sentence
    one = compare_table(compared(built, names=("infiniband",)), "infiniband", "infiniband")
    assert not any("cost and power" in str(one.columns[0][row]) for row in range(one.rows))
    assert cells(one, "network costs")[0].startswith("$")


def test_clusters_of_several_sizes_say_how_much_of_them_runs():
    big, small_ = scenario(), scenario(node__count=4)
    specs = same_jobs([big.spec, small_.spec])
    pair = [
        (name, compared(build(spec), names=("rocev2",)))
        for name, spec in zip(("big", "small"), specs, strict=True)
    ]
    found = joined(pair)
    table = compare_table(found, found.sides[0].label, "")
    assert cells(table, "GPUs with a job, of all") == ["8 of 16", "8 of 8"]
    assert found.sizes_differ
    told = paragraph(found, uses(found.networks))
    assert "cheapest network" not in told
    assert "have a job" in money_note(found)


def test_what_clusters_differ_by_at_line_rate_is_a_row_and_words_add_up():
    whole, half = scenario(), scenario(node__nic_gbps=50.0)
    pair = [(n, compared(b, names=("rocev2",))) for n, b in (("whole", whole), ("half", half))]
    found = joined(pair)
    (fast,), (slow,) = (side.jobs for side in found.sides)
    assert slow.metrics.ideal_s > fast.metrics.ideal_s
    table = compare_table(found, found.sides[0].label, "")
    assert "+" in cells(table, "ideal at line rate")[1]
    more = slow.metrics.iteration_s - fast.metrics.iteration_s
    parts = [slow.causes[name] - fast.causes[name] for name in slow.causes]
    assert sum(parts) + slow.metrics.ideal_s - fast.metrics.ideal_s == pytest.approx(more)
    assert "a longer time at line rate" in " ".join(verdict(found))


def test_words_name_the_second_cause_and_what_is_saved():
    job_side = compared(scenario(), names=("rocev2",)).sides[0].jobs[0]

    def side(ideal_s, **seconds):
        metrics = dataclasses.replace(job_side.metrics, ideal_s=ideal_s)
        own = {name: seconds.get(name.replace(" ", "_"), 0.0) for name in job_side.causes}
        return dataclasses.replace(job_side, metrics=metrics, causes=own)

    slow, best = side(4.75e-3, **{"scale-up_goodput": 1.51e-3, "latency": 629e-6}), side(5.34e-3)
    words = held_back_by(slow, best, set())
    assert words.startswith("most of it scale-up goodput (what")
    assert ", then latency (waiting" in words
    assert words.endswith("; at line rate it would take 590 µs less")
    assert held_back_by(side(1.0, collisions=1.0), side(1.0), {"collisions"}) == (
        "all of it collisions"
    )


def test_uneven_trunks_are_told_of_where_they_are():
    assert trunks_note(compared(scenario(), names=("rocev2",))) == ""
    uneven = scenario(scale_out__leaf_up=3)
    told = trunks_note(compared(uneven, names=("rocev2", "spectrum-x")))
    assert told.startswith("In leaf-spine of small cabled pairs share 1 to 2 cables")
    assert told.count("collisions") == 1


def test_a_rack_without_nics_is_called_by_its_network_everywhere():
    bare = load("gb200-nvl72")
    built = build(bare)
    side = side_of(built, start(built))
    (up,) = [one for one in networks(built) if one.name == "scale-up"]
    assert side.name == network_name(built) == "nvlink"
    assert (side.network_usd, side.network_w) == (up.usd, up.watts)
    assert cost(built)["network"] == up.usd > 0
    assert math.isnan(side.reroute_s)
    assert math.isfinite(side.money.petabyte_usd)
