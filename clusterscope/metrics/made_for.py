"""The network's parts as a transport would have them: InfiniBand needs InfiniBand switches.

A rival of the cluster's own transport runs on the same cables and ports here, but would be bought
otherwise. Switches are taken from the family that speaks the transport, as many as have the same
capacity, and NICs one for one (Ultra Ethernet wants its own); cables stay. The cluster's own
transport is priced as it is built, and so is a transport whose family the catalogue does not hold.

Model: price and power of a switch are in proportion to its capacity.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import SCALE_UP
from clusterscope.metrics.cost import CostItem, cost_items, priced
from clusterscope.spec import parts

# Switches and NICs by family, by port rate from which they are taken, fastest last.
_SWITCHES: Final[dict[str, tuple[tuple[float, str], ...]]] = {
    "infiniband": ((0.0, "QM9700"), (800.0, "Q3400")),
    "spectrum": ((0.0, "SN5600"),),
    "ethernet": ((0.0, "Tomahawk4-64x400"), (800.0, "Tomahawk5-64x800")),
    "uec": ((0.0, "Tomahawk4-64x400"), (800.0, "Tomahawk5-64x800")),
}
_NICS: Final[dict[str, tuple[tuple[float, str], ...]]] = {
    "infiniband": ((0.0, "CX-7-400"), (800.0, "CX-8-800")),
    "spectrum": ((0.0, "BF3-SuperNIC-400"), (800.0, "CX-8-800")),
    "ethernet": ((0.0, "CX-7-400"), (800.0, "CX-8-800")),
    "uec": ((0.0, "UEC-400"), (800.0, "UEC-800")),
}
_FAMILIES: Final[dict[str, str]] = {
    "infiniband": "infiniband",
    "infiniband-ar": "infiniband",
    "spectrum-x": "spectrum",
    "rocev1": "ethernet",
    "rocev2": "ethernet",
    "roce-eecmp": "ethernet",
    "roce-ar": "ethernet",
    "roce-flowlet": "ethernet",
    "uec": "uec",
    "iwarp": "ethernet",
    "tcp": "ethernet",
}


def network_items(scenario: Scenario, own: str) -> tuple[CostItem, ...]:
    """Classes of parts of the network under the scenario's transport.

    Args:
        scenario: the cluster under some transport.
        own: the transport that it is built for, which is priced as built.
    """
    items = tuple(item for item in cost_items(scenario) if item.network)
    name = scenario.transport.name
    family = _FAMILIES.get(name)
    if not scenario.fabric.ports or family is None or family == _FAMILIES.get(own) or name == own:
        return items
    return tuple(_made_for(scenario, item, family) for item in items)


def _made_for(scenario: Scenario, item: CostItem, family: str) -> CostItem:
    """One class of parts from another family, of the same capacity; cables as they are."""
    if item.part.startswith("generic"):
        return item
    spec = scenario.spec
    if item.kind == "nic":
        nic = parts.nic(_pick(_NICS[family], spec.node.nic_gbps))
        return priced(spec, "nic", nic, item.count, nic.price_usd, nic.power_w)
    if not item.kind.startswith("cable"):
        there = parts.switch(item.part)
        switch = parts.switch(_pick(_SWITCHES[family], _link_gbps(scenario)))
        ratio = capacity_gbps(there) / capacity_gbps(switch)
        usd, watts = switch.price_usd * ratio, switch.power_w * ratio
        made = priced(spec, item.kind, switch, item.count, usd, watts)
        usd = spec.prices.get(switch.name, switch.price_usd) * ratio
        words = f"{made.usd_source}; {ratio:g} of them by capacity for one {there.name}"
        return dataclasses.replace(made, each_usd=usd, usd_estimate=True, usd_source=words)
    return item


def _link_gbps(scenario: Scenario) -> float:
    """Rate of the fastest cable of the scale-out network, Gb/s."""
    cables = scenario.fabric.cable_gbps[: int(scenario.fabric.tier_start[SCALE_UP])]
    return float(cables.max(initial=0.0))


def _pick(choices: tuple[tuple[float, str], ...], gbps: float) -> str:
    """The last choice whose rate is reached."""
    return [name for least, name in choices if gbps >= least][-1]


def capacity_gbps(switch: parts.Switch) -> float:
    """All ports of a switch together, one direction, Gb/s."""
    return max((mode.count * mode.gbps for mode in switch.ports), default=0.0)
