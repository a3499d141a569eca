"""Cases of routing: how well flows spread over the paths they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clusterscope.columns import I32, Bool
from clusterscope.engine.rates import max_min_entries
from clusterscope.fabric.arrays import LEAF_SPINE, Fabric
from clusterscope.fabric.build import build
from clusterscope.routing.routes import Policy
from clusterscope.validation import balancing, planned
from clusterscope.validation.verdict import Outcome
from clusterscope.validation.worlds import (
    fat_tree,
    leaf_spine,
    permutation_shares,
    routes,
)

Setup = Mapping[str, Any]

# Flows that a mean over hash draws is taken of.
_DRAWN = 25_600
# Uplinks at which 1 - (1 - 1/n)^n has all but reached 1 - 1/e: 0.07 % above it.
_MANY = 512


def hashed_uplinks(setup: Setup) -> Outcome:
    """ROUT-01: n flows of line rate, hashed over n uplinks."""
    return {
        "aggregate_fraction": [_filled(n) for n in setup["n"]],
        "limit": _filled(_MANY),
    }


def _filled(n: int) -> float:
    """Throughput of n hashed line-rate flows over that of n uplinks, mean over draws."""
    fabric = build(leaf_spine(2, n, n))
    trials = _DRAWN // n
    port = np.arange(n, dtype=np.int32)
    src = np.tile(port, trials)
    trial = np.repeat(np.arange(trials, dtype=np.int32), n)
    found, gbps = routes(fabric, src, src + np.int32(n), Policy("ecmp"), qp=trial)
    # Every trial has a fabric of its own, so that one solve serves all of them.
    link = found.entry_link + trial[found.entry_flow] * fabric.links
    capacity = np.tile(gbps, trials)
    rate = max_min_entries(found.entry_flow, link, found.entry_weight, len(src), capacity)
    return float(rate.flow_gbps.mean() / fabric.cable_gbps[0])


def many_flows(setup: Setup) -> Outcome:
    """ROUT-03: the busiest uplink over the mean one, with many equal flows hashed over few."""
    flows, links, trials = setup["flows"], setup["links"], 400
    fabric = build(leaf_spine(2, flows, links))
    src = np.tile(np.arange(flows, dtype=np.int32), trials)
    trial = np.repeat(np.arange(trials, dtype=np.int32), flows)
    found, _ = routes(fabric, src, src + np.int32(flows), Policy("ecmp"), qp=trial)
    up = _climbs(fabric, found.entry_link)
    first = int(fabric.up_start[0])
    uplink = (found.entry_link[up] >> 1) - first + trial[found.entry_flow[up]] * links
    load = np.bincount(uplink, minlength=trials * links).reshape(trials, links)
    return {"max_over_mean": float((load.max(axis=1) / load.mean(axis=1)).mean())}


def _climbs(fabric: Fabric, link: I32) -> Bool:
    """Links from a leaf up to a spine, (E,)."""
    cable = link >> 1
    low, high = fabric.tier_start[LEAF_SPINE], fabric.tier_start[LEAF_SPINE + 1]
    climbs: Bool = (cable >= low) & (cable < high) & (link % 2 == 0)
    return climbs


def permutation_on_two_tiers(setup: Setup) -> Outcome:
    """ROUT-05: a random permutation over leaves and spines by hash."""
    fabric = build(leaf_spine(setup["leaves"], setup["hosts_per_leaf"], setup["spines"]))
    share = permutation_shares(fabric, Policy("ecmp"), setup["trials"])
    return {"mean": float(share.mean()), "mean_min": float(share.min(axis=1).mean())}


def shifts_by_static_tables(setup: Setup) -> Outcome:
    """ROUT-07: the most flows on a link, over all shifts, under destination-mod-k tables."""
    most = 0
    for k in setup["k"]:
        fabric = build(fat_tree(k))
        port = np.arange(fabric.ports, dtype=np.int32)
        shifts = np.arange(1, fabric.ports)[:, None]
        dst = ((port + shifts) % fabric.ports).astype(np.int32).ravel()
        found, _ = routes(fabric, np.tile(port, len(shifts)), dst, Policy("dmodk"))
        shift = found.entry_flow.astype(np.int64) // fabric.ports
        most = max(most, int(np.bincount(shift * fabric.links + found.entry_link).max()))
    return {"max_flows_per_link": most}


def permutation_on_three_tiers(setup: Setup) -> Outcome:
    """ROUT-08: a random permutation on a k-ary fat tree, by hash, by table and sprayed."""
    fabric, trials = build(fat_tree(setup["k"])), setup["trials"]
    hashed = permutation_shares(fabric, Policy("ecmp"), trials)
    return {
        "ecmp_mean": float(hashed.mean()),
        "ecmp_mean_min": float(hashed.min(axis=1).mean()),
        "dmodk_mean": float(permutation_shares(fabric, Policy("dmodk"), trials).mean()),
        "spray": float(permutation_shares(fabric, Policy("spray"), 2).mean()),
    }


DERIVATIONS = {
    **balancing.DERIVATIONS,
    **planned.DERIVATIONS,
    "ROUT-01": hashed_uplinks,
    "ROUT-03": many_flows,
    "ROUT-05": permutation_on_two_tiers,
    "ROUT-07": shifts_by_static_tables,
    "ROUT-08": permutation_on_three_tiers,
}
