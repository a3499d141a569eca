"""How full links are: by tier, by switch, node, pod and domain, and who fills one of them.

Utilization is load on the wire over what the link carries now, 0 to 1; nan where a link is dead.
Axes as in `fabric.arrays`, with P pods.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from clusterscope.columns import F64, I32, Arrays, Bool, Col
from clusterscope.engine.frame import Frame
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.step import iteration_parts
from clusterscope.fabric.arrays import LEAF_SPINE, SCALE_UP, SPINE_CORE, Fabric
from clusterscope.fabric.scaleup import cable_domain
from clusterscope.metrics.memo import per_frame, per_key


@dataclass(frozen=True)
class TierSummary:
    """Utilization of the live links of one tier, 0 to 1; nan where no link is live.

    Attributes:
        tier: name of the tier.
        links: directed links, dead ones too.
        live: links that carry bytes.
        down: links that do not.
        mean: mean of the live links.
        p50: median (nearest rank).
        p99: 99th percentile (nearest rank).
        max: of the hottest link.
        worst_link: the hottest link, the first of equals; -1 when none is live.
        peak: of the link that is hottest in any phase of an iteration, see `peak_utilization`.
    """

    tier: str
    links: int
    live: int
    down: int
    mean: float
    p50: float
    p99: float
    max: float
    worst_link: int
    peak: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Worst(Arrays):
    """Worst live utilization, and dead cables, of every thing; nan where no link is live."""

    cable: Annotated[F64, Col("C", "1", "worse of both directions")]
    switch: Annotated[F64, Col("S", "1", "worst of the switch's links")]
    node: Annotated[F64, Col("M", "1", "worst of the node's NIC and scale-up links")]
    pod: Annotated[F64, Col("P", "1", "worst of the pod's links")]
    domain: Annotated[F64, Col("D", "1", "worst of the domain's links")]
    cable_dead: Annotated[Bool, Col("C", "1", "carries nothing")]
    switch_down: Annotated[I32, Col("S", "1", "dead cables of the switch")]
    node_down: Annotated[I32, Col("M", "1", "dead cables of the node")]
    pod_down: Annotated[I32, Col("P", "1", "dead cables of the pod")]
    domain_down: Annotated[I32, Col("D", "1", "dead cables of the domain")]


@per_frame
def tier_summaries(scenario: Scenario, frame: Frame) -> tuple[TierSummary, ...]:
    """Summary of every tier that has links, from the NICs up, scale-up last."""
    tiers = range(len(scenario.fabric.tier_names))
    return tuple(
        _summary(scenario.fabric, frame, tier)
        for tier in tiers
        if len(scenario.fabric.tier_cables(tier))
    )


def tier_links(fabric: Fabric, tier: int) -> slice:
    """Directed links of a tier, as a slice of the links."""
    cables = fabric.tier_cables(tier)
    return slice(2 * cables.start, 2 * cables.stop)


def _summary(fabric: Fabric, frame: Frame, tier: int) -> TierSummary:
    """Summary of one tier."""
    span = tier_links(fabric, tier)
    ratio = frame.utilization[span]
    dead = np.isnan(ratio)
    live = ratio[~dead] if dead.any() else ratio
    count, total = len(live), len(ratio)
    if not count:
        nan = float("nan")
        return TierSummary(fabric.tier_names[tier], total, 0, total, nan, nan, nan, nan, -1, nan)
    ranks = [-(-count * percent // 100) - 1 for percent in (50, 99)]
    p50, p99 = np.partition(live, ranks)[ranks].tolist()
    worst_link = int(np.nanargmax(ratio))
    return TierSummary(
        tier=fabric.tier_names[tier],
        links=total,
        live=count,
        down=total - count,
        mean=float(live.mean()),
        p50=p50,
        p99=p99,
        max=float(ratio[worst_link]),
        worst_link=span.start + worst_link,
        peak=float(np.nanmax(peak_utilization(frame.network)[span])),
    )


@per_key
def peak_utilization(network: Network) -> F64:
    """Highest load of a link over its capacity in any phase of an iteration, (L,), nan if dead.

    Steady state of the network, each job alone in it: what a frame shows when it catches the
    worst moment, whichever that is.
    """
    peak = np.zeros(network.scenario.fabric.links)
    shares = [
        share
        for job in range(len(network.scenario.program))
        for _, share in iteration_parts(network.scenario, network, job)
    ]
    for share in {id(share): share for share in shares}.values():  # twin phases have one
        np.maximum(peak, share.link_gbps, out=peak)
    live = network.link_gbps > 0
    np.divide(peak, network.link_gbps, out=peak, where=live)
    peak[~live] = np.nan
    peak.setflags(write=False)
    return peak


def hottest(
    scenario: Scenario, frame: Frame, count: int, tiers: Collection[int] | None = None
) -> I32:
    """The `count` hottest live links, hottest first, ties by index, (n,) with n <= count.

    Args:
        scenario: the cluster.
        frame: its state.
        count: links wanted.
        tiers: cable tiers to look at; all when left out.
    """
    ratio = frame.utilization
    if tiers is not None:
        wanted = np.isin(np.arange(SCALE_UP + 1), list(tiers))[scenario.fabric.cable_tier]
        ratio = np.where(np.repeat(wanted, 2), ratio, np.nan)
    most = float(np.fmax.reduce(ratio, initial=-1.0))
    level = np.flatnonzero(ratio == most)
    if len(level) >= count:
        return level[:count].astype(np.int32)
    value = np.where(np.isnan(ratio), -1.0, ratio)
    count = min(count, int((value >= 0).sum()))
    if count == 0:
        return np.zeros(0, dtype=np.int32)
    threshold = np.partition(value, len(value) - count)[len(value) - count]
    above = np.flatnonzero(value > threshold)
    level = np.flatnonzero(value == threshold)[: count - len(above)]
    picked = np.concatenate([above[np.argsort(-value[above], kind="stable")], level])
    return picked.astype(np.int32)


@per_frame
def worst(scenario: Scenario, frame: Frame) -> Worst:
    """Worst utilization and dead cables by cable, switch, node, pod and domain."""
    fabric = scenario.fabric
    ratio = frame.utilization
    cable = np.fmax(ratio[0::2], ratio[1::2])
    dead = frame.network.cable_gbps <= 0
    switch, node = by_switch(fabric, cable), _by_node(fabric, cable)
    start = int(fabric.tier_start[SCALE_UP])
    down = _down(fabric, np.flatnonzero(dead))
    return Worst(
        cable=cable,
        switch=switch,
        node=node,
        pod=_by_pod(fabric, switch, node),
        domain=_grouped(cable[start:], cable_domain(fabric), fabric.domains),
        cable_dead=dead,
        switch_down=down[0],
        node_down=down[1],
        pod_down=down[2],
        domain_down=down[3],
    )


def switch_utilization(scenario: Scenario, frame: Frame) -> F64:
    """Worst utilization of every switch's links, (S,); nan where all are dead."""
    return worst(scenario, frame).switch


