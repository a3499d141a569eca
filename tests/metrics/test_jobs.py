from __future__ import annotations

import math

import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.findings import findings
from clusterscope.metrics.jobs import job_metrics
from clusterscope.transport.model import SCALE_UP_GOODPUT
from tests.small import job, scenario

SIZE = 1_000_000_000


def metrics(events=(), step=0, **changes):
    built = scenario(**changes)
    named = [Event.named(built.names, *event, step=0) for event in events]
    return built, job_metrics(built, Timeline(built, named).at(step))


def test_a_hierarchical_all_reduce_is_what_pen_and_paper_say():
    built, (row,) = metrics(jobs=job("all-reduce", step_latency_s=1e-6))
    # 8 domains of 2: S/2 in the domain twice, S/2 * 2 * 7/8 on each NIC.
    inside_bits, across_bits = SIZE / 2 * 8, SIZE / 2 * 2 * 7 / 8 * 8
    assert row.ideal_s == pytest.approx(2 * inside_bits / 800e9 + across_bits / 100e9)
    inside, across, after = row.phases
    expected = inside_bits / (800e9 * SCALE_UP_GOODPUT) + 1e-6
    assert inside.seconds == after.seconds == pytest.approx(expected)
    assert across.rate_gbps == pytest.approx(100 * built.transport.goodput_ratio)
    rate = 100e9 * built.transport.goodput_ratio
    assert across.seconds == pytest.approx(across_bits / rate + across.latency_s)
    assert across.bytes == pytest.approx(across_bits / 8 * 16)
    assert row.iteration_s == pytest.approx(2 * expected + across.seconds)
    assert row.latency_s == pytest.approx(2 * 1e-6 + across.latency_s)
    assert row.algbw_GBps == pytest.approx(SIZE / row.iteration_s / 1e9)
    assert row.busbw_GBps == pytest.approx(row.algbw_GBps * 2 * 15 / 16)
    assert row.share_of_line == pytest.approx(row.busbw_GBps / row.line_GBps)
    low, high = built.transport.error_band
    assert row.error_band == (row.busbw_GBps * low, row.busbw_GBps * high)
    assert row.slowdown == 1.0
    assert not row.stalled


def test_busbw_on_one_nvlink_domain_matches_the_formula():
    node = {"count": 1, "gpus": 8, "gpu": "H100-SXM", "nics": 0, "nic_gbps": 400.0}
    up = {"domain_gpus": 8, "gpu_gbps": 3600.0}
    bare = job("all-reduce", step_latency_s=1e-6)
    _, (row,) = metrics(node=node, scale_up=up, scale_out=None, jobs=bare)
    one_way = SIZE * 7 / 8 / (450e9 * SCALE_UP_GOODPUT) + 7 * 1e-6
    assert row.iteration_s == pytest.approx(2 * one_way)
    assert row.busbw_GBps == pytest.approx(SIZE / (2 * one_way) * 2 * 7 / 8 / 1e9)
    assert row.line_GBps == pytest.approx(450.0)


def test_the_line_rate_of_an_incast_is_that_of_its_receiver():
    _, (row,) = metrics(jobs=job("incast", ranks=5))
    # Three senders use the receiver's NIC; the fourth shares its domain.
    assert row.ideal_s == pytest.approx(3 * SIZE * 8 / 100e9)
    assert 0.9 < row.share_of_line <= 1.0


def test_an_all_to_all_runs_its_networks_side_by_side():
    _, (row,) = metrics(jobs=job("all-to-all"))
    assert row.ideal_s == pytest.approx(SIZE / 16 * 14 * 8 / 100e9)
    assert row.iteration_s == pytest.approx(max(phase.seconds for phase in row.phases))
    assert row.share_of_line <= 1.0


def test_a_job_without_a_path_stands_still_and_says_so():
    built, (row,) = metrics(events=[("fail", "leaf1")])
    assert row.stalled
    assert math.isinf(row.iteration_s)
    assert math.isinf(row.slowdown)
    assert row.busbw_GBps == row.algbw_GBps == row.share_of_line == 0.0
    _, across, after = row.phases
    assert across.unreached > 0
    assert across.stalled == 1
    assert math.isinf(across.seconds)
    assert math.isnan(after.seconds)
    event = Event.named(built.names, "fail", "leaf1", step=0)
    rules = {f.rule: f.severity for f in findings(built, Timeline(built, [event]).at(0))}
    assert rules["unreachable"] == rules["stalled"] == "error"


def test_a_slower_cable_slows_the_job_by_its_phase():
    built, (whole,) = metrics()
    name = built.names.nic(3) + ":u0"
    event = Event.named(built.names, "degrade", name, step=0, scale=0.5)
    (row,) = job_metrics(built, Timeline(built, [event]).at(0))
    assert row.phases[1].rate_gbps == pytest.approx(whole.phases[1].rate_gbps / 2)
    assert row.phases[1].bound_link >> 1 == 3
    assert row.healthy_s == whole.iteration_s
    assert row.slowdown == pytest.approx(row.iteration_s / whole.iteration_s)
    assert row.slowdown > 1.5


def test_the_bound_link_of_sprayed_flows_is_a_link():
    # Half the uplinks: leaf to spine is the bottleneck, and it is a bundle.
    built, (row,) = metrics(jobs=job("permutation"), scale_out__leaf_up=2)
    bound = row.phases[0].bound_link
    assert 0 <= bound < built.fabric.links


def test_jobs_that_share_links_slow_each_other():
    two = [{**job("permutation", ranks=8, first_gpu=0)[0], "name": name} for name in ("a", "b")]
    built = scenario(jobs=two, sim__dt_s=0.5)
    start, later = (job_metrics(built, Timeline(built).at(step)) for step in (0, 3))
    for before, after in zip(start, later, strict=True):
        assert before.iteration_s == pytest.approx(after.iteration_s, rel=0.05)
        assert before.iteration_s > 1.5 * before.alone_s
    assert {f.rule for f in findings(built, Timeline(built).at(0))} >= {"not-contended"}
    for row in later:
        assert row.iterations > 0
        assert row.iteration_s == row.last_iteration_s > row.alone_s


def test_adaptive_on_an_in_order_transport_is_an_upper_bound():
    built = scenario(transport={"name": "rocev2", "load_balancing": "adaptive"})
    assert "reordering" in {f.rule for f in findings(built, Timeline(built).at(0))}
