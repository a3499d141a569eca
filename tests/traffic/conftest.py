"""Hand-made fabrics and the slow, obviously right readings of a program."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from clusterscope.fabric.arrays import Fabric
from clusterscope.spec.model import ClusterSpec
from clusterscope.traffic.flows import Exchange, Flows, Phase

RING = {"name": "job", "collective": "all-reduce", "message_bytes": 10**9, "algorithm": "ring"}
NVLINK_GBPS, NIC_GBPS = 7200.0, 400.0


def hand_made(
    nodes: int, gpus: int, nics: int = 0, domain_gpus: int = 0, planes: int = 1
) -> Fabric:
    """One leaf a plane, every NIC port on it; scale-up domains of consecutive GPUs if wanted."""
    all_gpus = np.arange(nodes * gpus, dtype=np.int32)
    ports = nodes * nics * planes
    port = np.arange(ports, dtype=np.int32)
    leaves = planes if ports else 0
    if nics:
        nic = all_gpus // gpus * nics + all_gpus % gpus * nics // gpus
        gpu_nic_port = (nic * planes).astype(np.int32)
    else:
        gpu_nic_port = np.full(len(all_gpus), -1, dtype=np.int32)
    gpu_domain = (all_gpus // domain_gpus if domain_gpus else all_gpus * 0 - 1).astype(np.int32)
    gpu_vertex = ports + leaves
    domain_vertex = gpu_vertex + len(all_gpus)
    inside = all_gpus if domain_gpus else all_gpus[:0]
    total = ports + len(inside)
    leaf = np.arange(leaves, dtype=np.int32)
    return Fabric(
        nodes=nodes,
        gpus_per_node=gpus,
        nics_per_node=nics,
        ports_per_nic=planes,
        pods=1,
        gpu_nic_port=gpu_nic_port,
        gpu_domain=gpu_domain,
        port_leaf=(port % planes).astype(np.int32),
        port_rank=(port % planes * (nodes * nics) + port // planes).astype(np.int32),
        switch_tier=np.ones(leaves, dtype=np.int8),
        switch_pod=leaf * 0,
        switch_plane=leaf,
        switch_rail=leaf * 0 - 1,
        switch_block=leaf * 1,
        cable_a=np.concatenate([port, gpu_vertex + inside]).astype(np.int32),
        cable_b=np.concatenate(
            [ports + port % planes, domain_vertex + gpu_domain[: len(inside)]]
        ).astype(np.int32),
        cable_gbps=np.concatenate(
            [np.full(ports, NIC_GBPS / planes), np.full(len(inside), NVLINK_GBPS)]
        ),
        tier_start=np.array([0, ports, ports, ports, total], dtype=np.int32),
        up_start=np.full(leaves + 1, ports, dtype=np.int32),
    )


def wire_seconds(fabric: Fabric, phase: Phase) -> float:
    """Time of a phase when the cables of its senders and receivers are all that counts."""
    rate = np.full(fabric.domain_vertex, np.nan)
    rate[fabric.cable_a] = fabric.cable_gbps
    if isinstance(phase.demand, Exchange):
        return float((phase.demand.port_bytes * 8e-9 / rate[phase.demand.ports]).max())
    flows = phase.demand
    sent = np.bincount(flows.src, flows.size_bytes, len(rate)) * 8e-9
    received = np.bincount(flows.dst, flows.size_bytes, len(rate)) * 8e-9
    busy = (sent + received) > 0
    return float((np.maximum(sent, received)[busy] / rate[busy]).max())


def sent_by_gpu(fabric: Fabric, flows: Flows) -> np.ndarray:
    """Bytes that every GPU sends, (G,), from fabrics with one NIC a GPU."""
    port_gpu = np.repeat(np.arange(fabric.gpus), fabric.ports_per_nic if fabric.ports else 0)
    by_nic = flows.src < fabric.ports
    gpu = np.where(by_nic, 0, flows.src - fabric.gpu_vertex)
    gpu[by_nic] = port_gpu[flows.src[by_nic]]
    return np.bincount(gpu, flows.size_bytes, fabric.gpus)


def one_job(nodes: int, gpus: int, seed: int = 7, **job: object) -> ClusterSpec:
    """A spec with one job; the rest does not matter to traffic."""
    return ClusterSpec.model_validate(
        {
            "name": "tiny",
            "node": {"count": nodes, "gpus": gpus, "gpu": "any", "nics": gpus, "nic_gbps": 400},
            "jobs": [{**RING, **job}],
            "sim": {"seed": seed},
        }
    )


@pytest.fixture(scope="session")
def fabric_of() -> Callable[..., Fabric]:
    return hand_made


@pytest.fixture(scope="session")
def seconds_of() -> Callable[[Fabric, Phase], float]:
    return wire_seconds


@pytest.fixture(scope="session")
def gpu_bytes() -> Callable[[Fabric, Flows], np.ndarray]:
    return sent_by_gpu


@pytest.fixture(scope="session")
def spec_of() -> Callable[..., ClusterSpec]:
    return one_job
