"""Routes of a uniform all-to-all on a dragonfly as one flow, without building its P x P pairs.

As `exchange` does for a Clos: every port sends the same to every port that is in another domain,
and one unit of the flow's rate is the egress of the port with the most peers. Traffic between
groups follows from counts of ports by (group, domain), and how it splits between the direct cables
and detours is `detour`'s answer for adaptive routing; all direct for minimal, all detoured for
Valiant. Local hops are counted as in `dragonfly_adaptive`.

Model: with of the order of P^2 hashed flows the law of large numbers makes minimal's and Valiant's
split as even as a spray's. Their load is put on the links themselves, where hashed flows of other
calls meet it.

Axes: P ports, G groups, S switches.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from clusterscope.columns import F64, I32, I64, bincount
from clusterscope.fabric.arrays import Fabric
from clusterscope.routing.detour import Mesh, detoured
from clusterscope.routing.dragonfly_state import State
from clusterscope.routing.routes import Bundles, Course, Routes, no_bundles


def dragonfly_uniform(
    fabric: Fabric, cable_rate_gbps: F64, ports: I32, domain: I32, course: Course
) -> tuple[Routes, Bundles]:
    """Routes of one uniform all-to-all, a single flow, and the bundles they name.

    It is reached when every member port works and every pair has a live path; an exchange without
    a pair is not. `hops` are those of its longest paths.

    Args:
        fabric: what is cabled to what.
        cable_rate_gbps: (C,) usable rate of every cable; 0 is dead.
        ports: (P,) member NIC ports, each once.
        domain: (P,) domain of each; ports of one domain exchange nothing here.
        course: how traffic between groups is split.
    """
    state = State(fabric, cable_rate_gbps)
    peers = len(ports) - np.bincount(domain)[domain]
    pairs = _pairs(fabric.switch_pod[fabric.port_leaf[ports]], domain, fabric.pods)
    if not peers.any() or not _reached(state, ports, pairs):
        return _single(np.zeros(0, dtype=np.int64), np.zeros(0), 0), state.bundles
    routes = _loads(state, ports, domain, (peers, pairs), course)
    if course == "adaptive":
        return routes, state.bundles
    return _on_links(routes, state.bundles, fabric.links), no_bundles()


def _reached(state: State, ports: I32, pairs: F64) -> bool:
    """Whether all members work, their groups are whole, and ways join the groups."""
    mesh = state.groups
    linked = (mesh.capacity[0] > 0) | (mesh.ways[0] > 0) | (pairs == 0)
    used = np.unique(state.fabric.switch_pod[state.fabric.port_leaf[ports]])
    return bool(state.live[ports].all() and linked.all() and state.whole[used].all())


def _loads(
    state: State, ports: I32, domain: I32, partners: tuple[I64, F64], course: Course
) -> Routes:
    """Routes of the flow, from the peers of every port (P,) and the pairs between groups (G, G)."""
    fabric, mesh, size = state.fabric, state.groups, state.pairs.size
    (peers, pairs), most = partners, int(partners[0].max())
    sent = pairs / most  # of one port's egress
    around = sent * _share(mesh, sent * fabric.cable_gbps[ports].max(), course)
    load = sent - around + mesh.detours(around[None])[0]
    transit = _through(mesh, around) * (1.0 - 1.0 / size)
    local = transit * 0.0
    if size > 1:
        local = _local(state, fabric.port_leaf[ports], domain) / most + transit
    resource = np.concatenate(
        [
            2 * ports,
            2 * ports + 1,
            fabric.links + np.arange(fabric.pods) * (fabric.pods + 1),
            fabric.links + np.arange(fabric.pods**2),
        ]
    )
    weight = np.concatenate([peers / most, peers / most, local, load.ravel()])
    far = 4 if pairs.any() else 2
    return _single(resource, weight, far + 2 * bool(around.any()) if size > 1 else far // 2)


def _share(mesh: Mesh, demand: F64, course: Course) -> F64:
    """Share of the traffic between groups that is detoured, (G, G)."""
    if course == "adaptive":
        return np.asarray(detoured(demand[None], mesh)[0])
    forced = (mesh.capacity[0] == 0) if course == "minimal" else True
    return np.asarray(np.where(forced & (mesh.ways[0] > 0), 1.0, 0.0))


def _pairs(group: I32, domain: I32, groups: int) -> F64:
    """Ordered pairs of ports of different domains from group to group, (G, G); none inside."""
    ports = bincount(group, None, groups)
    out: F64 = ports[:, None] * ports
    cells, count = np.unique(domain.astype(np.int64) * groups + group, return_counts=True)
    of_domain, of_group = np.divmod(cells, groups)
    first = np.searchsorted(of_domain, of_domain, side="left")
    last = np.searchsorted(of_domain, of_domain, side="right")
    # Cells of one domain are neighbors; as a rule there is one, since a domain is in one group.
    for step in range(1, int((last - first).max(initial=1))):
        one = np.flatnonzero(np.arange(len(cells)) + step < last)
        both = (count[one] * count[one + step]).astype(np.float64)
        np.subtract.at(out, (of_group[one], of_group[one + step]), both)
        np.subtract.at(out, (of_group[one + step], of_group[one]), both)
    np.fill_diagonal(out, 0.0)
    return out


def _through(mesh: Mesh, around: F64) -> F64:
    """Detoured traffic that passes through every group, (G,)."""
    y = np.divide(around, mesh.ways[0], out=np.zeros_like(around), where=mesh.ways[0] > 0)
    first = mesh.capacity[0] * mesh.toward(y[None])[0]
    through: F64 = np.cumsum(first, axis=0)[-1]
    return through


def _local(state: State, switch: I32, domain: I32) -> F64:
    """Local hops of every group's own traffic, in pairs of ports, (G,)."""
    fabric = state.fabric
    group = fabric.switch_pod[switch]
    inside = _within(group, domain, fabric.pods)
    at_switch = _within(switch, domain, fabric.switches)
    near = inside - bincount(fabric.switch_pod, at_switch, fabric.pods)
    # Of what leaves or enters a group, the part whose switch has the global cable makes no hop.
    members = bincount(switch, None, fabric.switches)
    ports = np.maximum(bincount(group, None, fabric.pods), 1.0)
    own = bincount(fabric.switch_pod, members * state.own, fabric.pods) / ports
    pairs = _pairs(group, domain, fabric.pods)
    crossing = np.cumsum(pairs, axis=1)[:, -1] + np.cumsum(pairs, axis=0)[-1]
    return np.asarray(near + crossing * (1.0 - own))


