"""The table `[transport]` of a spec."""

from __future__ import annotations

from pydantic import Field

from clusterscope.spec import parts
from clusterscope.spec.base import Frozen, Name


class TransportSpec(Frozen):
    """`[transport]`: a catalogue transport, with what this cluster sets differently."""

    name: Name
    load_balancing: parts.LoadBalancing | None = None
    qps: int | None = Field(
        default=None, ge=1, le=256, description="queue pairs that each channel has over a NIC pair"
    )
    channels: int | None = Field(
        default=None,
        ge=1,
        le=64,
        description="rings or sends that the collective library runs at once over a NIC pair, each "
        "with connections and a hash of its own; what NCCL does for the job when left out",
    )
    hash_seed: parts.HashSeed | None = Field(
        default=None, description="shared: every switch hashes alike and choices polarize"
    )
    mtu_bytes: int | None = Field(default=None, ge=64, le=65536)
    reroute_s: float | None = Field(
        default=None, ge=0, le=86_400, description="time from a failure until routes avoid it"
    )
    self_healing: bool | None = Field(
        default=None,
        description="InfiniBand: switches route around a dead link themselves (the default); "
        "false: they wait for the subnet manager",
    )
    link_down_detection: bool | None = Field(
        default=None,
        description="BGP: true: a link that fails goes down at both ends, which is seen at once "
        "(the default); false: it only goes silent, and the hold timer finds it",
    )
    hold_timer_s: float | None = Field(
        default=None,
        ge=3,
        le=65535,
        description="BGP: silence after which a neighbor is taken for dead (RFC 4271: 3 s or more)",
    )
    loss_rate: float = Field(
        default=0.0, ge=0, le=0.5, description="share of packets that are lost on their way"
    )
    recovery: parts.Recovery | None = Field(
        default=None, description="what is sent again after a loss; the transport's own if left out"
    )
    ordering: parts.Ordering | None = Field(
        default=None,
        description="in-order: a packet that overtakes another costs a recovery; reorder: the NIC "
        "takes packets in any order",
    )
    isolation: bool | None = Field(
        default=None,
        description="true: a busy egress never pauses the flows beside those that feed it; false: "
        "it always does; when left out, as the transport's congestion control has it",
    )
    flowlet_gap_s: float | None = Field(
        default=None, gt=0, le=60, description="pause of a flow after which it is hashed anew"
    )
