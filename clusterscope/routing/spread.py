"""Per-packet policies: a flow loads whole bundles of links instead of one path.

A flow through a spine puts its rate on its leaf's up bundle and on the other leaf's down bundle; a
flow through a core also on the two block bundles. Whether it is reached is exact.

Model: behind the leaves load is taken as balanced. A block bundle is shared by all flows of the
block, also by those whose destination has lost some of the cores; their narrower choice of cores
is not modeled. Inside a block it is: see `pairs`.

Axes: F flows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I32, Bool
from clusterscope.fabric.arrays import Fabric
from clusterscope.routing.bundles import (
    bundle_ids,
    capacity_bundles,
    equal_bundles,
    with_extra,
)
from clusterscope.routing.nexthops import NextHops, next_hops
from clusterscope.routing.pairs import common_cables, common_gbps, uneven
from clusterscope.routing.routes import Bundles
from clusterscope.routing.walk import Ways, ways

HOPS = 7


@dataclass(frozen=True, eq=False)
class Spread:
    """Resources that flows load.

    Attributes:
        resource: (F, H) links and L + bundles along the way, -1 where there is none.
        weight: (F, H) load on each per unit of rate; None is 1 for all.
        switches: (F,) switches on the path, 0 when there is none.
        bundles: what the resources from L on are.
    """

    resource: I32
    weight: F64 | None
    switches: I32
    bundles: Bundles


def spray(fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32) -> Spread:
    """Equal shares over the cables that lead on, whatever they carry.

    Where a pair of leaves shares fewer spines than its bundles have members, its weight on them
    rises in proportion: the links it does use fill that much earlier.
    """
    hops, way = _start(fabric, cable_rate_gbps, src, dst)
    bundles = equal_bundles(hops, cable_rate_gbps)
    resource = _resources(fabric, hops, way, src, dst)
    weight = None
    flow, pair, a, b = _uneven_pairs(way, uneven(hops, cable_rate_gbps), hops.leaves)
    if len(flow):
        weight = np.ones(resource.shape)
        cables_a, cables_b = common_cables(hops, a, b)
        members = np.diff(bundles.start)
        weight[flow, 1] = (members[a] / cables_a)[pair]
        weight[flow, 4] = (members[bundle_ids(hops).leaf_down + b] / cables_b)[pair]
    return Spread(resource=resource, weight=weight, switches=way.switches, bundles=bundles)


def adaptive(fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32) -> Spread:
    """Shares that follow the live capacity.

    Where the spines that a pair of leaves shares carry less than either leaf's bundle, all flows of
    the pair share a bundle of that capacity as well.
    """
    hops, way = _start(fabric, cable_rate_gbps, src, dst)
    bundles = capacity_bundles(hops, cable_rate_gbps)
    resource = _resources(fabric, hops, way, src, dst)
    flow, pair, a, b = _uneven_pairs(way, uneven(hops, cable_rate_gbps), hops.leaves)
    if len(flow):
        gbps = common_gbps(hops, cable_rate_gbps, a, b)
        ends = np.minimum(bundles.gbps[a], bundles.gbps[bundle_ids(hops).leaf_down + b])
        narrow = gbps < ends * (1.0 - 1e-12)
        number = np.cumsum(narrow) - 1 + fabric.links + len(bundles.gbps)
        resource[flow, 6] = np.where(narrow, number, -1)[pair]
        bundles = with_extra(bundles, gbps[narrow])
    return Spread(resource=resource, weight=None, switches=way.switches, bundles=bundles)


def _start(fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32) -> tuple[NextHops, Ways]:
    live = cable_rate_gbps > 0
    hops = next_hops(fabric).only(live)
    return hops, ways(fabric, hops, live, src, dst)


def _resources(fabric: Fabric, hops: NextHops, way: Ways, src: I32, dst: I32) -> I32:
    """What every flow loads, (F, 7), -1 where there is nothing; the last column is left empty."""
    ids, links = bundle_ids(hops), fabric.links
    climbs = np.flatnonzero(way.below | way.across)
    resource = np.full((len(src), HOPS), -1, dtype=np.int32)
    np.copyto(resource[:, 0], 2 * src, where=way.reached)
    np.copyto(resource[:, 5], 2 * dst + 1, where=way.reached)
    resource[climbs, 1] = links + way.src_leaf[climbs]
    resource[climbs, 4] = links + ids.leaf_down + way.dst_leaf[climbs]
    across = np.flatnonzero(way.across)
    resource[across, 2] = links + ids.block_up + hops.block[way.src_leaf[across]]
    resource[across, 3] = links + ids.block_down + hops.block[way.dst_leaf[across]]
    return resource


def _uneven_pairs(way: Ways, mark: Bool, leaves: int) -> tuple[I32, I32, I32, I32]:
    """Flows below the cores with an uneven leaf, the pair of each, and the pairs' two leaves."""
    flow = np.flatnonzero(way.below & (mark[way.src_leaf] | mark[way.dst_leaf])).astype(np.int32)
    code = way.src_leaf[flow].astype(np.int64) * leaves + way.dst_leaf[flow]
    pairs, pair = np.unique(code, return_inverse=True)
    a, b = np.divmod(pairs, max(leaves, 1))
    return flow, pair.astype(np.int32), a.astype(np.int32), b.astype(np.int32)
