"""Adaptive routing on a dragonfly: every flow takes all ways at once, in shares.

A flow between groups loads the bundle of its own pair of groups with the share that goes direct
(`detour` says how much), the two bundles of every detour with that detour's share, and the local
bundles of the groups on its way with the local hops it makes there. Inside a group a flow goes
direct, or over a third switch as far as `detour` says for the switches of that group.

Model: the split is that of the flows routed together, as if they were alone and sent at line rate.
When many flows are detoured each takes some of the detours, evenly placed, so that together they
use all alike.

Axes: F flows, A flows that are detoured, P pairs of groups, N detours of a flow, G groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I32, I64, Bool, bincount
from clusterscope.fabric.arrays import Fabric
from clusterscope.routing.detour import Mesh, detoured
from clusterscope.routing.dragonfly_paths import by_destination, paths
from clusterscope.routing.dragonfly_state import State
from clusterscope.routing.spread import Spread

# Entries of detours that all flows of a call may have together, and the fewest detours of a flow
# that goes no other way.
_ENTRIES = 1 << 20
_FEWEST = 4
# Steps of even sequences: reciprocals of the positive roots of x^2 = x + 1 and of x^3 = x + 1.
_STEP, _OTHER_STEP = 0.6180339887498949, 0.7548776662466927


@dataclass(frozen=True, eq=False)
class _Flows:
    """Flows between NIC ports, all (F,).

    Attributes:
        start: switch of the sender.
        end: switch of the receiver.
        g: group of the sender.
        h: group of the receiver.
        gbps: the most that it could send: its part of both NIC ports.
        reached: a live way exists.
    """

    start: I32
    end: I32
    g: I32
    h: I32
    gbps: F64
    reached: Bool


def dragonfly_adaptive(fabric: Fabric, cable_rate_gbps: F64, src: I32, dst: I32) -> Spread:
    """Shares that keep the bundles of global cables even; see the module."""
    state = State(fabric, cable_rate_gbps)
    flows = _flows(state, src, dst)
    ends = [
        np.where(flows.reached, 2 * src, -1)[:, None],
        np.where(flows.reached, 2 * dst + 1, -1)[:, None],
    ]
    one = np.ones((len(src), 1))
    inside, inside_weight, local_detour = _inside(state, flows)
    across, across_weight, detour = _across(state, flows)
    resource = np.concatenate([ends[0], inside, across, ends[1]], axis=1)
    weight = np.concatenate([one, inside_weight, across_weight, one], axis=1)
    resource[weight == 0.0] = -1
    hops = _switches(state, flows, detour, local_detour)
    return Spread(
        resource=resource.astype(np.int32), weight=weight, switches=hops, bundles=state.bundles
    )


def _flows(state: State, src: I32, dst: I32) -> _Flows:
    fabric, rate = state.fabric, state.cable_gbps
    start, end = fabric.port_leaf[src], fabric.port_leaf[dst]
    g, h = fabric.switch_pod[start], fabric.switch_pod[end]
    sends, takes = (np.bincount(side, minlength=fabric.ports) for side in (src, dst))
    gbps = np.minimum(rate[src] / sends[src], rate[dst] / takes[dst])
    ways = state.groups.ways[0]
    reached = (rate[src] > 0) & (rate[dst] > 0)
    reached &= (g == h) | (state.groups.capacity[0][g, h] > 0) | (ways[g, h] > 0)
    if not state.whole.all():
        _look_closely(state, src, dst, reached)
    return _Flows(start, end, g, h, gbps, reached)


def _look_closely(state: State, src: I32, dst: I32, reached: Bool) -> None:
    """Search a path for flows that may meet a group that is not whole, and drop those without."""
    fabric, torn = state.fabric, ~state.whole
    g, h = (fabric.switch_pod[fabric.port_leaf[side]] for side in (src, dst))
    unsure = torn[g] | torn[h] | ((g != h) & (state.groups.capacity[0][g, h] == 0))
    flow = np.flatnonzero(reached & unsure).astype(np.int32)
    keys = by_destination(fabric.port_rank[dst[flow]])
    switches = paths(fabric, state.cable_gbps, src[flow], dst[flow], keys, "minimal")[1]
    reached[flow[switches == 0]] = False


def _inside(state: State, flows: _Flows) -> tuple[I32, F64, F64]:
    """Local bundles and limits at both ends of every flow, weights, and local detours.

    Returns:
        resource: (F, 4) local bundle of g, of h, limit out of start, limit into end; -1 for none.
        weight: (F, 4) load on each per unit of rate.
        detour: (F,) share of a flow inside a group that goes over a third switch, 0 of others.
    """
    links, switches = state.fabric.links, state.fabric.switches
    moves = flows.reached & (flows.start != flows.end)
    near = moves & (flows.g == flows.h)
    detour = np.zeros(len(near))
    detour[near] = _local_detours(state, flows, np.flatnonzero(near))
    out = np.where(moves, np.where(near, 1.0, 1.0 - state.own[flows.start]), 0.0)
    back = np.where(moves, np.where(near, 1.0, 1.0 - state.own[flows.end]), 0.0)
    if state.pairs.size == 1:
        out[:], back[:] = 0.0, 0.0
    first = links + state.limits
    resource = np.stack(
        [
            links + state.local_bundle(flows.g),
            links + state.local_bundle(flows.h),
            first + flows.start,
            first + switches + flows.end,
        ],
        axis=1,
    )
    weight = np.stack(
        [
            np.where(near, 1.0 + detour, out),
            np.where(near, 0.0, back),
            np.where(state.tight[flows.start], out, 0.0),
            np.where(state.tight[flows.end], back, 0.0),
        ],
        axis=1,
    )
    return resource.astype(np.int32), weight, detour


def _local_detours(state: State, flows: _Flows, flow: I64) -> F64:
    """Share of flows inside their groups (A,) that goes over a third switch."""
    if not len(flow):
        return np.zeros(0)
    size = state.pairs.size
    groups, place = np.unique(flows.g[flow], return_inverse=True)
    row, column = flows.start[flow] % size, flows.end[flow] % size
    code = (place * size + row) * size + column
    demand = bincount(code, flows.gbps[flow], len(groups) * size * size)
    shape = (len(groups), size, size)
    share = detoured(demand.reshape(shape), Mesh.of(state.trunks[groups]))
    return np.asarray(share.ravel()[code])


def _across(state: State, flows: _Flows) -> tuple[I32, F64, F64]:
    """Bundles between groups on every flow's ways, weights, and the share that is detoured (F,).

    Resources and weights are (F, 1 + 3N): the direct bundle, then of every detour the first bundle,
    the second, and the local one between them.
    """
    groups, links = state.pairs.groups, state.fabric.links
    cross = flows.reached & (flows.g != flows.h)
    code = flows.g.astype(np.int64) * groups + flows.h
    demand = bincount(code[cross], flows.gbps[cross], groups * groups)
    share = detoured(demand.reshape(1, groups, groups), state.groups)[0].ravel()
    detour = np.where(cross, share[code], 0.0)
    direct = np.where(cross, links + code, -1)[:, None]
    weight = np.where(cross, 1.0 - detour, 0.0)[:, None]
    flow = np.flatnonzero(detour > 0)
    if not len(flow):
        return direct.astype(np.int32), weight, detour
    most = max(_FEWEST, _ENTRIES // (3 * len(code)))
    over, part = _detours(state, code[flow], detour[flow], most)
    count, taken = over.shape[1], over >= 0
    g, h = flows.g[flow, None], flows.h[flow, None]
    load = np.where(taken, part * detour[flow, None], 0.0)
    resource = np.full((len(code), 1 + 3 * count), -1, dtype=np.int32)
    weights = np.zeros(resource.shape)
    resource[:, :1], weights[:, :1] = direct, weight
    bundles = (g * groups + over, over * groups + h, over * (groups + 1))
    for place, bundle in enumerate(bundles):
        span = slice(1 + place * count, 1 + (place + 1) * count)
        resource[flow, span] = np.where(taken, links + bundle, -1)
        turns = 1.0 if place < 2 else 1.0 - 1.0 / state.pairs.size
        weights[flow, span] = load * turns
    return resource, weights, detour


def _detours(state: State, code: I64, share: F64, most: int) -> tuple[I64, F64]:
    """Groups that detoured flows (A,) go over, and the part of the detour over each, (A, N).

    All groups when `most` allows; else some for each flow, more the more of it is detoured, the
    parts being equal. -1 where there is none.
    """
    groups, mesh = state.pairs.groups, state.groups
    pair, member = np.unique(code, return_inverse=True)
    g, h = np.divmod(pair, groups)
    capacity = mesh.capacity[0]
    part = capacity[g] * capacity[:, h].T / mesh.ways[0][g, h][:, None]  # (P, G)
    if most >= groups - 2:
        over = np.broadcast_to(np.arange(groups), (len(code), groups))
        return np.where(part[member] > 0, over, -1), part[member]
    order = np.argsort(member, kind="stable")
    size = np.bincount(member)
    rank = np.empty(len(code))
    rank[order] = np.arange(len(code)) - (np.cumsum(size) - size)[member[order]]
    shift = (rank + 0.5) / size[member] + (g * _STEP + h * _OTHER_STEP)[member]
    shift -= np.floor(shift)
    count = np.ceil(share * most)[:, None]
    turn = np.arange(int(count.max()))
    place = np.minimum((turn + shift[:, None]) / count, 1.0)  # (A, N), 0 to 1
    over = np.where(turn < count, _drawn(part, member, place), -1)
    return over, np.broadcast_to(1.0 / count, over.shape)


def _drawn(part: F64, member: I64, place: F64) -> I64:
    """The group at each place (A, N) of its pair's parts, laid end to end."""
    pairs, groups = part.shape
    ends = np.cumsum(part, axis=1)
    ends /= ends[:, -1:]
    # One ascending array for all pairs: pair p's parts lie between p and p + 1.
    ends[:, -1] = 1.0
    ends += np.arange(pairs)[:, None]
    found = np.searchsorted(ends.ravel(), place + member[:, None], side="right")
    return np.asarray(np.minimum(found - member[:, None] * groups, groups - 1))


def _switches(state: State, flows: _Flows, detour: F64, local_detour: F64) -> I32:
    """Switches on the way, in the mean over all shares, to the nearest whole number."""
    far = flows.g != flows.h
    local = 0.0 if state.pairs.size == 1 else 1.0
    ends = local * (2.0 - state.own[flows.start] - state.own[flows.end])
    across = 2.0 + ends + detour * (1.0 + local * (1.0 - 1.0 / state.pairs.size))
    near = np.where(flows.start == flows.end, 1.0, 2.0 + local_detour)
    count = np.floor(np.where(far, across, near) + 0.5)
    return np.where(flows.reached, count, 0.0).astype(np.int32)
