"""A phase as the solver takes it: entities that each have one rate.

An entity is a lock-step group (all its flows advance together, so the slowest link paces every
one), or one queue pair of a flow of its own, or one uniform exchange. Its size is that of its
largest flow; a smaller flow of the group puts proportionally less on its links.

Axes: F rows to route, U entities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from clusterscope.columns import F64, I32, I64, U64, Arrays, Col, columns_of
from clusterscope.fabric.arrays import Fabric
from clusterscope.routing.hashing import entropy
from clusterscope.traffic.flows import Exchange, Flows, Phase, Work
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
    work: Work | None = None

    @cached_property
    def converges(self) -> bool:
        """True when some vertex receives from several."""
        if not len(self.dst):
            return False
        one = np.full(int(self.dst.max()) + 1, -1, dtype=np.int32)
        one[self.dst] = self.src
        return bool((one[self.dst] != self.src).any())

    def equals(self, other: Load) -> bool:
        """True when the other asks the same of the network, exchange for exchange."""
        if self is other:
            return True
        kind = (self.network, self.serial_steps, self.exchange, self.work)
        return kind == (other.network, other.serial_steps, other.exchange, other.work) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in columns_of(Load)
        )


def compile_load(
    phase: Phase, transport: Transport, fabric: Fabric, seed: int, place: tuple[int, int]
) -> Load:
    """The rows and entities of a phase under a transport; `place` is (job, phase)."""
    if isinstance(phase.demand, Exchange):
        return _exchange(phase, phase.demand)
    flows = phase.demand
    count = _queue_pairs(flows, transport, fabric)
    rows = np.repeat(np.arange(len(flows.src)), count)
    qp = (np.arange(len(rows)) - (np.cumsum(count) - count)[rows]).astype(np.int32)
    entity, size = _entities(flows, rows, count)
    if phase.work is not None and not len(size):
        size = np.ones(1)  # stands for ranks that compute and send nothing
    weight = flows.size_bytes[rows] / count[rows] / size[entity] * phase.wire_ratio
    src, dst = flows.src[rows], flows.dst[rows]
    return Load(
        network=phase.network,
        serial_steps=phase.serial_steps,
        exchange=None,
        src=src,
        dst=dst,
        entropy=entropy(src, dst, qp, seed + _salt(transport, place)),
        row_weight=weight,
        row_entity=entity.astype(np.int32),
        size_bytes=size,
        work=None if phase.work is None else phase.work.repeated(len(size)),
    )


def _queue_pairs(flows: Flows, transport: Transport, fabric: Fabric) -> I64:
    """Rows that each flow becomes, (F,).

    One for each queue pair, except where these would all take the same way: inside a domain, and
    below one leaf when the flows of a group keep step anyway.
    """
    hashed = transport.policy.load_balancing in ("ecmp", "flowlet")
    count = np.full(len(flows.src), transport.qps if hashed else 1, dtype=np.int64)
    if transport.qps > 1 and hashed:
        count[flows.src >= fabric.ports] = 1
        if _grouped(flows):
            out = np.flatnonzero(flows.src < fabric.ports)
            near = fabric.port_leaf[flows.src[out]] == fabric.port_leaf[flows.dst[out]]
            count[out[near]] = 1
    return count


def _grouped(flows: Flows) -> bool:
    """Whether a lock-step group has more than one flow."""
    return bool(len(flows.group)) and int(flows.group[-1]) + 1 < len(flows.group)


def _salt(transport: Transport, place: tuple[int, int]) -> int:
    """What makes the same pair of NICs hash to another path.

    Model: the gaps of a flow are those between phases. Inside one a NIC paces its packets, some
    100 ns apart, and a ring waits for a step's latency; both are too short for a flowlet to end.
    """
    job, phase = place
    return 1_000_003 * job + (0 if transport.flowlet_gap_s is None else 7_368_787 * phase)


def _entities(flows: Flows, rows: I64, count: I64) -> tuple[I32, F64]:
    """Entity of every (flow, queue pair) row, and the size of every entity, bytes."""
    if len(rows) and not _grouped(flows):
        return np.arange(len(rows), dtype=np.int32), (flows.size_bytes / count)[rows]
    groups = int(flows.group[-1]) + 1 if len(flows.group) else 0
    size = np.zeros(groups)
    np.maximum.at(size, flows.group, flows.size_bytes)
    return flows.group[rows], size


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
