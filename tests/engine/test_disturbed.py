"""Losses, packets out of order and pauses, as the network shares them out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario, build, with_transport
from clusterscope.engine.shares import Share
from clusterscope.spec.validate import validate
from clusterscope.transport.recovery import go_back_n, mathis_gbps, timed_out, window_packets

LINE = 400.0


def racks(transport: dict[str, Any], jobs: list[dict[str, Any]], **out: Any) -> Scenario:
    """Two racks of eight hosts on one spine, with one fat uplink each."""
    spec = {
        "name": "racks",
        "node": {"count": 16, "gpus": 1, "gpu": "H100-SXM", "nics": 1, "nic_gbps": LINE},
        "scale_out": {
            "tiers": 2,
            "wiring": "rack",
            "su_nodes": 8,
            "leaf_switch": "generic-64",
            "leaf_down": 8,
            "leaf_up": 1,
            "spines": 1,
            "link_gbps": 3200.0,
            **out,
        },
        "transport": transport,
        "jobs": jobs,
    }
    return build(validate(spec, "racks"))


def flood(ranks: int = 8) -> dict[str, Any]:
    """All but the first rank, in the second rack, send to the first, in the first rack."""
    return job("flood", "incast", ranks=ranks, first_gpu=7)


def job(name: str, collective: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "collective": collective, "message_bytes": 64_000_000, **more}


# Hosts 6 and 15 send to each other: 15 over the uplink that the flood uses, 6 the other way.
VICTIM = job("victim", "permutation", ranks=2, placement="strided", first_gpu=6, stride=9)


def shared(scenario: Scenario) -> Share:
    keys = tuple((j, 0) for j in range(len(scenario.program)))
    return scenario.healthy.share(keys)


def payload(scenario: Scenario) -> float:
    return LINE * scenario.transport.goodput_ratio


@pytest.mark.parametrize(
    ("transport", "low", "high"),
    [
        ({"name": "rocev2"}, 0.1, 0.4),  # TRAN-04, one queue pair
        ({"name": "rocev2", "qps": 8}, 0.4, 0.9),  # TRAN-04, eight
        ({"name": "uec"}, 0.0, 0.03),  # TRAN-04, spray
        ({"name": "infiniband"}, 0.85, 0.86),  # down to the seventh that a flooding flow gets
        ({"name": "infiniband", "isolation": True}, 0.0, 1e-9),
        ({"name": "spectrum-x", "isolation": False}, 0.85, 0.86),
        ({"name": "spectrum-x"}, 0.0, 1e-9),
        ({"name": "slingshot"}, 0.0, 1e-9),
    ],
)
def test_what_an_incast_takes_from_a_flow_beside_it(transport, low, high):
    scenario = racks(transport, [flood(), VICTIM])
    rates = shared(scenario).rate_gbps[1, 0]
    count = len(rates) // 2
    assert rates[:count].sum() == pytest.approx(payload(scenario))  # the way back is free
    assert low <= 1 - rates[count:].sum() / payload(scenario) <= high


def test_the_incast_itself_gets_what_the_egress_carries():
    # TRAN-02: B / N each, whatever is paused.
    for name in ("rocev2", "infiniband", "uec"):
        scenario = racks({"name": name}, [flood(), VICTIM])
        rates = shared(scenario).rate_gbps[0, 0]
        assert rates == pytest.approx(np.full(7, payload(scenario) / 7))


def test_a_victim_names_the_paused_link_and_knows_its_rate_without_pauses():
    scenario = racks({"name": "infiniband"}, [flood(), VICTIM])
    share = shared(scenario)
    uplink = scenario.names.link(int(share.bottleneck[1, 0][1]))
    assert "leaf1" in uplink
    assert share.free_gbps[1, 0][1] > 3 * share.pace_gbps[1, 0][1]
    assert share.link_gbps.max() <= 3200.0


def test_an_exchange_that_fills_senders_and_receivers_alike_pauses_nobody():
    """Hosts 0 and 1 exchange with 8 and 9: two senders to each, and nobody sends more than fits."""
    pairs = [(0, 8), (1, 8), (0, 9), (1, 7)]
    exchange = [
        job(str(i), "permutation", ranks=2, placement="strided", first_gpu=first, stride=stride)
        for i, (first, stride) in enumerate(pairs)
    ]
    scenario = racks({"name": "infiniband"}, [*exchange, VICTIM])
    share = shared(scenario)
    for key in range(4):
        assert share.rate_gbps[key, 0] == pytest.approx(np.full(2, payload(scenario) / 2))
    assert share.rate_gbps[4, 0] == pytest.approx(np.full(2, payload(scenario)))


def test_without_a_flood_nothing_is_paused():
    scenario = racks({"name": "infiniband"}, [VICTIM])
    assert not shared(scenario).free_gbps
    alone = racks({"name": "infiniband"}, [flood(2), VICTIM])
    assert shared(alone).rate_gbps[1, 0] == pytest.approx(np.full(2, payload(alone)))


def test_loss_takes_what_the_recovery_says():
    lost = 1e-3
    scenario = racks({"name": "rocev2", "loss_rate": lost, "qps": 1}, [VICTIM])
    transport = scenario.transport
    rate = shared(scenario).rate_gbps[0, 0][0]
    line = np.array([payload(scenario)])
    hops = 2.6e-6 + 2 * (3 * 0.5e-6 + 4 * 1e-7)
    window = window_packets(line, np.array([hops + transport.nack_s]), 4096)
    timeout = window_packets(line, np.array([transport.timeout_s]), 4096)
    goodput = timed_out(go_back_n(np.array([lost]), window), np.array([lost]), timeout)
    assert rate == pytest.approx((line * goodput)[0])


def test_tcp_keeps_to_its_window():
    scenario = racks({"name": "iwarp", "loss_rate": 1e-4}, [VICTIM])
    rtt = np.array([3.0e-6 + 2 * (3 * 0.5e-6 + 4 * 1e-7)])
    most = mathis_gbps(8940, rtt, 1e-4)[0]
    assert shared(scenario).rate_gbps[0, 0][0] == pytest.approx(
        min(most, payload(scenario) * (1 - 1e-4))
    )


def test_go_back_0_never_finishes_a_long_message():
    scenario = racks({"name": "rocev2", "loss_rate": 0.004, "recovery": "go-back-0"}, [VICTIM])
    assert 0 < shared(scenario).rate_gbps[0, 0].max() < 1e-3


@settings(max_examples=25)
@given(st.sampled_from(["rocev2", "infiniband", "uec", "iwarp", "srd"]), st.floats(1e-6, 0.1))
def test_rates_fall_with_loss_and_retransmissions_take_from_the_wire(name, loss):
    scenario = racks({"name": name, "loss_rate": loss}, [flood()])
    clean = with_transport(racks({"name": name}, [flood()]), name)
    few, all_ = shared(scenario), shared(clean)
    assert (few.rate_gbps[0, 0] <= all_.rate_gbps[0, 0] * (1 + 1e-9)).all()
    assert few.link_gbps.max() <= 3200.0 * (1 + 1e-9)


def test_losses_stay_when_the_transport_changes():
    scenario = racks({"name": "rocev2", "loss_rate": 1e-3}, [VICTIM])
    assert with_transport(scenario, "uec").transport.loss_rate == 1e-3


def permutation(**transport: Any) -> Scenario:
    out = {"leaf_up": 8, "spines": 8, "link_gbps": LINE}
    return racks(transport, [job("shuffle", "permutation")], **out)


def test_spreading_without_reordering_gains_little_and_with_it_all():
    in_order = shared(permutation(name="roce-ar")).rate_gbps[0, 0]
    taken = shared(permutation(name="roce-ar", ordering="reorder")).rate_gbps[0, 0]
    away = in_order < 0.99 * taken
    assert away.any()
    assert taken == pytest.approx(np.full(16, payload(permutation(name="roce-ar"))))
    assert (in_order[away] < 0.6 * LINE).all()
    # Pairs below one leaf have one path and keep their order.
    assert in_order[~away] == pytest.approx(taken[~away])


def test_flowlets_leave_no_two_flows_of_a_leaf_on_one_uplink():
    scenario = permutation(name="roce-flowlet")
    load = shared(scenario).rate_gbps[0, 0]
    assert load.min() > 0.2 * LINE
    hashed = np.mean([shared(permutation(name="rocev2")).rate_gbps[0, 0].mean()])
    assert load.mean() > hashed


def test_an_exchange_sends_again_what_is_lost():
    def rate(**transport: Any) -> float:
        scenario = racks({"name": "rocev2", **transport}, [job("all", "all-to-all")])
        return float(shared(scenario).rate_gbps[0, 0][0])

    assert rate(loss_rate=0.01) == pytest.approx(0.99 * rate())


@pytest.mark.parametrize("collective", ["incast", "all-to-all", "permutation", "all-reduce"])
def test_nothing_is_paused_where_no_cable_into_a_nic_is_full(collective, monkeypatch):
    scenario = racks({"name": "rocev2"}, [job("one", collective), VICTIM])
    found = shared(scenario)
    monkeypatch.setattr("clusterscope.engine.network.full_egress", lambda *_: True)
    asked = scenario.healthy
    again = Network(scenario, asked.routed, asked.actual).share(tuple(found.rate_gbps))
    np.testing.assert_array_equal(again.link_gbps, found.link_gbps)
    for key, rate in found.rate_gbps.items():
        np.testing.assert_array_equal(again.rate_gbps[key], rate)
    assert set(again.free_gbps) == set(found.free_gbps)
