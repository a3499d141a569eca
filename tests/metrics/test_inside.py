"""The inside of a node: worked rates, and what holds for any node."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.errors import SpecError
from clusterscope.fabric.inside import Inside, build_inside, variants
from clusterscope.metrics.inside import Send, _spread, node, nodes, patterns
from clusterscope.spec import parts, presets
from clusterscope.spec.model import ClusterSpec


def gets(spec: ClusterSpec, variant: str = "as built") -> dict[str, float]:
    """GB/s that a GPU gets, by the first words of a pattern."""
    return {p.name.split(":")[0]: p.each_GBps for p in node(spec, variant).patterns}


def test_switch_against_point_to_point_on_eight_h200():
    switched, meshed = (gets(presets.load(f"hgx-h200-{k}")) for k in ("nvswitch", "mesh"))
    assert switched["a pair"] == pytest.approx(450)
    assert meshed["a pair"] == pytest.approx(64)
    assert switched["ring over all GPUs"] == pytest.approx(450)
    assert meshed["ring over all GPUs"] == pytest.approx(2 * 64)
    assert meshed["all-to-all of 4 GPUs"] == pytest.approx(3 * 64)
    assert switched["all-to-all of all GPUs"] == pytest.approx(450)
    assert meshed["all-to-all of all GPUs"] == pytest.approx(448)


def test_the_other_build_of_each_is_the_other():
    spec = presets.load("hgx-h200-mesh")
    assert gets(spec, "switch")["a pair"] == pytest.approx(450)
    spec = presets.load("hgx-h200-nvswitch")
    assert gets(spec, "point to point")["a pair"] == pytest.approx(450 / 7)


def test_c2c_against_pcie():
    hopper = presets.load("gh200-256")
    assert gets(hopper)["one GPU to CPU memory"] == pytest.approx(450)
    assert gets(hopper, "PCIe")["one GPU to CPU memory"] == pytest.approx(64)
    board = presets.load("hgx-h200-nvswitch")
    assert gets(board)["one GPU to CPU memory"] == pytest.approx(64)
    # two GPUs share the uplink of a PCIe switch
    assert gets(board)["all GPUs to CPU memory"] == pytest.approx(32)


def test_a_superchip_shares_its_c2c_link():
    tray = gets(presets.load("gb200-nvl72"))
    assert tray["all GPUs to CPU memory"] == pytest.approx(225)
    assert tray["all GPUs to the network"] == pytest.approx(50)


def test_a_thousand_million_chips_stand_as_one():
    spec = presets.load("hgx-h200-nvswitch", ["scale_up.switches=1000000000"])
    assert "1000000000 nvswitches" in build_inside(spec).names
    assert gets(spec)["ring over all GPUs"] == pytest.approx(450)


def test_an_instance_of_trainium_is_a_torus_without_its_third_dimension():
    inside = build_inside(presets.load("aws-trn2-60k"))
    assert inside.network.count("scale-up") == 32
    assert inside.left_out == 32


@pytest.mark.parametrize("name", presets.names())
def test_every_preset_has_an_inside(name):
    spec = presets.load(name)
    built = nodes(spec)
    assert [one.variant for one in built] == list(variants(spec))
    assert len({tuple(p.name for p in one.patterns) for one in built}) == 1
    for one in built:
        for pattern in one.patterns:
            capacity = np.repeat(one.inside.gbps, 2)
            assert pattern.gbps > 0
            assert (pattern.link_gbps <= capacity * (1 + 1e-9)).all()
            assert pattern.link_gbps[pattern.bottleneck] == pytest.approx(
                capacity[pattern.bottleneck]
            )


@pytest.mark.parametrize("gpu", parts.gpus())
def test_every_gpu_of_the_catalogue_has_surroundings(gpu):
    spec = presets.load("hgx-h200-nvswitch", [f"node.gpu={gpu}"])
    inside = build_inside(spec)
    assert {"gpu", "CPU", "memory", "NIC"} <= set(inside.kinds)


def test_a_node_of_too_many_gpus_is_refused():
    spec = presets.load("hgx-h200-nvswitch", ["node.gpus=128", "scale_up.domain_gpus=128"])
    with pytest.raises(SpecError, match=r"node\.gpus: 128"):
        build_inside(spec)


@st.composite
def specs(draw: st.DrawFn) -> ClusterSpec:
    gpus = draw(st.integers(1, 9))
    domain = draw(st.sampled_from([d for d in range(1, gpus + 1) if gpus % d == 0] + [2 * gpus]))
    nics = draw(st.integers(0, 10))
    up = {"domain_gpus": domain, "gpu_gbps": 3600.0, "switches": draw(st.integers(0, 4))}
    if draw(st.booleans()):
        up = {"domain_gpus": domain, "gpu_gbps": 3600.0, "topology": "mesh"}
    node_table = {"count": 2, "gpus": gpus, "nics": nics, "nic_gbps": 400.0}
    node_table["gpu"] = draw(st.sampled_from(parts.gpus()))
    tables = {"name": "x", "node": node_table}
    if draw(st.booleans()):
        tables["scale_up"] = up
    return ClusterSpec.model_validate(tables)


def graph_of(inside: Inside) -> nx.Graph:
    made = nx.Graph()
    made.add_nodes_from(range(len(inside.names)))
    made.add_edges_from(zip(inside.a.tolist(), inside.b.tolist(), strict=True))
    return made


@given(specs(), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_a_send_uses_the_fewest_hops_and_loses_nothing(spec, draw):
    inside = build_inside(spec)
    made = graph_of(inside)
    src, dst = draw.randrange(len(inside.names)), draw.randrange(len(inside.names))
    load = np.zeros(2 * len(inside.gbps))
    every = ("scale-up", "host", "out")
    assert _spread(inside, Send(src, dst, 0.5, every), load) == nx.has_path(made, src, dst)
    if nx.has_path(made, src, dst):
        assert load.sum() == pytest.approx(0.5 * nx.shortest_path_length(made, src, dst))
        flow = np.zeros(len(inside.names))
        np.add.at(flow, np.stack([inside.b, inside.a], axis=1).ravel(), load)
        np.add.at(flow, np.stack([inside.a, inside.b], axis=1).ravel(), -load)
        wanted = np.zeros(len(inside.names))
        wanted[dst] += 0.5
        wanted[src] -= 0.5
        assert flow == pytest.approx(wanted, abs=1e-12)


@given(specs())
@settings(max_examples=60, deadline=None)
def test_parts_hang_together_and_patterns_fill_a_link(spec):
    inside = build_inside(spec)
    assert nx.is_connected(graph_of(inside))
    for pattern in patterns(inside):
        capacity = np.repeat(inside.gbps, 2)
        assert (pattern.link_gbps <= capacity * (1 + 1e-9)).all()
        assert pattern.gbps > 0
