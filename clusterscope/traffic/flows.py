"""What a job wants to move: flows, in phases that follow one another.

Axes: F flows, R ranks of a job, P NIC ports of a uniform exchange.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from clusterscope.columns import F64, I32, Arrays, Col


@dataclass(frozen=True, eq=False, kw_only=True)
class Flows(Arrays):
    """One row a flow. Flows of one group move in lock step: the slowest paces all of them."""

    src: Annotated[I32, Col("F", "vertex", "sending NIC port, or GPU for scale-up")]
    dst: Annotated[I32, Col("F", "vertex", "receiving NIC port, or GPU for scale-up")]
    size_bytes: Annotated[F64, Col("F", "B", "bytes to move in the phase")]
    group: Annotated[
        I32, Col("F", "1", "lock-step group, 0..groups-1, ascending; own row if alone")
    ]


@dataclass(frozen=True, eq=False, kw_only=True)
class Exchange(Arrays):
    """A uniform all-to-all: every port sends the same to every port of another domain.

    Kept as one thing, never as P x P flows. Ports that share a scale-up domain exchange nothing
    here (they use the scale-up network).
    """

    ports: Annotated[I32, Col("P", "vertex", "member NIC ports, ascending")]
    domain: Annotated[I32, Col("P", "domain", "scale-up domain (or node) of the port's GPU")]
    port_bytes: float


@dataclass(frozen=True, eq=False)
class Phase:
    """Flows that start together; the next phase starts when the last of them is done.

    Attributes:
        name: what it is ("reduce-scatter in domain").
        network: whose links it uses.
        demand: the flows, or the uniform exchange.
        serial_steps: messages that follow one another (ring steps), each of which pays the latency
            of one hop.
    """

    name: str
    network: Literal["scale-up", "scale-out"]
    demand: Flows | Exchange
    serial_steps: int


@dataclass(frozen=True, eq=False)
class JobProgram:
    """One job, compiled: where its ranks are and what one iteration moves.

    Attributes:
        name: from the spec.
        collective: from the spec.
        gpus: (R,) GPU of each rank.
        message_bytes: nccl-tests size.
        phases: one iteration.
        busbw_factor: busbw = algbw x factor (nccl-tests PERFORMANCE.md).
        overlapped: phases run at the same time instead of one after another.
    """

    name: str
    collective: str
    gpus: I32
    message_bytes: float
    phases: tuple[Phase, ...]
    busbw_factor: float
    overlapped: bool = False
