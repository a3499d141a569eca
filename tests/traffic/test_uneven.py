"""Collectives where domains are not equally full, are one, are single GPUs, or do not count."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.scenario import build as scenario_of
from clusterscope.engine.step import start
from clusterscope.errors import SpecError
from clusterscope.metrics.causes import causes
from clusterscope.metrics.changes import changes
from clusterscope.metrics.curve import curve
from clusterscope.metrics.explain import explain
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.subject import Subject
from clusterscope.spec.model import Algorithm, ClusterSpec, JobSpec
from clusterscope.spec.presets import load
from clusterscope.traffic.flows import Exchange
from clusterscope.traffic.program import build

ALGORITHMS = get_args(Algorithm)
SIZE = 5040 * 10**6
NVL8 = {
    "name": "t",
    "node": {"count": 6, "gpus": 8, "gpu": "H100-SXM", "nics": 8, "nic_gbps": 400},
    "scale_up": {
        "kind": "nvlink", "domain_gpus": 8, "gpu_gbps": 3600, "switch": "NVSwitch3", "switches": 4,
    },
    "scale_out": {"tiers": 2, "wiring": "rail", "su_nodes": 6, "leaf_switch": "QM9700"},
    "transport": {"name": "infiniband-ar"},
}  # fmt: skip


@pytest.fixture(scope="module")
def cluster():
    return scenario_of(ClusterSpec.model_validate(NVL8))


def job_of(**values):
    made = {"name": "x", "collective": "all-reduce", "message_bytes": SIZE, **values}
    return JobSpec.model_validate(made)


def program(cluster, **values):
    spec = cluster.spec.model_copy(update={"jobs": (job_of(**values),)})
    return build(spec, cluster.fabric)[0]


def senders(cluster, phases):
    """Bytes that every vertex sends and receives in all phases."""
    sent, got = np.zeros(cluster.fabric.domain_vertex), np.zeros(cluster.fabric.domain_vertex)
    for phase in phases:
        if isinstance(phase.demand, Exchange):
            sent[phase.demand.ports] += phase.demand.port_bytes
            got[phase.demand.ports] += phase.demand.port_bytes
        else:
            np.add.at(sent, phase.demand.src, phase.demand.size_bytes)
            np.add.at(got, phase.demand.dst, phase.demand.size_bytes)
    return sent, got


@given(
    st.sampled_from(ALGORITHMS),
    st.sampled_from(["all-reduce", "all-gather", "broadcast", "all-to-all"]),
    st.integers(2, 33),
    st.integers(0, 7),
    st.booleans(),
    st.sampled_from([{}, {"placement": "strided", "stride": 8}, {"placement": "random"}]),
)
@settings(max_examples=100, deadline=None)
def test_every_algorithm_moves_what_it_must_or_says_why_not(
    cluster, algorithm, collective, ranks, first, hierarchical, placement
):
    values = {"algorithm": algorithm, "collective": collective, "ranks": ranks}
    where = placement or {"first_gpu": first}
    try:
        found = program(cluster, **values, hierarchical=hierarchical, **where)
    except SpecError as error:
        if not str(error).startswith("job 'x': algorithm: "):
            raise
        return
    sent, got = senders(cluster, found.phases)
    assert sent.sum() == pytest.approx(got.sum())
    assert all(np.isfinite(p.extra_s) and (p.step_s or 0) >= 0 for p in found.phases)
    if collective == "all-reduce" and algorithm not in ("nvls", "nvls-tree", "sharp"):
        # Whatever the way, every rank takes part, and all of them together move 2 (n-1) S or more.
        assert sent.sum() >= 2 * (ranks - 1) / ranks * SIZE * ranks * 0.999 / 2
        touched = set(np.flatnonzero(sent + got).tolist())
        fabric = cluster.fabric
        for gpu in found.gpus.tolist():
            assert touched & {fabric.gpu_vertex + gpu, int(fabric.gpu_nic_port[gpu])}


@pytest.mark.parametrize("ranks", [12, 15, 9])
@pytest.mark.parametrize("algorithm", ["sharp", "nvls", "nvls-tree"])
def test_reducing_switches_want_equally_full_domains(cluster, algorithm, ranks):
    with pytest.raises(SpecError, match=r"needs equally full domains, and they hold \d to 8 ranks"):
        program(cluster, algorithm=algorithm, ranks=ranks)
    with pytest.raises(SpecError, match="works by domains, and hierarchical is false"):
        program(cluster, algorithm=algorithm, ranks=16, hierarchical=False)


def test_nothing_is_reduced_between_domains_where_there_is_one(cluster):
    with pytest.raises(SpecError, match="all ranks share one; use ring, nvls or auto"):
        program(cluster, algorithm="sharp", ranks=8)


@pytest.mark.parametrize(("ranks", "tried"), [(8, False), (16, True)])
def test_sharp_is_tried_only_where_something_is_between_domains(cluster, ranks, tried):
    job = job_of(algorithm="ring", ranks=ranks)
    made = scenario_of(cluster.spec.model_copy(update={"jobs": (job,)}))
    found = explain(Subject("x", "job", 0), made.healthy)
    words = [change.words for change in changes(found, made.healthy)]
    assert any("SHARP" in one for one in words) is tried


def test_sharp_scatters_inside_as_a_ring_does(cluster):
    sharp, ring = (program(cluster, algorithm=a, ranks=16, message_bytes=10**9)
                   for a in ("sharp", "ring"))  # fmt: skip
    steps = [next(p for p in q.phases if p.network == "scale-up") for q in (sharp, ring)]
    assert steps[0].serial_steps == steps[1].serial_steps == 7
    assert 0.5 < steps[0].step_s / steps[1].step_s < 2


@pytest.mark.parametrize("collective", ["all-reduce", "all-gather", "reduce-scatter"])
def test_rings_by_rail_in_one_domain_are_a_ring(cluster, collective):
    rails, ring = (program(cluster, algorithm=a, ranks=8, collective=collective)
                   for a in ("rail-ring", "ring"))  # fmt: skip
    assert [p.name for p in rails.phases] == [p.name for p in ring.phases]
    assert [p.extra_s for p in rails.phases] == [p.extra_s for p in ring.phases]
    assert (rails.overlapped, rails.algorithm) == (False, "ring")


def test_rings_run_on_the_rails_that_all_domains_share(cluster):
    found = program(cluster, algorithm="ring", ranks=15, first_gpu=1)
    between, inside = found.phases
    assert found.algorithm == "rail-ring"
    ports = between.demand.src.reshape(7, 2)
    assert (ports[:, 1] - ports[:, 0] == 8).all()  # the same NIC of the next node
    assert ports[:, 0].tolist() == list(range(1, 8))
    assert between.demand.size_bytes == pytest.approx(np.full(14, 2 * 14 / 15 * SIZE / 7))
    assert inside.demand.size_bytes == pytest.approx(np.full(15, 2 * 14 / 15 * SIZE))
    assert (between.serial_steps, between.inner_steps) == (2, 2 * 13)


def test_trees_climb_on_shared_rails_and_chains_are_as_long_as_the_domain(cluster):
    found = program(cluster, algorithm="tree", ranks=20)  # 8 + 8 + 4
    between, inside = found.phases
    assert between.serial_steps == 2
    assert inside.serial_steps == 2 * 7
    sent = inside.demand.size_bytes
    assert sent.max() == pytest.approx(2 * SIZE * 7 / 8)
    assert sent.min() == pytest.approx(2 * SIZE * 3 / 4)


def test_one_gpu_less_costs_one_rail_and_not_all(cluster):
    speed = {
        ranks: curve(cluster, job_of(algorithm="auto", ranks=ranks), [2**30]).points[0].busbw_GBps
        for ranks in (16, 15, 12)
    }
    rail = 50.0  # GB/s of a NIC; seven and four are left, and headers take some of it
    assert 0.9 * 7 * rail < speed[15] < 7 * rail
    assert 0.9 * 4 * rail < speed[12] < 4 * rail
    assert speed[16] > speed[15]


def test_gpus_of_one_domain_that_take_no_notice_of_it_step_as_inside(cluster):
    (phase,) = program(cluster, algorithm="ring", ranks=16, hierarchical=False).phases
    assert (phase.serial_steps, phase.inner_steps) == (2, 28)


@pytest.mark.parametrize("ranks", [72, 8])
def test_a_preset_runs_in_one_domain(ranks):
    spec = load("gb200-superpod" if ranks == 72 else "superpod-h100-1016")
    found = curve(scenario_of(spec.model_copy(update={"jobs": (), "events": ()})),
                  job_of(ranks=ranks, algorithm="rail-ring"), [2**20])  # fmt: skip
    assert found.points[0].algorithm == "ring"


@pytest.mark.parametrize(
    ("algorithm", "ranks", "share"),
    [("rail-ring", 8, 1.0), ("nvls-tree", 8, 1.0), ("tree", 16, None), ("rail-ring", 15, None)],
)
def test_an_iteration_of_no_latency_never_beats_line_rate_but_by_switches(
    cluster, algorithm, ranks, share
):
    job = job_of(algorithm=algorithm, ranks=ranks)
    made = scenario_of(cluster.spec.model_copy(update={"jobs": (job,)}))
    frame = start(made)
    (found,) = job_metrics(made, frame)
    (why,) = causes(made, frame)
    assert sum(why.values()) == pytest.approx(found.iteration_s - found.ideal_s)
    assert found.ideal_s <= found.iteration_s or algorithm == "nvls-tree"  # reduced on the way
    if share is not None:
        assert found.line_GBps == pytest.approx(share * 3600 / 8)
    # All in one rail group: no uplink is loaded, so none is to blame.
    assert why["few uplinks"] == 0.0
