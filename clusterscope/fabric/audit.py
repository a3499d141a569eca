"""What deserves attention in a valid cluster, as values: one `check_*` function a rule.

A finding is about the fabric as designed, not about its state. `error` means that the cluster
cannot work as written, or is not the one that was published; `warning` that it will surprise;
`info` is worth knowing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from clusterscope.columns import F64, bincount
from clusterscope.fabric.arrays import LEAF_SPINE, NIC_LEAF, SPINE_CORE, Fabric
from clusterscope.fabric.audit_scale_up import check_scale_up
from clusterscope.fabric.counts import counts, tier_gbps
from clusterscope.fabric.dragonfly import global_taper
from clusterscope.fabric.finding import STEEP_TAPER, Finding, Severity
from clusterscope.fabric.names import Names
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec
from clusterscope.units import counted

__all__ = ["CHECKS", "Finding", "Severity", "audit"]

# Unicast LIDs are 0x0001 to 0xBFFF (InfiniBand architecture specification, volume 1).
SUBNET_LIDS = 49_151
_TOLERANCE = 1e-9
_LISTED = 5


def audit(spec: ClusterSpec, fabric: Fabric) -> tuple[Finding, ...]:
    """All findings about a cluster, errors first, then in order of the rules."""
    found = [finding for check in CHECKS for finding in check(spec, fabric)]
    order = ("error", "warning", "info")
    return tuple(sorted(found, key=lambda finding: order.index(finding.severity)))


def check_expected(spec: ClusterSpec, fabric: Fabric) -> Iterator[Finding]:
    """Counts that differ from the ones the spec says were published."""
    have = counts(fabric)
    switches, cables = have["switches"], have["cables"]
    built = {
        "gpus": have["gpus"],
        "nodes": have["nodes"],
        **switches,
        "nic_leaf_cables": cables["nic-leaf"],
        "leaf_spine_cables": cables["leaf-spine"],
        "spine_core_cables": cables["spine-core"],
        "groups": fabric.pods if fabric.dragonfly else 0,
        "switches": fabric.switches,
        "local_cables": cables.get("local", 0),
        "global_cables": cables.get("global", 0),
    }
    for key, wanted in spec.expect.model_dump(exclude_none=True).items():
        if built[key] != wanted:
            message = f"the spec comes to {built[key]:,}, but {wanted:,} is expected"
            yield Finding("error", "expected-count", f"expect.{key}", message)


def check_ports_cabled(spec: ClusterSpec, fabric: Fabric) -> Iterator[Finding]:  # noqa: ARG001
    """NIC ports that lead to no leaf."""
    leaves = fabric.switches_of(1)
    loose = np.flatnonzero((fabric.port_leaf < 0) | (fabric.port_leaf >= leaves.stop))
    if len(loose):
        where = Names(fabric).nic(int(loose[0]))
        message = f"{len(loose):,} NIC ports are cabled to no leaf, this one first"
        yield Finding("error", "nic-without-leaf", where, message)


def check_subnet(spec: ClusterSpec, fabric: Fabric) -> Iterator[Finding]:
    """InfiniBand subnets with more ends and switches than a subnet has addresses.

    Planes are subnets of their own, and so are the rails of a rail-only fabric. Every NIC port and
    every switch takes one LID.
    """
    if not spec.transport.name.casefold().startswith("infiniband"):
        return
    out, rails = spec.scale_out, int(fabric.switch_rail.max(initial=-1)) + 1
    apart = out is not None and out.wiring == "rail-only" and rails > 1
    subnet = fabric.switch_plane * rails + fabric.switch_rail if apart else fabric.switch_plane
    leaves = subnet[fabric.port_leaf]
    for place, switches in enumerate(np.bincount(subnet).tolist()):
        ends = int((leaves == place).sum())
        if ends + switches > SUBNET_LIDS:
            message = (
                f"{counted(ends, 'NIC port')} and {counted(switches, 'switch', 'switches')} need "
                f"{counted(ends + switches, 'LID')}, and "
                f"a subnet has {SUBNET_LIDS:,}: not routable as one subnet; use more planes"
                + (", or rails apart" * (not apart))
            )
            plane, rail = divmod(place, rails) if apart else (place, -1)
            where = f"plane{plane}" if fabric.ports_per_nic > 1 else "cluster" * (not apart)
            where += f"{'/' * bool(where)}rail{rail}" * apart
            yield Finding("error", "lid-budget", where, message)


def check_oversubscription(spec: ClusterSpec, fabric: Fabric) -> Iterator[Finding]:  # noqa: ARG001
    """Tiers that take in more than they can send up, groups more than they can send out."""
    if fabric.dragonfly:
        yield from _global_taper(fabric)
        return
    for tier in (LEAF_SPINE, SPINE_CORE):
        taper = _worst_taper(fabric, tier)
        if taper > 1 + _TOLERANCE:
            severity: Severity = "warning" if taper > STEEP_TAPER + _TOLERANCE else "info"
            overall = tier_gbps(fabric, NIC_LEAF) / tier_gbps(fabric, tier)
            message = (
                f"{taper:.4g}:1 from below to above at the fullest switch, "
                f"{overall:.4g}:1 from all NICs to all cables of this tier"
            )
            yield Finding(severity, "oversubscription", fabric.tier_names[tier], message)


def _global_taper(fabric: Fabric) -> Iterator[Finding]:
    """A dragonfly's groups that take in more than their global cables carry."""
    taper = global_taper(fabric)
    if taper > 1 + _TOLERANCE:
        severity: Severity = "warning" if taper > STEEP_TAPER + _TOLERANCE else "info"
        message = f"{taper:.4g}:1 from the NICs of a full group to its global cables"
        yield Finding(severity, "oversubscription", fabric.tier_names[SPINE_CORE], message)


