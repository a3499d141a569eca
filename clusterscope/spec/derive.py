"""From the counts a designer fixed to all counts of the scale-out fabric.

Arithmetic only, tier by tier from the NICs up; a spec of any size takes microseconds. Each step
fills in what was left out and refuses what does not fit the ports of the switches.
"""

from __future__ import annotations

import math

from clusterscope.errors import SpecError
from clusterscope.spec import parts
from clusterscope.spec.checks import check, check_plan_memory, part
from clusterscope.spec.dragonfly import derive_dragonfly
from clusterscope.spec.model import ClusterSpec, ScaleOutSpec
from clusterscope.spec.plan import ScaleOutPlan
from clusterscope.spec.ports import most_beside, need_fit, need_ports
from clusterscope.spec.tiers import cores_for, spines_for
from clusterscope.units import counted

__all__ = ["ScaleOutPlan", "derive"]


def derive(spec: ClusterSpec, where: str = "spec") -> ScaleOutPlan | None:
    """Resolve every count of the scale-out fabric, Clos or dragonfly; None when there is none.

    Args:
        spec: cluster to resolve.
        where: name of the spec in error messages, its file as a rule.

    Raises:
        SpecError: tables contradict each other, ports do not suffice, or memory would not.
    """
    check(spec, where)
    out, node = spec.scale_out, spec.node
    if spec.dragonfly is not None:
        return derive_dragonfly(spec, spec.dragonfly, where)
    if out is None:
        return None
    _check_tier_keys(spec, out, where)
    port_gbps = node.nic_gbps / out.planes
    link_gbps = out.link_gbps or port_gbps
    rails = 1 if out.wiring == "rack" else node.nics
    leaf = part(where, "scale_out.leaf_switch", parts.switch, out.leaf_switch)
    ports = need_ports(where, _speed_key(out), leaf, port_gbps)
    down = _leaf_down(spec, out, where, leaf, ports)
    up = _leaf_up(out, where, leaf, (down, port_gbps), link_gbps)
    sus = _sus(spec, out, where)
    per_rail = -(-out.su_nodes // (down // node.nics if out.wiring == "rack" else down))
    if out.tiers == 1:
        _check_one_tier(spec, where, sus, per_rail, ports)
    pod_sus = out.pod_sus or sus
    pods = -(-sus // pod_sus)
    blocks = rails if out.wiring == "rail-only" else 1
    leaves_per_pod = rails * per_rail * pod_sus
    spines = spines_for(out, where, leaves_per_pod // blocks, up, link_gbps)
    cores = cores_for(out, where, pods * spines.count * spines.up, spines, blocks, link_gbps)
    plan = ScaleOutPlan(
        nodes=node.count,
        nics=node.nics,
        nic_gbps=node.nic_gbps,
        tiers=out.tiers,
        wiring=out.wiring,
        planes=out.planes,
        rails=rails,
        nic_ports=out.planes,
        port_gbps=port_gbps,
        link_gbps=link_gbps,
        su_nodes=out.su_nodes,
        sus=sus,
        leaves_per_su=rails * per_rail,
        leaf_down=down,
        leaf_up=up,
        pod_sus=pod_sus,
        pods=pods,
        leaves_per_pod=leaves_per_pod,
        blocks_per_pod_plane=blocks,
        spines=spines.count,
        spine_up=spines.up,
        cores=cores.count,
        core_groups=math.gcd(spines.count, cores.count // blocks) if cores.count else 0,
        leaf_switch=leaf.name,
        spine_switch=spines.switch,
        core_switch=cores.switch,
        management_cables=out.management_cables,
    )
    _check_management(out, plan, leaf, ports, where)
    check_plan_memory(spec, plan, where)
    return plan


def _check_tier_keys(spec: ClusterSpec, out: ScaleOutSpec, where: str) -> None:
    """No key speaks of a tier that is not there, and none contradicts another."""
    if spec.node.nics == 0:
        raise SpecError(
            f"{where}: node.nics",
            "0 NICs cannot be joined by [scale_out]",
            "allowed is at least 1, or a spec without [scale_out]",
        )
    above = {
        1: ("spine_switch", "spines", "pod_sus", "spine_up", "core_switch", "cores"),
        2: ("pod_sus", "spine_up", "core_switch", "cores"),
        3: (),
    }[out.tiers]
    for key in above:
        if getattr(out, key) is not None:
            tiers = 2 if key in ("spine_switch", "spines") else 3
            raise SpecError(
                f"{where}: scale_out.{key}",
                f"{getattr(out, key)!r} has no place in a fabric with tiers = {out.tiers}",
                f"leave it out, or set scale_out.tiers = {tiers}",
            )
    if out.tiers == 3 and out.pod_sus is None:
        raise SpecError(
            f"{where}: scale_out.pod_sus",
            "is missing",
            "three tiers need the number of SUs in a pod",
        )
    for taper, count in (("leaf_taper", out.leaf_up), ("spine_taper", out.spine_up)):
        if count is not None and getattr(out, taper) != 1.0:
            key = taper.replace("_taper", "_up")
            raise SpecError(
                f"{where}: scale_out.{taper}",
                f"{getattr(out, taper):g} and scale_out.{key} = {count} say the same thing twice",
                "leave one of them out",
            )


def _sus(spec: ClusterSpec, out: ScaleOutSpec, where: str) -> int:
    """SUs that are built, some perhaps for nodes to come."""
    filled = -(-spec.node.count // out.su_nodes)
    if out.sus is not None and out.sus < filled:
        raise SpecError(
            f"{where}: scale_out.sus",
            f"{counted(out.sus, 'SU')} of {counted(out.su_nodes, 'node')} cannot hold "
            f"{spec.node.count:,}",
            f"allowed is at least {filled}",
        )
    return out.sus or filled


def _speed_key(out: ScaleOutSpec) -> str:
    """Key to name when no port has the rate of a NIC port."""
    return "node.nic_gbps" if out.planes == 1 else "scale_out.planes"


def _leaf_down(
    spec: ClusterSpec, out: ScaleOutSpec, where: str, leaf: parts.Switch, ports: int
) -> int:
    """NIC ports that a leaf takes: as given, or as many as the taper leaves room for."""
    nics = spec.node.nics
    unit = nics if out.wiring == "rack" else 1
    if out.leaf_down is None:
        share = 1.0 if out.tiers == 1 else out.leaf_taper / (1 + out.leaf_taper)
        if out.leaf_up is not None and out.tiers > 1:
            link_ports = leaf.ports_at(out.link_gbps or spec.node.nic_gbps / out.planes) or ports
            share = max(0.0, 1 - out.leaf_up / link_ports)
        # the tiny term keeps 2/3 of 96 from becoming 63
        room = math.floor(ports * share + 1e-9) // unit
        if room < 1:
            raise SpecError(
                f"{where}: scale_out.leaf_switch",
                f"{leaf.name} with {counted(ports, 'port')} has no room for the "
                f"{counted(unit, 'NIC port')} of a node "
                "beside its uplinks",
                "allowed is a switch with more ports, or fewer scale_out.leaf_up",
            )
        return min(out.su_nodes, room) * unit
    if out.leaf_down > ports:
        raise SpecError(
            f"{where}: scale_out.leaf_down",
            f"{out.leaf_down:,} is more than the {counted(ports, 'port')} of {leaf.name}",
            f"allowed is 1 to {ports}",
        )
    if out.leaf_down % unit:
        raise SpecError(
            f"{where}: scale_out.leaf_down",
            f"{out.leaf_down} would split the {counted(nics, 'NIC')} of a node over two leaves",
            f"allowed with rack wiring is a multiple of {nics} up to {ports // nics * nics}",
        )
    return out.leaf_down


def _leaf_up(
    out: ScaleOutSpec, where: str, leaf: parts.Switch, down: tuple[int, float], link_gbps: float
) -> int:
    """Uplinks of a leaf: as given, or what the taper asks for, rounded to the nearest."""
    if out.tiers == 1:
        if out.leaf_up:
            raise SpecError(
                f"{where}: scale_out.leaf_up",
                f"{out.leaf_up} uplink{'s' * (out.leaf_up != 1)} would lead nowhere with tiers = 1",
                "allowed is 0, or scale_out.tiers = 2",
            )
        return 0
    need_ports(where, "scale_out.link_gbps", leaf, link_gbps)
    count, port_gbps = down
    up = out.leaf_up
    if up is None:
        up = max(1, math.floor(count * port_gbps / (out.leaf_taper * link_gbps) + 0.5))
    if up == 0:
        raise SpecError(
            f"{where}: scale_out.leaf_up",
            f"0 uplinks cut the leaves off from the spines of tiers = {out.tiers}",
            f"allowed is 1 to {most_beside(leaf, down, link_gbps)}, or scale_out.tiers = 1",
        )
    key = "leaf_down" if out.leaf_up is None else "leaf_up"
    need_fit(where, f"scale_out.{key}", leaf, down, (up, link_gbps))
    return up


def _check_one_tier(spec: ClusterSpec, where: str, sus: int, per_rail: int, ports: int) -> None:
    """With leaves only, one leaf must serve all nodes (of a rail)."""
    rack = spec.scale_out is not None and spec.scale_out.wiring == "rack"
    most = ports // spec.node.nics if rack else ports
    if sus > 1 or per_rail > 1:
        raise SpecError(
            f"{where}: scale_out.tiers",
            f"1 leaves {counted(spec.node.count, 'node')} in {counted(sus, 'SU')} of "
            f"{counted(per_rail, 'leaf', 'leaves')} a rail unconnected"
            if not rack
            else f"1 leaves {counted(spec.node.count, 'node')} on "
            f"{counted(sus * per_rail, 'leaf', 'leaves')} unconnected",
            f"allowed is 2 or 3, or at most {counted(most, 'node')} in one SU",
        )


def _check_management(
    out: ScaleOutSpec, plan: ScaleOutPlan, leaf: parts.Switch, ports: int, where: str
) -> None:
    """Managers find free ports on the leaves."""
    beside = ports
    if plan.leaf_up:
        beside = most_beside(leaf, (plan.leaf_up, plan.link_gbps), plan.port_gbps)
    free = plan.leaves * beside - plan.nic_leaf_cables
    if out.management_cables > free:
        raise SpecError(
            f"{where}: scale_out.management_cables",
            f"{out.management_cables:,} is more than the {counted(free, 'leaf port')} that NICs "
            f"leave free",
            f"allowed is 0 to {free}",
        )
