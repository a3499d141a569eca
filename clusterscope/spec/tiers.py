"""Spines and cores: as many as asked for, or the fewest that carry the tier below."""

from __future__ import annotations

import math
from dataclasses import dataclass

from clusterscope.errors import SpecError
from clusterscope.spec import parts
from clusterscope.spec.checks import part
from clusterscope.spec.model import ScaleOutSpec
from clusterscope.spec.ports import need_fit, need_ports
from clusterscope.units import counted


@dataclass(frozen=True, slots=True)
class Tier:
    """Switches of a tier: how many (a block, or a plane), their uplinks and their part."""

    count: int = 0
    up: int = 0
    switch: str = ""


def spines_for(out: ScaleOutSpec, where: str, leaves: int, leaf_up: int, link_gbps: float) -> Tier:
    """Spines of one block.

    Left out, they are the fewest that divide the uplinks of a leaf evenly and have the ports.

    Args:
        out: the scale-out table.
        where: name of the spec in error messages.
        leaves: leaves in a full block.
        leaf_up: uplinks of a leaf.
        link_gbps: rate of one uplink.
    """
    if out.tiers == 1:
        return Tier()
    name = out.spine_switch or out.leaf_switch
    spine = part(where, "scale_out.spine_switch", parts.switch, name)
    ports = need_ports(where, "scale_out.link_gbps", spine, link_gbps)
    if out.spines is not None:
        return _given_spines(out, where, leaves, leaf_up, (spine, link_gbps))
    for count in (n for n in range(1, leaf_up + 1) if leaf_up % n == 0):
        down = leaves * leaf_up // count
        up = _spine_up(out, down)
        if down + up <= ports:
            return Tier(count, up, spine.name)
    most = _most_leaves(out, ports)
    key = "pod_sus" if out.tiers == 3 else "spine_switch"
    value = out.pod_sus if out.tiers == 3 else repr(spine.name)
    raise SpecError(
        f"{where}: scale_out.{key}",
        f"{value} makes spines of {counted(ports, 'port')} face "
        f"{counted(leaves, 'leaf', 'leaves')}, one cable to each at least",
        f"allowed is at most {counted(most, 'leaf', 'leaves')} in a block"
        + (
            "; make pods smaller"
            if out.tiers == 3
            else "; use scale_out.tiers = 3, more planes or a larger switch"
        ),
    )


def _most_leaves(out: ScaleOutSpec, ports: int) -> int:
    """Leaves that one spine can face with one cable each."""
    if out.tiers == 2:
        return ports
    if out.spine_up is not None:
        return max(0, ports - out.spine_up)
    return math.floor(ports * out.spine_taper / (1 + out.spine_taper))


def _spine_up(out: ScaleOutSpec, down: int) -> int:
    """Uplinks of a spine with this many downlinks."""
    if out.tiers == 2:
        return 0
    return out.spine_up or max(1, math.floor(down / out.spine_taper + 0.5))


def _given_spines(
    out: ScaleOutSpec, where: str, leaves: int, leaf_up: int, ports: tuple[parts.Switch, float]
) -> Tier:
    """The spines that were asked for, if every leaf reaches every spine and ports suffice."""
    spine, link_gbps = ports
    count = out.spines or 0
    if count > leaf_up:
        raise SpecError(
            f"{where}: scale_out.spines",
            f"{count:,} is more than the {counted(leaf_up, 'uplink')} of a leaf, so leaves miss "
            f"some spines",
            f"allowed is 1 to {leaf_up}",
        )
    down = -(-leaves * leaf_up // count)
    up = _spine_up(out, down)
    if up == 0:
        whole = spine.ports_at(link_gbps) or 0
        if down > whole:
            raise SpecError(
                f"{where}: scale_out.spines",
                f"{counted(count, 'spine')} would have {counted(down, 'downlink')} each, more "
                f"than the {counted(whole, 'port')} "
                f"of {spine.name}",
                f"allowed is {-(-leaves * leaf_up // whole)} to {leaf_up}"
                if leaves <= whole
                else f"allowed is at most {counted(whole, 'leaf', 'leaves')} in a block, here "
                f"are {leaves:,}",
            )
    else:
        key = "spines" if out.spine_up is None else "spine_up"
        need_fit(where, f"scale_out.{key}", spine, (down, link_gbps), (up, link_gbps))
    return Tier(count, up, spine.name)


def cores_for(
    out: ScaleOutSpec, where: str, uplinks: int, spines: Tier, blocks: int, link_gbps: float
) -> Tier:
    """Cores of one plane.

    Left out, they are the fewest that have the ports. Each core must reach every pod, and every
    rail has as many cores as the next when rails are apart.

    Args:
        out: the scale-out table.
        where: name of the spec in error messages.
        uplinks: uplinks of all spines of a plane, of one rail when rails are apart.
        spines: spines of a block.
        blocks: rails that are apart, 1 otherwise.
        link_gbps: rate of one uplink.
    """
    if out.tiers < 3:
        return Tier()
    name = out.core_switch or spines.switch
    core = part(where, "scale_out.core_switch", parts.switch, name)
    ports = need_ports(where, "scale_out.link_gbps", core, link_gbps)
    fewest, most = -(-uplinks // ports), spines.count * spines.up
    if fewest > most:
        pods = uplinks // most
        raise SpecError(
            f"{where}: scale_out.core_switch",
            f"{core.name} with {counted(ports, 'port')} cannot reach {counted(pods, 'pod')}",
            f"allowed is at most {counted(ports, 'pod')}: make pods larger (scale_out.pod_sus) "
            "or take a larger switch",
        )
    count = out.cores if out.cores is not None else fewest * blocks
    if count % blocks or not fewest * blocks <= count <= most * blocks:
        raise SpecError(
            f"{where}: scale_out.cores",
            f"{counted(count, 'core')} cannot take {counted(uplinks * blocks, 'uplink')} on "
            f"{counted(ports, 'port')} each "
            "and reach every pod",
            f"allowed is {fewest * blocks} to {most * blocks}"
            + (f" in multiples of {blocks}" if blocks > 1 else ""),
        )
    return Tier(count, 0, core.name)
