"""What a job wants to move: flows, in phases that follow one another.

Axes: F flows, R ranks of a job, P NIC ports of a uniform exchange.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np

from clusterscope.columns import F64, I32, Arrays, Col
from clusterscope.traffic.serving_task import Serving
from clusterscope.traffic.task import Training


@dataclass(frozen=True, eq=False, kw_only=True)
class Flows(Arrays):
    """One row a flow. Flows of one group move in lock step: the slowest paces all of them."""

    src: Annotated[I32, Col("F", "vertex", "sending NIC port, or GPU for scale-up")]
    dst: Annotated[I32, Col("F", "vertex", "receiving NIC port, or GPU for scale-up")]
    size_bytes: Annotated[F64, Col("F", "B", "bytes to move in the phase")]
    group: Annotated[
        I32, Col("F", "1", "lock-step group, 0..groups-1, ascending; own row if alone")
    ]
    channels: Annotated[I32, Col("F", "1", "rings or sends that a library runs at once over it")]


@dataclass(frozen=True, eq=False, kw_only=True)
class Exchange(Arrays):
    """A uniform all-to-all: every port sends the same to every port of another domain.

    Kept as one thing, never as P x P flows. Ports that share a scale-up domain exchange nothing
    here (they use the scale-up network). When members are GPUs, it is the other way round: each
    sends the same to every other one of its domain.
    """

    ports: Annotated[I32, Col("P", "vertex", "member NIC ports or GPUs, ascending")]
    domain: Annotated[I32, Col("P", "domain", "scale-up domain (or node) of the port's GPU")]
    port_bytes: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Work(Arrays):
    """Computing in a phase of a training job, by wire (W): a kind of traffic in lock-step groups.

    A group takes (1 + bubble) x max(before + latency + sending, beside); in the bubble it waits for
    other stages, which may compute faster. Without flows there is one group, which only computes.
    """

    wire: Annotated[I32, Col("Q", "wire", "wire of each lock-step group of the flows")]
    before_s: Annotated[F64, Col("W", "s", "computing in turn with the sends")]
    beside_s: Annotated[F64, Col("W", "s", "computing at the same time")]
    steps: Annotated[I32, Col("W", "1", "messages that follow one another")]
    kinds: tuple[str, ...]
    compute_s: float
    bubble_ratio: float
    others_ratio: float = 1.0  # computing of the other stages of a pipeline over the slowest one's

    @property
    def group_steps(self) -> I32:
        """Messages that follow one another, by group, (Q,)."""
        return self.steps[self.wire]

    def repeated(self, entities: int) -> Work:
        """The same for entities (U) of which each group is a run of equally many."""
        each = entities // len(self.wire)
        return self if each == 1 else replace(self, wire=np.repeat(self.wire, each))

    def seconds(self, sending_s: F64) -> F64:
        """How long groups (Q,) take whose latency and sending take `sending_s` (Q,)."""
        busy = self.busy(sending_s, 1.0)
        if self.others_ratio == 1.0:
            return busy * (1 + self.bubble_ratio)
        return busy + self.bubble_ratio * self.busy(sending_s, self.others_ratio)

    def busy(self, sending_s: F64, computing: float) -> F64:
        """The same without bubble, (Q,), when computing takes so many times as long."""
        before, beside = self.before_s[self.wire], self.beside_s[self.wire]
        busy: F64 = np.maximum(computing * before + sending_s, computing * beside)
        return busy


@dataclass(frozen=True, eq=False)
class Phase:
    """Flows that start together; the next phase starts when the last of them is done.

    Attributes:
        name: what it is ("reduce-scatter in domain").
        network: whose links it uses.
        demand: the flows, or the uniform exchange.
        wire_ratio: bytes that the links carry for each byte that moves.
        serial_steps: messages that follow one another (ring steps), each of which pays the latency
            of one hop.
        work: what a training job computes meanwhile; None for a bare collective.
        inner_steps: messages inside domains that follow one another between those of a NIC.
        step_s: latency of a step over one switch; that of the network when None.
        extra_s: latency besides that of the steps: starting, and filling a pipeline.
    """

    name: str
    network: Literal["scale-up", "scale-out"]
    demand: Flows | Exchange
    serial_steps: int
    work: Work | None = None
    wire_ratio: float = 1.0
    inner_steps: int = 0
    step_s: float | None = None
    extra_s: float = 0.0


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
        training: what it trains; None for a bare collective.
        speed: (R,) share of its own speed at which the GPU of each rank computes; None when all do.
        serving: what it serves; None for any other job.
        ring_phases: what rings would move instead, when switches reduce; else empty.
        algorithm: the one that runs, after `auto` has chosen; "" where there is no choice.
        protocol: how the library sends it; "" where that is not known.
    """

    name: str
    collective: str
    gpus: I32
    message_bytes: float
    phases: tuple[Phase, ...]
    busbw_factor: float
    overlapped: bool = False
    training: Training | None = None
    speed: F64 | None = None
    serving: Serving | None = None
    ring_phases: tuple[Phase, ...] = ()
    algorithm: str = ""
    protocol: str = ""
