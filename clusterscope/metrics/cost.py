"""What the cluster costs and what it draws, by class of part, from the parts catalogue.

Capital cost in US$ and electric power in watts of what is simulated: GPUs (with their share of the
server), NICs, switches, cables. Buildings, cooling, storage and people are not in it.

Model: a cable has two ends of one kind. NICs and leaves in one rack are joined by passive copper,
all others by transceivers and fiber, since they stand in different racks; a group of a dragonfly is
a cabinet, so only its global cables are fiber. Scale-up switches and
their cables are counted as switches only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import NIC_LEAF, SCALE_UP, SPINE_CORE
from clusterscope.metrics.memo import per_key
from clusterscope.spec import parts, prices
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec

CableKind = Literal["dac", "optic"]


@dataclass(frozen=True)
class CostItem:
    """One class of part.

    Attributes:
        kind: class ("gpu", "leaf", "cable end nic-leaf").
        part: catalogue name.
        network: True for what belongs to the network that joins nodes; without NICs, to the
            scale-up network.
        count: how many.
        each_usd: price of one.
        each_w: power of one.
        usd_estimate: the price is an estimate.
        w_estimate: the power is an estimate.
        usd_source: where the price comes from.
        w_source: where the power comes from.
    """

    kind: str
    part: str
    network: bool
    count: int
    each_usd: float
    each_w: float
    usd_estimate: bool
    w_estimate: bool
    usd_source: str
    w_source: str

    @property
    def usd(self) -> float:
        """Price of all of them, US$."""
        return self.count * self.each_usd

    @property
    def watts(self) -> float:
        """Power of all of them, W."""
        return self.count * self.each_w


class Totals(TypedDict):
    """The `cost` (US$) or `power` (W) block of a report."""

    unit: str
    total: float
    network: float
    estimate_ratio: float
    items: list[dict[str, object]]


@per_key
def cost_items(scenario: Scenario) -> tuple[CostItem, ...]:
    """Every class of part that the cluster has, GPUs first."""
    spec, fabric = scenario.spec, scenario.fabric
    gpu = parts.gpu(spec.node.gpu)
    items = [_item(spec, "gpu", gpu, False, fabric.gpus, gpu.price_usd, gpu.tdp_w, "tdp_w")]
    up = spec.scale_up
    if up is not None and up.switch is not None and up.switches:
        chip = parts.switch(up.switch)
        count, joins = fabric.domains * up.switches, not fabric.ports
        items.append(
            _item(spec, "scale-up switch", chip, joins, count, chip.price_usd, chip.power_w)
        )
    if fabric.ports:
        nic = parts.nic(spec.node.nic)
        count = fabric.nodes * fabric.nics_per_node
        items.append(_item(spec, "nic", nic, True, count, nic.price_usd, nic.power_w))
        items.extend(_switches(scenario))
        items.extend(_cables(scenario))
    return tuple(items)


def _switches(scenario: Scenario) -> list[CostItem]:
    """Leaves, spines and cores."""
    plan = derive(scenario.spec)
    if plan is None:
        return []
    items = []
    names = (plan.leaf_switch, plan.spine_switch, plan.core_switch)
    for tier, (kind, name) in enumerate(zip(("leaf", "spine", "core"), names, strict=True), 1):
        count = len(scenario.fabric.switches_of(tier))
        if count:
            part = parts.switch(name)
            items.append(
                _item(scenario.spec, kind, part, True, count, part.price_usd, part.power_w)
            )
    return items


def cable_kind(scenario: Scenario, tier: int) -> CableKind:
    """What the cables of a scale-out tier are taken to be."""
    out = scenario.spec.scale_out
    if scenario.fabric.dragonfly:
        return "optic" if tier == SPINE_CORE else "dac"
    return "dac" if tier == NIC_LEAF and out is not None and out.wiring == "rack" else "optic"


def _cables(scenario: Scenario) -> list[CostItem]:
    """Both ends of the cables of every scale-out tier."""
    items = []
    for tier in range(NIC_LEAF, SCALE_UP):
        cables = scenario.fabric.tier_cables(tier)
        if len(cables):
            gbps = float(scenario.fabric.cable_gbps[cables.start])
            end = parts.cable_end(cable_kind(scenario, tier), gbps)
            kind = f"cable end {scenario.fabric.tier_names[tier]}"
            items.append(
                _item(scenario.spec, kind, end, True, 2 * len(cables), end.price_usd, end.power_w)
            )
    return items


def _item(
    spec: ClusterSpec,
    kind: str,
    part: parts.Part,
    network: bool,
    count: int,
    usd: float,
    watts: float,
    power_key: str = "power_w",
) -> CostItem:
    """One class of part, with notes on its price and power: the spec's own before the known."""
    usd, price = prices.price(spec, part.name, usd, part.sources["price_usd"])
    power = part.sources[power_key]
    return CostItem(
        kind=kind,
        part=part.name,
        network=network,
        count=count,
        each_usd=usd,
        each_w=watts,
        usd_estimate=price.estimate,
        w_estimate=power.estimate,
        usd_source=price.text,
        w_source=power.text,
    )


def priced(
    spec: ClusterSpec, kind: str, part: parts.Part, count: int, usd: float, watts: float
) -> CostItem:
    """A class of parts of the network, with the spec's own price before the known one."""
    return _item(spec, kind, part, True, count, usd, watts)


def cost(scenario: Scenario) -> Totals:
    """Capital cost, US$."""
    items = [(i, i.each_usd, i.usd_estimate, i.usd_source) for i in cost_items(scenario)]
    return _totals("usd", items)


def power(scenario: Scenario) -> Totals:
    """Electric power at full load, W."""
    items = [(i, i.each_w, i.w_estimate, i.w_source) for i in cost_items(scenario)]
    return _totals("watts", items)


def _totals(unit: str, items: list[tuple[CostItem, float, bool, str]]) -> Totals:
    """Totals and rows of one quantity."""
    total = sum(item.count * each for item, each, _, _ in items)
    guessed = sum(item.count * each for item, each, estimate, _ in items if estimate)
    return {
        "unit": unit,
        "total": total,
        "network": sum((item.count * each for item, each, _, _ in items if item.network), 0.0),
        "estimate_ratio": guessed / total if total else 0.0,
        "items": [
            {
                "kind": item.kind,
                "part": item.part,
                "count": item.count,
                "each": each,
                "total": item.count * each,
                "estimate": estimate,
                "source": source,
            }
            for item, each, estimate, source in items
        ],
    }
