"""Cases of routing that set transports side by side: hash, queue pairs, adaptive, spray."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from clusterscope.engine.scenario import build as compile_spec
from clusterscope.engine.shares import Share
from clusterscope.fabric.arrays import Fabric
from clusterscope.fabric.build import build
from clusterscope.routing.routes import Policy
from clusterscope.spec.model import ClusterSpec
from clusterscope.transport.model import resolve
from clusterscope.validation.verdict import Holds, Outcome
from clusterscope.validation.worlds import fat_tree, leaf_spine, permutation_shares, rates, varied

Setup = Mapping[str, Any]

# Draws of hashes and permutations that a mean is taken of.
_DRAWS: Final = 8
_MEGA: Final = 1_000_000
# The first phase of the first job.
_FIRST: Final = (0, 0)


def ethernet_claim(setup: Setup) -> Outcome:  # noqa: ARG001 - the claim names no fabric
    """ROUT-10: every NIC of a leaf sends at line rate to the next leaf; one stage of hashing."""
    hosts = 32
    shares = {}
    for name in ("spectrum-x", "rocev2"):
        spec = leaf_spine(4, hosts, hosts, transport={"name": name})
        fabric, transport = build(spec), resolve(spec)
        src = np.arange(fabric.ports, dtype=np.int32)
        dst = np.roll(src, -hosts)
        draws = [rates(fabric, src, dst, transport.policy, seed) for seed in range(_DRAWS)]
        shares[name] = float(np.mean(draws)) * transport.goodput_ratio / fabric.cable_gbps[0]
    spray, hashed = shares["spectrum-x"], shares["rocev2"]
    return {"spray_effective": spray, "ecmp_effective": hashed, "ratio": spray / hashed}


def myrinet(setup: Setup) -> Outcome:
    """ROUT-12: random halves of a Clos of 32-port crossbars, static routes against adaptive.

    The sender writes the route into the packet, so every pair of nodes has a fixed route of its
    own, which a hash of the pair stands for. Both halves send at once.
    """
    half_radix = 16
    fabric = build(leaf_spine(setup["nodes"] // half_radix, half_radix, half_radix))
    return {
        "static_ebb": _half_to_half(fabric, Policy("ecmp")),
        "adaptive_ebb": _half_to_half(fabric, Policy("adaptive")),
    }


def _half_to_half(fabric: Fabric, policy: Policy) -> float:
    """Effective bisection bandwidth: mean share of line rate over random pairings of two halves."""
    shares = []
    for trial in range(20):
        order = np.random.default_rng(trial).permutation(fabric.ports).astype(np.int32)
        partner = np.roll(order, fabric.ports // 2)
        shares.append(rates(fabric, order, partner, policy, trial).mean() / fabric.cable_gbps[0])
    return float(np.mean(shares))


def queue_pairs(setup: Setup) -> Outcome:
    """ROUT-16: a ring in random order over two leaves, with ever more queue pairs, and sprayed."""
    half = setup["ranks"] // 2
    base = leaf_spine(2, half, half, jobs=[_ring()], node={"nic_gbps": float(setup["nic_gbps"])})
    one = {"name": "rocev2", "channels": 1}
    share = {qps: _lock_step(base, {**one, "qps": qps}) for qps in (1, 8, 16)}
    sprayed = _lock_step(base, {"name": "uec"})
    first, later = share[8] - share[1], share[16] - share[8]
    return {
        "roce_1qp_fraction": share[1] / sprayed,
        "order": Holds(
            share[1] < share[16] < sprayed,
            f"{share[1]:.2f} < {share[16]:.2f} < {sprayed:.2f} of NIC",
        ),
        "gain_beyond_8qp": Holds(
            later < first / 3, f"1 to 8: +{first:.2f} of NIC, 8 to 16: +{later:.2f}"
        ),
    }


def _ring() -> dict[str, object]:
    return {
        "name": "ring",
        "collective": "all-reduce",
        "message_bytes": 2**28,
        "hierarchical": False,
        "placement": "random",
    }


def _lock_step(base: ClusterSpec, transport: Mapping[str, object]) -> float:
    """Rate of a ring, which is that of its slowest edge, over that of a NIC; mean over draws."""
    rates_gbps = [
        share.rate_gbps[_FIRST].min() for share in _draws(base, transport, count=3 * _DRAWS)
    ]
    return float(np.mean(rates_gbps)) / base.node.nic_gbps


def packets(setup: Setup) -> Outcome:
    """ROUT-17: random permutations as a packet simulator ran them, timed to the last byte."""
    fluid = permutation_shares(build(fat_tree(8)), Policy("ecmp"), 100).mean()
    (small, large), (long, short) = (8, 16), (mb * _MEGA for mb in setup["msg_MB"])
    hashed = _finished(small, long, "rocev2")
    in_order, sprayed = _finished(small, long, "roce-flowlet"), _finished(small, long, "uec")
    return {
        "fluid_mean_128": float(fluid),
        "htsim_roce_pfc_ecmp_128": hashed,
        "packet_over_fluid_128": hashed / float(fluid),
        "htsim_eqds_spray_128": sprayed,
        "htsim_roce_ecmp_1024_2MB": _finished(large, short, "rocev2"),
        "order": Holds(
            hashed < in_order < sprayed,
            f"ECMP {hashed:.2f}, adaptive in order {in_order:.2f}, spray {sprayed:.2f} of NIC",
        ),
    }


def _finished(k: int, message_bytes: int, transport: str) -> float:
    """Message over time, latency too, as a share of the NIC; mean over flows and draws."""
    job = {"name": "shuffle", "collective": "permutation", "message_bytes": message_bytes}
    base = varied(fat_tree(k), jobs=[job])
    paces_gbps = [share.pace_gbps[_FIRST].mean() for share in _draws(base, {"name": transport}, 4)]
    return float(np.mean(paces_gbps)) / base.node.nic_gbps


def _draws(base: ClusterSpec, transport: Mapping[str, object], count: int) -> Iterator[Share]:
    """How the only phase of a spec shares the network, seed by seed."""
    for seed in range(count):
        scenario = compile_spec(varied(base, transport=transport, sim={"seed": seed}))
        yield scenario.healthy.share((_FIRST,))


DERIVATIONS = {
    "ROUT-10": ethernet_claim,
    "ROUT-12": myrinet,
    "ROUT-16": queue_pairs,
    "ROUT-17": packets,
}
