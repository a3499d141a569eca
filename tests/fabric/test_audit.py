from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given

from clusterscope.fabric.audit import Finding, audit
from clusterscope.fabric.build import build
from clusterscope.spec import presets
from clusterscope.spec.model import ClusterSpec
from tests.fabric.fabric_specs import cluster, colossus, fat_tree, hpn_pod, small_specs


def findings(spec: ClusterSpec) -> dict[str, Finding]:
    """Findings by rule; the last of a rule."""
    return {finding.rule: finding for finding in audit(spec, build(spec))}


def test_a_whole_fat_tree_raises_nothing() -> None:
    assert audit(fat_tree(8), build(fat_tree(8))) == ()


def test_a_count_that_is_not_the_published_one_is_an_error() -> None:
    out = {"tiers": 2, "su_nodes": 32}
    spec = cluster(32, out, expect={"leaf": 9, "spine": 4, "gpus": 256, "nic_leaf_cables": 256})
    found = findings(spec)
    assert found["expected-count"].severity == "error"
    assert found["expected-count"].where == "expect.leaf"
    assert "8" in found["expected-count"].message
    assert "9 is expected" in found["expected-count"].message


def test_one_infiniband_subnet_has_49151_addresses() -> None:
    found = findings(colossus())["lid-budget"]
    assert found.severity == "error"
    assert "not routable as one subnet" in found.message
    ethernet = colossus().model_copy(
        update={"transport": colossus().transport.model_copy(update={"name": "rocev2"})}
    )
    assert "lid-budget" not in findings(ethernet)


def test_every_plane_is_a_subnet_of_its_own() -> None:
    # 30,720 NIC ports a plane and its switches fit, both planes together would not
    assert "lid-budget" not in findings(hpn_pod(2, tiers=3, pod_sus=15, spine_up=8))


def test_every_rail_that_no_switch_joins_is_a_subnet_of_its_own() -> None:
    spec = presets.load("gpt4-a100-25k")
    assert "lid-budget" not in findings(spec)
    # 8 rails of 8,192 nodes: 65,536 ends, and no rail has more than 16,384
    out = {"tiers": 2, "su_nodes": 2048, "leaf_switch": "generic-4096", "leaf_up": 1}
    one = cluster(8192, {**out, "wiring": "rail"}, node={"gpus": 8, "nics": 8})
    found = findings(one)["lid-budget"]
    assert found.where == "cluster"
    apart = cluster(8192, {**out, "wiring": "rail-only"}, node={"gpus": 8, "nics": 8})
    assert "lid-budget" not in findings(apart)


def test_doubts_are_findings() -> None:
    spec = presets.load("hpn-15k")
    doubts = {f.where: f for f in audit(spec, build(spec)) if f.rule == "doubt"}
    assert doubts["scale_out.cores"].severity == "info"
    assert "not stated" in doubts["scale_out.cores"].message


@pytest.mark.parametrize(("hosts", "fits"), [(49_126, True), (49_127, False)])
def test_subnet_budget_counts_hosts_and_switches_to_the_last_address(
    hosts: int, fits: bool
) -> None:
    # 24 leaves of 2,048 hosts and one spine: hosts + 25 addresses
    out = {"tiers": 2, "su_nodes": 2048, "leaf_switch": "generic-4096", "leaf_up": 1}
    found = findings(cluster(hosts, out, node={"gpus": 1, "nics": 1}))
    assert ("lid-budget" not in found) == fits


def test_taper_is_information_and_steep_taper_a_warning() -> None:
    def rule(up: int) -> Finding | None:
        out = {"tiers": 2, "su_nodes": 32, "leaf_down": 32, "leaf_up": up}
        return findings(cluster(32, out)).get("oversubscription")

    assert rule(32) is None
    half, steep = rule(16), rule(8)
    assert half is not None
    assert (half.severity, half.where) == ("info", "leaf-spine")
    assert half.message.startswith("2:1 from below")
    assert steep is not None
    assert steep.severity == "warning"


def test_hpn_tapers_at_its_leaves_and_steeply_above_its_spines() -> None:
    spec = hpn_pod(2, tiers=3, pod_sus=15, spine_up=8)
    tapers = [f for f in audit(spec, build(spec)) if f.rule == "oversubscription"]
    assert [(f.severity, f.where) for f in tapers] == [
        ("warning", "spine-core"),
        ("info", "leaf-spine"),
    ]
    assert tapers[0].message.startswith("15:1 ")
    # 128 x 200 Gb/s on 60 x 400 Gb/s, then 15:1
    assert "16:1 from all NICs" in tapers[0].message
    assert tapers[1].message.startswith("1.067:1 ")


def test_free_leaf_ports_and_an_su_that_is_not_full() -> None:
    found = findings(cluster(31, {"tiers": 2, "su_nodes": 32, "leaf_down": 32}))
    assert found["partial-su"].message == "the last SU in use has 31 of 32 nodes"
    assert found["unused-leaf-ports"].message.startswith("8 of 256 ")
    assert {f.severity for f in found.values()} == {"info"}


def test_trunks_of_unequal_size() -> None:
    out = {"tiers": 2, "su_nodes": 4, "leaf_down": 4, "leaf_up": 4, "spines": 3}
    found = findings(cluster(4, out))["uneven-trunks"]
    assert (found.severity, found.where) == ("info", "leaf-spine")
    assert "1 to 2 cables" in found.message


def test_estimates_are_counted_and_named() -> None:
    sources = {
        "scale_out.cores": {"estimate": True, "why": "not published"},
        "node.count": {"source": "a vendor page"},
    }
    spec = cluster(4, {"tiers": 1, "su_nodes": 4}, sources=sources)
    found = findings(spec)["estimates"]
    assert found.message == "1 of 2 sourced numbers are estimates: scale_out.cores"


def test_a_long_list_of_estimates_is_cut() -> None:
    sources = {f"node.{letter}": {"estimate": True} for letter in "abcdefgh"}
    message = findings(cluster(4, {"tiers": 1, "su_nodes": 4}, sources=sources))[
        "estimates"
    ].message
    assert message.endswith("node.a, node.b, node.c, node.d, node.e and 3 more")


def test_a_nic_port_without_a_leaf_is_an_error_that_names_it() -> None:
    spec = cluster(4, {"tiers": 1, "su_nodes": 4})
    fabric = build(spec)
    port_leaf = fabric.port_leaf.copy()
    port_leaf[9] = -1
    found = audit(spec, dataclasses.replace(fabric, port_leaf=port_leaf))
    assert (found[0].severity, found[0].rule, found[0].where) == (
        *("error", "nic-without-leaf", "node1/nic1"),
    )


@given(small_specs())
def test_what_is_built_never_has_loose_ports_and_errors_come_first(spec: ClusterSpec) -> None:
    found = audit(spec, build(spec))
    severities = [finding.severity for finding in found]
    assert severities == sorted(severities, key=("error", "warning", "info").index)
    assert "error" not in severities


def test_without_scale_out_there_is_nothing_to_find() -> None:
    spec = cluster(2, None)
    assert audit(spec, build(spec)) == ()
