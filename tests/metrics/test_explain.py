"""Why a thing is slow, who shares it, and changes that are really tried."""

from __future__ import annotations

import copy
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import build
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import ClusterscopeError, UnknownNameError
from clusterscope.fabric.things import Thing
from clusterscope.metrics.changes import broken
from clusterscope.metrics.explain import explain
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.remedies import remedies
from clusterscope.metrics.subject import of_thing, subject_of
from clusterscope.spec.presets import load
from clusterscope.spec.validate import validate
from clusterscope.views.explain import (
    as_dict,
    best_words,
    explain_note,
    sharers_table,
    tried_table,
)
from tests import small

GB = 1_000_000_000


def network(built, *fails):
    return (
        Timeline(built, [Event.named(built.names, "fail", n, step=0) for n in fails]).at(0).network
    )


def asked(built, text, *fails):
    net = network(built, *fails)
    found = explain(subject_of(built, net, text), net)
    return found, remedies(found, net)


def crossing(**more):
    """Three senders to one receiver: its cable is the bottleneck, a third each."""
    return small.scenario(jobs=small.job("incast", ranks=8), **more)


def test_an_incast_is_held_back_by_the_receivers_cable():
    built = crossing(scale_up__domain_gpus=1, transport={"name": "spectrum-x"})
    found, _ = asked(built, "job")
    names = built.names
    receiver = int(built.program[0].phases[0].demand.dst[0])
    assert names.link(found.bottleneck) == f"{names.nic(receiver)}:u0<"
    assert found.load_gbps == pytest.approx(100.0, rel=1e-3)
    (one,) = found.sharers
    assert (one.job, one.ratio) == (0, 1.0)
    assert one.rows == len(built.program[0].phases[0].demand.src)


def test_the_flood_that_pauses_a_link_is_named_and_not_a_tree_that_shares_it():
    """A tree has receivers with several senders too; it sends no more than they take."""
    built = build(load("ai-cloud"))
    net = network(built)
    found = explain(subject_of(built, net, "llm-a"), net)
    name = {one.job: built.program[one.job].name for one in found.sharers}
    floods = {name[one.job] for one in found.sharers if one.floods}
    assert {"llm-b", "checkpoint"} <= set(name.values())
    assert floods == {"checkpoint"}
    words = str(explain_note(built, found, None))
    assert "checkpoint, which sends more than its receiver takes" in words


def test_a_flow_is_told_its_rate_and_its_path():
    built = crossing(transport={"name": "rocev2"}, scale_up__domain_gpus=1)
    demand = built.program[0].phases[0].demand
    src = built.names.nic(int(demand.src[-1]))
    dst = built.names.nic(int(demand.dst[-1]))
    found, tried = asked(built, f"{src} -> {dst}")
    # Its share of the receiver's 100 Gb/s, of which 4096 of 4178 bytes are payload.
    senders = int((demand.dst == demand.dst[-1]).sum())
    assert found.unit == "gbps"
    assert found.value == pytest.approx(100 / senders * 4096 / 4178, rel=1e-3)
    assert found.bottleneck in found.path
    assert not found.elsewhere
    assert all(one.unit == "gbps" for one in tried if "instead of rocev2" in one.change)


def test_a_flow_in_lock_step_may_be_held_back_elsewhere():
    built = small.scenario(jobs=small.job("all-reduce"), scale_up__domain_gpus=1)
    slow = Event.named(built.names, "degrade", "node3/nic0:u0", step=0, scale=0.25)
    net = Timeline(built, [slow]).at(0).network
    demand = built.program[0].phases[0].demand
    src = next(
        i
        for i, s in enumerate(demand.src)
        if int(s) not in (6, 7) and int(demand.dst[i]) not in (6, 7)
    )
    ends = [built.names.nic(int(v[src])) for v in (demand.src, demand.dst)]
    found = explain(subject_of(built, net, " -> ".join(ends)), net)
    assert found.bottleneck >> 1 == 6
    assert found.elsewhere or not found.path


def test_who_shares_a_link_between_two_jobs():
    jobs = [
        {"name": n, "collective": "permutation", "message_bytes": GB, "ranks": 16}
        for n in ("a", "b")
    ]
    built = small.scenario(jobs=jobs, transport={"name": "spectrum-x"}, scale_up__domain_gpus=1)
    found, tried = asked(built, "a")
    assert sorted(one.job for one in found.sharers) == [0, 1]
    assert [one.ratio for one in found.sharers] == pytest.approx([0.5, 0.5], rel=1e-3)
    assert sum(one.gbps for one in found.sharers) == pytest.approx(found.load_gbps, rel=1e-12)
    alone = next(one for one in tried if one.change == "b elsewhere")
    assert alone.gain == pytest.approx(1.0, rel=1e-2)
    table = sharers_table(built, found)
    assert [column.name for column in table.columns] == [
        "",
        "job",
        "takes",
        "share",
        "flows",
        "conns",
        "phase",
    ]


def test_a_dead_spine_is_repaired_and_that_is_measured():
    built = small.scenario(
        jobs=small.job("permutation"), transport={"name": "rocev2", "reroute_s": 0.2}
    )
    found, tried = asked(built, "job", "spine0")
    assert found.value == 0.0
    assert tried[0].gain == math.inf
    repaired = next(one for one in tried if one.change == "spine0 repaired")
    (whole,) = job_metrics(built, Timeline(built).at(0))
    assert repaired.after == pytest.approx(whole.busbw_GBps)
    waited = next(one for one in tried if one.change.startswith("routes that have reacted"))
    assert 0 < waited.after <= repaired.after
    assert "moves again" in best_words(tried)