def _grouped(values: F64, group: I32, groups: int) -> F64:
    """Largest value of each group, (groups,); nan where there is none."""
    out = np.full(groups, np.nan)
    np.fmax.at(out, group, values)
    return out


def by_switch(fabric: Fabric, cable: F64) -> F64:
    """Worst cable of every switch, (S,), from a ratio of every cable, (C,); nan if all are."""
    first, above, end = (int(fabric.tier_start[t]) for t in (0, LEAF_SPINE, SCALE_UP))
    out = _grouped(cable[first:end], fabric.cable_b[first:end] - fabric.ports, fabric.switches)
    np.fmax.at(out, fabric.cable_a[above:end] - fabric.ports, cable[above:end])
    return out


def _by_node(fabric: Fabric, cable: F64) -> F64:
    """Worst NIC or scale-up cable of every node, (M,)."""
    out = np.full(fabric.nodes, np.nan)
    start = int(fabric.tier_start[SCALE_UP])
    parts = [cable[: fabric.ports]]
    if not fabric.shape.direct:
        parts.append(cable[start : start + fabric.gpus])
    for part in parts:
        if len(part):
            np.fmax(out, np.fmax.reduce(part.reshape(fabric.nodes, -1), axis=1), out=out)
    if fabric.shape.direct:
        for ends in (fabric.cable_a, fabric.cable_b):
            node = (ends[start:] - fabric.gpu_vertex) // fabric.gpus_per_node
            np.fmax.at(out, node, cable[start:])
    return out


