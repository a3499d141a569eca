"""Ways between GPUs of one scale-up domain.

Through switches a flow goes up its own cable and down the other GPU's; between groups of a
two-level domain over both groups' uplinks as well. On a mesh it takes the one cable of the pair:
nothing is relayed, so a dead cable leaves its pair without a way. On a torus it goes along one
dimension after another, each by the shorter way around the ring; halfway around, forward from even
coordinates and back from odd ones; the other way when something on the way is dead.

Axes: A flows, H hops, P members of an exchange.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterscope.columns import F64, I32, I64, Bool, bincount
from clusterscope.fabric.arrays import SCALE_UP, Fabric
from clusterscope.fabric.geometry import BACK, FORWARD, Steps, steps
from clusterscope.fabric.scaleup import cable_domain
from clusterscope.routing.routes import Routes

# Bounds the memory of one round of an exchange: pairs of GPUs.
_PAIRS_AT_A_TIME = 1 << 20


class Ways(NamedTuple):
    """Links of every flow (A, H), -1 pads; switches or hops passed (A,), 0 without a way."""

    links: I32
    hops: I32


def ways(fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32) -> Ways:
    """Ways between GPU vertices `src` and `dst` (A,), which need not share a domain."""
    a, b = src - fabric.gpu_vertex, dst - fabric.gpu_vertex
    joined = (fabric.gpu_domain[a] >= 0) & (fabric.gpu_domain[a] == fabric.gpu_domain[b])
    live = cable_rate_gbps > 0
    match fabric.shape.kind:
        case "switched":
            links, hops = _switched(fabric, a, b)
        case "two-level":
            links, hops = _two_level(fabric, a, b)
        case "mesh":
            links, hops = _mesh(fabric, a, b)
        case "torus":
            links, hops = _torus(fabric, live, a, b)
    # Link -1 is a pad, or leads nowhere where `hops` is 0; its cable is never asked about.
    whole = np.all((links < 0) | live[np.where(links < 0, 0, links >> 1)], axis=1)
    joined &= whole & (hops > 0)
    return Ways(
        np.where(joined[:, None], links, -1).astype(np.int32),
        np.where(joined, hops, 0).astype(np.int32),
    )


def _switched(fabric: Fabric, a: I32, b: I32) -> tuple[I64, I64]:
    """Up to the domain's switches and down."""
    first = int(fabric.tier_start[SCALE_UP])
    links = np.stack([2 * (first + a), 2 * (first + b) + 1], axis=1)
    # GPUs without scale-up have no cables behind the others.
    there = np.where(links < fabric.links, links, -1).astype(np.int64)
    return there, np.ones(len(a), dtype=np.int64)