def test_every_gain_is_that_of_a_cluster_built_so():
    changes = {"transport": {"name": "rocev2"}, "scale_out__leaf_up": 2}
    built = small.scenario(jobs=small.job("permutation"), **changes)
    _, tried = asked(built, "job")
    assert len(tried) >= 6
    for one in tried:
        if one.why_not:
            continue
        tables = copy.deepcopy(small.tables(jobs=small.job("permutation"), **changes))
        for word in one.how.replace("--transport ", "--set transport=").split("--set ")[1:]:
            key, _, value = word.strip().partition("=")
            here = tables
            *way, last = key.split(".")
            if key == "transport":
                tables["transport"] = {"name": value}
                continue
            for step in way:
                here = here[int(step)] if step.isdigit() else here[step]
            here[last] = int(value) if value.isdigit() else {"true": True}.get(value, value)
        other = build(validate(tables, "x"))
        (metrics,) = job_metrics(other, Timeline(other).at(0))
        assert one.after == pytest.approx(metrics.busbw_GBps, rel=1e-9), one.change


def test_gains_fall_and_what_was_not_tried_comes_last():
    half = {"collective": "all-reduce", "message_bytes": GB, "ranks": 8, "placement": "random"}
    jobs = [half | {"name": "a"}, half | {"name": "b", "first_gpu": 8}]
    built = small.scenario(jobs=jobs, transport={"name": "rocev2"})
    _, tried = asked(built, "a")
    gains = [one.gain for one in tried if not one.why_not]
    assert gains == sorted(gains, reverse=True)
    refused = [one for one in tried if one.why_not]
    assert any("b is on some of those GPUs" in one.why_not for one in refused)
    assert tried[-len(refused) :] == tuple(refused)
    assert tried_table(tried).columns[0][len(tried) - 1] == "not tried"


def test_a_link_nobody_uses_and_names_nobody_has():
    built = small.scenario(jobs=small.job("all-reduce", ranks=4))
    net = network(built)
    found = explain(of_thing(built, net, Thing("link", 2 * 15)), net)
    assert found.sharers == ()
    assert explain_note(built, found, ()).lines == ("No job uses it.",)
    assert remedies(found, net) == ()
    with pytest.raises(UnknownNameError, match="no job or thing"):
        subject_of(built, net, "jbo")
    with pytest.raises(ClusterscopeError, match="is no flow of any job; it sends to"):
        subject_of(built, net, "node0/gpu0 -> node7/gpu1")


def test_a_job_beyond_those_of_the_matrix_is_explained_too():
    jobs = [
        {"name": f"j{i}", "collective": "permutation", "message_bytes": GB, "ranks": 4}
        for i in range(18)
    ]
    built = small.scenario(jobs=jobs)
    net = network(built)
    found = explain(subject_of(built, net, "j17"), net)
    assert found.subject.job == 17
    assert len(found.beside) == 17


def test_trying_can_be_ended():
    built = crossing()
    net = network(built)
    found = explain(subject_of(built, net, "job"), net)

    def stop(*at):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        remedies(found, net, stop)


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(["all-reduce", "permutation", "incast", "all-to-all"]),
    st.sampled_from(["rocev2", "infiniband", "spectrum-x"]),
    st.sampled_from([(), ("spine0",), ("leaf0:u1", "node5/nic1")]),
)
def test_parts_add_up_to_the_load_of_the_link(collective, transport, fails):
    jobs = [*small.job(collective), {**small.job("permutation")[0], "name": "other"}]
    built = small.scenario(jobs=jobs, transport={"name": transport}, scale_out__leaf_up=2)
    net = network(built, *fails)
    for name in ("job", "leaf0", "node0/nic0:u0>"):
        found = explain(subject_of(built, net, name), net)
        if found.load_gbps > 0:
            assert sum(one.gbps for one in found.sharers) == pytest.approx(found.load_gbps)
            assert sum(one.ratio for one in found.sharers) == pytest.approx(1.0)
            assert found.load_gbps <= found.capacity_gbps * (1 + 1e-9)


def test_the_broken_things_of_a_network():
    built = small.scenario()
    net = network(built, "spine0", "node3", "leaf0:u1")
    kinds = [thing.kind for thing, _ in broken(net.actual)]
    assert kinds == ["switch", "node", "cable"]


def test_the_document_holds_it_all():
    built = crossing()
    found, tried = asked(built, "job")
    document = as_dict(built, found, tried)
    assert document["kind"] == "job"
    assert document["bottleneck"].endswith("<")
    assert {row["change"] for row in document["tried"]} == {one.change for one in tried}


def test_a_dead_link_says_who_waits_for_it_and_whether_there_is_another_way():
    built = small.scenario(transport={"name": "infiniband"})
    for text in ("leaf0", "node0/nic0", "job"):
        found, tried = asked(built, text, "leaf0")
        (why, *_) = explain_note(built, found, tried).lines
        assert "is dead: leaf0 has failed. A job waits for it and stands still" in why
        assert "no other way exists until leaf0 is restored" in why
        assert any(one.how == ":restore leaf0" and math.isinf(one.gain) for one in tried)
    found, _ = asked(built, "spine0", "spine0")
    (why, *_) = explain_note(built, found, ()).lines
    assert "still until the routes, which still lead over it, have changed" in why


def test_a_dead_link_that_routes_have_left_holds_nobody_up():
    built = small.scenario(transport={"name": "infiniband"})
    net = network(built, "spine0").rerouted
    found = explain(subject_of(built, net, "spine0"), net)
    assert (
        explain_note(built, found, None)
        .lines[0]
        .endswith("A job would use it; the routes lead around it.")
    )
