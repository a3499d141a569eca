"""The inside of a node as a small fabric of its own: GPUs, switches, CPUs, memory, NICs.

Its scale-up links follow from the spec, all others from what the catalogue says about the
surroundings of that GPU (`[host.*]` of the parts). All nodes of a cluster are alike, so this is
node 0. A domain that is wider than a node shows as the switches outside it; cables from GPU to GPU
that leave the node are left out.

Axes: V vertices, C cables; cable c is the links 2c (a to b) and 2c + 1 (b to a).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np

from clusterscope.columns import F64, I32, Arrays, Col
from clusterscope.errors import SpecError
from clusterscope.fabric.geometry import geometry
from clusterscope.spec import buses, parts
from clusterscope.spec.model import ClusterSpec, ScaleUpSpec
from clusterscope.spec.shape import Shape, cable_gbps, shape_of

VertexKind = Literal["gpu", "scale-up switch", "PCIe switch", "CPU", "memory", "NIC", "network"]
Network = Literal["scale-up", "host", "out"]
Variant = Literal["as built", "point to point", "switch", "PCIe", "C2C"]
MOST_GPUS = 64
_MOST_CHIPS = 64  # more of them say no more, and every GPU is cabled to each
_CHIPS = {
    "nvlink": "nvswitch",
    "ualink": "ualink-switch",
    "infinity-fabric": "fabric-switch",
    "neuronlink": "neuronlink-switch",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Inside(Arrays):
    """Parts of a node and the cables between them.

    Attributes:
        names: of the vertices.
        kinds: of the vertices.
        what: of the cables: "NVLink 4", "PCIe 5, 16 lanes".
        network: of the cables: scale-up, host (CPU, memory, PCIe), or out of the node.
        gpus: vertices of the GPUs, in order.
        nic_of: NIC of each GPU, by vertex; -1 without one.
        memory_of: memory of the CPU that each GPU is nearest to.
        left_out: cables of GPUs that leave the node for GPUs of others.
    """

    names: tuple[str, ...]
    kinds: tuple[VertexKind, ...]
    what: tuple[str, ...]
    network: tuple[Network, ...]
    gpus: tuple[int, ...]
    nic_of: tuple[int, ...]
    memory_of: tuple[int, ...]
    left_out: int
    a: Annotated[I32, Col("C", "vertex", "one end")]
    b: Annotated[I32, Col("C", "vertex", "other end")]
    gbps: Annotated[F64, Col("C", "Gb/s", "line rate, one direction")]

    @property
    def out(self) -> int:
        """Vertex that stands for the network outside; -1 without NICs."""
        return self.kinds.index("network") if "network" in self.kinds else -1


@dataclass
class _Draft:
    """A node under construction."""

    names: list[str] = field(default_factory=list)
    kinds: list[VertexKind] = field(default_factory=list)
    cables: list[tuple[int, int, float, str, Network]] = field(default_factory=list)

    def add(self, kind: VertexKind, name: str) -> int:
        """A new vertex."""
        self.names.append(name)
        self.kinds.append(kind)
        return len(self.names) - 1

    def join(self, a: int, b: int, gbps: float, what: str, network: Network) -> None:
        """A cable."""
        self.cables.append((a, b, gbps, what, network))


def build_inside(spec: ClusterSpec, variant: Variant = "as built") -> Inside:
    """The inside of a node.

    Args:
        spec: the cluster.
        variant: "point to point" or "switch" joins the GPUs otherwise at the same bandwidth a GPU,
            "PCIe" or "C2C" the GPUs and their CPUs.

    Raises:
        SpecError: a node has more GPUs than can be shown.
    """
    if spec.node.gpus > MOST_GPUS:
        raise SpecError(
            "node.gpus",
            f"{spec.node.gpus} GPUs in a node are too many to show its inside",
            f"allowed is at most {MOST_GPUS}",
        )
    draft, host = _Draft(), _host(spec, variant)
    gpus = [draft.add("gpu", f"gpu{g}") for g in range(spec.node.gpus)]
    left_out = _scale_up(draft, spec, gpus, variant)
    memory_of, roots, cpus = _hosts(draft, host, gpus)
    nic_of = _nics(draft, spec, host, gpus, (roots, cpus))
    a, b, gbps, what, network = zip(*draft.cables, strict=True)
    return Inside(
        names=tuple(draft.names),
        kinds=tuple(draft.kinds),
        what=what,
        network=network,
        gpus=tuple(gpus),
        nic_of=tuple(nic_of),
        memory_of=tuple(memory_of),
        left_out=left_out,
        a=np.array(a, dtype=np.int32),
        b=np.array(b, dtype=np.int32),
        gbps=np.array(gbps, dtype=np.float64),
    )


def variants(spec: ClusterSpec) -> tuple[Variant, ...]:
    """What a node can be compared with: its own build first."""
    found: list[Variant] = ["as built"]
    if spec.scale_up is not None and spec.node.gpus > 1:
        found.append("switch" if shape_of(spec.scale_up).direct else "point to point")
    host = buses.host_of(spec.node.gpu)
    found.append("PCIe" if host.gpu_bus == "NVLink-C2C" else "C2C")
    return tuple(found)


def _host(spec: ClusterSpec, variant: Variant) -> buses.Host:
    """Surroundings of the GPUs; PCIe gives each GPU 16 lanes, C2C each the whole of it."""
    host = buses.host_of(spec.node.gpu)
    if variant == "PCIe":
        return replace(host, gpu_bus="PCIe5-x16", gpu_buses=1.0)
    if variant == "C2C":
        return replace(host, gpu_bus="NVLink-C2C", gpu_buses=1.0, pcie_switches=0)
    return host


def _scale_up(draft: _Draft, spec: ClusterSpec, gpus: list[int], variant: Variant) -> int:
    """Scale-up cables of the GPUs; gives the number of those that leave the node."""
    up = spec.scale_up
    if up is None:
        return 0
    shape, what = shape_of(up), _link_word(spec, up)
    if variant == "point to point":
        size = min(len(gpus), shape.size)
        share = up.gpu_gbps / max(1, size - 1)
        shape = Shape("mesh", size)
        return _direct(draft, shape, gpus, (share, what))
    if shape.direct and variant != "switch":
        return _direct(draft, shape, gpus, (cable_gbps(up), what))
    _switched(draft, up, gpus, what)
    return 0


def _link_word(spec: ClusterSpec, up: ScaleUpSpec) -> str:
    """What a scale-up link is called."""
    if up.kind == "nvlink":
        rate = parts.gpu(spec.node.gpu).scale_up_gbps
        found = [buses.nvlink(name) for name in buses.nvlinks()]
        return next((n.title for n in found if n.gpu_gbps == rate), "NVLink")
    words = {"ualink": "UALink", "infinity-fabric": "Infinity Fabric", "neuronlink": "NeuronLink"}
    return words[up.kind]


def _direct(draft: _Draft, shape: Shape, gpus: list[int], link: tuple[float, str]) -> int:
    """Cables from GPU to GPU of the domains that the node holds, or of its part of one."""
    one, rate, left = geometry(shape), link[0], 0
    for first in range(0, len(gpus), shape.size):
        own = gpus[first : first + shape.size]
        for a, b in zip(one.a.tolist(), one.b.tolist(), strict=True):
            if a < len(own) and b < len(own):
                draft.join(own[a], own[b], rate, link[1], "scale-up")
            else:
                left += a < len(own) or b < len(own)
    return left


def _switched(draft: _Draft, up: ScaleUpSpec, gpus: list[int], what: str) -> None:
    """Every GPU on all chips of its domain; on one vertex when they stand outside or are many."""
    within = up.domain_gpus <= len(gpus)
    chips = max(1, up.switches) if within and not shape_of(up).direct else 1
    many, chips = chips > _MOST_CHIPS, 1 if chips > _MOST_CHIPS else chips
    for first in range(0, len(gpus), up.domain_gpus):
        own = gpus[first : first + up.domain_gpus]
        names = [f"{_CHIPS[up.kind]}{c}" for c in range(chips)]
        if many:
            names = [f"{up.switches} {_CHIPS[up.kind]}es"]
        if within and up.domain_gpus < len(gpus):
            names = [f"domain{first // up.domain_gpus}/{name}" for name in names]
        elif not within:
            names = ["switches outside"]
        for name in names:
            chip = draft.add("scale-up switch", name)
            for gpu in own:
                draft.join(gpu, chip, up.gpu_gbps / chips, what, "scale-up")


def _hosts(
    draft: _Draft, host: buses.Host, gpus: list[int]
) -> tuple[list[int], list[int], list[int]]:
    """CPUs, memory and PCIe switches: memory and PCIe root of each GPU, and the CPUs."""
    cpus = [draft.add("CPU", f"cpu{c}") for c in range(min(host.cpus, len(gpus)))]
    memory = [draft.add("memory", f"memory{c}") for c in range(len(cpus))]
    for cpu, own in zip(cpus, memory, strict=True):
        _bus(draft, cpu, own, host.memory)
    for low, high in pairwise(cpus):
        _bus(draft, low, high, host.cpu_bus)
    near = [g * len(cpus) // len(gpus) for g in range(len(gpus))]
    count = min(host.pcie_switches, len(gpus))
    if not count:
        for gpu, cpu in zip(gpus, near, strict=True):
            _bus(draft, gpu, cpus[cpu], host.gpu_bus, host.gpu_buses)
        return [memory[c] for c in near], [], [cpus[c] for c in near]
    switches = [draft.add("PCIe switch", f"pcie{s}") for s in range(count)]
    root = [g * count // len(gpus) for g in range(len(gpus))]
    for number, switch in enumerate(switches):
        _bus(draft, switch, cpus[near[root.index(number)]], host.gpu_bus, host.gpu_buses)
    for gpu, own in zip(gpus, root, strict=True):
        _bus(draft, gpu, switches[own], host.gpu_bus)
    return [memory[c] for c in near], [switches[r] for r in root], [cpus[c] for c in near]


def _nics(
    draft: _Draft,
    spec: ClusterSpec,
    host: buses.Host,
    gpus: list[int],
    near: tuple[list[int], list[int]],
) -> list[int]:
    """NICs, each where a GPU that uses it hangs; the NIC of every GPU."""
    count = spec.node.nics
    if not count:
        return [-1] * len(gpus)
    roots, cpus = near
    nics = [draft.add("NIC", f"nic{n}") for n in range(count)]
    out = draft.add("network", "network")
    for number, nic in enumerate(nics):
        user = min(number * len(gpus) // count, len(gpus) - 1)
        at = roots[user] if host.nic_at == "switch" and roots else cpus[user]
        _bus(draft, nic, gpus[user] if host.nic_at == "gpu" else at, host.nic_bus)
        draft.join(nic, out, spec.node.nic_gbps, parts.nic(spec.node.nic).name, "out")
    return [nics[g * count // len(gpus)] for g in range(len(gpus))]


def _bus(draft: _Draft, a: int, b: int, name: str, count: float = 1.0) -> None:
    """A bus of the catalogue, or several side by side."""
    part = buses.bus(name)
    words = part.title if count == 1 else f"{count:g} × {part.title}"
    words = f"half of {part.title}" if count == 1 / 2 else words
    draft.join(a, b, part.gbps * count, words, "host")


def cables_of(inside: Inside, networks: Iterable[Network]) -> I32:
    """Cables of some networks, ascending."""
    wanted = set(networks)
    return np.array([c for c, own in enumerate(inside.network) if own in wanted], dtype=np.int32)
