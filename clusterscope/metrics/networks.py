"""The three networks of a cluster side by side: scale-up, scale-out, front-end.

Line rates, one direction. The front-end is counted by the planner and not stepped: what it carries
to storage is the narrowest of the cuts between the nodes and the storage nodes (the nodes' ports,
the uplinks of their leaves, the cores' share, the storage nodes), and a checkpoint takes its bytes
over that. Cost and power of the front-end are beside those of the cluster, not in them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import SCALE_UP
from clusterscope.fabric.counts import bisection_gbps
from clusterscope.metrics.cost import CostItem, cost_items, priced
from clusterscope.metrics.memo import per_key
from clusterscope.spec import parts
from clusterscope.spec.derive import derive
from clusterscope.spec.front_end import FrontEnd, derive_front_end
from clusterscope.spec.model import ScaleUpSpec
from clusterscope.spec.plan import ScaleOutPlan
from clusterscope.spec.shape import half_gbps, shape_words
from clusterscope.transport.latency import path_latency_s
from clusterscope.transport.model import scale_up_latency_s
from clusterscope.units import BITS_PER_BYTE, GIGA, counted

SCALE_UP_WORDS = {
    "nvlink": "NVLink",
    "ualink": "UALink",
    "infinity-fabric": "Infinity Fabric",
    "neuronlink": "NeuronLink",
}
_CABLE_S = 1.0e-7


@dataclass(frozen=True)
class NetworkFacts:
    """One network of the cluster; rates one direction, in Gb/s.

    Attributes:
        name: "scale-up", "scale-out" or "front-end".
        technology: what it is, in words.
        made_of: its tiers and switches, or how it is cabled.
        reached: GPUs that one GPU reaches over it.
        each_gbps: rate of a GPU.
        bisection_gbps: rate between two halves of what it reaches.
        switches: switches, in all of its copies.
        cables: cables, in all of its copies; inside domains what `cables_are` says.
        cables_are: what is counted: cables, ways from a GPU to a switch chip (however many lanes),
            or the whole bundle of a GPU where the chips are not told.
        latency_s: one small message over the longest way.
        usd: price of switches, NICs and cables.
        watts: their power.
    """

    name: Literal["scale-up", "scale-out", "front-end"]
    technology: str
    made_of: str
    reached: int
    each_gbps: float
    bisection_gbps: float
    switches: int
    cables: int
    latency_s: float
    usd: float
    watts: float
    cables_are: str = "cables"


@dataclass(frozen=True)
class Storage:
    """What the front-end carries to storage and back.

    Attributes:
        nodes: storage nodes.
        gbps: from all nodes to all storage nodes, one direction.
        checkpoint_bytes: of all GPUs together.
        seconds: to write that, or to read it.
        narrowest: which cut it is that decides, in words.
    """

    nodes: int
    gbps: float
    checkpoint_bytes: float
    seconds: float
    narrowest: str


def network_name(scenario: Scenario) -> str:
    """Name of what joins the nodes: a transport; without NICs the kind of scale-up network."""
    spec = scenario.spec
    if scenario.fabric.ports or spec.scale_up is None:
        return scenario.transport.name
    return spec.scale_up.kind


@per_key
def networks(scenario: Scenario) -> tuple[NetworkFacts, ...]:
    """The networks that the cluster has, from the inside out."""
    found = (_scale_up(scenario), _scale_out(scenario), _front_end(scenario))
    return tuple(facts for facts in found if facts is not None)


@per_key
def storage(scenario: Scenario) -> Storage | None:
    """What reaches storage; None without a front-end or without storage nodes on it."""
    front = derive_front_end(scenario.spec)
    if front is None or not front.spec.storage_nodes:
        return None
    total = float(front.spec.checkpoint_bytes) * scenario.fabric.gpus
    narrowest, gbps = min(front.cuts.items(), key=lambda cut: cut[1])
    seconds = total * BITS_PER_BYTE / GIGA / gbps
    return Storage(front.spec.storage_nodes, gbps, total, seconds, narrowest)


def _scale_up(scenario: Scenario) -> NetworkFacts | None:
    """NVLink, UALink and the like."""
    up, fabric = scenario.spec.scale_up, scenario.fabric
    if up is None:
        return None
    own = [item for item in cost_items(scenario) if item.kind == "scale-up switch"]
    cables, cables_are = _joints(scenario, up)
    longest = {"two-level": 3, "torus": sum(n // 2 for n in up.dims)}.get(up.topology, 1)
    return NetworkFacts(
        name="scale-up",
        technology=SCALE_UP_WORDS[up.kind],
        made_of=shape_words(up),
        reached=up.domain_gpus,
        each_gbps=up.gpu_gbps,
        bisection_gbps=half_gbps(up),
        switches=fabric.domains * up.switches,
        cables=cables,
        latency_s=float(scale_up_latency_s(np.array([float(longest)]))[0]),
        usd=sum((item.usd for item in own), 0.0),
        watts=sum((item.watts for item in own), 0.0),
        cables_are=cables_are,
    )


def _joints(scenario: Scenario, up: ScaleUpSpec) -> tuple[int, str]:
    """Connections inside the domains, and what they are: a GPU is wired to every chip."""
    fabric = scenario.fabric
    if fabric.shape.direct:
        return len(fabric.tier_cables(SCALE_UP)), "cables"
    if up.topology == "switched" and up.switches:
        return fabric.gpus * up.switches, "GPU-chip links"
    return len(fabric.tier_cables(SCALE_UP)), "bundles"


def _scale_out(scenario: Scenario) -> NetworkFacts | None:
    """The fabric that is simulated."""
    spec, fabric, plan = scenario.spec, scenario.fabric, derive(scenario.spec)
    if plan is None:
        return None
    own = [item for item in cost_items(scenario) if item.network]
    hops = np.array([3.0 if fabric.dragonfly else 2.0 * plan.tiers - 1.0])
    return NetworkFacts(
        name="scale-out",
        technology=scenario.transport.title,
        made_of=_switch_words(plan),
        reached=fabric.gpus,
        each_gbps=plan.nics * plan.nic_gbps / fabric.gpus_per_node,
        bisection_gbps=bisection_gbps(fabric),
        switches=fabric.switches,
        cables=int(fabric.tier_start[SCALE_UP]),
        latency_s=float(path_latency_s(spec, scenario.transport, hops)[0]),
        usd=sum((item.usd for item in own), 0.0),
        watts=sum((item.watts for item in own), 0.0),
    )


def _switch_words(plan: ScaleOutPlan) -> str:
    """Parts and tiers."""
    tiers = f"{counted(plan.tiers, 'tier')}"
    names = dict.fromkeys(filter(None, (plan.leaf_switch, plan.spine_switch, plan.core_switch)))
    return f"{tiers if plan.dragonfly is None else 'dragonfly'} of {' and '.join(names)}"


def _front_end(scenario: Scenario) -> NetworkFacts | None:
    """The network to storage and users."""
    front = derive_front_end(scenario.spec)
    if front is None:
        return None
    plan, own = front.plan, _front_end_parts(scenario, front)
    return NetworkFacts(
        name="front-end",
        technology="InfiniBand" if _infiniband(front.spec.switch) else "Ethernet",
        made_of=_switch_words(plan),
        reached=scenario.fabric.gpus,
        each_gbps=front.node_gbps / scenario.fabric.gpus_per_node,
        bisection_gbps=plan.bisection_gbps,
        switches=plan.leaves + plan.spines_total + plan.cores_total,
        cables=plan.cables,
        latency_s=_front_end_latency_s(front),
        usd=sum((item.usd for item in own), 0.0),
        watts=sum((item.watts for item in own), 0.0),
    )


def _infiniband(switch: str) -> bool:
    """True when a switch is one for InfiniBand."""
    return parts.switch(switch).chip.startswith("Quantum")


def _front_end_latency_s(front: FrontEnd) -> float:
    """Both NICs, the switches up and down again, and the cables between them."""
    switches = 2 * front.plan.tiers - 1
    latency = parts.switch(front.spec.switch).latency_s
    return 2 * parts.nic(front.spec.nic).latency_s + switches * latency + (switches + 1) * _CABLE_S


def _front_end_parts(scenario: Scenario, front: FrontEnd) -> Iterable[CostItem]:
    """Classes of parts of the front-end; its NICs are those of nodes and storage nodes."""
    spec, plan = scenario.spec, front.plan
    nic, switch = parts.nic(front.spec.nic), parts.switch(front.spec.switch)
    switches = plan.leaves + plan.spines_total + plan.cores_total
    near = parts.cable_end("dac", plan.port_gbps)
    far = parts.cable_end("optic", plan.link_gbps)
    between = plan.leaf_spine_cables + plan.spine_core_cables
    rows = (
        ("nic", nic, plan.nodes * plan.nics, nic.price_usd, nic.power_w),
        ("switch", switch, switches, switch.price_usd, switch.power_w),
        ("cable end", near, 2 * plan.nic_leaf_cables, near.price_usd, near.power_w),
        ("cable end", far, 2 * between, far.price_usd, far.power_w),
    )
    return [priced(spec, *row) for row in rows]
