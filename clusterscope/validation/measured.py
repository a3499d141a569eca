"""Cases of measured collectives: what nccl-tests printed on real machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from clusterscope.metrics.jobs import JobMetrics
from clusterscope.spec.presets import load
from clusterscope.units import GIB, MIB, GBps_to_gbps, gbps_to_GBps
from clusterscope.validation.verdict import Outcome
from clusterscope.validation.worlds import leaf_spine, played, star, varied

Setup = Mapping[str, Any]

_MICRO, _MEGA = 1e-6, 1e6
# FP8 values come with a scale of four bytes for each 128 of them.
_SCALE_BYTES: Final = 4
_ELEMENTS_OF_A_SCALE: Final = 128


def rings_of_eight(setup: Setup) -> Outcome:
    """MEAS-02: rings of eight H200 behind NVSwitch."""
    busbw = {}
    for collective in ("all-reduce", "all-gather", "reduce-scatter"):
        changes = {
            "collective": f'"{collective}"',
            "message_bytes": setup["S_bytes"],
            "algorithm": '"ring"',
        }
        spec = load(
            "hgx-h200-nvswitch", [f"jobs.0.{key}={value}" for key, value in changes.items()]
        )
        _, (job,) = played(spec)
        busbw[collective] = job.busbw_GBps
    line = gbps_to_GBps(spec.scale_up.gpu_gbps if spec.scale_up else 0.0)
    return {
        "allreduce_ring": busbw["all-reduce"],
        "all_gather": busbw["all-gather"],
        "reduce_scatter": busbw["reduce-scatter"],
        "fraction_of_450": busbw["all-gather"] / line,
    }


def hopper_curve(setup: Setup) -> Outcome:  # noqa: ARG001 - the node is told in words
    """MEAS-01: all-reduce in the NVSwitches of a node, by message size."""
    sizes = {
        "H100_1GB": GIB,
        "H100_2GB": 2 * GIB,
        "H200_16GiB": 16 * GIB,
        "H100_1MB": MIB,
        "H100_16MB": 16 * MIB,
        "H100_134MB": 128 * MIB,
    }
    return {name: _nvls_busbw("hgx-h200-nvswitch", size) for name, size in sizes.items()}


def rack_curve(setup: Setup) -> Outcome:
    """MEAS-05: all-reduce in the switches of an NVL72 rack, by message size."""
    sizes = dict(zip(setup["rows"]["MiB"], setup["rows"]["busbw"], strict=True))
    names = {4096: "busbw_4GiB", 8192: "busbw_8GiB", 512: "busbw_512MiB"}
    return {
        name: _nvls_busbw("gb200-nvl72", size * MIB)
        for size, name in names.items()
        if size in sizes
    }


def _nvls_busbw(preset: str, message_bytes: int) -> float:
    job = {
        "name": "all-reduce",
        "collective": "all-reduce",
        "message_bytes": message_bytes,
        "algorithm": "nvls",
    }
    return played(varied(load(preset), jobs=[job]))[1][0].busbw_GBps


def one_nic(setup: Setup) -> Outcome:
    """MEAS-08: payload of one large message between two NICs."""
    return {
        "NDR400_CX7": gbps_to_GBps(_payload_gbps("infiniband", float(setup["nic_gbps"]))),
        "nccl_p2p_range": gbps_to_GBps(_payload_gbps("infiniband", float(setup["nic_gbps"]))),
        "EFA200_ib_write_bw": _payload_gbps("srd", 200.0),
        "CX8_800G_MRC": _payload_gbps("uec", 800.0),
    }


def expert_dispatch(setup: Setup) -> Outcome:
    """MEAS-10: tokens to their experts by RDMA alone, every GPU with a NIC of its own.

    One message of all bytes a rank dispatches, spread evenly over all other ranks.
    """
    scales = _SCALE_BYTES * setup["hidden"] // _ELEMENTS_OF_A_SCALE
    token_bytes = setup["hidden"] * setup["bytes_per_elem"] + scales
    message = setup["tokens"] * setup["topk"] * token_bytes
    jobs = {ranks: _dispatch(setup, ranks, message) for ranks in (64, 256)}
    return {
        "bytes_per_rank": message / _MEGA,
        "wire_lower_bound": jobs[256].ideal_s / _MICRO,
        "EP256_time": jobs[256].iteration_s / _MICRO,
        "EP64_time": jobs[64].iteration_s / _MICRO,
    }


def _dispatch(setup: Setup, ranks: int, message_bytes: int) -> JobMetrics:
    job = {"name": "dispatch", "collective": "all-to-all", "message_bytes": message_bytes}
    node = {"nic_gbps": GBps_to_gbps(setup["nic_GBps"])}
    spec = leaf_spine(ranks // 32, 32, 32, node=node, transport={"name": "infiniband"}, jobs=[job])
    return played(spec)[1][0]


def _payload_gbps(transport: str, nic_gbps: float) -> float:
    job = {"name": "one", "collective": "incast", "message_bytes": 2**30}
    spec = star(2, node={"nic_gbps": nic_gbps}, transport={"name": transport}, jobs=[job])
    return played(spec)[1][0].phases[0].rate_gbps


DERIVATIONS = {
    "MEAS-01": hopper_curve,
    "MEAS-02": rings_of_eight,
    "MEAS-05": rack_curve,
    "MEAS-08": one_nic,
    "MEAS-10": expert_dispatch,
}
