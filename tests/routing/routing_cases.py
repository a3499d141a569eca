"""Fabrics cabled by hand, and routing done slowly."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from hypothesis import strategies as st

from clusterscope.fabric.arrays import Fabric


def _i32(values: object) -> np.ndarray:
    return np.asarray(values).astype(np.int32)


def _by_lower_end(cables: Iterable[tuple[int, int]]) -> np.ndarray:
    """Cables (K, 2) sorted by lower end; the cables of one end keep their order."""
    ends = np.array(list(cables), dtype=np.int64).reshape(-1, 2)
    return ends[np.argsort(ends[:, 0], kind="stable")]


def assemble(
    port_leaf: list[int],
    blocks: tuple[list[int], list[int]],
    leaf_spine: Iterable[tuple[int, int]],
    spine_core: Iterable[tuple[int, int]] = (),
    cores: int = 0,
    domain_gpus: int = 0,
    gbps: float = 400.0,
) -> Fabric:
    """A fabric of one GPU and one NIC a node; cables name leaves, spines and cores by ordinal."""
    leaves, spines, ports = len(blocks[0]), len(blocks[1]), len(port_leaf)
    switches = leaves + spines + cores
    low, high = _by_lower_end(leaf_spine), _by_lower_end(spine_core)
    low[:, 1] += leaves
    high += np.array([leaves, leaves + spines])
    gpu = np.arange(ports if domain_gpus else 0)
    gpu0 = ports + switches
    a = [np.arange(ports), ports + low[:, 0], ports + high[:, 0], gpu0 + gpu]
    b = [ports + np.array(port_leaf), ports + low[:, 1], ports + high[:, 1]]
    b.append(gpu0 + ports + gpu // max(domain_gpus, 1))
    tier_start = np.concatenate([[0], np.cumsum([len(part) for part in a])])
    lower = np.concatenate([low[:, 0], high[:, 0]])
    up_start = tier_start[1] + np.searchsorted(lower, np.arange(switches + 1))
    rank = np.empty(ports, dtype=np.int64)
    rank[np.argsort(port_leaf, kind="stable")] = np.arange(ports)
    zero = np.zeros(switches)
    return Fabric(
        nodes=ports,
        gpus_per_node=1,
        nics_per_node=1,
        ports_per_nic=1,
        pods=1,
        gpu_nic_port=_i32(np.arange(ports)),
        gpu_domain=_i32(gpu // domain_gpus if domain_gpus else np.full(ports, -1)),
        port_leaf=_i32(port_leaf),
        port_rank=_i32(rank),
        switch_tier=np.repeat([1, 2, 3], [leaves, spines, cores]).astype(np.int8),
        switch_pod=_i32(zero),
        switch_plane=_i32(zero),
        switch_rail=_i32(zero - 1),
        switch_block=_i32([*blocks[0], *blocks[1], *[-1] * cores]),
        cable_a=_i32(np.concatenate(a)),
        cable_b=_i32(np.concatenate(b)),
        cable_gbps=np.full(tier_start[-1], gbps),
        tier_start=_i32(tier_start),
        up_start=_i32(up_start),
    )


def clos(
    leaves: int,
    spines: int,
    hosts: int,
    *,
    pods: int = 1,
    trunk: int = 1,
    cores_per_spine: int = 0,
    core_trunk: int = 1,
    planes: int = 1,
    all_cores: bool = False,
    domain_gpus: int = 0,
) -> Fabric:
    """Pods of leaves x spines; spine j of every pod meets the cores of group j (or all of them).

    Planes repeat the whole; a fabric without cores and with several pods is rail-only.
    """
    blocks = pods * planes
    groups = 1 if all_cores else spines
    leaf_block = [b for b in range(blocks) for _ in range(leaves)]
    spine_block = [b for b in range(blocks) for _ in range(spines)]
    low = [
        (b * leaves + leaf, b * spines + spine)
        for b in range(blocks)
        for leaf in range(leaves)
        for _ in range(trunk)
        for spine in range(spines)
    ]
    high = [
        (b * spines + s, ((b // pods) * groups + s % groups) * cores_per_spine + core)
        for b in range(blocks)
        for s in range(spines)
        for _ in range(core_trunk)
        for core in range(cores_per_spine)
    ]
    port_leaf = [leaf for leaf in range(blocks * leaves) for _ in range(hosts)]
    cores = planes * groups * cores_per_spine
    return assemble(port_leaf, (leaf_block, spine_block), low, high, cores, domain_gpus)


def tree(k: int) -> Fabric:
    """The k-ary three-level fat tree: k pods, k^3 / 4 hosts."""
    return clos(k // 2, k // 2, k // 2, pods=k, cores_per_spine=k // 2)


SMALL = {
    "one leaf": clos(1, 0, 3),
    "leaves without spines": assemble([0, 0, 1, 1], ([0, 1], []), []),
    "two tiers": clos(3, 3, 2),
    "one spine": clos(3, 1, 2),
    "trunks": clos(2, 2, 2, trunk=3),
    "three tiers": clos(2, 2, 2, pods=3, cores_per_spine=2),
    "three tiers of trunks": clos(2, 2, 1, pods=2, trunk=2, cores_per_spine=2, core_trunk=2),
    "every core": clos(2, 3, 1, pods=2, cores_per_spine=2, all_cores=True),
    "planes": clos(2, 2, 1, pods=2, cores_per_spine=2, planes=2),
    "rail-only": clos(2, 2, 2, pods=3),
    "thin": assemble(
        [0, 1, 2, 3],
        ([0, 0, 0, 0], [0, 0, 0]),
        [(leaf, (leaf + i) % 3) for leaf in range(4) for i in range(2)],
    ),
}


@st.composite
def broken(draw: st.DrawFn, first_tier: int = 0) -> tuple[Fabric, np.ndarray]:
    """A small fabric and cable rates with dead switches, and dead cables from a tier on."""
    fabric = SMALL[draw(st.sampled_from(sorted(SMALL)))]
    rate = fabric.cable_gbps.copy()
    low = int(fabric.tier_start[first_tier])
    if low < fabric.cables:
        rate[draw(st.lists(st.integers(low, fabric.cables - 1), max_size=12))] = 0.0
    for switch in draw(st.lists(st.integers(0, fabric.switches - 1), max_size=2)):
        vertex = fabric.ports + switch
        rate[(fabric.cable_a == vertex) | (fabric.cable_b == vertex)] = 0.0
    return fabric, rate


def every_pair(fabric: Fabric) -> tuple[np.ndarray, np.ndarray]:
    """All ordered pairs of ports, a port with itself included."""
    src, dst = np.divmod(np.arange(fabric.ports**2), fabric.ports)
    return _i32(src), _i32(dst)


def has_path(fabric: Fabric, rate: np.ndarray, src: int, dst: int) -> bool:
    """Breadth-first search for a live way that climbs first and then only comes down."""
    if src == dst:
        return bool(rate[src] > 0)
    up: dict[int, list[int]] = {}
    down: dict[int, list[int]] = {}
    for cable in np.flatnonzero(rate[: fabric.tier_start[3]] > 0):
        a, b = int(fabric.cable_a[cable]), int(fabric.cable_b[cable])
        up.setdefault(a, []).append(b)
        down.setdefault(b, []).append(a)
    seen = {(src, False)}
    queue = [(src, False)]
    for vertex, falling in queue:
        ways = [(to, True) for to in down.get(vertex, [])]
        ways += [] if falling else [(to, False) for to in up.get(vertex, [])]
        for state in ways:
            if state not in seen:
                seen.add(state)
                queue.append(state)
    return (dst, True) in seen
