"""Flowlets by load: a switch deals its flows over its ports, one path each."""

from __future__ import annotations

import numpy as np
import pytest

from clusterscope.fabric.build import build
from clusterscope.routing.hashing import entropy
from clusterscope.routing.route import paths_of, route
from clusterscope.routing.routes import Policy
from clusterscope.spec.validate import validate


def fabric(leaves: int = 8, hosts: int = 8):
    tables = {
        "name": "clos",
        "node": {"count": leaves * hosts, "gpus": 1, "gpu": "H100-SXM", "nics": 1, "nic_gbps": 400},
        "scale_out": {
            "tiers": 2,
            "wiring": "rack",
            "su_nodes": hosts,
            "leaf_switch": f"generic-{2 * hosts}",
            "leaf_down": hosts,
            "leaf_up": hosts,
            "spines": hosts,
            "spine_switch": f"generic-{2 * hosts}",
        },
    }
    tables["node"]["nic_gbps"] = 400.0
    return build(validate(tables, "clos"))


def paths(built, dst, balancing="flowlet", seed=0):
    src = np.arange(built.ports, dtype=np.int32)
    key = entropy(src, dst, np.zeros(len(src), dtype=np.int32), seed)
    routes, _ = route(built, built.cable_gbps, src, dst, key, Policy(balancing, seed=seed))
    return paths_of(routes)


@pytest.mark.parametrize("seed", range(5))
def test_every_uplink_of_a_leaf_gets_its_share_of_flows(seed):
    built = fabric()
    dst = np.roll(np.arange(built.ports, dtype=np.int32), -8)
    links = paths(built, dst, seed=seed)
    assert len(np.unique(links[:, 1])) == built.ports  # one flow a port, whatever the hash
    # From one leaf to one other: each on a spine of its own, so the way down is free too.
    assert len(np.unique(links[:, 2])) == built.ports


def test_on_the_way_down_flows_still_meet():
    built = fabric()
    dst = np.random.default_rng(3).permutation(built.ports).astype(np.int32)
    away = built.port_leaf[np.arange(built.ports)] != built.port_leaf[dst]
    links = paths(built, dst)[away]
    assert np.unique(links[:, 1], return_counts=True)[1].max() == 1
    assert np.unique(links[:, 2], return_counts=True)[1].max() > 1


def test_more_flows_than_ports_differ_by_one():
    built = fabric(leaves=4, hosts=8)
    src = np.repeat(np.arange(8, dtype=np.int32), 5)
    dst = (src + 8).astype(np.int32)
    qp = np.tile(np.arange(5, dtype=np.int32), 8)
    policy = Policy("flowlet")
    routes, _ = route(built, built.cable_gbps, src, dst, entropy(src, dst, qp, 0), policy)
    count = np.unique(paths_of(routes)[:, 1], return_counts=True)[1]
    assert (count == 5).all()


def test_dead_uplinks_are_left_out():
    built = fabric()
    rate = built.cable_gbps.copy()
    first = built.tier_cables(1).start
    rate[first : first + 4] = 0.0
    src = np.arange(8, dtype=np.int32)
    dst = src + np.int32(8)
    key = entropy(src, dst, np.zeros(8, dtype=np.int32), 0)
    routes, _ = route(built, rate, src, dst, key, Policy("flowlet"))
    assert routes.reached.all()
    count = np.unique(paths_of(routes)[:, 1], return_counts=True)[1]
    assert list(count) == [2, 2, 2, 2]
