"""Cases of transport: queues, losses, headers, latencies and incasts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from clusterscope.engine.scenario import build
from clusterscope.transport.latency import md1_wait_s
from clusterscope.transport.model import resolve
from clusterscope.transport.recovery import go_back_0, go_back_n, mathis_gbps, window_packets
from clusterscope.units import MIB, gbps_to_GBps, seconds_for
from clusterscope.validation.verdict import Holds, Outcome
from clusterscope.validation.worlds import (
    WIRE,
    leaf_spine,
    nic_gbps,
    played,
    sending_s,
    star,
)

Setup = Mapping[str, Any]

_MICRO, _NANO, _MS, _MEGA = 1e-6, 1e-9, 1e3, 1e6
# A round trip inside a cluster, for cases that give none.
_RTT_S: Final = 10e-6
# Draws of hashes.
_DRAWS: Final = 20


def queueing(setup: Setup) -> Outcome:
    """TRAN-01: the mean wait of packets that come at random to a link."""
    service_s = seconds_for(setup["packet_B"], setup["link_gbps"])
    return {"wait": [md1_wait_s(rho, service_s) / _NANO for rho in setup["rho"]]}


def incast(setup: Setup) -> Outcome:
    """TRAN-02: several senders, one receiver, no losses."""
    rate, seconds = [], []
    for senders in setup["N"]:
        spec = star(
            senders + 1,
            node={"nic_gbps": nic_gbps(gbps_to_GBps(setup["link_gbps"]))},
            transport={"name": WIRE},
            jobs=[_job("incast", setup["S_MB"] * _MEGA)],
        )
        _, (job,) = played(spec)
        rate.append(job.phases[0].rate_gbps)
        seconds.append(sending_s(job) * _MS)
    return {"rate_each": rate, "completion_ms": seconds}


def headers(setup: Setup) -> Outcome:
    """TRAN-05: payload per wire byte, and what that leaves of 400 Gb/s."""
    ratio = {
        name: [
            resolve(star(2, transport={"name": name, "mtu_bytes": mtu})).goodput_ratio
            for mtu in setup["mtu"]
        ]
        for name in ("rocev2", "infiniband")
    }
    _, (job,) = played(star(2, transport={"name": "rocev2"}, jobs=[_job("incast", 64 * MIB)]))
    return {
        "roce": ratio["rocev2"],
        "ib": ratio["infiniband"],
        "roce_400G_goodput": gbps_to_GBps(job.phases[0].rate_gbps),
    }


def livelock(setup: Setup) -> Outcome:
    """TRAN-08: messages that start over at each loss never arrive."""
    loss, packets = setup["drop"], setup["msg_MB"] * MIB // setup["mtu"]
    whole = go_back_0(loss, packets)
    # Per packet sent, n p q / (1 - q) count, of which q is the chance of a message without loss.
    untouched = whole / (packets * loss + whole)
    window = window_packets(np.array(400.0), np.array(_RTT_S), setup["mtu"])
    return {
        "p_message_without_loss": untouched,
        "goodput_goback0": whole,
        "goodput_gobackN_nonzero": float(go_back_n(np.array(loss), window) > 0),
    }


def tcp(setup: Setup) -> Outcome:
    """TRAN-09: what TCP makes of losses."""
    rows = zip(setup["mss"], setup["rtt_us"], setup["p"], strict=True)
    return {"gbps": [float(mathis_gbps(m, np.array(r * _MICRO), p)) for m, r, p in rows]}


def victims(setup: Setup) -> Outcome:  # noqa: ARG001 - told in words
    """TRAN-04: a flow into the rack of the receiver of an incast of seven, one hash draw a try.

    The senders sit in racks of their own, the victim's beside one of them.
    """
    alone, several = (_victim_losses({"name": "rocev2", "qps": qps}) for qps in (1, 8))
    return {
        "roce_dcqcn_1qp_victim_loss": float(np.mean(alone)),
        "roce_8qp_worst_1s": max(several),
        "mrc_spray_loss": max(_victim_losses({"name": "uec"})),
    }


def _victim_losses(transport: Mapping[str, object]) -> list[float]:
    """What the incast takes from the victim, as shares of its rate alone, draw by draw."""
    racks = 8
    jobs = [
        _job("incast", 2**30) | {"ranks": racks, "placement": "strided", "stride": racks},
        _job("permutation", 2**30)
        | {"name": "victim", "ranks": 2, "placement": "strided", "stride": racks, "first_gpu": 1},
    ]
    losses = []
    for seed in range(_DRAWS):
        spec = leaf_spine(racks, racks, racks, transport=transport, jobs=jobs, sim={"seed": seed})
        scenario = build(spec)
        load, network = scenario.loads[1][0], scenario.healthy
        into_rack = load.dst[np.searchsorted(load.row_entity, np.arange(len(load.size_bytes)))] == 1
        free = network.share(((1, 0),)).rate_gbps[1, 0][into_rack].sum()
        beside = network.share(((0, 0), (1, 0))).rate_gbps[1, 0][into_rack].sum()
        losses.append(float(1.0 - beside / free))
    return losses


def losses(setup: Setup) -> Outcome:
    """TRAN-07: payload that losses leave of a large message.

    That a sender gives up paths that lose packets is not modeled, so `mrc_1pct` comes out too high.
    """
    few, many = setup["loss"]
    sprayed = _goodput("uec", few) / _goodput("uec", 0.0)
    heavily = _goodput("uec", many) / _goodput("uec", 0.0)
    in_order = _goodput("rocev2", many) / _goodput("rocev2", 0.0)
    return {
        "mrc_sack_0.1pct": Holds(sprayed > 0.99, f"{sprayed:.3f} of what it is without loss"),
        "roce_gbn_1pct": Holds(in_order < 0.5, f"{in_order:.2f} of what it is without loss"),
        "mrc_1pct": heavily,
    }


def _goodput(transport: str, loss_rate: float) -> float:
    """Payload rate of one large message, Gb/s."""
    spec = star(
        2,
        transport={"name": transport, "loss_rate": loss_rate},
        jobs=[_job("incast", 64 * MIB)],
    )
    return played(spec)[1][0].phases[0].rate_gbps


def admission(setup: Setup) -> Outcome:
    """TRAN-12: what an incast does to another flow of a sender, with and without credits.

    Pauses have reached the sender when that flow loses more than the NIC's own share.
    """
    return {
        "pfc_with_cts": _paused(setup["N"], "uec"),
        "pfc_flood_reaches_sender": float(_paused(setup["N"], "rocev2") > 0),
    }


def _paused(senders: int, transport: str) -> float:
    """Share that pauses take from a flow beside one of an incast, of the same sender."""
    jobs = [
        _job("incast", 2**30) | {"ranks": senders + 1},
        _job("permutation", 2**30) | {"name": "beside", "ranks": 2, "first_gpu": senders},
    ]
    rate = []
    for isolation in (None, True):
        own = {} if isolation is None else {"isolation": isolation}
        scenario = build(star(senders + 2, transport={"name": transport, **own}, jobs=jobs))
        share = scenario.healthy.share(((0, 0), (1, 0)))
        rate.append(float(share.rate_gbps[1, 0].min()))
    return 1.0 - rate[0] / rate[1]


def small_messages(setup: Setup) -> Outcome:
    """TRAN-10: a small message under one leaf, and over a spine to another."""
    found = {}
    for short, name, switch in (("ib", "infiniband", "QM9700"), ("roce", "rocev2", "SN5600")):
        near = star(2, **_small(setup, name, switch))
        far = leaf_spine(2, 1, 1, **_small(setup, name, switch))
        same, cross = (played(spec)[1][0].iteration_s / _MICRO for spec in (near, far))
        found[f"{short}_same_leaf"], found[f"{short}_cross_leaf"] = same, cross
        extra = setup["switch_hops"][1] - setup["switch_hops"][0]
        found[f"per_extra_switch_{short}"] = (cross - same) / extra
    return found


def _small(setup: Setup, transport: str, switch: str) -> dict[str, Any]:
    return {
        "scale_out": {"leaf_switch": switch},
        "transport": {"name": transport},
        "jobs": [_job("incast", setup["bytes"])],
    }


def _job(collective: str, message_bytes: float) -> dict[str, object]:
    return {"name": "job", "collective": collective, "message_bytes": int(message_bytes)}


DERIVATIONS = {
    "TRAN-01": queueing,
    "TRAN-02": incast,
    "TRAN-04": victims,
    "TRAN-05": headers,
    "TRAN-07": losses,
    "TRAN-08": livelock,
    "TRAN-09": tcp,
    "TRAN-10": small_messages,
    "TRAN-12": admission,
}
