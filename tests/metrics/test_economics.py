"""Money worked out by hand, and prices that can be changed."""

from __future__ import annotations

import math

import pytest

from clusterscope.engine.scenario import build, with_transport
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.cost import cost
from clusterscope.metrics.economics import HOURS_A_YEAR, economics, run_hours
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.made_for import capacity_gbps, network_items
from clusterscope.spec import parts
from clusterscope.spec.presets import load
from clusterscope.spec.prices import ASSUMPTIONS
from tests import small


def money(built, own=None):
    return economics(
        built, job_metrics(built, Timeline(built).at(0)), own or built.transport.name, built.healthy
    )


def test_a_year_worked_out_by_hand():
    built = small.scenario(prices={
        "H100-SXM": 1000.0, "generic": 100.0, "generic-8": 500.0, "optic-400": 0.0,
        "amortization_years": 2.0, "pue": 1.5, "energy_usd_per_kwh": 0.1,
    })  # fmt: skip
    found = money(built)
    nodes, gpus, nics, switches = 8, 16, 16, 6
    assert built.fabric.nodes == nodes
    items = {item.kind: item for item in network_items(built, built.transport.name)}
    cables = sum(item.usd for kind, item in items.items() if kind.startswith("cable"))
    assert found.network_usd == pytest.approx(nics * 100 + switches * 500 + cables)
    assert found.capital_usd == pytest.approx(found.network_usd + gpus * 1000)
    assert found.energy_kwh == pytest.approx(found.power_w / 1000 * 1.5 * 8766)
    assert found.energy_usd == pytest.approx(found.energy_kwh * 0.1)
    assert found.year_usd == pytest.approx(found.capital_usd / 2 + found.energy_usd)
    assert found.used_ratio == 1.0


def test_a_petabyte_and_a_run_worked_out_by_hand():
    built = small.scenario(jobs=small.job("permutation"), prices={"comm_ratio": 0.5})
    (job,) = job_metrics(built, Timeline(built).at(0))
    found = money(built)
    sent = sum(phase.bytes for phase in job.phases if phase.network == "scale-out")
    assert sent > 0
    assert found.delivered_bytes_s == pytest.approx(sent / job.iteration_s)
    a_year_pb = found.delivered_bytes_s * HOURS_A_YEAR * 3600 / 1e15
    assert found.petabyte_usd == pytest.approx(found.network_year_usd / a_year_pb)
    longer = job.iteration_s / job.ideal_s
    assert found.run_hours == pytest.approx(1000 * (0.5 + 0.5 * longer))
    assert found.run_usd == pytest.approx(found.run_hours * found.year_usd / HOURS_A_YEAR)


def test_a_job_on_half_the_cluster_pays_for_half():
    built = small.scenario(jobs=small.job("permutation", ranks=8))
    found = money(built)
    assert found.used_ratio == 0.5
    a_year_pb = found.delivered_bytes_s * HOURS_A_YEAR * 3600 / 1e15
    assert found.petabyte_usd == pytest.approx(0.5 * found.network_year_usd / a_year_pb)


def test_money_depends_on_no_step():
    crowd = [
        {"name": "a", "collective": "all-reduce", "message_bytes": "64MiB", "ranks": 8},
        {"name": "b", "collective": "all-to-all", "message_bytes": "256MiB", "ranks": 8,
         "first_gpu": 8},
    ]  # fmt: skip
    built = small.scenario(jobs=crowd, scale_out__leaf_up=2)
    timeline = Timeline(built)
    found = [
        economics(built, job_metrics(built, frame), "rocev2", frame.network)
        for frame in (timeline.at(0), timeline.at(1), timeline.at(30))
    ]
    assert found[0] == found[1] == found[2]


def test_what_stands_still_delivers_nothing():
    from clusterscope.engine.events import Event

    built = small.scenario()
    frame = Timeline(built, [Event.named(built.names, "fail", "node3", step=0)]).at(0)
    found = economics(built, job_metrics(built, frame), built.transport.name, frame.network)
    assert found.delivered_bytes_s == 0.0
    assert math.isinf(found.petabyte_usd)
    assert math.isinf(found.run_hours)
    assert run_hours(built.spec, ()) == ASSUMPTIONS["run_hours"].value


def test_a_price_of_ones_own_changes_the_cost_and_says_so():
    built = build(load("ai-factory"))
    cheap = build(load("ai-factory", ["prices.Tomahawk4-64x400=1000"]))
    switches = 32 + 8
    assert cost(built)["network"] - cost(cheap)["network"] == switches * (18000 - 1000)
    row = next(item for item in cost(cheap)["items"] if item["kind"] == "leaf")
    assert row["each"] == 1000
    assert row["source"] == "set on the command line"


def test_a_rival_is_priced_with_parts_made_for_it():
    built = build(load("ai-factory"))
    rival = with_transport(built, "infiniband")
    items = {item.kind: item for item in network_items(rival, "rocev2")}
    # A 64 x 400G Tomahawk 4 has the capacity of one QM9700.
    assert items["leaf"].part == "QM9700"
    assert items["leaf"].each_usd == parts.switch("QM9700").price_usd
    assert "by capacity" in items["leaf"].usd_source
    own = {item.kind: item for item in network_items(built, "rocev2")}
    assert own["leaf"].part == "Tomahawk4-64x400"
    spectrum = with_transport(built, "spectrum-x")
    leaf = next(i for i in network_items(spectrum, "rocev2") if i.kind == "leaf")
    ratio = capacity_gbps(parts.switch("Tomahawk4-64x400")) / capacity_gbps(parts.switch("SN5600"))
    assert leaf.each_usd == pytest.approx(ratio * parts.switch("SN5600").price_usd)


def test_white_boxes_cost_about_what_is_told_of_them():
    """An Ethernet fabric of white boxes costs 0.55 to 0.65 of NDR InfiniBand (an estimate)."""
    built = build(load("ai-factory"))
    white = money(built).network_usd
    infiniband = money(with_transport(built, "infiniband"), "rocev2").network_usd
    assert 0.5 < white / infiniband < 0.75


def test_generic_parts_stay_generic():
    built = small.scenario()
    rival = with_transport(built, "infiniband")
    assert money(rival, "spectrum-x").network_usd == money(built).network_usd


def test_ultra_ethernet_has_nics_of_its_own():
    built = build(load("ai-factory"))
    rival = with_transport(built, "uec")
    items = {item.kind: item for item in network_items(rival, "rocev2")}
    assert items["nic"].part == "UEC-400"
    assert items["nic"].usd_estimate
    own = {item.kind: item for item in network_items(built, "rocev2")}
    assert items["nic"].usd > own["nic"].usd
    # The same white boxes forward both.
    assert items["leaf"].part == own["leaf"].part
    assert items["leaf"].usd == own["leaf"].usd
    cheap = build(load("ai-factory", ["prices.UEC-400=1"]))
    there = {i.kind: i for i in network_items(with_transport(cheap, "uec"), "rocev2")}
    assert there["nic"].usd == there["nic"].count
