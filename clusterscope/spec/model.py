"""The cluster spec: one frozen model a TOML table.

Counts that a designer fixes are fields; counts that follow from them may be left out and are
derived by `clusterscope.spec.derive`. Rates are per direction and in Gb/s unless a name says so.
Types are strict: "8", 8.0 and true are not the number 8, since each is a slip of the pen.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from clusterscope.spec.base import Frozen, Name, Size
from clusterscope.spec.carrying import TransportSpec
from clusterscope.spec.inward import with_gpu_defaults
from clusterscope.spec.parts import ScaleUpKind
from clusterscope.spec.ready import expanded, plan_name
from clusterscope.spec.serving import ServeSpec
from clusterscope.spec.training import (
    LEAST_LEFT,
    CheckpointSpec,
    ModelSpec,
    PlanSpec,
    StragglersSpec,
)
from clusterscope.units import GIB

_MOST = 10**12  # past any cluster, and small enough for exact arithmetic in floats

Collective = Literal[
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "broadcast",
    "all-to-all",
    "sendrecv",
    "permutation",
    "incast",
]
Task = Literal[Collective, "training", "serving"]
Placement = Literal["packed", "strided", "random"]
Algorithm = Literal[
    "auto",
    "ring",
    "rail-ring",
    "tree",
    "single-tree",
    "halving-doubling",
    "recursive-doubling",
    "direct",
    "sharp",
    "nvls",
    "nvls-tree",
    "pxn",
]
EventKind = Literal["fail", "degrade", "restore"]


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

    kind: ScaleUpKind = Field(default="nvlink", description="that of node.gpu when left out")
    domain_gpus: int = Field(ge=1, le=_MOST, description="GPUs in one scale-up domain")
    gpu_gbps: float = Field(
        gt=0,
        le=10_000_000,
        description="rate of a GPU into its domain, one direction; that of node.gpu when left out",
    )
    switch: Name | None = Field(default=None, description="switch part inside the domain")
    switches: int = Field(default=0, ge=0, le=_MOST, description="switch chips in one domain")
    topology: Literal["switched", "mesh", "torus", "two-level"] = Field(
        default="switched",
        description="switched: every GPU on one cable to the domain's switches; mesh: a cable "
        "between every pair; torus: a ring along every dimension; two-level: groups of GPUs, and "
        "an uplink from each group to the domain",
    )
    link_gbps: float | None = Field(
        default=None,
        gt=0,
        le=10_000_000,
        description="rate of one cable of a mesh or torus, one direction; gpu_gbps shared out "
        "over the cables of a GPU when left out",
    )
    dims: tuple[Annotated[int, Field(ge=1, le=4096)], ...] = Field(
        default=(), strict=False, max_length=4, description="GPUs along each dimension of a torus"
    )
    group_gpus: int | None = Field(
        default=None, ge=1, le=_MOST, description="GPUs in a first-level group (two-level)"
    )
    group_gbps: float | None = Field(
        default=None,
        gt=0,
        le=10**12,
        description="uplink of a group, one direction; its GPUs' rate over group_taper when left "
        "out",
    )
    group_taper: float = Field(
        default=1.0, gt=0, le=1000, description="group bandwidth down : up (two-level)"
    )


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


class DragonflySpec(Frozen):
    """`[dragonfly]`: groups of switches, all to all inside a group and between groups."""

    groups: int = Field(ge=1, le=_MOST, description="groups that are built")
    switches: int = Field(ge=1, le=_MOST, description="switches in a group")
    nic_ports: int = Field(ge=1, le=_MOST, description="NIC ports a switch takes")
    global_links: int = Field(
        ge=1, le=_MOST, description="cables between every pair of groups, dealt to their switches"
    )
    local_links: int = Field(
        default=1, ge=1, le=_MOST, description="cables between two switches of a group"
    )
    link_gbps: float | None = Field(
        default=None,
        gt=0,
        le=100_000,
        description="rate of switch-to-switch links; that of a NIC port when left out",
    )
    switch: Name = Field(description="switch part, by catalogue name")
    routing: Literal["minimal", "valiant", "adaptive"] | None = Field(
        default=None,
        description="minimal: the shortest way, one path a flow; valiant: over a group by chance; "
        "adaptive: per packet, around what is full; when left out, minimal under hashed or static "
        "load balancing and adaptive under any other",
    )


class FrontEndSpec(Frozen):
    """`[front_end]`: the network to storage and users, a Clos of its own; counted, not stepped."""

    nics: int = Field(default=1, ge=1, le=64, description="front-end NIC ports in a node")
    nic: Name = Field(default="generic", description="NIC part, by catalogue name")
    nic_gbps: float = Field(gt=0, le=100_000, description="line rate of one port, one direction")
    tiers: Literal[1, 2, 3] = Field(default=2, description="switch tiers")
    switch: Name = Field(description="switch part of all tiers, by catalogue name")
    link_gbps: float | None = Field(
        default=None,
        gt=0,
        le=100_000,
        description="rate of switch-to-switch links; that of a NIC port when left out",
    )
    taper: float = Field(default=1.0, gt=0, le=1000, description="leaf bandwidth down : up")
    pod_nodes: int | None = Field(
        default=None, ge=1, le=_MOST, description="nodes in a pod (three tiers)"
    )
    storage_nodes: int = Field(default=0, ge=0, le=10**9, description="storage nodes on it")
    storage_gbps: float | None = Field(
        default=None,
        gt=0,
        le=10_000_000,
        description="what one storage node reads or writes; its ports' rate when left out",
    )
    checkpoint_bytes: Size = Field(
        default=30 * 10**9, description="what a GPU writes at a checkpoint"
    )


class JobSpec(Frozen):
    """`[[jobs]]`: ranks that run one collective, or train or serve one model, over and over."""

    name: Name
    collective: Task = Field(
        description="what the ranks do over and over; training when there is a model, serving when "
        "there is serve"
    )
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
    algorithm: Algorithm = Field(
        default="auto",
        description="ring: in each domain, then between them; rail-ring: a ring over all ranks for "
        "every rail; tree: two binary trees; single-tree; halving-doubling; recursive-doubling; "
        "direct: all peers of a domain at once; sharp: InfiniBand switches reduce between domains; "
        "nvls: NVSwitches reduce inside a domain; nvls-tree: and trees between; pxn: an all-to-all "
        "that changes rails inside the node; auto: as NCCL's cost model chooses",
    )
    step_latency_s: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="what every step of the algorithm costs besides its bytes, with nothing else; "
        "what the library and the network take when left out",
    )
    imbalance: float = Field(
        default=1.0,
        ge=1,
        le=1e6,
        description="all-to-all: bytes of the busiest rank over those of the mean one",
    )
    model: ModelSpec | None = Field(
        default=None,
        description="what a job trains or serves; a catalogue name is short for it",
    )
    plan: PlanSpec | None = Field(
        default=None,
        description="how the model of a training job is cut over its GPUs; a name of "
        "`clusterscope plans` is short for it, and for model and ranks where left out",
    )
    serve: ServeSpec | None = Field(
        default=None,
        description="requests and instances of a job that serves a model; a name of the catalogue "
        "of services is short for it",
    )

    stragglers: StragglersSpec | None = Field(
        default=None, description="GPUs of a training job that are slower than others"
    )
    checkpoint: CheckpointSpec | None = Field(
        default=None, description="how a training job saves its state"
    )

    @model_validator(mode="before")
    @classmethod
    def _trains(cls, data: object) -> object:
        """A job with a model trains, one with serve serves; its messages follow from the plan."""
        if isinstance(data, dict) and data.get("serve") is not None:
            return {"collective": "serving", "message_bytes": 1} | data
        if isinstance(data, dict) and plan_name(data) is not None:
            return {"collective": "training", "message_bytes": 1} | expanded(data)
        if isinstance(data, dict) and data.get("model") is not None:
            return {"collective": "training", "message_bytes": 1} | data
        return data

    @field_validator("model", "serve", mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        """A name stands for a table with that name."""
        return {"name": value} if isinstance(value, str) else value


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
        default=0.5, ge=LEAST_LEFT, le=1, description="degrade: share of the rate that is left"
    )


class Source(Frozen):
    """`[sources]`: where a number comes from."""

    source: str | None = Field(default=None, description="the document a number is from")
    estimate: bool = Field(default=False, description="nobody published the number")
    why: str | None = Field(default=None, description="what an estimate rests on")
    doubt: str | None = Field(
        default=None, description="what speaks against the number: another reading, a weak source"
    )


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
    groups: int | None = None
    switches: int | None = None
    local_cables: int | None = None
    global_cables: int | None = None


DEFAULT_JOB = JobSpec(name="all-reduce", collective="all-reduce", message_bytes=GIB)


class ClusterSpec(Frozen):
    """A whole cluster. Without `jobs` it runs one all-reduce of 1 GiB over every GPU."""

    name: Name
    title: str = ""
    description: str = ""
    design: bool = Field(
        default=False, description="a design of its author's own, not a cluster that exists"
    )
    node: NodeSpec
    scale_up: ScaleUpSpec | None = None
    scale_out: ScaleOutSpec | None = None
    front_end: FrontEndSpec | None = None
    dragonfly: DragonflySpec | None = None
    transport: TransportSpec = TransportSpec(name="infiniband")
    jobs: tuple[JobSpec, ...] = Field(default=(DEFAULT_JOB,), strict=False)
    sim: SimSpec = SimSpec()
    events: tuple[EventSpec, ...] = Field(default=(), strict=False)
    expect: ExpectSpec = ExpectSpec()
    prices: dict[Name, float] = Field(
        default_factory=dict,
        description="US$ by part of the catalogue, and energy_usd_per_kwh, pue, "
        "amortization_years, run_hours, comm_ratio; those known when left out",
    )
    sources: dict[str, Source] = Field(
        default_factory=dict, description="dotted key of a number -> its source"
    )

    @model_validator(mode="before")
    @classmethod
    def _as_the_gpu(cls, data: object) -> object:
        """What the scale-up network leaves out follows from the GPU."""
        return with_gpu_defaults(data)

    @property
    def gpus(self) -> int:
        """GPUs in the cluster."""
        return self.node.count * self.node.gpus
