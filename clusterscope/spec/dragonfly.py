"""From the table of a dragonfly to its counts; ports and NICs are checked on the way.

Source: Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008,
with a, p and h as there: switches of a group, NIC ports and global cables of a switch.
"""

from __future__ import annotations

from typing import NamedTuple

from clusterscope.errors import SpecError
from clusterscope.spec import parts
from clusterscope.spec.checks import check_plan_memory, part
from clusterscope.spec.model import ClusterSpec, DragonflySpec
from clusterscope.spec.plan import DragonflyPlan, ScaleOutPlan
from clusterscope.spec.ports import most_beside, need_ports
from clusterscope.units import counted


class Largest(NamedTuple):
    """The largest dragonfly of one kind of switch."""

    groups: int
    switches: int
    endpoints: int


def largest(switches: int, nic_ports: int, global_ports: int, global_links: int = 1) -> Largest:
    """The largest dragonfly: as many groups as the global ports of one group can reach.

    Args:
        switches: switches of a group, a.
        nic_ports: NIC ports of a switch, p.
        global_ports: global ports of a switch, h.
        global_links: cables between two groups.
    """
    groups = switches * global_ports // global_links + 1
    return Largest(groups, groups * switches, groups * switches * nic_ports)


def derive_dragonfly(spec: ClusterSpec, fly: DragonflySpec, where: str) -> ScaleOutPlan:
    """Every count of a dragonfly.

    Raises:
        SpecError: it contradicts another table, ports do not suffice, or memory would not.
    """
    node = spec.node
    if spec.scale_out is not None:
        raise SpecError(
            f"{where}: dragonfly",
            "and [scale_out] describe the same network twice",
            "leave one of them out",
        )
    if node.nics == 0:
        raise SpecError(
            f"{where}: node.nics",
            "0 NICs cannot be joined by [dragonfly]",
            "allowed is at least 1, or a spec without [dragonfly]",
        )
    link_gbps = fly.link_gbps or node.nic_gbps
    switch = part(where, "dragonfly.switch", parts.switch, fly.switch)
    need_ports(where, "node.nic_gbps", switch, node.nic_gbps)
    need_ports(where, "dragonfly.link_gbps", switch, link_gbps)
    mesh = DragonflyPlan(
        groups=fly.groups,
        switches=fly.switches,
        group_nodes=fly.switches * fly.nic_ports // node.nics,
        local_links=fly.local_links,
        global_links=fly.global_links,
        routing=fly.routing,
    )
    _check_ports(spec, fly, mesh, (switch, link_gbps), where)
    _check_room(spec, fly, mesh, where)
    plan = _plan(spec, fly, mesh, (switch, link_gbps))
    check_plan_memory(spec, plan, where)
    return plan


def _check_ports(
    spec: ClusterSpec,
    fly: DragonflySpec,
    mesh: DragonflyPlan,
    ports: tuple[parts.Switch, float],
    where: str,
) -> None:
    """NIC, local and global cables fit the ports of a switch together."""
    switch, link_gbps = ports
    room = most_beside(switch, (fly.nic_ports, spec.node.nic_gbps), link_gbps)
    local = (fly.switches - 1) * fly.local_links
    if local > room:
        raise SpecError(
            f"{where}: dragonfly.switches",
            f"{fly.switches:,} in a group need {counted(local, 'local port')} each, and "
            f"{switch.name} has {room:,} beside {counted(fly.nic_ports, 'NIC port')}",
            f"allowed is at most {room // fly.local_links + 1:,} with "
            f"{counted(fly.local_links, 'local cable')} a pair",
        )
    free = room - local
    if mesh.most_global_ports > free:
        groups = largest(fly.switches, fly.nic_ports, free, fly.global_links).groups
        most = fly.switches * free // max(fly.groups - 1, 1)
        fewer = f"{counted(groups, 'group')} with {fly.global_links:,} between two"
        raise SpecError(
            f"{where}: dragonfly.global_links",
            f"{fly.global_links:,} to each of {fly.groups - 1:,} other groups are "
            f"{counted((fly.groups - 1) * fly.global_links, 'cable')} on "
            f"{counted(fly.switches, 'switch', 'switches')} with {counted(free, 'port')} left each",
            f"allowed is at most {most:,} between two groups, or {fewer}"
            if most
            else f"allowed is at most {fewer}, here are {fly.groups:,}",
        )


def _check_room(spec: ClusterSpec, fly: DragonflySpec, mesh: DragonflyPlan, where: str) -> None:
    """The groups take all nodes, each with all of its NICs."""
    if mesh.group_nodes * fly.groups >= spec.node.count:
        return
    sockets = fly.switches * fly.nic_ports
    raise SpecError(
        f"{where}: dragonfly.groups",
        f"{counted(fly.groups, 'group')} of {counted(sockets, 'NIC port')} take "
        f"{counted(mesh.group_nodes * fly.groups, 'node')} of {counted(spec.node.nics, 'NIC')}, "
        f"not {spec.node.count:,}",
        f"allowed is at least {counted(-(-spec.node.count // mesh.group_nodes), 'group')}"
        if mesh.group_nodes
        else f"allowed is at least {counted(spec.node.nics, 'NIC port')} in a group",
    )


def _plan(
    spec: ClusterSpec,
    fly: DragonflySpec,
    mesh: DragonflyPlan,
    ports: tuple[parts.Switch, float],
) -> ScaleOutPlan:
    """The counts of a dragonfly as those of a fabric with one tier, a group a pod."""
    node, (switch, link_gbps) = spec.node, ports
    return ScaleOutPlan(
        nodes=node.count,
        nics=node.nics,
        nic_gbps=node.nic_gbps,
        tiers=1,
        wiring="rack",
        planes=1,
        rails=1,
        nic_ports=1,
        port_gbps=node.nic_gbps,
        link_gbps=link_gbps,
        su_nodes=mesh.group_nodes,
        sus=fly.groups,
        leaves_per_su=fly.switches,
        leaf_down=fly.nic_ports,
        leaf_up=0,
        pod_sus=1,
        pods=fly.groups,
        leaves_per_pod=fly.switches,
        blocks_per_pod_plane=1,
        spines=0,
        spine_up=0,
        cores=0,
        core_groups=0,
        leaf_switch=switch.name,
        spine_switch="",
        core_switch="",
        dragonfly=mesh,
    )
