"""Transports that a fabric refuses, and keys that a transport does not have."""

from __future__ import annotations

import pytest

from clusterscope.errors import SpecError
from clusterscope.spec import parts
from clusterscope.spec.checks import check
from clusterscope.spec.presets import load
from clusterscope.spec.transports import check_transport
from clusterscope.transport.model import resolve
from tests.small import spec


def test_a_transport_without_addresses_stays_on_one_switch():
    with pytest.raises(SpecError, match=r"has no IP header.*use rocev2, or scale_out\.tiers = 1"):
        check(spec(transport={"name": "rocev1"}), "small")
    one = {"tiers": 1, "wiring": "rail", "su_nodes": 8, "leaf_switch": "generic-16"}
    check_transport(spec(transport={"name": "rocev1"}, scale_out=one), "small")


def test_only_a_subnet_manager_can_be_waited_for():
    with pytest.raises(SpecError, match="rocev2 has no subnet manager"):
        check(spec(transport={"name": "rocev2", "self_healing": False}), "small")


def test_who_reroutes_and_how_fast():
    # REL-14: 10 to 20 s by the subnet manager, some ms when switches heal themselves.
    def how(**transport: object) -> tuple[str, float]:
        found = resolve(spec(transport=transport))
        return found.reroute_by, found.reroute_s

    assert how(name="infiniband") == ("self-healing switches", 3e-3)
    assert how(name="infiniband", self_healing=False) == ("subnet manager", 15.0)
    assert how(name="infiniband", self_healing=False, reroute_s=1.0) == ("as set", 1.0)
    assert how(name="rocev2") == ("BGP", 0.2)
    assert how(name="uec")[0] == "the sender"


def test_isolation_is_switched_by_hand():
    def control(**transport: object) -> str:
        return resolve(spec(transport=transport)).congestion

    assert control(name="rocev2") == "dcqcn"
    assert control(name="rocev2", isolation=True) == "per-flow"
    assert control(name="spectrum-x", isolation=True) == "telemetry"
    assert control(name="spectrum-x", isolation=False) == "none"


def test_scale_up_has_transports_of_its_own():
    assert set(parts.scale_up_transports()) == {
        "nvlink",
        "ualink",
        "infinity-fabric",
        "neuronlink",
    }
    assert resolve(spec(scale_up__kind="ualink")).scale_up_goodput == 0.93
    assert resolve(spec()).scale_up_goodput == 0.81
    with pytest.raises(SpecError, match="no transport 'nvlink'"):
        check(spec(transport={"name": "nvlink"}), "small")


def test_losses_are_those_of_the_cables_whatever_runs_on_them():
    for settings in (
        ("transport.loss_rate=0.001", "transport=uec"),
        ("transport=uec", "transport.loss_rate=0.001"),
    ):
        found = load("meta-24k-roce", settings).transport
        assert (found.name, found.loss_rate) == ("uec", 0.001)
    other = load("meta-24k-roce", ("transport.qps=4", "transport=uec")).transport
    assert other.qps is None


def test_a_link_that_goes_silent_is_found_by_the_hold_timer():
    """RFC 7938, section 7: fast fallover, or the hold timer of 3 s at least."""
    silent = {"name": "rocev2", "link_down_detection": False}
    assert resolve(spec(transport={"name": "rocev2"})).reroute_s == 0.2
    late = resolve(spec(transport=silent))
    assert late.reroute_s == pytest.approx(9.2)
    assert late.reroute_by == "BGP, once its hold timer has run out"
    soon = resolve(spec(transport=silent | {"hold_timer_s": 3.0}))
    assert soon.reroute_s == pytest.approx(3.2)
    told = resolve(spec(transport=silent | {"reroute_s": 0.05}))
    assert told.reroute_s == 0.05


@pytest.mark.parametrize("key", ["link_down_detection", "hold_timer_s"])
def test_who_has_no_hold_timer_is_told_so(key):
    value = 5.0 if key == "hold_timer_s" else False
    with pytest.raises(
        SpecError, match=rf"{key}: spectrum-x is rerouted by .*without a hold timer"
    ):
        check(spec(transport={"name": "spectrum-x", key: value}), "small")
