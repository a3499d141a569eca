"""A dragonfly, wired by arithmetic: switches of a group all to all, and cables between all groups.

Orders, which the indices of everything downstream follow:

- All switches are of tier 1, group by group; a group is a pod and a block.
- NIC ports fill the switches of a group in order of node and NIC; no node spans two groups.
- Local cables stand in the place of leaf-spine cables, from the lower switch of each pair to the
  higher; global cables in that of spine-core cables, from the lower group to the higher.

Each group deals its global ends to its switches in turn, those to the next group first, so that the
degrees of its switches differ by one at most.
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import I32
from clusterscope.fabric.arrays import SPINE_CORE, Fabric
from clusterscope.fabric.clos import Cables, Clos, Switches
from clusterscope.spec.plan import DragonflyPlan, ScaleOutPlan


def wire_dragonfly(plan: ScaleOutPlan, mesh: DragonflyPlan) -> Clos:
    """Place and cable every switch; local cables as `leaf_spine`, global ones as `spine_core`."""
    switch = np.arange(plan.leaves, dtype=np.int64)
    group = switch // mesh.switches
    switches = Switches(
        np.ones_like(switch), group, np.zeros_like(switch), np.full_like(switch, -1), group
    )
    nic = np.arange(plan.nodes * plan.nics, dtype=np.int64)
    node, ordinal = np.divmod(nic, plan.nics)
    of_group, place = np.divmod(node, mesh.group_nodes)
    port_leaf = of_group * mesh.switches + (place * plan.nics + ordinal) // plan.leaf_down
    return Clos(switches, port_leaf, nic, _local(plan, mesh), _global(plan, mesh))


def _local(plan: ScaleOutPlan, mesh: DragonflyPlan) -> Cables:
    """Cables inside the groups, by lower switch."""
    low, high = (np.repeat(end, mesh.local_links) for end in np.triu_indices(mesh.switches, 1))
    first = np.arange(mesh.groups, dtype=np.int64)[:, None] * mesh.switches
    return Cables((first + low).ravel(), (first + high).ravel(), plan.link_gbps)


def _global(plan: ScaleOutPlan, mesh: DragonflyPlan) -> Cables:
    """Cables between groups, by lower switch, then the group they lead to."""
    g, h = (np.repeat(end, mesh.global_links) for end in np.triu_indices(mesh.groups, 1))
    copy = np.arange(len(g)) % mesh.global_links
    low = g * mesh.switches + ((h - g - 1) * mesh.global_links + copy) % mesh.switches
    back = mesh.groups - 1 - (h - g)  # how many groups lie between h and g, counted upward from h
    high = h * mesh.switches + (back * mesh.global_links + copy) % mesh.switches
    order = np.lexsort((copy, h, low))
    return Cables(low[order], high[order], plan.link_gbps)


def group_size(fabric: Fabric) -> int:
    """Switches of a group."""
    return fabric.switches // fabric.pods


def global_taper(fabric: Fabric) -> float:
    """What the NICs of a full group send over what its global cables carry, one direction.

    With minimal routing and uniform traffic a NIC gets its line rate over this, if it is above 1.
    """
    ports = np.bincount(fabric.switch_pod[fabric.port_leaf], minlength=fabric.pods)
    full = int(ports.argmax())
    leaving = np.bincount(global_groups(fabric).ravel(), minlength=fabric.pods)[full]
    tier = fabric.tier_cables(SPINE_CORE)
    if not leaving:
        return 0.0
    nic = float(fabric.cable_gbps[0])
    return float(ports[full] * nic / (leaving * float(fabric.cable_gbps[tier.start])))


def global_groups(fabric: Fabric) -> I32:
    """Groups at the lower and at the upper end of every global cable, (2, cables)."""
    tier = fabric.tier_cables(SPINE_CORE)
    span = slice(tier.start, tier.stop)
    ends = np.stack([fabric.cable_a[span], fabric.cable_b[span]]) - np.int32(fabric.ports)
    groups: I32 = fabric.switch_pod[ends]
    return groups
