"""Catalogue of GPUs, NICs, switches, cables and transports, read from `parts.toml`.

Every number of a part has a note in `sources`: the document it comes from, or the word
"estimate" and the reason. A rate is per direction. The data is plain TOML and the classes are
plain dataclasses, so that listing the catalogue loads nothing heavy.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from clusterscope.errors import UnknownNameError

LoadBalancing = Literal["ecmp", "dmodk", "flowlet", "adaptive", "spray"]
HashSeed = Literal["per-switch", "shared"]
Ordering = Literal["in-order", "reorder"]
Recovery = Literal["go-back-0", "go-back-n", "selective", "tcp", "link-replay"]
Congestion = Literal["none", "dcqcn", "per-flow", "telemetry", "receiver-credit", "delay", "loss"]
Reduction = Literal["none", "switch", "port", "domain"]
ScaleUpKind = Literal["nvlink", "ualink", "infinity-fabric", "neuronlink"]

_ESTIMATE = "estimate: "
_GENERIC = re.compile(r"generic-([1-9]\d{0,3})")
_RADIX = range(2, 4097)


@dataclass(frozen=True, slots=True)
class Note:
    """Where a number comes from, or why it was estimated."""

    text: str
    estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What every part has."""

    name: str
    title: str
    sources: Mapping[str, Note]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu(Part):
    """An accelerator; FLOPS are dense BF16, the scale-up rate is one direction.

    `matmul_tflops` is what its best large matrix product was measured to reach, None where nobody
    has published it. `hbm_gbps` is the rate of its memory: 3.35 TB/s are 26,800.
    """

    bf16_tflops: float
    matmul_tflops: float | None = None
    hbm_gb: float
    hbm_gbps: float
    tdp_w: float
    scale_up_gbps: float
    scale_up_kind: ScaleUpKind = "nvlink"
    price_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Nic(Part):
    """A NIC; `gbps` None takes any rate, the latency is that of one end."""

    gbps: float | None = None
    power_w: float
    price_usd: float
    latency_s: float


@dataclass(frozen=True, slots=True)
class PortMode:
    """One way to cut a switch into ports."""

    count: int
    gbps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch(Part):
    """A switch; power is typical and without optics.

    `radix` is set for a generic switch, which has that many ports at any rate; others list
    their `ports`, each entry a whole switch cut into ports of one rate. A switch that reduces on
    the way has one streaming tree ("switch"), one a port ("port"), or does it for the GPUs of its
    domain ("domain"), then at `reduction_ratio` of the rate that a ring reaches.
    """

    chip: str
    ports: tuple[PortMode, ...] = ()
    radix: int | None = None
    buffer_mb: float | None = None
    latency_s: float
    power_w: float
    price_usd: float
    forwarding: Literal["cut-through", "store-and-forward"] = "cut-through"
    in_network_reduction: Reduction = "none"
    reduction_ratio: float | None = None

    def ports_at(self, gbps: float) -> int | None:
        """Ports the whole switch offers at this rate, None when it does not have the rate."""
        if self.radix is not None:
            return self.radix
        return next((mode.count for mode in self.ports if mode.gbps == gbps), None)

    @property
    def speeds(self) -> tuple[float, ...]:
        """Rates its ports may have, lowest first; empty when any rate will do."""
        return tuple(sorted(mode.gbps for mode in self.ports))


