"""Load balancing figures known from balls-in-bins and from Monte Carlo references."""

import numpy as np
import pytest

from clusterscope.engine.rates import max_min_entries
from clusterscope.routing.hashing import entropy
from clusterscope.routing.route import route
from clusterscope.routing.routes import Policy
from tests.routing.routing_cases import clos, tree


def permutation_rates(fabric, policy, trials):
    """Max-min rate over NIC rate of every flow of random permutations, (trials, N).

    A port that draws itself needs no network but its own leaf, so it runs at NIC rate: permutations
    are plain, as in the reference; one flow in N is such a fixed point.
    """
    src = np.arange(fabric.ports, dtype=np.int32)
    rates = []
    for trial in range(trials):
        dst = np.random.default_rng(trial).permutation(fabric.ports).astype(np.int32)
        draws = entropy(src, dst, np.zeros_like(src), trial)
        routes, bundles = route(fabric, fabric.cable_gbps, src, dst, draws, policy)
        gbps = np.concatenate([fabric.link_gbps, bundles.gbps])
        solved = max_min_entries(
            routes.entry_flow, routes.entry_link, routes.entry_weight, fabric.ports, gbps
        )
        rates.append(solved.flow_gbps / fabric.cable_gbps[0])
    return np.array(rates)


@pytest.mark.parametrize(
    ("n", "wanted"), [(8, 0.6564), (16, 0.6439), (32, 0.6379), (64, 0.6350), (128, 0.6336)]
)
def test_n_hashed_flows_fill_the_balls_in_bins_share_of_n_uplinks(n, wanted):
    """1 - (1 - 1/n)^n: the mean share of uplinks that get a flow at all."""
    fabric = clos(leaves=2, spines=n, hosts=n)
    src = np.arange(n, dtype=np.int32)
    trials = 25_600 // n
    flows = np.tile(src, trials)
    qp = np.repeat(np.arange(trials, dtype=np.int32), n)
    draws = entropy(flows, flows + n, qp, 0)
    routes, _ = route(fabric, fabric.cable_gbps, flows, flows + n, draws, Policy("ecmp"))
    uplink = routes.entry_link[1::4]
    busy = len(np.unique(qp.astype(np.int64) * fabric.links + uplink))
    assert busy / (trials * n) == pytest.approx(wanted, rel=0.01)


def test_random_permutation_on_leaf_spine_by_ecmp():
    rates = permutation_rates(clos(leaves=32, spines=32, hosts=32), Policy("ecmp"), 100)
    assert rates.mean() == pytest.approx(0.524786, rel=0.02)
    assert rates.min(axis=1).mean() == pytest.approx(0.182238, rel=0.08)


@pytest.mark.parametrize("k", [4, 8])
def test_dmodk_is_free_of_contention_for_every_shift(k):
    """Zahavi, Johnson, Kerbyson, Lang 2010."""
    fabric = tree(k)
    src = np.arange(fabric.ports, dtype=np.int32)
    shifts = np.arange(1, fabric.ports)[:, None]
    dst = ((src + shifts) % fabric.ports).astype(np.int32).ravel()
    src = np.tile(src, len(shifts))
    routes, _ = route(fabric, fabric.cable_gbps, src, dst, src.astype(np.uint64), Policy("dmodk"))
    shift = routes.entry_flow // fabric.ports
    assert np.bincount(shift * fabric.links + routes.entry_link).max() == 1


@pytest.mark.parametrize(
    ("policy", "mean", "error"),
    [("ecmp", 0.42918, 0.02), ("dmodk", 0.544048, 0.02), ("spray", 1.0, 0.01)],
)
def test_random_permutation_on_a_fat_tree_of_1024_hosts(policy, mean, error):
    rates = permutation_rates(tree(16), Policy(policy), 2 if policy == "spray" else 60)
    assert rates.mean() == pytest.approx(mean, rel=error)
    if policy == "ecmp":
        assert rates.min(axis=1).mean() == pytest.approx(0.175357, rel=0.08)