def _within(place: I32, domain: I32, places: int) -> F64:
    """Ordered pairs of ports of different domains inside each place (a switch or group)."""
    spread = int(domain.max(initial=0)) + 1
    cells, count = np.unique(place.astype(np.int64) * spread + domain, return_counts=True)
    same = bincount(cells // spread, (count * count).astype(np.float64), places)
    members = bincount(place, None, places)
    return np.asarray(members * members - same)


def _single(resource: I64, weight: F64, switches: int) -> Routes:
    """Routes of a single flow; 0 switches is no path."""
    used = weight > 0
    return Routes(
        entry_flow=np.zeros(int(used.sum()), dtype=np.int32),
        entry_link=resource[used].astype(np.int32),
        entry_weight=weight[used],
        reached=np.array([switches > 0]),
        hops=np.array([switches], dtype=np.int32),
    )


def _on_links(routes: Routes, bundles: Bundles, links: int) -> Routes:
    """The same load with every bundle dealt out to its members."""
    bundled = routes.entry_link >= links
    weight = np.zeros(len(bundles.gbps))
    np.add.at(weight, routes.entry_link[bundled] - links, routes.entry_weight[bundled])
    member = np.repeat(weight, np.diff(bundles.start)) * bundles.member_share
    used = member > 0
    entry_link = np.concatenate([routes.entry_link[~bundled], bundles.member_link[used]])
    return dataclasses.replace(
        routes,
        entry_flow=np.zeros(len(entry_link), dtype=np.int32),
        entry_link=entry_link,
        entry_weight=np.concatenate([routes.entry_weight[~bundled], member[used]]),
    )
