"""How much there is of everything in a fabric."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from clusterscope.fabric.arrays import (
    LEAF_SPINE,
    NIC_LEAF,
    SPINE_CORE,
    SWITCH_TIERS,
    TIER_NAMES,
    Fabric,
)
from clusterscope.fabric.dragonfly import global_groups


class Counts(TypedDict):
    """The `fabric` block of a report."""

    gpus: int
    nodes: int
    nics: int
    switches: dict[str, int]
    cables: dict[str, int]
    bisection_gbps: float


def counts(fabric: Fabric) -> Counts:
    """GPUs, nodes, NICs (not NIC ports), switches and cables by tier, and the bisection."""
    return {
        "gpus": fabric.gpus,
        "nodes": fabric.nodes,
        "nics": fabric.nodes * fabric.nics_per_node,
        "switches": {
            name: len(fabric.switches_of(tier)) for tier, name in enumerate(SWITCH_TIERS, start=1)
        },
        # A dragonfly has no leaf-spine and spine-core cables, and a report says so.
        "cables": dict.fromkeys(TIER_NAMES, 0)
        | {name: len(fabric.tier_cables(tier)) for tier, name in enumerate(fabric.tier_names)},
        "bisection_gbps": bisection_gbps(fabric),
    }


def tier_gbps(fabric: Fabric, tier: int) -> float:
    """Line rate of all cables of a tier together, one direction, Gb/s."""
    cables = fabric.tier_cables(tier)
    return float(fabric.cable_gbps[cables.start : cables.stop].sum())


def bisection_gbps(fabric: Fabric) -> float:
    """Rate between two halves of the NICs, one direction, Gb/s.

    Half of what the NICs can send, or half of what a tier can carry up where that is less. The
    spine-core tier counts when there are several pods: one pod turns around at its spines. This is
    the cut of halves that are spread evenly, as N/2 * B/r says for an oversubscription of r. Of a
    dragonfly it is the cables between the lower and the upper half of its groups.
    """
    tiers = [NIC_LEAF]
    if fabric.dragonfly:
        between = int(fabric.tier_start[SPINE_CORE]) + np.flatnonzero(
            (global_groups(fabric) < fabric.pods // 2).sum(axis=0) == 1
        )
        halves = [tier_gbps(fabric, NIC_LEAF) / 2, float(fabric.cable_gbps[between].sum())]
        return min(halves) if fabric.pods > 1 else halves[0]
    if len(fabric.tier_cables(LEAF_SPINE)):
        tiers.append(LEAF_SPINE)
    if len(fabric.tier_cables(SPINE_CORE)) and fabric.pods > 1:
        tiers.append(SPINE_CORE)
    return min(tier_gbps(fabric, tier) for tier in tiers) / 2
