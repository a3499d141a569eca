"""The catalogue: every number has a note, names are found or the nearest is told."""

from __future__ import annotations

import dataclasses
from typing import get_args

import pytest

from clusterscope.errors import UnknownNameError
from clusterscope.spec import buses, parts

EVERY = [
    *map(parts.gpu, parts.gpus()),
    *map(parts.nic, parts.nics()),
    *map(parts.switch, parts.switches()),
    *map(parts.transport, parts.transports()),
    *(parts.cable_end(*name.split("-")[:1], float(name.split("-")[1])) for name in parts.cables()),
    *map(buses.nvlink, buses.nvlinks()),
    *map(buses.bus, buses.buses()),
    *map(buses.host, buses.hosts()),
    parts.switch("generic-64"),
    parts.cable_end("optic", 1600),
]


@pytest.mark.parametrize("part", EVERY, ids=lambda part: part.name)
def test_every_number_has_a_source_or_is_an_estimate(part):
    numbers = {
        field.name
        for field in dataclasses.fields(part)
        if isinstance(value := getattr(part, field.name), int | float | tuple)
        and not isinstance(value, bool)
        and value != ()
    }
    assert set(part.sources) == numbers
    assert all(note.text for note in part.sources.values())


def test_rates_are_one_direction():
    assert parts.gpu("H100-SXM").scale_up_gbps == 3600
    assert parts.gpu("GB200").scale_up_gbps == 7200
    quantum = parts.switch("QM9700")
    assert quantum.ports_at(400) == 64  # 25.6 Tb/s each way, sold as 51.2


def test_nvlink_grows_from_pascal_to_blackwell():
    both_ways_gb_s = [2 * buses.nvlink(n).gpu_gbps / 8 for n in buses.nvlinks()]
    assert both_ways_gb_s == [160, 300, 600, 900, 1800]
    chips = [parts.switch(f"NVSwitch{n}").ports[0] for n in (1, 2, 3, 4)]
    assert [2 * chip.count * chip.gbps / 8 for chip in chips] == [900, 1800, 3200, 7200]
    assert 2 * buses.bus("NVLink-C2C").gbps / 8 == 900
    assert 2 * buses.bus("PCIe5-x16").gbps / 8 == 128


def test_switches_split_their_ports():
    spectrum = parts.switch("SN5600")
    assert [spectrum.ports_at(speed) for speed in spectrum.speeds] == [512, 256, 128, 64]
    assert spectrum.ports_at(300) is None


def test_generic_switch_takes_any_rate():
    assert parts.switch("generic-48").ports_at(123.4) == 48
    for name in ("generic-1", "generic-4097", "generic-0", "generic-"):
        with pytest.raises(UnknownNameError):
            parts.switch(name)


@pytest.mark.parametrize(
    ("find", "wrong", "near"),
    [
        (parts.gpu, "H100", "H100-SXM"),
        (parts.nic, "CX7-400", "CX-7-400"),
        (parts.switch, "SN560", "SN5600"),
        (parts.transport, "roce-v2", "rocev2"),
    ],
)
def test_unknown_names_tell_the_nearest(find, wrong, near):
    with pytest.raises(UnknownNameError) as caught:
        find(wrong)
    assert caught.value.near == near


def test_names_are_found_in_any_case():
    assert parts.gpu("h100-sxm") == parts.gpu("H100-SXM")


def test_transports_are_of_the_words_that_the_engine_knows():
    for name in parts.transports():
        transport = parts.transport(name)
        assert transport.load_balancing in get_args(parts.LoadBalancing)
        assert transport.hash_seed in get_args(parts.HashSeed)
        assert transport.ordering in get_args(parts.Ordering)
        low, high = transport.error_band
        assert 0 < low <= transport.error_central <= high <= 1
        assert transport.evidence


def test_header_overhead_is_the_published_one():
    for name, percent in (("infiniband", 99.4), ("rocev2", 98.0)):
        transport = parts.transport(name)
        payload = transport.mtu_bytes / (transport.mtu_bytes + transport.header_bytes)
        assert 100 * payload == pytest.approx(percent, abs=0.05)


def test_cables_of_other_rates_are_scaled():
    whole, half = parts.cable_end("aoc", 200), parts.cable_end("aoc", 100)
    assert half.price_usd == whole.price_usd / 2
    assert half.sources["price_usd"].estimate
    with pytest.raises(UnknownNameError):
        parts.cable_end("string", 400)
