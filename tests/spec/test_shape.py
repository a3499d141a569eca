"""Shapes of scale-up domains: what is refused, and the rates that follow."""

from __future__ import annotations

import pytest

from clusterscope.errors import SpecError
from clusterscope.spec import presets
from clusterscope.spec.checks import check
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.shape import cable_gbps, half_gbps, shape_of, uplink_gbps
from clusterscope.units import BITS_PER_BYTE

TBPS = 1000 * BITS_PER_BYTE  # Gb/s


def spec_of(nodes: int = 4, gpus: int = 4, **up) -> ClusterSpec:
    node = {"count": nodes, "gpus": gpus, "gpu": "generic", "nics": 0, "nic_gbps": 400.0}
    table = {"domain_gpus": nodes * gpus, "gpu_gbps": 3600.0} | up
    return ClusterSpec.model_validate({"name": "x", "node": node, "scale_up": table})


@pytest.mark.parametrize(
    ("up", "key", "words"),
    [
        ({"topology": "torus"}, "scale_up.dims", ["[] are 0 GPUs, not the 16", "product is 16"]),
        ({"topology": "torus", "dims": [4, 2]}, "scale_up.dims", ["[4, 2] are 8 GPUs"]),
        ({"dims": [4, 4]}, "scale_up.dims", ["says nothing", "'torus'"]),
        ({"link_gbps": 3.0}, "scale_up.link_gbps", ["'switched'", "'mesh' or 'torus'"]),
        ({"topology": "two-level"}, "scale_up.group_gpus", ["is missing", "divisor of 16"]),
        ({"topology": "two-level", "group_gpus": 5}, "scale_up.group_gpus", ["5 does not divide"]),
        ({"topology": "mesh", "group_gpus": 4}, "scale_up.group_gpus", ["says nothing"]),
        ({"topology": "mesh", "link_gbps": 241.0}, "scale_up.link_gbps", ["15 cables", "240"]),
    ],
)
def test_what_does_not_fit_is_told_in_a_sentence(up, key, words):
    with pytest.raises(SpecError) as caught:
        check(spec_of(**up), "file.toml")
    text = str(caught.value)
    assert text.startswith(f"file.toml: {key}")
    assert all(word in text for word in words), text


def test_groups_are_whole_nodes_or_whole_parts_of_one():
    with pytest.raises(SpecError, match=r"scale_up\.group_gpus: groups of 4 GPUs are neither"):
        check(spec_of(nodes=4, gpus=6, topology="two-level", group_gpus=4), "x")


def test_a_huge_mesh_is_refused_before_it_is_built():
    with pytest.raises(SpecError, match="4,096 GPUs"):
        check(spec_of(nodes=1024, gpus=8, topology="mesh"), "x")


def test_a_cable_of_a_mesh_gets_its_share():
    up = spec_of(topology="mesh").scale_up
    assert up is not None
    assert cable_gbps(up) == 3600 / 15
    assert shape_of(up).cables == 120


def test_gh200_has_full_bisection_and_half_the_uplinks_halve_it():
    up = presets.load("gh200-256").scale_up
    assert up is not None
    assert uplink_gbps(up) == 8 * 3600
    assert half_gbps(up) / TBPS == pytest.approx(57.6)
    tapered = presets.load("gh200-256", ["scale_up.group_taper=2.0"]).scale_up
    assert tapered is not None
    assert half_gbps(tapered) / TBPS == pytest.approx(28.8)


def test_switch_chips_of_two_levels_have_the_ports():
    from clusterscope.spec.parts import switch

    for name, levels in (("gh200-256", (96, 36)), ("gb200-nvl576", (288, 144))):
        spec = presets.load(name)
        up = spec.scale_up
        assert up is not None
        assert up.switches == sum(levels)
        ports = switch(up.switch).ports[0]
        links = spec.gpus * up.gpu_gbps / ports.gbps
        assert levels[0] * ports.count >= 2 * links
        assert levels[1] * ports.count == links


@pytest.mark.parametrize(
    ("up", "gbps"),
    [
        ({"topology": "mesh", "link_gbps": 10.0}, 64 * 10),
        ({"topology": "torus", "dims": [4, 4], "link_gbps": 10.0}, 4 * 2 * 10),
        ({"topology": "torus", "dims": [8, 2], "link_gbps": 10.0}, 2 * 2 * 10),
        ({}, 8 * 3600),
    ],
)
def test_rate_between_halves(up, gbps):
    table = spec_of(**up).scale_up
    assert table is not None
    assert half_gbps(table) == gbps


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ("4", "dims: 4 is not allowed; allowed is an array of up to 4 whole numbers from 1"),
        ("[4, 4.5, 4]", "dims.1: 4.5 is not allowed; allowed is a whole number from 1 to 4096"),
        ("[4, 0, 4]", "dims.1: 0 is not allowed"),
        ("[2, 2, 2, 2, 4]", "dims: an array is not allowed; allowed is an array of up to 4"),
        ("[8, 4]", "dims: [8, 4] are 32 GPUs, not the 64 of a domain"),
    ],
)
def test_a_wrong_array_is_told_by_its_element(dims, words):
    with pytest.raises(SpecError) as caught:
        presets.load("aws-trn2-60k", [f"scale_up.dims={dims}"])
    assert words in str(caught.value)
