"""A phase as the solver takes it: entities that each have one rate.

An entity is a lock-step group (all its flows advance together, so the slowest link paces every
one), or one queue pair of a flow of its own, or one uniform exchange. Its size is that of its
largest flow; a smaller flow of the group puts proportionally less on its links.

Axes: F rows to route, U entities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, TypeVar

import numpy as np
from numpy.typing import NDArray

from clusterscope.columns import F64, I32, I64, U64, Arrays, Col, columns_of
from clusterscope.fabric.arrays import Fabric
from clusterscope.routing.hashing import entropy
from clusterscope.traffic.flows import Exchange, Flows, Phase, Work
from clusterscope.transport.model import Transport

_Number = TypeVar("_Number", np.int32, np.float64)


@dataclass(frozen=True, eq=False, kw_only=True)
class Load(Arrays):
    """Rows to route, and the entities that they belong to.

    `connections` are those of the pair of NICs that has most.
    """

    network: str
    serial_steps: int
    exchange: Exchange | None
    src: Annotated[I32, Col("F", "vertex", "sender")]
    dst: Annotated[I32, Col("F", "vertex", "receiver")]
    entropy: Annotated[U64, Col("F", "1", "what switches hash")]
    row_weight: Annotated[F64, Col("F", "1", "row's bytes per byte of its entity")]
    row_entity: Annotated[I32, Col("F", "entity", "entity of the row, ascending")]
    row_connections: Annotated[I32, Col("F", "1", "connections that the row stands for")]
    size_bytes: Annotated[F64, Col("U", "B", "bytes of the entity's largest flow")]
    work: Work | None = None
    step_s: float | None = None
    extra_s: float = 0.0
    connections: int = 1

    @cached_property
    def converges(self) -> bool:
        """True when some vertex receives from several."""
        if not len(self.dst):
            return False
        one = np.full(int(self.dst.max()) + 1, -1, dtype=np.int32)
        one[self.dst] = self.src
        return bool((one[self.dst] != self.src).any())

    def crossed(self, ports: int) -> frozenset[str]:
        """Networks that it can use, "up" and "out", where NIC ports are below `ports`."""
        if self.exchange is not None:
            return frozenset({"up"} if self.network == "scale-up" else {"out"})
        inside = self.src >= ports
        return frozenset(
            name for name, uses in (("up", inside.any()), ("out", not inside.all())) if uses
        )

    def along(self, other: Load) -> bool:
        """True when the other's rows take the same ways."""
        return self.src is other.src or all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("src", "dst", "entropy")
        )

    def equals(self, other: Load) -> bool:
        """True when the other asks the same of the network, exchange for exchange."""
        if self is other:
            return True
        kind = ("network", "serial_steps", "exchange", "work", "step_s", "extra_s")
        return all(getattr(self, name) == getattr(other, name) for name in kind) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in columns_of(Load)
        )


def compile_load(
    phase: Phase, transport: Transport, fabric: Fabric, seed: int, place: tuple[int, int]
) -> Load:
    """The rows and entities of a phase under a transport; `place` is (job, phase)."""
    if isinstance(phase.demand, Exchange):
        return _exchange(phase, phase.demand)
    flows = phase.demand
    opened = _connections(flows, transport, fabric)
    count = _rows(flows, transport, fabric, opened)
    rows, qp = _flow_of_row(count)
    alone = phase.work is None and not _grouped(flows)
    weight, entity, size = _entities(flows, rows, count, alone=alone)
    if phase.work is not None and not len(size):
        size = np.ones(1)  # stands for ranks that compute and send nothing
    src, dst = _by_row(flows.src, rows), _by_row(flows.dst, rows)
    return Load(
        network=phase.network,
        serial_steps=phase.serial_steps,
        exchange=None,
        src=src,
        dst=dst,
        entropy=entropy(src, dst, qp, seed + _salt(transport, place)),
        row_weight=_by_row(weight * phase.wire_ratio, rows),
        row_entity=entity,
        row_connections=_by_row((opened // count).astype(np.int32), rows),
        size_bytes=size,
        work=None if phase.work is None else phase.work.repeated(len(size)),
        step_s=phase.step_s,
        extra_s=phase.extra_s,
        connections=int(opened.max(initial=1)),
    )


def _connections(flows: Flows, transport: Transport, fabric: Fabric) -> I64:
    """Connections that carry each flow, (F,): every channel has `qps`; 1 inside a domain."""
    channels = flows.channels if transport.channels is None else np.int64(transport.channels)
    opened = np.where(flows.src < fabric.ports, channels * np.int64(transport.qps), 1)
    return opened.astype(np.int64, copy=False)


def _rows(flows: Flows, transport: Transport, fabric: Fabric, opened: I64) -> I64:
    """Rows that each flow becomes, (F,).

    One for each connection, except where these would all take the same way: where nothing is
    hashed, and below one leaf when the flows of a group keep step anyway.

    Model: the channels of a ring keep step with each other. They have equal bytes, and all of those
    that meet on the fullest link get the same there, so the last one ends when the link has
    carried them, in step or not; what the others leave free meanwhile is not given away.
    """
    if transport.policy.load_balancing not in ("ecmp", "flowlet"):
        return np.ones(len(opened), dtype=np.int64)
    if opened.max(initial=1) == 1 or not _grouped(flows):
        return opened
    count = opened.copy()
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


def _flow_of_row(count: I64) -> tuple[I64 | None, I32]:
    """Flow of every row, None where each is one row, and which of its rows each is."""
    if (count == 1).all():
        return None, np.zeros(len(count), dtype=np.int32)
    rows = np.repeat(np.arange(len(count)), count)
    return rows, (np.arange(len(rows)) - (np.cumsum(count) - count).take(rows)).astype(np.int32)


def _by_row(of_flow: NDArray[_Number], rows: I64 | None) -> NDArray[_Number]:
    """What flows (F,) have, by row."""
    return of_flow if rows is None else of_flow.take(rows)


def _entities(flows: Flows, rows: I64 | None, count: I64, *, alone: bool) -> tuple[F64, I32, F64]:
    """Bytes of a row of each flow per byte of its entity, entity of every row, and size of each.

    A row that is `alone` is an entity of its own; else all rows of a group are one.
    """
    each = flows.size_bytes / count
    if len(each) and alone:
        size = _by_row(each, rows)
        return each / each, np.arange(len(size), dtype=np.int32), size
    groups = int(flows.group[-1]) + 1 if len(flows.group) else 0
    size = np.zeros(groups)
    np.maximum.at(size, flows.group, flows.size_bytes)
    return each / size.take(flows.group), _by_row(flows.group, rows), size


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
        row_connections=none,
        size_bytes=np.array([exchange.port_bytes]),
        step_s=phase.step_s,
        extra_s=phase.extra_s,
    )
