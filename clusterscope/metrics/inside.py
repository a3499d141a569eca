"""What traffic inside a node gets: pairs, rings and all-to-alls of its GPUs, CPU memory, NICs.

Line rates, one direction: no headers, no protocol. A flow takes the ways with the fewest hops and
splits over them in proportion to their rates (all NVSwitch chips of a board alike). GPUs talk over
scale-up links where these join them, else through PCIe switches and CPUs. Flows of a pattern move
in lock step, as a collective does, so the slowest paces all.

Axes: C cables, L = 2C links.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clusterscope.columns import F64
from clusterscope.engine.rates import max_min_entries
from clusterscope.fabric.inside import Inside, Network, Variant, build_inside, variants
from clusterscope.metrics.memo import per_key
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.shape import shape_of
from clusterscope.units import BITS_PER_BYTE

# Links that are as full as the fullest, but for the last digit of a sum.
_ROUNDING = 1e-9


class Send(NamedTuple):
    """Bytes from one vertex to another, of each byte that a sender of the pattern sends."""

    src: int
    dst: int
    share: float
    networks: tuple[Network, ...]


@dataclass(frozen=True, eq=False)
class Pattern:
    """A pattern of traffic and what it gets.

    Attributes:
        name: what it is, in words.
        senders: how many send at once.
        gbps: what each of them gets, one direction, Gb/s; 0 when there is no way.
        bottleneck: link that paces it, the first of equals, -1 without a way.
        link_gbps: load of every link, (L,) Gb/s.
    """

    name: str
    senders: int
    gbps: float
    bottleneck: int
    link_gbps: F64

    @property
    def each_GBps(self) -> float:  # noqa: N802 - the unit's own spelling
        """What a sender gets, one direction, 10^9 B/s."""
        return self.gbps / BITS_PER_BYTE

    @property
    def all_GBps(self) -> float:  # noqa: N802
        """What all of them get together, 10^9 B/s."""
        return self.senders * self.each_GBps


@dataclass(frozen=True, eq=False)
class Node:
    """The inside of a node, as built or otherwise, and its patterns."""

    variant: Variant
    inside: Inside
    patterns: tuple[Pattern, ...]


def nodes(spec: ClusterSpec) -> tuple[Node, ...]:
    """The inside of a node as built, then what it can be compared with.

    Raises:
        SpecError: a node has more GPUs than can be shown.
    """
    return tuple(node(spec, variant) for variant in variants(spec))


def node(spec: ClusterSpec, variant: Variant) -> Node:
    """The inside of a node and what its patterns get."""
    inside = build_inside(spec, variant)
    both_ways = spec.scale_up is not None and shape_of(spec.scale_up).direct
    both_ways = variant == "point to point" or (both_ways and variant != "switch")
    return Node(variant, inside, patterns(inside, both_ways=both_ways))


def patterns(inside: Inside, *, both_ways: bool = False) -> tuple[Pattern, ...]:
    """All patterns of a node, in order; `both_ways` rings go around in both directions."""
    gpus = inside.gpus
    found: list[tuple[str, int, list[Send]]] = []
    if len(gpus) > 1:
        net = _joining(inside)
        found.append(("a pair: gpu0 to gpu1", 1, [Send(gpus[0], gpus[1], 1.0, net)]))
        found.append(("ring over all GPUs", len(gpus), _ring(gpus, net, both_ways=both_ways)))
        few = len(gpus) // 2
        if few > 2:
            found.append((f"all-to-all of {few} GPUs", few, _all_to_all(gpus[:few], net)))
        words = "all-to-all of all GPUs" if few > 1 else "both GPUs to each other"
        found.append((words, len(gpus), _all_to_all(gpus, net)))
    found.append(("one GPU to CPU memory", 1, _offload(inside, 1)))
    if len(gpus) > 1:
        found.append(("all GPUs to CPU memory", len(gpus), _offload(inside, len(gpus))))
    if inside.out >= 0:
        sends = [Send(gpu, inside.out, 1.0, ("host", "out")) for gpu in gpus]
        found.append(("all GPUs to the network", len(gpus), sends))
    return tuple(_solve(inside, *row) for row in found)


def _joining(inside: Inside) -> tuple[Network, ...]:
    """What joins the GPUs: scale-up links, or else the host."""
    near = _distances(inside, inside.gpus[0], ("scale-up",))
    return ("scale-up",) if all(gpu in near for gpu in inside.gpus) else ("scale-up", "host")


def _ring(gpus: tuple[int, ...], net: tuple[Network, ...], *, both_ways: bool) -> list[Send]:
    """Every GPU to the next one; half of the bytes to the one before as well when both ways."""
    after = [*gpus[1:], gpus[0]]
    share = 0.5 if both_ways else 1.0
    sends = [Send(a, b, share, net) for a, b in zip(gpus, after, strict=True)]
    return sends + [Send(b, a, share, net) for a, b, _, _ in sends if both_ways]


def _all_to_all(gpus: tuple[int, ...], net: tuple[Network, ...]) -> list[Send]:
    """Every GPU to every other one."""
    return [Send(a, b, 1 / (len(gpus) - 1), net) for a in gpus for b in gpus if a != b]


def _offload(inside: Inside, count: int) -> list[Send]:
    """Every GPU to the memory of its CPU."""
    pairs = list(zip(inside.gpus, inside.memory_of, strict=True))[:count]
    return [Send(gpu, memory, 1.0, ("host",)) for gpu, memory in pairs]


def _solve(inside: Inside, name: str, senders: int, sends: list[Send]) -> Pattern:
    """Rate of a pattern whose sends move in lock step."""
    load = np.zeros(2 * len(inside.gbps))
    reached = True
    for send in sends:
        reached = _spread(inside, send, load) and reached
    links = np.flatnonzero(load)
    if not reached or not len(links):
        return Pattern(name, senders, 0.0, -1, np.zeros_like(load))
    rates = max_min_entries(links * 0, links, load[links], 1, np.repeat(inside.gbps, 2))
    load *= float(rates.flow_gbps[0])
    full = load >= np.repeat(inside.gbps, 2) * (1 - _ROUNDING)
    return Pattern(name, senders, float(rates.flow_gbps[0]), int(full.argmax()), load)


def _spread(inside: Inside, send: Send, load: F64) -> bool:
    """Add what a send puts on every link, (L,); false when there is no way."""
    distance = _distances(inside, send.dst, send.networks)
    if send.src not in distance:
        return False
    near = _neighbors(inside, send.networks)
    arriving = {send.src: send.share}
    for left in range(distance[send.src], 0, -1):
        onward: dict[int, float] = {}
        for vertex, share in arriving.items():
            ways = [w for w in near.get(vertex, ()) if distance.get(w[0], -1) == left - 1]
            total = sum(inside.gbps[link >> 1] for _, link in ways)
            for far, link in ways:
                part = share * float(inside.gbps[link >> 1] / total)
                load[link] += part
                onward[far] = onward.get(far, 0.0) + part
        arriving = onward
    return True


def _distances(inside: Inside, goal: int, networks: tuple[Network, ...]) -> dict[int, int]:
    """Hops to a vertex from every one that has a way to it."""
    near = _neighbors(inside, networks)
    found, waiting = {goal: 0}, deque([goal])
    while waiting:
        here = waiting.popleft()
        for far, _ in near.get(here, ()):
            if far not in found:
                found[far] = found[here] + 1
                waiting.append(far)
    return found


@per_key
def _tables(inside: Inside) -> dict[tuple[Network, ...], dict[int, list[tuple[int, int]]]]:  # noqa: ARG001 - the key
    """Neighbors by networks, filled when asked for."""
    return {}


def _neighbors(inside: Inside, networks: tuple[Network, ...]) -> dict[int, list[tuple[int, int]]]:
    """Neighbors of every vertex and the links to them, over some networks."""
    kept = _tables(inside)
    if networks not in kept:
        table: dict[int, list[tuple[int, int]]] = {}
        ends = zip(inside.a.tolist(), inside.b.tolist(), inside.network, strict=True)
        for cable, (a, b, own) in enumerate(ends):
            if own in networks:
                table.setdefault(a, []).append((b, 2 * cable))
                table.setdefault(b, []).append((a, 2 * cable + 1))
        kept[networks] = table
    return kept[networks]
