"""What a GPU hangs on: its NIC, and the cables of its scale-up domain.

Scale-up cables stand behind all others. With switches in the domain, cable g of them is GPU g's;
with two levels, the uplinks of the groups follow, in order. On a mesh or torus the cables of a
domain stand together, as `geometry` numbers them. Groups are the vertices after the domains.

Axes: A GPUs asked about, X most cables at one.
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import F64, I32, I64
from clusterscope.fabric.arrays import SCALE_UP, Fabric
from clusterscope.fabric.geometry import AXES, geometry, steps
from clusterscope.fabric.things import Thing
from clusterscope.spec.model import ScaleUpSpec
from clusterscope.spec.shape import Shape, cable_gbps, shape_of, uplink_gbps


def gpu_domains(scale_up: ScaleUpSpec | None, gpus: int) -> I64:
    """Scale-up domain of every GPU, (G,), in GPU order; -1 without scale-up."""
    if scale_up is None:
        return np.full(gpus, -1, dtype=np.int64)
    return np.arange(gpus, dtype=np.int64) // scale_up.domain_gpus


def gpu_ports(nodes: int, gpus: int, nics: int, planes: int) -> I64:
    """First port of the NIC of every GPU, (G,), -1 without NICs.

    NICs are shared out evenly in order: `gpus` and `nics` are those of one node.
    """
    if nics == 0:
        return np.full(nodes * gpus, -1, dtype=np.int64)
    nic = np.arange(gpus, dtype=np.int64) * nics // gpus
    ports = (np.arange(nodes, dtype=np.int64)[:, None] * nics + nic) * planes
    return ports.ravel()


def scale_up_cables(
    scale_up: ScaleUpSpec | None, gpus: int, gpu_vertex: int
) -> tuple[I64, I64, F64]:
    """Lower end, upper end and rate (Gb/s) of every scale-up cable of GPUs 0 to `gpus` - 1."""
    if scale_up is None:
        none = np.zeros(0, dtype=np.int64)
        return none, none, np.zeros(0)
    shape, rate = shape_of(scale_up), cable_gbps(scale_up)
    domains, gpu = gpus // shape.size, np.arange(gpus, dtype=np.int64)
    domain_vertex = gpu_vertex + gpus
    if shape.direct:
        one, first = geometry(shape), gpu_vertex + shape.size * np.arange(domains)[:, None]
        a, b = (first + one.a).ravel(), (first + one.b).ravel()
        return a, b, np.full(len(a), rate)
    if shape.kind == "switched":
        return gpu_vertex + gpu, domain_vertex + gpu // shape.size, np.full(gpus, rate)
    group_vertex = domain_vertex + domains
    group = np.arange(gpus // shape.group, dtype=np.int64)
    return (
        np.concatenate([gpu_vertex + gpu, group_vertex + group]),
        np.concatenate([group_vertex + gpu // shape.group, domain_vertex + group // shape.groups]),
        np.concatenate([np.full(gpus, rate), np.full(len(group), uplink_gbps(scale_up))]),
    )


def cables_at(fabric: Fabric, gpus: I32 | I64) -> I32:
    """Scale-up cables at each GPU, ascending, (A, X); -1 pads."""
    shape, first = fabric.shape, int(fabric.tier_start[SCALE_UP])
    if not shape.direct:
        own = np.where(fabric.gpu_domain[gpus] >= 0, first + gpus, -1)
        return own[:, None].astype(np.int32)
    domain, place = np.divmod(gpus, shape.size)
    local = geometry(shape).at[place]
    cables = first + domain[:, None] * shape.cables + local
    return np.where(local >= 0, cables, -1).astype(np.int32)


def cables_of(fabric: Fabric, gpus: I32 | I64) -> I32:
    """All scale-up cables at some GPUs, each once, ascending."""
    found = np.unique(cables_at(fabric, gpus)).astype(np.int32)
    return found[found >= 0]


def domain_cables(fabric: Fabric, domain: int) -> I32:
    """All scale-up cables of a domain, ascending."""
    return (
        np.flatnonzero(cable_domain(fabric) == domain) + int(fabric.tier_start[SCALE_UP])
    ).astype(np.int32)


def cable_domain(fabric: Fabric) -> I32:
    """Domain of every scale-up cable, in order."""
    shape = fabric.shape
    if shape.direct:
        return np.repeat(np.arange(fabric.domains, dtype=np.int32), shape.cables)
    own = fabric.gpu_domain[fabric.gpu_domain >= 0]
    if not fabric.groups:
        return own
    return np.concatenate([own, np.arange(fabric.groups) // shape.groups]).astype(np.int32)


def uplink_of(fabric: Fabric, group: int) -> int:
    """Cable from a first-level group to its domain."""
    return int(fabric.tier_start[SCALE_UP]) + fabric.gpus + group


def gpus_of_group(fabric: Fabric, group: int) -> range:
    """GPUs of a first-level group."""
    size = fabric.shape.group
    return range(group * size, (group + 1) * size)


def groups_of_domain(fabric: Fabric, domain: int) -> range:
    """First-level groups of a domain; none unless it has two levels."""
    count = fabric.shape.groups
    return range(domain * count, (domain + 1) * count)


def thing_cables(fabric: Fabric, thing: Thing) -> I32:
    """Scale-up cables at a GPU or node, or in a domain or group, the group's uplink last."""
    match thing.kind:
        case "gpu":
            return cables_of(fabric, np.array([thing.index]))
        case "node":
            first = thing.index * fabric.gpus_per_node
            return cables_of(fabric, np.arange(first, first + fabric.gpus_per_node))
        case "subdomain":
            own = cables_of(fabric, np.array(gpus_of_group(fabric, thing.index)))
            return np.append(own, uplink_of(fabric, thing.index)).astype(np.int32)
        case _:
            return domain_cables(fabric, thing.index)


def direct_links(fabric: Fabric, gpu: int) -> I32:
    """Links that leave a GPU for others, by their place on a mesh, or x+, x-, y+ ... on a torus.

    -1 where there is none.
    """
    shape = fabric.shape
    domain, place = divmod(gpu, shape.size)
    if shape.kind == "torus":
        local = steps(shape).link[place].ravel()
    else:
        at, one = geometry(shape).at[place], geometry(shape)
        local = np.full(shape.size, -1, dtype=np.int32)
        far = np.where(one.a[at] == place, one.b[at], one.a[at])
        local[far] = 2 * at + (one.a[at] != place)
    first = 2 * (int(fabric.tier_start[SCALE_UP]) + domain * shape.cables)
    return np.where(local >= 0, first + local, -1).astype(np.int32)


def direct_ports(shape: Shape) -> tuple[str, ...]:
    """What the columns of `direct_links` are: "gpu3", or "x+"."""
    if shape.kind == "torus":
        return tuple(f"{AXES[axis]}{way}" for axis in range(len(shape.dims)) for way in "+-")
    return tuple(f"gpu{place}" for place in range(shape.size))
