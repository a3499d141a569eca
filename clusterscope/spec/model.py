"""The cluster spec: one frozen model a TOML table.

Counts that a designer fixes are fields; counts that follow from them may be left out and are
derived by `clusterscope.spec.derive`. Rates are per direction and in Gb/s unless a name says so.
Types are strict: "8", 8.0 and true are not the number 8, since each is a slip of the pen.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from clusterscope.spec import parts
from clusterscope.units import GIB, KIB, MIB

_SIZES = {"b": 1, "kib": KIB, "mib": MIB, "gib": GIB, "kb": 10**3, "mb": 10**6, "gb": 10**9}


_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)")
_MOST = 10**12  # past any cluster, and small enough for exact arithmetic in floats


def _size(value: object) -> object:
    """Bytes from 1073741824 or "1 GiB"; anything else is left for pydantic to refuse."""
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    scale = _SIZES.get(match[2].casefold() or "b") if match and len(match[1]) < 20 else None
    return int(float(match[1]) * scale) if match and scale else value


Size = Annotated[
    int,
    BeforeValidator(_size),
    Field(ge=1, le=2**50),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": 2**50},
                {"type": "string", "pattern": f"^{_SIZE.pattern}$"},
            ]
        },
        mode="validation",
    ),
]
Name = Annotated[str, Field(min_length=1, max_length=120)]

LoadBalancing = parts.LoadBalancing
HashSeed = parts.HashSeed
Collective = Literal[
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "permutation", "incast"
]
Placement = Literal["packed", "strided", "random"]
EventKind = Literal["fail", "degrade", "restore"]


class Frozen(BaseModel):
    """Base of every table: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class NodeSpec(Frozen):
    """`[node]`: one server, and how many of them."""

    count: int = Field(ge=1, le=_MOST, description="number of nodes")
    gpus: int = Field(ge=1, le=1024, description="GPUs in a node")
    gpu: Name = Field(description="GPU part, by catalogue name")
    nics: int = Field(ge=0, le=64, description="scale-out NICs in a node")
    nic: Name = Field(default="generic", description="NIC part, by catalogue name")
    nic_gbps: float = Field(gt=0, le=100_000, description="line rate of one NIC, one direction")


class ScaleUpSpec(Frozen):
    """`[scale_up]`: the network inside a domain of GPUs (NVLink, UALink, Infinity Fabric)."""

    kind: Literal["nvlink", "ualink", "infinity-fabric", "neuronlink"] = "nvlink"
    domain_gpus: int = Field(ge=1, le=_MOST, description="GPUs in one scale-up domain")
    gpu_gbps: float = Field(
        gt=0, le=10_000_000, description="bandwidth of one GPU into its domain, one direction"
    )
    switch: Name | None = Field(default=None, description="switch part inside the domain")
    switches: int = Field(default=0, ge=0, le=_MOST, description="switch chips in one domain")


class ScaleOutSpec(Frozen):
    """`[scale_out]`: a Clos of one, two or three tiers between the NICs."""

    tiers: Literal[1, 2, 3]
    wiring: Literal["rail", "rack", "rail-only"] = Field(
        description="rail: NIC r of a node goes to rail r's leaves; rack: all NICs of a node go to "
        "one leaf; rail-only: as rail, and each rail has spines of its own"
    )
    su_nodes: int = Field(ge=1, le=_MOST, description="nodes that share one set of leaves")
    sus: int | None = Field(
        default=None,
        ge=1,
        le=_MOST,
        description="SUs that are built; those that the nodes fill when left out",
    )
    planes: int = Field(default=1, ge=1, le=64, description="disjoint copies of the fabric")
    link_gbps: float | None = Field(
        default=None,
        gt=0,
        le=100_000,
        description="rate of switch-to-switch links; that of a NIC port when left out",
    )
    leaf_switch: Name = Field(description="leaf part, by catalogue name")
    leaf_down: int | None = Field(
        default=None, ge=1, le=_MOST, description="NIC ports a leaf takes"
    )
    leaf_up: int | None = Field(default=None, ge=0, le=_MOST, description="uplinks of a leaf")
    leaf_taper: float = Field(default=1.0, gt=0, le=1000, description="leaf bandwidth down : up")
    pod_sus: int | None = Field(
        default=None, ge=1, le=_MOST, description="SUs in a pod (three tiers)"
    )
    spine_switch: Name | None = Field(
        default=None, description="spine part; the leaf's when left out"
    )
    spines: int | None = Field(
        default=None,
        ge=1,
        le=_MOST,
        description="spines in a block: a pod and plane, and a rail when rail-only",
    )
    spine_up: int | None = Field(
        default=None, ge=1, le=_MOST, description="uplinks of a spine (three tiers)"
    )
    spine_taper: float = Field(default=1.0, gt=0, le=1000, description="spine bandwidth down : up")
    core_switch: Name | None = Field(
        default=None, description="core part; the spine's when left out"
    )
    cores: int | None = Field(
        default=None, ge=1, le=_MOST, description="cores in a plane (three tiers)"
    )
    management_cables: int = Field(
        default=0,
        ge=0,
        le=_MOST,
        description="cables from leaves to managers (UFM); counted, not simulated",
    )