@dataclass(frozen=True, slots=True, kw_only=True)
class CableEnd(Part):
    """One end of a cable: its half of a copper or active cable, or a transceiver with fiber."""

    kind: str
    gbps: float
    price_usd: float
    power_w: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport(Part):
    """What a transport does, as mechanisms; nothing here is a throughput taken from a brochure.

    Attributes:
        load_balancing: "ecmp" (hash a flow), "dmodk" (static tables by destination), "flowlet"
            (switch picks a port for each flow, and again after a pause), "adaptive" (switch picks
            a port for each packet) or "spray" (sender spreads packets).
        qps: queue pairs, so hashed flows, between two NICs.
        hash_seed: "per-switch", or "shared" when all switches hash alike.
        ordering: "in-order", or "reorder" when the receiving NIC takes packets in any order.
        lossless: links never drop for lack of buffer.
        flow_control: what keeps buffers from overflowing.
        congestion_control: what slows senders down.
        mtu_bytes: payload of a full packet.
        header_bytes: bytes on the wire with each packet besides payload.
        nic_latency_s: sending and receiving NIC together.
        reroute_s: time until switches or routing protocol avoid a dead link.
        reroute_by: who does that.
        sm_reroute_s: time that a subnet manager takes instead, None when there is none.
        hold_timer_s: silence after which a routing protocol takes a neighbor for dead; None where
            none would.
        recovery: what is sent again after a loss: the whole message ("go-back-0"), all from the
            lost packet on ("go-back-n"), that packet only ("selective"), what TCP's window lets
            through ("tcp"), or that packet over its one link ("link-replay").
        nack_s: from the arrival of a packet out of order until the sender sends again.
        timeout_s: until a packet is sent again when nothing tells of its loss.
        congestion: what keeps a sender from filling the queue of a busy egress; "none" and "dcqcn"
            let pauses reach the flows beside it.
        routed: packets can cross from one subnet to another.
        in_network_reduction: switches can reduce on the way.
        flowlet_gap_s: a pause of a flow after which it may take another path, None when never.
        connection_bytes: state that a NIC keeps for each connection.
        error_band: lowest and highest truth relative to the fluid result.
        error_central: most likely truth relative to the fluid result.
        evidence: what the band rests on.
    """

    load_balancing: LoadBalancing
    qps: int
    hash_seed: HashSeed
    ordering: Ordering
    lossless: bool
    flow_control: str
    congestion_control: str
    mtu_bytes: int
    header_bytes: int
    nic_latency_s: float
    reroute_s: float
    reroute_by: str
    sm_reroute_s: float | None = None
    hold_timer_s: float | None = None
    recovery: Recovery = "go-back-n"
    nack_s: float | None = None
    timeout_s: float | None = None
    congestion: Congestion = "none"
    routed: bool = True
    in_network_reduction: bool = False
    flowlet_gap_s: float | None = None
    connection_bytes: int | None = None
    error_band: tuple[float, float]
    error_central: float
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleUpTransport(Part):
    """What the network inside a domain does to bytes; its name is a `scale_up.kind`.

    Attributes:
        goodput_ratio: payload per wire byte.
        latency_s: one hop between two accelerators.
        flow_control: what keeps buffers from overflowing.
        recovery: what is sent again after an error on a link.
    """

    goodput_ratio: float
    latency_s: float
    flow_control: str
    recovery: Recovery = "link-replay"


P = TypeVar("P", bound=Part)


@cache
def catalogue() -> dict[str, dict[str, dict[str, Any]]]:
    """The catalogue file as TOML tables."""
    return tomllib.loads(files(__package__).joinpath("parts.toml").read_text("utf-8"))


def _build(cls: type[P], name: str, table: Mapping[str, Any]) -> P:
    """One part from its TOML table."""
    values = dict(table)
    values["sources"] = MappingProxyType(
        {
            key: Note(text.removeprefix(_ESTIMATE), text.startswith(_ESTIMATE))
            for key, text in values["sources"].items()
        }
    )
    if "ports" in values:
        values["ports"] = tuple(PortMode(p["count"], float(p["gbps"])) for p in values["ports"])
    if "gpus" in values:
        values["gpus"] = tuple(values["gpus"])
    if "error_band" in values:
        values["error_band"] = tuple(values["error_band"])
    floats = {f.name for f in fields(cls) if f.type in ("float", "float | None")}
    values.update({key: float(values[key]) for key in floats & values.keys()})
    return cls(name=name, **values)