def _two_level(fabric: Fabric, a: I32, b: I32) -> tuple[I64, I64]:
    """The same, over the uplinks of two groups unless both GPUs are in one."""
    first = int(fabric.tier_start[SCALE_UP])
    groups = (a // fabric.shape.group, b // fabric.shape.group)
    up, down = (first + fabric.gpus + group for group in groups)
    far = groups[0] != groups[1]
    links = np.stack(
        [
            2 * (first + a),
            np.where(far, 2 * up, -1),
            np.where(far, 2 * down + 1, -1),
            2 * (first + b) + 1,
        ],
        axis=1,
    )
    return links.astype(np.int64), np.where(far, 3, 1)


def _mesh(fabric: Fabric, a: I32, b: I32) -> tuple[I64, I64]:
    """The cable of the pair; a GPU that sends to itself needs none and has no way."""
    size, shape = fabric.shape.size, fabric.shape
    low, high = np.minimum(a, b) % size, np.maximum(a, b) % size
    pair = low * size - low * (low + 1) // 2 + high - low - 1
    cable = int(fabric.tier_start[SCALE_UP]) + a // size * shape.cables + pair
    links = np.where(a == b, -1, 2 * cable.astype(np.int64) + (a > b))
    return links[:, None], (a != b).astype(np.int64)


def _torus(fabric: Fabric, live: Bool, a: I32, b: I32) -> tuple[I64, I64]:
    """One dimension after another."""
    shape = fabric.shape
    table = steps(shape)
    domain, here = np.divmod(a, shape.size)
    there = b % shape.size
    first = 2 * (int(fabric.tier_start[SCALE_UP]) + domain.astype(np.int64) * shape.cables)
    columns: list[I64] = []
    for axis, n in enumerate(shape.dims):
        distance = (table.coordinate[there, axis] - table.coordinate[here, axis]) % n
        even = table.coordinate[here, axis] % 2 == 0
        forward = (2 * distance < n) | ((2 * distance == n) & even)
        paths = []
        for way, length in ((FORWARD, distance), (BACK, np.where(distance, n - distance, 0))):
            paths.append(_along(table, here, (axis, way), length, n - 1))
        alive = [
            np.all((path < 0) | live[np.where(path < 0, 0, (first[:, None] + path) >> 1)], axis=1)
            for path, _ in paths
        ]
        forward = np.where(forward, alive[FORWARD] | ~alive[BACK], alive[FORWARD] & ~alive[BACK])
        path = np.where(forward[:, None], paths[FORWARD][0], paths[BACK][0])
        columns.extend(np.where(path >= 0, first[:, None] + path, -1).T)
        here = paths[FORWARD][1]
    links = np.stack(columns, axis=1) if columns else np.zeros((len(a), 0), dtype=np.int64)
    return links, np.count_nonzero(links >= 0, axis=1)


def _along(
    table: Steps, place: I32, turn: tuple[int, int], length: I32, longest: int
) -> tuple[I32, I32]:
    """Links of a walk from each place in one direction (A, longest), -1 pads, and its end (A,)."""
    axis, way = turn
    path = np.full((len(place), longest), -1, dtype=np.int32)
    for hop in range(longest):
        going = length > hop
        path[:, hop] = np.where(going, table.link[place, axis, way], -1)
        place = np.where(going, table.to[place, axis, way], place).astype(np.int32)
    return path, place


def exchange(fabric: Fabric, cable_rate_gbps: F64, gpus: I32) -> Routes:
    """Routes of one uniform all-to-all inside each domain, as a single flow.

    Every GPU (P,) sends the same to every other one of its domain that takes part. One unit of the
    flow's rate is what the GPU with the most peers sends. It is reached when every pair has a way.

    A whole domain without a dead cable loads its links like any other, so one of them is routed
    for all.
    """
    domain = fabric.gpu_domain[gpus]
    members = np.bincount(domain, minlength=fabric.domains)
    most = max(int(members.max(initial=0)) - 1, 1)
    load = np.zeros(fabric.links)
    alike = np.flatnonzero((members == fabric.shape.size) & _alive(fabric, cable_rate_gbps))
    hops, reached = 1, True
    rest = np.flatnonzero((members > 1) & ~np.isin(np.arange(fabric.domains), alike))
    if len(alike):
        one, hops, reached = _pairs(fabric, cable_rate_gbps, gpus[domain == alike[0]])
        _copy(fabric, load, one, alike)
    for other in rest.tolist():
        own, far, joined = _pairs(fabric, cable_rate_gbps, gpus[domain == other])
        load += own
        hops, reached = max(hops, far), reached and joined
    links = np.flatnonzero(load) if reached else np.zeros(0, dtype=np.int64)
    return Routes(
        entry_flow=np.zeros(len(links), dtype=np.int32),
        entry_link=links.astype(np.int32),
        entry_weight=load[links] / most,
        reached=np.array([reached and bool((members > 1).any())]),
        hops=np.array([hops if reached else 0], dtype=np.int32),
    )


def _alive(fabric: Fabric, cable_rate_gbps: F64) -> Bool:
    """Domains without a dead cable, (D,)."""
    dead = np.flatnonzero(cable_rate_gbps[int(fabric.tier_start[SCALE_UP]) :] <= 0)
    alive = np.ones(fabric.domains, dtype=np.bool_)
    if len(dead):
        alive[cable_domain(fabric)[dead]] = False
    return alive


def _pairs(fabric: Fabric, cable_rate_gbps: F64, gpus: I32) -> tuple[F64, int, bool]:
    """Flows of a domain that cross each link (L,), hops of the longest, whether all have a way."""
    load, longest, joined = np.zeros(fabric.links), 1, True
    rows = max(1, _PAIRS_AT_A_TIME // len(gpus))
    for low in range(0, len(gpus), rows):
        some = gpus[low : low + rows]
        src, dst = np.repeat(some, len(gpus)), np.tile(gpus, len(some))
        apart = src != dst
        found = ways(
            fabric,
            cable_rate_gbps,
            src[apart] + fabric.gpu_vertex,
            dst[apart] + fabric.gpu_vertex,
        )
        joined = joined and bool((found.hops > 0).all())
        load += bincount(found.links[found.links >= 0], None, fabric.links)
        longest = max(longest, int(found.hops.max(initial=1)))
    return load, longest, joined


def _copy(fabric: Fabric, load: F64, one: F64, domains: I64) -> None:
    """Put the load of the first of some domains on the links of each of them."""
    own = cable_domain(fabric)
    first = int(fabric.tier_start[SCALE_UP])
    cables = np.flatnonzero(own == domains[0])
    for way in (0, 1):
        values = one[2 * (first + cables) + way]
        wanted = np.isin(own, domains)
        # Cables of a domain stand in one order everywhere.
        order = np.argsort(own[wanted], kind="stable")
        target = first + np.flatnonzero(wanted)[order]
        load[2 * target + way] = np.tile(values, len(domains))
