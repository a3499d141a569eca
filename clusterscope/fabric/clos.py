"""A Clos of one to three tiers, wired by arithmetic.

Orders, which the indices of everything downstream follow:

- NIC port `(node * nics_per_node + nic) * planes + plane`.
- Leaves pod by pod, inside a pod by plane, SU, rail, then leaf of the rail. The last pod may hold
  fewer SUs and the last SU fewer nodes; an SU always has all its leaves.
- Spines by pod, plane, (rail,) index; cores by plane, (rail,) group, index. The rail counts when
  the wiring is rail-only: no switch then joins two rails, and each rail has its share of the cores.

Uplinks are dealt round robin: the n-th uplink of a block, counted over its leaves, goes to spine
`n mod spines`; the n-th uplink of a core group, counted over its spines pod by pod, goes to core
`n mod cores_in_group`. So the degrees of switches that share a block or a group differ by one at
most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import I64
from clusterscope.spec.plan import ScaleOutPlan


@dataclass(frozen=True)
class Switches:
    """Where every switch stands, each (S,)."""

    tier: I64
    pod: I64
    plane: I64
    rail: I64
    block: I64

    @classmethod
    def none(cls) -> Switches:
        """No switches at all."""
        return cls(*(np.zeros(0, dtype=np.int64) for _ in range(5)))


@dataclass(frozen=True)
class Cables:
    """Ends and rate of the cables of one tier; a switch end is a switch index, not a vertex."""

    a: I64
    b: I64
    gbps: float

    @classmethod
    def none(cls) -> Cables:
        """No cables."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0.0)


@dataclass(frozen=True)
class Clos:
    """Switches and cables of a scale-out fabric, before vertices are numbered.

    Attributes:
        switches: where every switch stands.
        port_leaf: leaf of every NIC port, (N,).
        port_rank: place of every NIC port in order of leaf, then leaf port, (N,).
        leaf_spine: cables by leaf, then uplink.
        spine_core: cables by spine, then uplink.
    """

    switches: Switches
    port_leaf: I64
    port_rank: I64
    leaf_spine: Cables
    spine_core: Cables


def wire(plan: ScaleOutPlan | None) -> Clos:
    """Place and cable every switch of a plan; nothing when there is no scale-out fabric."""
    if plan is None:
        empty = np.zeros(0, dtype=np.int64)
        return Clos(Switches.none(), empty, empty, Cables.none(), Cables.none())
    switches = _place_switches(plan)
    port_leaf, port_rank = _seat_ports(plan)
    return Clos(
        switches, port_leaf, port_rank, _wire_leaves(plan, switches), _wire_spines(plan, switches)
    )


def _pod_sus(plan: ScaleOutPlan, pod: I64) -> I64:
    """SUs in each of the pods asked for."""
    out: I64 = np.minimum(plan.pod_sus, plan.sus - pod * plan.pod_sus)
    return out