def _by_pod(fabric: Fabric, switch: F64, node: F64) -> F64:
    """Worst link of every pod, (P,): of its switches and of its nodes."""
    out = _grouped(node, pod_of_node(fabric), fabric.pods)
    placed = fabric.switch_pod >= 0
    np.fmax.at(out, fabric.switch_pod[placed], switch[placed])
    return out


@per_key
def pod_of_node(fabric: Fabric) -> I32:
    """Pod of every node, (M,); pod 0 when there is no scale-out fabric."""
    if not fabric.ports:
        return np.zeros(fabric.nodes, dtype=np.int32)
    first_port = np.arange(fabric.nodes) * (fabric.ports // fabric.nodes)
    return fabric.switch_pod[fabric.port_leaf[first_port]]


def _down(fabric: Fabric, dead: np.ndarray) -> tuple[I32, I32, I32, I32]:
    """Dead cables of every switch, node, pod and domain."""
    start = int(fabric.tier_start[SCALE_UP])
    nic, core = dead < fabric.ports, dead < start
    inside = dead[~core]
    switch = _counted(fabric.cable_b[dead[core]] - fabric.ports, fabric.switches)
    trunks = dead[core & ~nic]
    switch += _counted(fabric.cable_a[trunks] - fabric.ports, fabric.switches)
    nodes = np.concatenate(
        [fabric.port_node(dead[nic].astype(np.int32)), _nodes_at(fabric, inside)]
    )
    lower = fabric.cable_a[trunks] - fabric.ports
    upper = fabric.cable_b[trunks[fabric.cable_tier[trunks] == SPINE_CORE]] - fabric.ports
    # A core is of no pod; a global cable of a dragonfly is of the group at either end.
    far = fabric.switch_pod[upper[fabric.switch_pod[upper] >= 0]]
    pods = np.concatenate([pod_of_node(fabric)[nodes], fabric.switch_pod[lower], far])
    return (
        switch,
        _counted(nodes, fabric.nodes),
        _counted(pods, fabric.pods),
        _counted(cable_domain(fabric)[inside - start], fabric.domains),
    )


def _nodes_at(fabric: Fabric, cables: np.ndarray) -> np.ndarray:
    """Nodes with a GPU at one of some scale-up cables: both ends of one, a node once a cable."""
    ends = np.stack([fabric.cable_a[cables], fabric.cable_b[cables]])
    node = np.where(
        (ends >= fabric.gpu_vertex) & (ends < fabric.domain_vertex),
        (ends - fabric.gpu_vertex) // fabric.gpus_per_node,
        -1,
    )
    node[1, node[0] == node[1]] = -1
    return node[node >= 0]


def _counted(group: np.ndarray, groups: int) -> I32:
    """Members of each group, (groups,)."""
    return np.bincount(group, minlength=groups).astype(np.int32)


@per_frame
def tier_levels(scenario: Scenario, frame: Frame) -> dict[str, tuple[float, float]]:
    """(mean, max) utilization of the live links of every tier that has links."""
    levels = {}
    for tier, name in enumerate(scenario.fabric.tier_names):
        ratio = frame.utilization[tier_links(scenario.fabric, tier)]
        if len(ratio):
            dead = np.isnan(ratio)
            live = ratio[~dead] if dead.any() else ratio
            nan = float("nan")
            levels[name] = (float(live.mean()), float(live.max())) if len(live) else (nan, nan)
    return levels
