"""The one door: routes of flows, or of a uniform exchange, under a policy.

Axes: F flows, C cables, P ports, H hops.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clusterscope.columns import F64, I32, U64, bincount
from clusterscope.fabric.arrays import Fabric
from clusterscope.routing.dragonfly_adaptive import dragonfly_adaptive
from clusterscope.routing.dragonfly_exchange import dragonfly_uniform
from clusterscope.routing.dragonfly_paths import by_destination, paths
from clusterscope.routing.exchange import uniform
from clusterscope.routing.inside import exchange, ways
from clusterscope.routing.keys import dealt_keys, hash_keys, modulo_keys
from clusterscope.routing.routes import Bundles, Policy, Routes, no_bundles
from clusterscope.routing.spread import Spread, adaptive, spray
from clusterscope.routing.walk import walk

Balancer = Callable[[Fabric, F64, I32, I32, U64, Policy], Spread]


def _ecmp(
    fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32, entropy: U64, policy: Policy
) -> Spread:
    keys = hash_keys(fabric, entropy, policy)
    return _one_path(*walk(fabric, cable_rate_gbps, src, dst, keys))


def _dmodk(
    fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32, entropy: U64, policy: Policy
) -> Spread:
    del entropy, policy
    return _one_path(*walk(fabric, cable_rate_gbps, src, dst, modulo_keys(fabric, src, dst)))


def _flowlet(
    fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32, entropy: U64, policy: Policy
) -> Spread:
    keys = dealt_keys(fabric, entropy, policy)
    return _one_path(*walk(fabric, cable_rate_gbps, src, dst, keys))


def _adaptive(
    fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32, entropy: U64, policy: Policy
) -> Spread:
    del entropy, policy
    return adaptive(fabric, cable_rate_gbps, src, dst)


def _spray(
    fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32, entropy: U64, policy: Policy
) -> Spread:
    del entropy, policy
    return spray(fabric, cable_rate_gbps, src, dst)


def _dragonfly(
    fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32, entropy: U64, policy: Policy
) -> Spread:
    course = policy.dragonfly_course
    if course == "adaptive":
        return dragonfly_adaptive(fabric, cable_rate_gbps, src, dst)
    keys = hash_keys(fabric, entropy, policy)
    if policy.load_balancing == "dmodk":
        keys = by_destination(fabric.port_rank[dst])
    return _one_path(*paths(fabric, cable_rate_gbps, src, dst, keys, course))


def _one_path(links: I32, switches: I32) -> Spread:
    return Spread(resource=links, weight=None, switches=switches, bundles=no_bundles())


BALANCERS: dict[str, Balancer] = {
    "ecmp": _ecmp,
    "dmodk": _dmodk,
    "flowlet": _flowlet,
    "adaptive": _adaptive,
    "spray": _spray,
}


def route(
    fabric: Fabric,
    cable_rate_gbps: F64,
    src: I32,
    dst: I32,
    entropy: U64,
    policy: Policy,
) -> tuple[Routes, Bundles]:
    """Routes of flows between NIC ports, and between GPUs of one scale-up domain.

    A flow from a port to itself turns around at its leaf. A flow without a live path has no
    entries and is not reached.

    Args:
        fabric: what is cabled to what.
        cable_rate_gbps: (C,) usable rate of every cable, one direction; 0 is dead.
        src: (F,) sending vertex, a NIC port or a GPU.
        dst: (F,) receiving vertex, of the same kind.
        entropy: (F,) hash of each flow's header fields; see `hashing.entropy`.
        policy: how switches choose.

    Returns:
        The routes, entries of a flow in order of its path, and the bundles that they name.
    """
    balance = _dragonfly if fabric.dragonfly else BALANCERS[policy.load_balancing]
    scale_up = np.flatnonzero(src >= fabric.ports)
    if not len(scale_up):
        return _routes(balance(fabric, cable_rate_gbps, src, dst, entropy, policy))
    scale_out = np.flatnonzero(src < fabric.ports)
    if not len(scale_out):
        return _routes(_one_path(*ways(fabric, cable_rate_gbps, src, dst)))
    spread = balance(
        fabric, cable_rate_gbps, src[scale_out], dst[scale_out], entropy[scale_out], policy
    )
    links, hops = ways(fabric, cable_rate_gbps, src[scale_up], dst[scale_up])
    wide = spread.resource.shape[1]
    width = max(wide, links.shape[1])
    resource = np.full((len(src), width), -1, dtype=np.int32)
    resource[scale_out, :wide] = spread.resource
    resource[scale_up, : links.shape[1]] = links
    weight = None
    if spread.weight is not None:
        weight = np.ones((len(src), width))
        weight[scale_out, :wide] = spread.weight
    switches = np.zeros(len(src), dtype=np.int32)
    switches[scale_out], switches[scale_up] = spread.switches, hops
    return _routes(Spread(resource, weight, switches, spread.bundles))


def route_exchange(
    fabric: Fabric, cable_rate_gbps: F64, ports: I32, domain: I32, policy: Policy
) -> tuple[Routes, Bundles]:
    """Routes of one uniform all-to-all among ports (P,) of domains (P,), as a single flow.

    The unit of its rate is the egress of the busiest port; see `exchange.uniform`. Ports that are
    GPUs exchange inside their domains; see `inside.exchange`.
    """
    if len(ports) and ports[0] >= fabric.gpu_vertex:
        return exchange(fabric, cable_rate_gbps, ports - fabric.gpu_vertex), no_bundles()
    if fabric.dragonfly:
        return dragonfly_uniform(fabric, cable_rate_gbps, ports, domain, policy.dragonfly_course)
    return uniform(fabric, cable_rate_gbps, ports, domain, policy)


def paths_of(routes: Routes) -> I32:
    """Links of every flow in order, (F, H) padded with -1, for single-path policies."""
    flows = len(routes.reached)
    count = bincount(routes.entry_flow, None, flows).astype(np.int64)
    place = np.arange(len(routes.entry_flow)) - (np.cumsum(count) - count)[routes.entry_flow]
    paths = np.full((flows, int(count.max(initial=0))), -1, dtype=np.int32)
    paths[routes.entry_flow, place] = routes.entry_link
    return paths


def _routes(spread: Spread) -> tuple[Routes, Bundles]:
    """Entries of the resources that are there, by flow."""
    there = spread.resource >= 0
    flow = np.repeat(np.arange(len(there), dtype=np.int32), np.count_nonzero(there, axis=1))
    weight = np.ones(len(flow)) if spread.weight is None else spread.weight[there]
    return Routes(
        entry_flow=flow,
        entry_link=spread.resource[there],
        entry_weight=weight,
        reached=spread.switches > 0,
        hops=spread.switches,
    ), spread.bundles
