"""Routes of a uniform all-to-all as one flow, without building its P x P pairs.

Every port sends the same to every port of its island that is in another domain; ports of other
islands (planes, or rails that share no switch) exchange among themselves. One unit of the flow's
rate is the egress of the port with the most peers, so a port's weight is its peers over the most
peers. Link loads follow from counts of ports by (domain, leaf) and (domain, block): a leaf sends up
what its ports send, less what stays among them.

Model: every policy splits evenly over a bundle. With of the order of P^2 hashed flows the law of
large numbers makes ECMP's split as even as a spray's, so ecmp, dmodk and spray share alike, and
adaptive follows live capacity. Where other flows keep to single links (ecmp, dmodk) the load is
put on the links themselves, so that both meet there. Pairs of leaves that share fewer spines than
others do, or that a failure sends through a core, are not told apart.

A pair whose ports in this plane do not both work exchanges over its other planes, and one that has
lost some of those sends more over this one; see `planes`.

Axes: P ports, B bundles.
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import F64, I32, I64, Bool, bincount
from clusterscope.fabric.arrays import Fabric
from clusterscope.routing.bundles import bundle_ids, capacity_bundles, equal_bundles
from clusterscope.routing.nexthops import NextHops, next_hops
from clusterscope.routing.planes import Mates, mates
from clusterscope.routing.reach import reach_of
from clusterscope.routing.routes import Bundles, Policy, Routes, no_bundles


def uniform(
    fabric: Fabric, cable_rate_gbps: F64, ports: I32, domain: I32, policy: Policy
) -> tuple[Routes, Bundles]:
    """Routes of one uniform all-to-all, a single flow.

    It is reached when every member port works and every pair has a live path; an exchange without
    a pair is not.

    Args:
        fabric: what is cabled to what.
        cable_rate_gbps: (C,) usable rate of every cable; 0 is dead.
        ports: (P,) member NIC ports, each once.
        domain: (P,) domain of each; ports of one domain exchange nothing here.
        policy: adaptive shares by live capacity, any other policy alike.

    Returns:
        Routes of the one flow, `hops` being those of its longest paths, and the bundles.
    """
    live = cable_rate_gbps > 0
    hops = next_hops(fabric).only(live)
    mate = mates(fabric, hops, live, ports)
    most = _most_peers(fabric, hops, ports, domain)
    reached = most > 0 and not _parted(mate, domain)
    ports, domain, kind = ports[mate.on], domain[mate.on], mate.kind[mate.on]
    make = capacity_bundles if policy.load_balancing == "adaptive" else equal_bundles
    bundles = make(hops, cable_rate_gbps)
    leaf = fabric.port_leaf[ports]
    if not (reached and _all_pairs(hops, leaf, domain)):
        return _single([], [], 0), bundles
    peers = _peers(hops.island[leaf], domain, kind, mate.share)
    block = hops.block[leaf]
    ids, links = bundle_ids(hops), fabric.links
    who = (hops.island[leaf], domain, kind, mate.share)
    leaf_out = _leaving(leaf, *who, hops.leaves) / most
    block_out = _leaving(block, *who, len(hops.block_column)) / most
    leaves, blocks = np.flatnonzero(leaf_out), np.flatnonzero(block_out)
    resource: list[I32 | I64] = [
        2 * ports,
        links + leaves,
        links + ids.block_up + blocks,
        links + ids.block_down + blocks,
        links + ids.leaf_down + leaves,
        2 * ports + 1,
    ]
    own, up, across = peers / most, leaf_out[leaves], block_out[blocks]
    switches = 5 if len(blocks) else 3 if len(leaves) else 1
    routes = _single(resource, [own, up, across, across, up, own], switches)
    if policy.one_path:
        return _on_links(routes, bundles, links), no_bundles()
    return routes, bundles


def _on_links(routes: Routes, bundles: Bundles, links: int) -> Routes:
    """The same load with every bundle dealt out to its members."""
    bundled = routes.entry_link >= links
    weight = np.zeros(len(bundles.gbps))
    weight[routes.entry_link[bundled] - links] = routes.entry_weight[bundled]
    member = np.repeat(weight, np.diff(bundles.start)) * bundles.member_share
    used = member > 0
    entry_link = np.concatenate([routes.entry_link[~bundled], bundles.member_link[used]])
    return Routes(
        entry_flow=np.zeros(len(entry_link), dtype=np.int32),
        entry_link=entry_link,
        entry_weight=np.concatenate([routes.entry_weight[~bundled], member[used]]),
        reached=routes.reached,
        hops=routes.hops,
    )


def _single(resource: list[I32 | I64], weight: list[F64], switches: int) -> Routes:
    """Routes of a single flow; 0 switches is no path."""
    links = np.concatenate(resource).astype(np.int32) if resource else np.zeros(0, dtype=np.int32)
    loads = np.concatenate(weight) if weight else np.zeros(0)
    used = loads > 0
    return Routes(
        entry_flow=np.zeros(int(used.sum()), dtype=np.int32),
        entry_link=links[used],
        entry_weight=loads[used],
        reached=np.array([switches > 0]),
        hops=np.array([switches], dtype=np.int32),
    )


def _most_peers(fabric: Fabric, hops: NextHops, ports: I32, domain: I32) -> int:
    """Most ports that one port exchanges with when everything works."""
    none = np.zeros(len(ports), dtype=np.int64)
    island = hops.island[fabric.port_leaf[ports]]
    return int(_peers(island, domain, none, np.ones((1, 1))).max(initial=0))


def _parted(mate: Mates, domain: I32) -> bool:
    """Whether two members of different domains have no live plane in common."""
    if not mate.parted.any():
        return False
    lowest = np.full(len(mate.parted), np.iinfo(np.int32).max, dtype=np.int32)
    highest = np.full(len(mate.parted), -1, dtype=np.int32)
    np.minimum.at(lowest, mate.kind, domain)
    np.maximum.at(highest, mate.kind, domain)
    apart = (lowest[:, None] != highest) | (highest[:, None] != lowest)
    return bool((mate.parted & apart).any())


def _peers(island: I32, domain: I32, kind: I64, share: F64) -> F64:
    """Ports of the same island and another domain, for every port, by their share, (P,)."""
    count = _partners(island, domain, kind, len(share))
    return np.asarray((share[kind] * count).sum(axis=1))


def _partners(island: I32, domain: I32, kind: I64, kinds: int) -> F64:
    """Ports of the same island and another domain, for every port, by their kind, (P, K)."""
    everyone = _members(island.astype(np.int64), kind, kinds)
    code = island.astype(np.int64) * (int(domain.max(initial=0)) + 1) + domain
    _, cell = np.unique(code, return_inverse=True)
    return np.asarray(everyone[island] - _members(cell, kind, kinds)[cell])


def _leaving(group: I32, island: I32, domain: I32, kind: I64, share: F64, groups: int) -> F64:
    """Ordered pairs from each group (leaf or block) to outside of it, by their share, (groups,).

    All pairs of its members, less those inside it: n^2 less the same-domain n_d^2. Counted kind
    by kind in whole numbers, so that nothing leaving is exactly 0.
    """
    kinds, spread = len(share), int(domain.max(initial=0)) + 1
    cells, cell = np.unique(group.astype(np.int64) * spread + domain, return_inverse=True)
    near, within = _members(cell, kind, kinds), _members(group, kind, kinds, groups)
    partners = _partners(island, domain, kind, kinds)
    leaving = np.zeros(groups)
    for one, other in np.argwhere(share > 0):
        own = np.where(kind == one, partners[:, other], 0.0)
        same = bincount(cells // spread, near[:, one] * near[:, other], groups)
        pairs = bincount(group, own, groups) - (within[:, one] * within[:, other] - same)
        leaving += share[one, other] * pairs
    return leaving


def _members(group: I32 | I64, kind: I64, kinds: int, groups: int = 0) -> F64:
    """Members of each group and kind, (groups, K)."""
    groups = max(groups, int(group.max(initial=-1)) + 1)
    code = group.astype(np.int64) * kinds + kind
    return bincount(code, None, groups * kinds).reshape(groups, kinds)


def _all_pairs(hops: NextHops, leaf: I32, domain: I32) -> bool:
    """Whether a live path joins every pair of leaves whose ports exchange anything."""
    reach = reach_of(hops)
    used, first = np.unique(leaf, return_index=True)
    lowest, highest = domain[first].copy(), domain[first].copy()
    place = np.searchsorted(used, leaf)
    np.minimum.at(lowest, place, domain)
    np.maximum.at(highest, place, domain)
    only = np.where(lowest == highest, lowest, -1 - np.arange(len(used)))
    target = reach.target[used]
    careful = [goal for goal in np.unique(target[target >= 0]) if not _open(hops, used, int(goal))]
    check = np.flatnonzero((hops.up.count[used] == 0) | np.isin(target, careful))
    return all(_joined(hops, used, only, int(goal)) for goal in check)


def _open(hops: NextHops, used: I32, target: int) -> bool:
    """Whether every used leaf of the target's island leads to the target."""
    reach = reach_of(hops)
    home = np.flatnonzero(reach.target == target)[0]
    return bool(_leads(hops, used[hops.island[used] == hops.island[home]], int(home)).all())


def _leads(hops: NextHops, leaves: I32, goal: int) -> Bool:
    """Whether each leaf has a live path to the leaf `goal`, which is not ordinary."""
    reach = reach_of(hops)
    target = np.full(len(leaves), reach.target[goal])
    below = hops.block[leaves] == hops.block[goal]
    leads: Bool = reach.crosses(leaves, target) | (below & reach.turns(leaves, target))
    return leads


def _joined(hops: NextHops, used: I32, only: I64, goal: int) -> bool:
    """Whether all used leaves that exchange with used[goal] have a live path to it, and it to them.

    Args:
        hops: next hops over live cables.
        used: leaves with members.
        only: the one domain of a leaf's members, or a negative number of its own when several.
        goal: position of the destination.
    """
    leaf = used[goal]
    partner = (hops.island[used] == hops.island[leaf]) & (only != only[goal])
    partner[goal] = False
    others = used[partner]
    if not len(others):
        return True
    return bool(hops.up.count[leaf]) and bool(_leads(hops, others, int(leaf)).all())
