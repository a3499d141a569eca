"""What a switch chooses by when it sends a flow one way: a hash, or digits of the destination.

Axes: F flows, A the flows that are at a switch of one tier now.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np

from clusterscope.columns import I32, I64, U64
from clusterscope.fabric.arrays import Fabric
from clusterscope.routing.hashing import mix, switch_salts
from clusterscope.routing.nexthops import NextHops, next_hops
from clusterscope.routing.routes import Policy

Stage = Literal["leaf up", "spine up", "core down", "spine down"]


class Keys(Protocol):
    """A policy: the switch takes its (key mod n)-th of n next hops."""

    def __call__(self, stage: Stage, flow: I32, switch: I32) -> U64:
        """Key of each flow (A,) at the switch (A,) where it is."""
        ...


def hash_keys(fabric: Fabric, entropy: U64, policy: Policy) -> Keys:
    """ECMP: a hash of the flow's entropy (F,) and of the switch's salt.

    Model: an ideal hash. The reduction mod n of a 64-bit key is even to within n / 2^64; the
    narrower hash of a switch ASIC and its table of buckets are not modeled.
    """
    salt = switch_salts(fabric.switches, policy.seed, policy.hash_seed)

    def keys(stage: Stage, flow: I32, switch: I32) -> U64:
        del stage
        return mix(entropy[flow] ^ salt[switch])

    return keys


def dealt_keys(fabric: Fabric, entropy: U64, policy: Policy) -> Keys:
    """Flowlets by load: a switch gives each flow that comes the port that has the fewest so far.

    Flows come in order of a hash of their entropy (F,), and the first port is by chance.

    Model: a long flow stays where it was put, since its NIC leaves no gap in which it could move.
    A switch sees its own ports alone, so flows still meet on the way down.
    """
    salt = switch_salts(fabric.switches, policy.seed, policy.hash_seed)

    def keys(stage: Stage, flow: I32, switch: I32) -> U64:
        del stage
        turn = np.lexsort((mix(entropy[flow] ^ salt[switch]), switch))
        at = switch[turn]
        fresh = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]]))
        place = np.empty(len(flow), dtype=np.int64)
        place[turn] = np.arange(len(flow)) - np.repeat(fresh, np.diff(fresh, append=len(flow)))
        start: U64 = mix(salt[switch]) >> np.uint64(1)
        return start + place.astype(np.uint64)

    return keys


def modulo_keys(fabric: Fabric, src: I32, dst: I32) -> Keys:
    """D-mod-K: digits of the destination's rank d, whatever the flow (src and dst are (F,) ports).

    Up, a leaf takes uplink d mod n and a spine uplink (d / n) mod its n, n being the uplinks of
    the leaf. Down, parallel cables mirror the way up from the destination's own leaf, so that what
    its uplinks share out evenly stays even. With dead cables, mod the number that still lead on.

    Source: Zahavi, Johnson, Kerbyson, Lang, "Optimized InfiniBand fat-tree routing for shift
    all-to-all communication patterns", 2010.
    """
    hops = next_hops(fabric)
    rank = fabric.port_rank[dst].astype(np.int64)
    src_width = np.maximum(hops.up.count[fabric.port_leaf[src]], 1)

    def keys(stage: Stage, flow: I32, switch: I32) -> U64:
        digit = rank[flow]
        if stage == "spine up":
            digit = digit // src_width[flow]
        elif stage != "leaf up":
            digit = _mirrored(hops, stage, fabric.port_leaf[dst[flow]], digit, switch)
        return digit.astype(np.uint64)

    return keys


def _mirrored(hops: NextHops, stage: Stage, leaf: I32, rank: I64, switch: I32) -> I64:
    """Place in its trunk of the cable that the destination itself would go up by.

    The rank where that cable does not come from this switch.
    """
    cable = hops.up.pick(leaf, rank.astype(np.uint64))
    if stage == "core down":
        width = np.maximum(hops.up.count[leaf], 1)
        cable = hops.up.pick(hops.far[cable], (rank // width).astype(np.uint64))
    digit: I64 = np.where(hops.far[cable] == switch, hops.place[cable].astype(np.int64), rank)
    return digit
