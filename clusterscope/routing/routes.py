"""Routes: what a unit of each flow's rate puts on which link.

A policy that picks one path a flow gives one entry a link, weight 1. A policy that spreads packets
over equal links gives one entry a *bundle*: the live links that share the load, taken as one
resource. Exact for equal members, and why a sprayed flow costs six entries and not thousands.

Resources are numbered links first, then bundles: resource r < L is link r, else bundle r - L.
Axes: F flows, E entries, B bundles, K bundle members.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from clusterscope.columns import F64, I32, Arrays, Bool, Col

Course = Literal["minimal", "valiant", "adaptive"]


@dataclass(frozen=True)
class Policy:
    """How switches choose among equal next hops.

    Attributes:
        load_balancing: ecmp (hash of the 5-tuple, one path a flow), dmodk (static, by destination),
            flowlet (each flow where its switch has the fewest), adaptive (per packet, by live
            capacity), spray (per packet, equal shares).
        hash_seed: per-switch, or shared by all switches, which polarizes.
        seed: seed of the hash functions.
        course: how traffic goes from group to group of a dragonfly; None leaves it to
            `load_balancing`: minimal for what keeps to one path, else adaptive.
    """

    load_balancing: Literal["ecmp", "dmodk", "flowlet", "adaptive", "spray"]
    hash_seed: Literal["per-switch", "shared"] = "per-switch"
    seed: int = 0
    course: Course | None = None

    @property
    def dragonfly_course(self) -> Course:
        """How traffic goes from group to group of a dragonfly."""
        return self.course or ("minimal" if self.one_path else "adaptive")

    @property
    def one_path(self) -> bool:
        """True when a flow keeps to one path."""
        return self.load_balancing not in ("adaptive", "spray")


@dataclass(frozen=True, eq=False, kw_only=True)
class Bundles(Arrays):
    """Groups of live links that share a load.

    The first `common` bundles are the same for all flows that are routed over the same cables under
    the same policy, so flows of several calls meet there; the others are limits of one call's own.
    """

    common: int = 0
    start: Annotated[I32, Col("B+1", "1", "members of bundle b are start[b]:start[b+1]")]
    member_link: Annotated[I32, Col("K", "link", "a live link of the bundle")]
    member_share: Annotated[F64, Col("K", "1", "its share of the bundle's load")]
    gbps: Annotated[F64, Col("B", "Gb/s", "load at which the first member is full")]


@dataclass(frozen=True, eq=False, kw_only=True)
class Routes(Arrays):
    """Entries sorted by flow, and which flows have a live path at all."""

    entry_flow: Annotated[I32, Col("E", "flow", "flow")]
    entry_link: Annotated[I32, Col("E", "resource", "link, or L + bundle")]
    entry_weight: Annotated[F64, Col("E", "1", "load on the resource per unit of flow rate")]
    reached: Annotated[Bool, Col("F", "1", "a live path exists")]
    hops: Annotated[I32, Col("F", "1", "switches on the path, 0 when unreached")]


def no_bundles() -> Bundles:
    """The empty set of bundles, for single-path policies."""
    return Bundles(
        start=np.zeros(1, dtype=np.int32),
        member_link=np.zeros(0, dtype=np.int32),
        member_share=np.zeros(0),
        gbps=np.zeros(0),
    )


def link_loads(resource_gbps: F64, links: int, bundles: Bundles) -> F64:
    """Load of every link, (L,) Gb/s, from the load of every resource, (L+B,) Gb/s."""
    loads: F64 = resource_gbps[:links].copy()
    add_members(loads, resource_gbps[links:], bundles)
    return loads


def add_members(loads_gbps: F64, bundle_gbps: F64, bundles: Bundles) -> None:
    """Add to the loads of links (L,), in place, what the bundles (B,) carry over their members."""
    if len(bundles.member_link):
        per_member = np.repeat(bundle_gbps, np.diff(bundles.start))
        per_member *= bundles.member_share
        np.add.at(loads_gbps, bundles.member_link, per_member)
