"""Ports of one NIC stand in for each other: what a dead plane carried goes over the live ones.

Bytes are shared out evenly over the planes of a NIC pair. When routes have reacted to a failure,
each live plane takes an equal part of what the dead ones had: a NIC that has lost k of P planes
sends at (P - k) / P of its rate and stalls nobody (case REL-12; dual ToR, Alibaba HPN). A pair that
shares no live plane has no path. Sizes stay as they are, weights move: a row or an exchange that
carries more puts more load on its links for each unit of its rate.

Axes: F rows, P ports of an exchange, K sets of live planes, N NIC ports of the fabric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I32, I64, U64, Bool, bincount
from clusterscope.fabric.arrays import Fabric
from clusterscope.routing.nexthops import NextHops


def moved_rows(fabric: Fabric, src: I32, row_weight: F64, reached: Bool) -> F64 | None:
    """What every row carries, (F,), once rows without a path have left it to their other planes.

    A row that has given everything away carries 0; one whose NIC pair has no plane left keeps what
    it had. None when nothing moves.

    Args:
        fabric: what is cabled to what.
        src: (F,) sender; rows of one NIC pair are side by side, plane after plane.
        row_weight: (F,) what each row carries when all planes work.
        reached: (F,) rows with a live path.
    """
    planes = fabric.ports_per_nic
    if planes == 1 or not len(src) or reached.all():
        return None
    by_nic = src < fabric.ports
    plane = np.where(by_nic, src % planes, 0)
    first = (plane == 0) & np.concatenate([[True], (plane[:-1] > 0) | ~by_nic[:-1]])
    pair = np.cumsum(first | ~by_nic) - 1
    pairs = int(pair[-1]) + 1
    whole = bincount(pair, row_weight, pairs)
    alive = bincount(pair, np.where(reached, row_weight, 0.0), pairs)
    grown = np.divide(whole, alive, out=np.zeros(pairs), where=alive > 0)[pair]
    dead = (alive == 0)[pair]
    carried: F64 = np.where(dead, row_weight, np.where(reached, row_weight * grown, 0.0))
    return carried


@dataclass(frozen=True, eq=False)
class Mates:
    """Which planes the members of an exchange have left, and what pairs share of one plane.

    Attributes:
        on: (P,) members whose port in this plane carries something.
        kind: (P,) set of live planes of the member's NIC, an index into K.
        share: (K, K) bytes of a pair in this plane, over those when all planes work.
        parted: (K, K) pairs that share no live plane.
    """

    on: Bool
    kind: I64
    share: F64
    parted: Bool


def mates(fabric: Fabric, hops: NextHops, live: Bool, ports: I32) -> Mates:
    """Live planes of the members (P,) of an exchange in one plane, over `live` (C,) cables.

    A port is out of a plane when its cable is dead, or when its leaf has no uplink left and members
    sit elsewhere. Model: it then leaves the plane for those under its own leaf too.
    """
    planes = fabric.ports_per_nic
    plane = ports % planes
    every = (ports - plane)[:, None] + np.arange(planes)  # (P, planes)
    on = live[every]
    if planes > 1:
        on &= _leads_on(fabric, hops, every)
    bit = np.uint64(1) << np.arange(planes, dtype=np.uint64)
    mask: U64 = np.where(on, bit, np.uint64(0)).sum(axis=1, dtype=np.uint64)
    sets, kind = np.unique(mask, return_inverse=True)
    both = sets[:, None] & sets
    common = np.zeros(both.shape)
    for one in bit:
        common += (both & one) > 0
    here = (both & bit[plane[0]]) > 0
    share = np.divide(planes, common, out=np.zeros(both.shape), where=here)
    return Mates(on[np.arange(len(ports)), plane], kind, share, common == 0)


def _leads_on(fabric: Fabric, hops: NextHops, ports: I32) -> Bool:
    """Ports whose leaf has an uplink left, or is the only one of its island with ports here."""
    leaf = fabric.port_leaf[ports]
    island = hops.island[leaf]
    lowest = np.full(len(hops.island), len(hops.island), dtype=np.int32)
    highest = np.full(len(hops.island), -1, dtype=np.int32)
    np.minimum.at(lowest, island, leaf)
    np.maximum.at(highest, island, leaf)
    alone = lowest[island] == highest[island]
    leads: Bool = alone | (hops.up.count[leaf] > 0)
    return leads
