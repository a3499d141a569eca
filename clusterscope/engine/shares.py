"""What phases of jobs look like on their routes, and how they share the network.

Axes: U entities, E entries, F rows, L links.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np

from clusterscope.columns import F64, I32, Arrays, Bool, Col
from clusterscope.engine.loads import Load
from clusterscope.engine.rates import WHOLE_ROW
from clusterscope.routing.routes import Bundles
from clusterscope.traffic.flows import Work
from clusterscope.units import BITS_PER_BYTE, GIGA

PhaseKey = tuple[int, int]  # job, phase


@dataclass(frozen=True, eq=False, kw_only=True)
class Routed(Arrays):
    """One phase on its routes, by entity (U) and entry (E)."""

    entry_entity: Annotated[I32, Col("E", "entity", "ascending")]
    entry_link: Annotated[I32, Col("E", "resource", "link, or L + bundle of this phase")]
    entry_weight: Annotated[F64, Col("E", "1", "load per unit of entity rate")]
    entry_row: Annotated[I32, Col("E", "row", "row of the load that the entry is of")]
    row_weight: Annotated[F64, Col("F", "1", "rate of each row per unit of its entity's")]
    row_hops: Annotated[I32, Col("F", "1", "switches on its way")]
    stalled: Annotated[Bool, Col("U", "1", "a member has no live path")]
    latency_s: Annotated[F64, Col("U", "s", "latency of all serial steps together")]
    bundles: Bundles
    unreached: int

    @cached_property
    def long(self) -> bool:
        """True when some entity has more entries than a row of the solver holds."""
        units = len(self.stalled)
        return len(self.entry_entity) > WHOLE_ROW * units or bool(
            (np.bincount(self.entry_entity, minlength=units) > WHOLE_ROW).any()
        )


@dataclass(frozen=True, eq=False)
class Share:
    """How the entities of some phases share the network.

    Attributes:
        rate_gbps: by phase, payload rate of each entity while it sends, (U,).
        pace_gbps: by phase, payload rate averaged over latency too, (U,).
        bottleneck: by phase, link that holds the entity back, (U,), -1 when none does.
        link_gbps: wire load of every link, (L,).
        free_gbps: by phase, what `pace_gbps` would be if no busy egress paused any link; empty when
            none does.
    """

    rate_gbps: dict[PhaseKey, F64]
    pace_gbps: dict[PhaseKey, F64]
    bottleneck: dict[PhaseKey, I32]
    link_gbps: F64
    free_gbps: dict[PhaseKey, F64] = field(default_factory=dict)

    def beside(self, other: Share, links: int) -> Share:
        """This share of the links below `links`, with another one of the links from there on."""
        free: dict[PhaseKey, F64] = {}
        if self.free_gbps or other.free_gbps:
            free = self.pace_gbps | other.pace_gbps | self.free_gbps | other.free_gbps
        link_gbps = np.concatenate([self.link_gbps[:links], other.link_gbps[links:]])
        link_gbps.setflags(write=False)
        return Share(
            self.rate_gbps | other.rate_gbps,
            self.pace_gbps | other.pace_gbps,
            self.bottleneck | other.bottleneck,
            link_gbps,
            free,
        )

    def under(self, keys: tuple[PhaseKey, ...], names: tuple[PhaseKey, ...]) -> Share:
        """The same share of phases with other keys."""
        pairs = list(zip(keys, names, strict=True))
        return Share(
            {name: self.rate_gbps[key] for key, name in pairs},
            {name: self.pace_gbps[key] for key, name in pairs},
            {name: self.bottleneck[key] for key, name in pairs},
            self.link_gbps,
            {name: self.free_gbps[key] for key, name in pairs if key in self.free_gbps},
        )


def paced(rate_gbps: F64, size_bytes: F64, latency_s: F64, work: Work | None = None) -> F64:
    """Rate averaged over sending and waiting: size / (latency + size / rate), (U,) Gb/s.

    Computing in turn with the sends is waiting; computing beside them may take longer than they.
    """
    gigabits = size_bytes * BITS_PER_BYTE / GIGA
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        seconds = latency_s + gigabits / rate_gbps
        if work is not None:
            seconds = work.seconds(seconds)
        return np.where(rate_gbps > 0, gigabits / seconds, 0.0)


def wanted_gbps(load: Load, latency_s: F64, work: Work | None) -> F64:
    """Most that entities of a phase send, (U,) Gb/s: what goes on beside computing takes its time.

    Bytes that have as long as the computing are spread over it, and leave the links to those that
    computing waits for.
    """
    wanted = np.full(len(load.size_bytes), np.inf)
    if work is not None:
        room_s = work.beside_s[work.wire] - latency_s
        np.divide(load.size_bytes * BITS_PER_BYTE / GIGA, room_s, out=wanted, where=room_s > 0)
    return wanted