def _place_switches(plan: ScaleOutPlan) -> Switches:
    """Tier, pod, plane, rail and block of every switch."""
    by_tier = [_place_leaves(plan)]
    blocks = plan.blocks_per_pod_plane
    if plan.tiers >= 2:
        spine = np.arange(plan.spines_total, dtype=np.int64)
        block = spine // plan.spines
        rail = block % blocks if blocks > 1 else np.full_like(spine, -1)
        pod, plane = np.divmod(block // blocks, plan.planes)
        by_tier.append(Switches(np.full_like(spine, 2), pod, plane, rail, block))
    if plan.tiers == 3:
        core = np.arange(plan.cores_total, dtype=np.int64)
        plane, place = np.divmod(core, plan.cores)
        none = np.full_like(core, -1)
        rail = place // (plan.cores // blocks) if blocks > 1 else none
        by_tier.append(Switches(np.full_like(core, 3), none, plane, rail, none))
    return Switches(
        *(
            np.concatenate([getattr(part, name) for part in by_tier])
            for name in ("tier", "pod", "plane", "rail", "block")
        )
    )


def _place_leaves(plan: ScaleOutPlan) -> Switches:
    """Tier, pod, plane, rail and block of every leaf."""
    leaf = np.arange(plan.leaves, dtype=np.int64)
    pod, place = np.divmod(leaf, plan.planes * plan.pod_sus * plan.leaves_per_su)
    plane, place = np.divmod(place, _pod_sus(plan, pod) * plan.leaves_per_su)
    rail = place % plan.leaves_per_su // (plan.leaves_per_su // plan.rails)
    if plan.wiring == "rack":
        rail = np.full_like(leaf, -1)
    block = pod * plan.planes + plane
    if plan.blocks_per_pod_plane > 1:
        block = block * plan.blocks_per_pod_plane + rail
    if plan.tiers == 1:
        block = leaf  # nothing joins the leaves
    return Switches(np.ones_like(leaf), pod, plane, rail, block)


def _seat_ports(plan: ScaleOutPlan) -> tuple[I64, I64]:
    """Leaf of every NIC port and its place in (leaf, leaf port) order, each (N,)."""
    nic = np.arange(plan.nodes * plan.nics, dtype=np.int64)
    node, ordinal = np.divmod(nic, plan.nics)
    su, place = np.divmod(node, plan.su_nodes)
    k, seat = np.divmod(place, plan.nodes_per_leaf)
    rail = ordinal
    if plan.wiring == "rack":
        seat, rail = seat * plan.nics + ordinal, np.zeros_like(nic)
    pod, su_in_pod = np.divmod(su, plan.pod_sus)
    leaf_in_pod = su_in_pod * plan.leaves_per_su + rail * (plan.leaves_per_su // plan.rails) + k
    plane_leaves = _pod_sus(plan, pod) * plan.leaves_per_su
    plane = np.arange(plan.planes, dtype=np.int64)
    first = pod * (plan.planes * plan.pod_sus * plan.leaves_per_su)
    leaf = (first + leaf_in_pod)[:, None] + plane_leaves[:, None] * plane  # (NICs, planes)
    socket = (leaf * plan.leaf_down + seat[:, None]).ravel()
    taken = np.zeros(plan.leaves * plan.leaf_down, dtype=np.bool_)
    taken[socket] = True
    return leaf.ravel(), np.cumsum(taken)[socket] - 1


def _wire_leaves(plan: ScaleOutPlan, switches: Switches) -> Cables:
    """Leaf-spine cables, by leaf, then uplink."""
    if plan.tiers == 1:
        return Cables.none()
    block = switches.block[: plan.leaves]
    turn = _turn_in(block)[:, None] * plan.leaf_up + np.arange(plan.leaf_up)  # (leaves, uplinks)
    spine = plan.leaves + block[:, None] * plan.spines + turn % plan.spines
    return Cables(np.repeat(np.arange(plan.leaves), plan.leaf_up), spine.ravel(), plan.link_gbps)


def _turn_in(block: I64) -> I64:
    """How many earlier members each leaf's block has, for leaves in order."""
    order = np.argsort(block, kind="stable")
    starts = np.searchsorted(block[order], block[order])
    turn = np.empty_like(block)
    turn[order] = np.arange(len(block)) - starts
    return turn


def _wire_spines(plan: ScaleOutPlan, switches: Switches) -> Cables:
    """Spine-core cables, by spine, then uplink."""
    if plan.tiers < 3:
        return Cables.none()
    spine = np.arange(plan.leaves, plan.leaves + plan.spines_total, dtype=np.int64)
    pod, plane = switches.pod[spine], switches.plane[spine]
    blocks, groups = plan.blocks_per_pod_plane, plan.core_groups
    rail = switches.rail[spine] if blocks > 1 else np.zeros_like(spine)
    spines_in_group = plan.spines // groups
    cores_in_group = plan.cores // blocks // groups
    group, place = np.divmod((spine - plan.leaves) % plan.spines, spines_in_group)
    turn = (pod * spines_in_group + place)[:, None] * plan.spine_up + np.arange(plan.spine_up)
    first = ((plane * blocks + rail) * groups + group) * cores_in_group
    core = plan.leaves + plan.spines_total + first[:, None] + turn % cores_in_group
    return Cables(np.repeat(spine, plan.spine_up), core.ravel(), plan.link_gbps)