def check_unused_leaf_ports(spec: ClusterSpec, fabric: Fabric) -> Iterator[Finding]:
    """Leaf ports without a NIC, and an SU that is not full."""
    plan = derive(spec)
    if plan is None:
        return
    last = plan.nodes - (plan.nodes - 1) // plan.su_nodes * plan.su_nodes
    if last < plan.su_nodes:
        unit, key = (
            ("group", "dragonfly.groups") if fabric.dragonfly else ("SU", "scale_out.su_nodes")
        )
        message = f"the last {unit} in use has {last:,} of {counted(plan.su_nodes, 'node')}"
        yield Finding("info", f"partial-{unit.casefold()}", key, message)
    sockets = plan.leaves * plan.leaf_down
    if fabric.ports < sockets:
        word = fabric.switch_words[0]
        message = f"{sockets - fabric.ports:,} of {sockets:,} {word} ports for NICs are free"
        yield Finding("info", "unused-leaf-ports", fabric.tier_names[NIC_LEAF], message)


def check_trunks(spec: ClusterSpec, fabric: Fabric) -> Iterator[Finding]:  # noqa: ARG001
    """Tiers where some pairs of switches share more cables than others."""
    if fabric.dragonfly:
        return  # what shares load there is the cables between two groups, the same for all pairs
    for tier in (LEAF_SPINE, SPINE_CORE):
        trunks = _trunk_sizes(fabric, tier)
        if len(trunks) and trunks.min() < trunks.max():
            message = (
                f"cabled pairs share {trunks.min():g} to {trunks.max():g} cables: equal shares of "
                "traffic load them unequally"
            )
            yield Finding("info", "uneven-trunks", fabric.tier_names[tier], message)


def check_estimates(spec: ClusterSpec, fabric: Fabric) -> Iterator[Finding]:  # noqa: ARG001
    """How many of the sourced numbers are estimates."""
    guessed = sorted(key for key, source in spec.sources.items() if source.estimate)
    if guessed:
        rest = len(guessed) - _LISTED
        listed = ", ".join(guessed[:_LISTED]) + (f" and {rest} more" if rest > 0 else "")
        message = f"{len(guessed)} of {len(spec.sources)} sourced numbers are estimates: {listed}"
        yield Finding("info", "estimates", "sources", message)


def check_doubts(spec: ClusterSpec, fabric: Fabric) -> Iterator[Finding]:  # noqa: ARG001
    """What speaks against numbers of the spec."""
    for key, source in spec.sources.items():
        if source.doubt:
            yield Finding("info", "doubt", key, source.doubt)


CHECKS: tuple[Callable[[ClusterSpec, Fabric], Iterator[Finding]], ...] = (
    check_expected,
    check_ports_cabled,
    check_subnet,
    check_oversubscription,
    check_unused_leaf_ports,
    check_trunks,
    check_scale_up,
    check_estimates,
    check_doubts,
)


def _worst_taper(fabric: Fabric, tier: int) -> float:
    """Highest rate from below over rate up, of the switches below a cable tier; 0 without any."""
    above, below = fabric.tier_cables(tier), fabric.tier_cables(tier - 1)
    if not len(above):
        return 0.0
    up, down = slice(above.start, above.stop), slice(below.start, below.stop)
    lower = fabric.cable_a[up] - fabric.ports
    leading_up = bincount(lower, fabric.cable_gbps[up], fabric.switches)
    from_below = bincount(
        fabric.cable_b[down] - fabric.ports, fabric.cable_gbps[down], fabric.switches
    )
    has_uplinks = leading_up > 0
    return float((from_below[has_uplinks] / leading_up[has_uplinks]).max())


def _trunk_sizes(fabric: Fabric, tier: int) -> F64:
    """Cables between each cabled pair of switches of a tier."""
    cables = fabric.tier_cables(tier)
    which = slice(cables.start, cables.stop)
    pair = fabric.cable_a[which].astype(np.int64) << 32 | fabric.cable_b[which]
    sizes: F64 = np.unique(pair, return_counts=True)[1].astype(np.float64)
    return sizes
