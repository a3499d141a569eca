"""A phase as the solver takes it: entities that each have one rate.

An entity is a lock-step group (all its flows advance together, so the slowest link paces every
one), or one queue pair of a flow of its own, or one uniform exchange. Its size is that of its
largest flow; a smaller flow of the group puts proportionally less on its links.

Axes: F rows to route, U entities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from clusterscope.columns import F64, I32, U64, Arrays, Col, columns_of
from clusterscope.routing.hashing import entropy
from clusterscope.traffic.flows import Exchange, Flows, Phase
from clusterscope.transport.model import Transport


@dataclass(frozen=True, eq=False, kw_only=True)
class Load(Arrays):
    """Rows to route, and the entities that they belong to."""

    network: str
    serial_steps: int
    exchange: Exchange | None
    src: Annotated[I32, Col("F", "vertex", "sender")]
    dst: Annotated[I32, Col("F", "vertex", "receiver")]
    entropy: Annotated[U64, Col("F", "1", "what switches hash")]
    row_weight: Annotated[F64, Col("F", "1", "row's bytes per byte of its entity")]
    row_entity: Annotated[I32, Col("F", "entity", "entity of the row, ascending")]
    size_bytes: Annotated[F64, Col("U", "B", "bytes of the entity's largest flow")]

    def equals(self, other: Load) -> bool:
        """True when the other asks the same of the network, exchange for exchange."""
        if self is other:
            return True
        kind = (self.network, self.serial_steps, self.exchange)
        return kind == (other.network, other.serial_steps, other.exchange) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in columns_of(Load)
        )


def compile_load(phase: Phase, transport: Transport, seed: int, job: int) -> Load:
    """The rows and entities of a phase under a transport."""
    if isinstance(phase.demand, Exchange):
        return _exchange(phase, phase.demand)
    flows = phase.demand
    qps = transport.qps if transport.policy.load_balancing == "ecmp" else 1
    rows = np.repeat(np.arange(len(flows.src)), qps)
    qp = np.tile(np.arange(qps, dtype=np.int32), len(flows.src))
    entity, size = _entities(flows, qps)
    weight = flows.size_bytes[rows] / qps / size[entity]
    src, dst = flows.src[rows], flows.dst[rows]
    return Load(
        network=phase.network,
        serial_steps=phase.serial_steps,
        exchange=None,
        src=src,
        dst=dst,
        entropy=entropy(src, dst, qp, seed + 1_000_003 * job),
        row_weight=weight,
        row_entity=entity.astype(np.int32),
        size_bytes=size,
    )


def _entities(flows: Flows, qps: int) -> tuple[I32, F64]:
    """Entity of every (flow, queue pair) row, and the size of every entity, bytes."""
    groups = int(flows.group[-1]) + 1 if len(flows.group) else 0
    members = np.bincount(flows.group, minlength=groups)
    if groups and members.max() == 1:
        entity = np.arange(groups * qps, dtype=np.int32)
        return entity, np.repeat(flows.size_bytes / qps, qps)
    size = np.zeros(groups)
    np.maximum.at(size, flows.group, flows.size_bytes)
    return np.repeat(flows.group, qps), size


def _exchange(phase: Phase, exchange: Exchange) -> Load:
    """A uniform exchange is one entity and has no rows."""
    none = np.zeros(0, dtype=np.int32)
    return Load(
        network=phase.network,
        serial_steps=phase.serial_steps,
        exchange=exchange,
        src=none,
        dst=none,
        entropy=np.zeros(0, dtype=np.uint64),
        row_weight=np.zeros(0),
        row_entity=none,
        size_bytes=np.array([exchange.port_bytes]),
    )