class TransportSpec(Frozen):
    """`[transport]`: a catalogue transport, with what this cluster sets differently."""

    name: Name
    load_balancing: LoadBalancing | None = None
    qps: int | None = Field(default=None, ge=1, le=256, description="queue pairs a NIC pair uses")
    hash_seed: HashSeed | None = Field(
        default=None, description="shared: every switch hashes alike and choices polarize"
    )
    mtu_bytes: int | None = Field(default=None, ge=64, le=65536)
    reroute_s: float | None = Field(
        default=None, ge=0, le=86_400, description="time from a failure until routes avoid it"
    )


class JobSpec(Frozen):
    """`[[jobs]]`: ranks that run one collective over and over."""

    name: Name
    collective: Collective
    message_bytes: Size = Field(
        description="nccl-tests size: the whole buffer of one rank; for permutation and incast, "
        "the bytes that each rank sends"
    )
    ranks: int | None = Field(default=None, ge=1, description="GPUs used; all when left out")
    first_gpu: int = Field(
        default=0, ge=0, le=_MOST, description="packed and strided placement start here"
    )
    placement: Placement = "packed"
    stride: int = Field(default=1, ge=1, description="nodes between neighbours when strided")
    hierarchical: bool = Field(
        default=True, description="reduce inside the scale-up domain before the NICs are used"
    )


class SimSpec(Frozen):
    """`[sim]`: time and chance."""

    seed: int = Field(default=7, ge=0, le=2**63 - 1)
    dt_s: float = Field(default=1e-3, gt=0, le=3600, description="length of a step")
    steps: int = Field(default=20, ge=0, le=10_000_000, description="steps of a headless run")


class EventSpec(Frozen):
    """`[[events]]`: something done to the cluster at a step."""

    step: int = Field(ge=0)
    kind: EventKind
    target: Name = Field(description="cable, switch, NIC, GPU or node, by name")
    scale: float = Field(
        default=0.5, gt=0, le=1, description="degrade: share of the rate that is left"
    )


class Source(Frozen):
    """`[sources]`: where a number comes from."""

    source: str | None = None
    estimate: bool = False
    why: str | None = None


class ExpectSpec(Frozen):
    """`[expect]`: counts that were published (or estimated); building must give them."""

    gpus: int | None = None
    nodes: int | None = None
    leaf: int | None = None
    spine: int | None = None
    core: int | None = None
    nic_leaf_cables: int | None = None
    leaf_spine_cables: int | None = None
    spine_core_cables: int | None = None


DEFAULT_JOB = JobSpec(name="all-reduce", collective="all-reduce", message_bytes=GIB)


class ClusterSpec(Frozen):
    """A whole cluster. Without `jobs` it runs one all-reduce of 1 GiB over every GPU."""

    name: Name
    title: str = ""
    description: str = ""
    node: NodeSpec
    scale_up: ScaleUpSpec | None = None
    scale_out: ScaleOutSpec | None = None
    transport: TransportSpec = TransportSpec(name="infiniband")
    jobs: tuple[JobSpec, ...] = Field(default=(DEFAULT_JOB,), strict=False)
    sim: SimSpec = SimSpec()
    events: tuple[EventSpec, ...] = Field(default=(), strict=False)
    expect: ExpectSpec = ExpectSpec()
    sources: dict[str, Source] = Field(
        default_factory=dict, description="dotted key of a number -> its source"
    )

    @property
    def gpus(self) -> int:
        """GPUs in the cluster."""
        return self.node.count * self.node.gpus