def find_part(cls: type[P], table: str, what: str, name: str) -> P:
    """A part by name, in any case; unknown names are an error with the nearest one."""
    raw = catalogue()[table]
    exact = name if name in raw else {key.casefold(): key for key in raw}.get(name.casefold())
    if exact is None:
        raise UnknownNameError(what, name, raw, hint="known are " + ", ".join(raw))
    return _build(cls, exact, raw[exact])


@cache
def gpu(name: str) -> Gpu:
    """GPU by name."""
    return find_part(Gpu, "gpu", "GPU", name)


@cache
def nic(name: str) -> Nic:
    """NIC by name; "generic" takes any rate."""
    return find_part(Nic, "nic", "NIC", name)


@cache
def switch(name: str) -> Switch:
    """Switch by name; "generic-<radix>" has that many ports of any rate."""
    match = _GENERIC.fullmatch(name.casefold())
    if match is None:
        return find_part(Switch, "switch", "switch", name)
    radix = int(match[1])
    if radix not in _RADIX:
        raise UnknownNameError(
            "switch", name, hint=f"a generic switch has {_RADIX[0]} to {_RADIX[-1]} ports"
        )
    return _build(
        Switch,
        f"generic-{radix}",
        {
            "title": f"generic switch with {radix} ports of any rate",
            "chip": "generic",
            "radix": radix,
            "latency_s": 500e-9,
            "power_w": 14.0 * radix,
            "price_usd": 500.0 * radix,
            "sources": {
                "radix": "estimate: as asked for by name",
                "latency_s": "estimate: between InfiniBand and Ethernet switches of the catalogue",
                "power_w": "estimate: 14 W a port, as 64-port switches of the catalogue",
                "price_usd": "estimate: 500 US$ a port, as 64-port white boxes",
            },
        },
    )


@cache
def transport(name: str) -> Transport:
    """Transport by name."""
    return find_part(Transport, "transport", "transport", name)


@cache
def scale_up_transport(name: str) -> ScaleUpTransport:
    """Transport inside a scale-up domain, by `scale_up.kind`."""
    return find_part(ScaleUpTransport, "scale_up_transport", "scale-up transport", name)


def cable_end(kind: str, gbps: float) -> CableEnd:
    """An end of a "dac", "aoc" or "optic" cable at this rate.

    A rate that is not listed is scaled from the next higher one, or from the highest.
    """
    raw = catalogue()["cable"]
    kinds = list(dict.fromkeys(table["kind"] for table in raw.values()))
    rows = [(name, t) for name, t in raw.items() if t["kind"] == kind]
    if not rows:
        raise UnknownNameError("cable kind", kind, kinds, hint="known are " + ", ".join(kinds))
    rows.sort(key=lambda row: row[1]["gbps"])
    name, table = next((row for row in rows if row[1]["gbps"] >= gbps), rows[-1])
    if table["gbps"] == gbps:
        return _build(CableEnd, name, table)
    share = gbps / table["gbps"]
    scaled = {
        "gbps": gbps,
        "price_usd": table["price_usd"] * share,
        "power_w": table["power_w"] * share,
        "sources": dict.fromkeys(
            ("gbps", "price_usd", "power_w"), f"estimate: {name} scaled by rate"
        ),
    }
    return _build(CableEnd, f"{kind}-{gbps:g}", table | scaled)


def gpus() -> tuple[str, ...]:
    """Names of all GPUs."""
    return tuple(catalogue()["gpu"])


def nics() -> tuple[str, ...]:
    """Names of all NICs."""
    return tuple(catalogue()["nic"])


def switches() -> tuple[str, ...]:
    """Names of all switches that are not generic."""
    return tuple(catalogue()["switch"])


def cables() -> tuple[str, ...]:
    """Names of all cable ends."""
    return tuple(catalogue()["cable"])


def transports() -> tuple[str, ...]:
    """Names of all transports."""
    return tuple(catalogue()["transport"])


def scale_up_transports() -> tuple[str, ...]:
    """Names of all transports inside scale-up domains."""
    return tuple(catalogue()["scale_up_transport"])
