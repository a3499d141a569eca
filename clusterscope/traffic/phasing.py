"""Wires and computing put together as one phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clusterscope.fabric.arrays import Fabric
from clusterscope.traffic.edges import network_of
from clusterscope.traffic.flows import Flows, Phase, Work
from clusterscope.traffic.wires import Wire

# A wire, the seconds of computing in turn with it, and those beside it.
Timed = tuple[Wire, float, float]


def times(wire: Wire, count: int, messages: int = 1) -> Wire:
    """A wire used `count` times, each time cut into so many messages."""
    flows = replace(wire.flows, size_bytes=wire.flows.size_bytes * count)
    return Wire(wire.kind, flows, wire.steps * count * messages)


def portion(wire: Wire, share: float) -> Wire:
    """A share of a wire's bytes, in as many messages: chunks are sent one by one."""
    flows = replace(wire.flows, size_bytes=wire.flows.size_bytes * share)
    return Wire(wire.kind, flows, wire.steps)


def phase(
    fabric: Fabric, name: str, wires: Sequence[Timed], compute_s: float, bubble: float
) -> Phase:
    """Wires that start together as one phase.

    Args:
        fabric: what they run on.
        name: of the phase.
        wires: what is sent; may be nothing.
        compute_s: computing of one rank in the phase.
        bubble: idle over working time.
    """
    flows = _joined([wire.flows for wire, _, _ in wires])
    rows = [(w.kind, w.groups, w.steps, before, beside) for w, before, beside in wires]
    kinds, groups, steps, before, beside = zip(*(rows or [("", 1, 0, 0.0, compute_s)]), strict=True)
    work = Work(
        wire=np.repeat(np.arange(len(groups), dtype=np.int32), groups),
        before_s=np.array(before, dtype=np.float64),
        beside_s=np.array(beside, dtype=np.float64),
        steps=np.array(steps, dtype=np.int32),
        kinds=kinds,
        compute_s=compute_s,
        bubble_ratio=bubble,
    )
    return Phase(name, network_of(fabric, flows), flows, max(steps), work)


def merged(wires: Sequence[Wire]) -> list[Wire]:
    """Wires that share their flows as one with the bytes of all, in order of the first."""
    out: list[Wire] = []
    for wire in wires:
        place = next((i for i, other in enumerate(out) if _along(wire, other)), None)
        if place is None:
            out.append(wire)
            continue
        other = out[place]
        size = other.flows.size_bytes + wire.flows.size_bytes
        flows = replace(other.flows, size_bytes=size)
        out[place] = Wire(wire.kind, flows, other.steps + wire.steps)
    return out


def _along(wire: Wire, other: Wire) -> bool:
    """True when two wires of a kind have the same flows, but for their bytes."""
    pairs = ((wire.flows.src, other.flows.src), (wire.flows.dst, other.flows.dst))
    return wire.kind == other.kind and all(np.array_equal(a, b) for a, b in pairs)


def sent_bytes(phases: Sequence[Phase]) -> float:
    """Payload that all ranks of a training job send in its phases."""
    return sum(float(p.demand.size_bytes.sum()) for p in phases if isinstance(p.demand, Flows))


def _joined(parts: Sequence[Flows]) -> Flows:
    """Flows one after another, their groups renumbered."""
    base, groups = 0, []
    for part in parts:
        groups.append(part.group + base)
        base += int(part.group[-1]) + 1 if len(part.group) else 0
    none, nothing = np.zeros(0, dtype=np.int32), np.zeros(0)
    return Flows(
        src=np.concatenate([none, *(p.src for p in parts)]),
        dst=np.concatenate([none, *(p.dst for p in parts)]),
        size_bytes=np.concatenate([nothing, *(p.size_bytes for p in parts)]),
        group=np.concatenate([none, *groups]).astype(np.int32),
        channels=np.concatenate([none, *(p.channels for p in parts)]),
    )
