"""Cases of measured collectives: what nccl-tests printed on real machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterscope.spec.presets import load
from clusterscope.traffic.exchanges import token_bytes
from clusterscope.units import GIB, GIGA, MIB, GBps_to_gbps, gbps_to_GBps
from clusterscope.validation import served
from clusterscope.validation.verdict import Outcome
from clusterscope.validation.worlds import played, star, varied

Setup = Mapping[str, Any]

_MICRO, _MEGA = 1e-6, 1e6


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

    The dispatch of one layer of a service that decodes, its batch in one part: waited for.
    """
    sent = setup["tokens"] * setup["topk"] * token_bytes(served.model_of(setup)).dispatch
    found = {ranks: served.exchanging(setup, ranks) for ranks in (64, 256)}
    line = GBps_to_gbps(setup["nic_GBps"])
    return {
        "bytes_per_rank": sent / _MEGA,
        "wire_lower_bound": sent / gbps_to_GBps(line) / GIGA / _MICRO,
        "EP256_time": found[256].dispatch_s / _MICRO,
        "EP64_time": found[64].dispatch_s / _MICRO,
    }


def _payload_gbps(transport: str, nic_gbps: float) -> float:
    job = {"name": "one", "collective": "sendrecv", "message_bytes": 8 * GIB}
    spec = star(2, node={"nic_gbps": nic_gbps}, transport={"name": transport}, jobs=[job])
    return GBps_to_gbps(played(spec)[1][0].algbw_GBps)


DERIVATIONS = {
    "MEAS-01": hopper_curve,
    "MEAS-02": rings_of_eight,
    "MEAS-05": rack_curve,
    "MEAS-08": one_nic,
    "MEAS-10": expert_dispatch,
}
