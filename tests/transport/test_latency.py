"""Latency of a message, by what it passes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from clusterscope.spec import parts
from clusterscope.transport.latency import (
    md1_wait_s,
    message_s,
    path_latency_s,
    round_trip_s,
    switch_s,
)
from clusterscope.transport.model import resolve
from tests.small import spec


def test_md1_wait_of_the_published_case():
    # TRAN-01: 4096 B at 400 Gb/s.
    service = 4096 * 8 / 400e9
    waits = [md1_wait_s(load, service) * 1e9 for load in (0.5, 0.8, 0.9, 0.95)]
    assert waits == pytest.approx([40.96, 163.84, 368.64, 778.24], rel=0.02)
    assert md1_wait_s(1.0, service) == float("inf")


@pytest.mark.parametrize(
    ("transport", "switch", "same", "across", "extra"),
    [("infiniband", "QM9700", 2.8, 3.7, 0.45), ("rocev2", "Tomahawk5-64x800", 3.6, 5.6, 1.0)],
)
def test_small_messages_take_what_is_measured(transport, switch, same, across, extra):
    # TRAN-10, the case that these two constants are fitted on.
    nic, hop = parts.transport(transport).nic_latency_s, parts.switch(switch).latency_s
    one, three = message_s(nic, (hop,)) * 1e6, message_s(nic, (hop,) * 3) * 1e6
    assert one == pytest.approx(same, rel=0.15)
    assert three == pytest.approx(across, rel=0.15)
    assert (three - one) / 2 == pytest.approx(extra, rel=0.2)


def test_store_and_forward_waits_for_the_last_bit():
    through = parts.switch("Tomahawk5-64x800")
    stored = dataclasses.replace(through, forwarding="store-and-forward")
    packet_s = 4096 * 8 / 400e9
    assert switch_s(through, 4096, 400) == through.latency_s
    assert switch_s(stored, 4096, 400) == pytest.approx(through.latency_s + packet_s)


def test_a_path_is_nics_switches_and_cables():
    built = spec()
    transport = resolve(built)
    one, three = path_latency_s(built, transport, np.array([1.0, 3.0]))
    hop = parts.switch("generic-8").latency_s
    assert one == pytest.approx(message_s(transport.nic_latency_s, (hop,)))
    assert three == pytest.approx(message_s(transport.nic_latency_s, (hop,) * 3))
    back = round_trip_s(built, transport, np.array([3.0]))[0]
    assert back == pytest.approx(2 * three - transport.nic_latency_s)
