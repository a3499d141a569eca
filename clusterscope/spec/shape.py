"""Shape of a scale-up domain, and what must hold of it.

    switched    every GPU on one cable to the domain's switches, taken as one vertex
    mesh        a cable between every pair of GPUs
    torus       a ring of cables along every dimension
    two-level   every GPU on a cable to its group, every group on one to the domain

A ring of two GPUs has one cable, a ring of one has none. All domains of a cluster are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Literal

from clusterscope.errors import SpecError
from clusterscope.spec.model import ClusterSpec, ScaleUpSpec
from clusterscope.units import counted

ShapeKind = Literal["switched", "mesh", "torus", "two-level"]
# A table of one domain is kept for a mesh or torus; beyond this no machine has GPU-to-GPU cables.
MOST_DIRECT = 4096
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Shape:
    """What a scale-up domain looks like.

    Attributes:
        kind: see the module.
        size: GPUs in a domain; 0 without scale-up.
        dims: GPUs along each dimension of a torus.
        group: GPUs of a first-level group when two-level.
    """

    kind: ShapeKind = "switched"
    size: int = 0
    dims: tuple[int, ...] = ()
    group: int = 0

    @property
    def direct(self) -> bool:
        """True when cables run from GPU to GPU, with no switch between."""
        return self.kind in ("mesh", "torus")

    @property
    def groups(self) -> int:
        """First-level groups of a domain."""
        return self.size // self.group if self.kind == "two-level" else 0

    @property
    def cables(self) -> int:
        """Cables of one domain."""
        if self.kind == "mesh":
            return self.size * (self.size - 1) // 2
        if self.kind == "torus":
            return sum(self.size // n * (n if n > 2 else n - 1) for n in self.dims)
        return self.size + self.groups

    @property
    def gpu_cables(self) -> int:
        """Most cables at one GPU."""
        if self.kind == "mesh":
            return self.size - 1
        if self.kind == "torus":
            return sum(min(n - 1, 2) for n in self.dims)
        return 1


def shape_of(scale_up: ScaleUpSpec | None) -> Shape:
    """Shape of the domains of a spec."""
    if scale_up is None:
        return Shape()
    kind, size = scale_up.topology, scale_up.domain_gpus
    return Shape(
        kind=kind,
        size=size,
        dims=scale_up.dims if kind == "torus" else (),
        group=(scale_up.group_gpus or size) if kind == "two-level" else 0,
    )


def cable_gbps(scale_up: ScaleUpSpec) -> float:
    """Rate of the cable at a GPU, one direction, Gb/s."""
    shape = shape_of(scale_up)
    if not shape.direct:
        return scale_up.gpu_gbps
    return scale_up.link_gbps or scale_up.gpu_gbps / max(1, shape.gpu_cables)


def uplink_gbps(scale_up: ScaleUpSpec) -> float:
    """Rate of the uplink of a first-level group, one direction, Gb/s."""
    given = scale_up.group_gbps
    return given or shape_of(scale_up).group * scale_up.gpu_gbps / scale_up.group_taper


def half_gbps(scale_up: ScaleUpSpec) -> float:
    """Rate between two halves of a domain, one direction, Gb/s.

    Half of what its GPUs send, or what the cables between the halves carry where that is less: of
    a mesh all pairs across, of a torus the cut across its longest dimension, of two levels half of
    the uplinks.
    """
    shape, rate = shape_of(scale_up), cable_gbps(scale_up)
    match shape.kind:
        case "mesh":
            return rate * (shape.size // 2) * (shape.size - shape.size // 2)
        case "torus":
            longest = max(shape.dims, default=1)
            return rate * (prod(shape.dims) // longest) * min(longest - 1, 2)
        case "two-level":
            return min(shape.size * rate, shape.groups * uplink_gbps(scale_up)) / 2
        case "switched":
            return shape.size * rate / 2


def shape_words(up: ScaleUpSpec) -> str:
    """How a domain is joined."""
    match up.topology:
        case "mesh":
            return "a cable for every pair"
        case "torus":
            return f"torus {' × '.join(str(n) for n in up.dims)}"
        case "two-level":
            return f"two levels, groups of {up.group_gpus}"
        case "switched":
            return "one level of switches"


def check_shape(spec: ClusterSpec, where: str) -> None:
    """Dimensions and groups tile a domain, and the cables of a GPU have its bandwidth.

    Raises:
        SpecError: the first thing that does not hold.
    """
    up = spec.scale_up
    if up is None:
        return
    _check_keys(up, where)
    shape, size, per_node = shape_of(up), up.domain_gpus, spec.node.gpus
    if shape.direct and size > MOST_DIRECT:
        raise SpecError(
            f"{where}: scale_up.topology",
            f"{up.topology!r} would cable {size:,} GPUs to each other",
            f"allowed is a domain of at most {MOST_DIRECT:,} GPUs, or 'switched' or 'two-level'",
        )
    if shape.kind == "torus" and prod(up.dims) != size:
        raise SpecError(
            f"{where}: scale_up.dims",
            f"{list(up.dims)} are {counted(prod(up.dims) if up.dims else 0, 'GPU')}, not the "
            f"{size:,} of a "
            "domain",
            f"allowed are up to 4 numbers whose product is {size}",
        )
    if shape.kind == "two-level" and (up.group_gpus is None or size % up.group_gpus):
        raise SpecError(
            f"{where}: scale_up.group_gpus",
            f"{up.group_gpus} does not divide the {counted(size, 'GPU')} of a domain into groups"
            if up.group_gpus
            else "is missing, and topology = 'two-level' needs it",
            f"allowed is a divisor of {size}",
        )
    if shape.kind == "two-level" and shape.group % per_node and per_node % shape.group:
        raise SpecError(
            f"{where}: scale_up.group_gpus",
            f"groups of {counted(shape.group, 'GPU')} are neither whole nodes nor a whole part "
            f"of one",
            f"allowed is a multiple or a divisor of node.gpus = {per_node}",
        )
    rate = cable_gbps(up) * shape.gpu_cables
    if shape.direct and rate > up.gpu_gbps * (1 + _ROUNDING):
        raise SpecError(
            f"{where}: scale_up.link_gbps",
            f"{up.link_gbps:g} on each of the {counted(shape.gpu_cables, 'cable')} of a GPU is "
            f"more than its "
            f"scale_up.gpu_gbps = {up.gpu_gbps:g}",
            f"allowed is at most {up.gpu_gbps / shape.gpu_cables:g}",
        )


_KEYS = {
    "link_gbps": ("mesh", "torus"),
    "dims": ("torus",),
    "group_gpus": ("two-level",),
    "group_gbps": ("two-level",),
    "group_taper": ("two-level",),
}


def _check_keys(up: ScaleUpSpec, where: str) -> None:
    """A key that another topology reads would be silently ignored."""
    for key, kinds in _KEYS.items():
        default = ScaleUpSpec.model_fields[key].default
        if getattr(up, key) != default and up.topology not in kinds:
            raise SpecError(
                f"{where}: scale_up.{key}",
                f"says nothing about topology = {up.topology!r}",
                f"allowed with scale_up.topology = {' or '.join(map(repr, kinds))}",
            )
