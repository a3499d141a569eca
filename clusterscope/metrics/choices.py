"""Failures worth a look at a frame, each as a rule that can be typed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import LEAF_SPINE, NIC_LEAF, SPINE_CORE, Fabric
from clusterscope.metrics.cost import cable_kind
from clusterscope.metrics.faults import busiest, settled
from clusterscope.metrics.links import hottest

_WORST = 3


@dataclass(frozen=True)
class Choice:
    """One rule to choose.

    Attributes:
        words: what it is.
        rule: as it would be typed.
    """

    words: str
    rule: str


def choices(scenario: Scenario, frame: Frame) -> tuple[Choice, ...]:
    """What to fail, degrade or restore, the most telling first."""
    return tuple(_choices(scenario, frame))


def _choices(scenario: Scenario, frame: Frame) -> Iterator[Choice]:
    fabric = scenario.fabric
    if not frame.health.healthy:
        yield Choice("repair everything", "restore all")
    yield from _hot(scenario, frame)
    yield from _random(scenario)
    if len(fabric.switches_of(2)):
        yield Choice("10% of the spines", "10% of spines")
    if len(fabric.tier_cables(LEAF_SPINE)):
        tier = _drawn_tier(fabric)
        yield Choice(f"1% of the {tier} cables", f"1% of {tier} cables")
        yield Choice("5 cables at a quarter", f"degrade 5 random {tier} cables to 0.25")


def _drawn_tier(fabric: Fabric) -> str:
    """Tier whose cables are drawn: the first above the NICs, or the global one of a dragonfly."""
    return fabric.tier_names[SPINE_CORE if fabric.dragonfly else LEAF_SPINE]


def _hot(scenario: Scenario, frame: Frame) -> Iterator[Choice]:
    """The hottest link of each tier between switches, and the busiest switches."""
    names = scenario.names
    for tier in (LEAF_SPINE, SPINE_CORE):
        for link in hottest(scenario, frame, 1, (tier,)).tolist():
            yield Choice(
                f"the hottest {scenario.fabric.tier_names[tier]} link", names.cable(link >> 1)
            )
    network = settled(frame.network)
    leaf = scenario.fabric.switch_words[0]
    for tier, one, many in ((2, "spine", "spines"), (1, leaf, "leaves"), (3, "core", "cores")):
        found = [event.name for event in busiest(network, tier, frame.step, _WORST)]
        if found:
            yield Choice(f"the busiest {one}", found[0])
        if len(found) > 1 and tier == 2:
            yield Choice(f"the {len(found)} busiest {many}", ", ".join(found))


def _random(scenario: Scenario) -> Iterator[Choice]:
    """One of each kind, by chance."""
    fabric = scenario.fabric
    if len(fabric.tier_cables(LEAF_SPINE)):
        tier = _drawn_tier(fabric)
        yield Choice(f"3 {tier} cables by chance", f"3 random {tier} cables")
    if any(
        len(fabric.tier_cables(tier)) and cable_kind(scenario, tier) == "optic"
        for tier in (NIC_LEAF, LEAF_SPINE, SPINE_CORE)
    ):
        yield Choice("an optic by chance", "1 random optic")
    yield Choice("a node by chance", "1 random node")
    yield Choice("a GPU by chance", "1 random GPU")
