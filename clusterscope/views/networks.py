"""The networks of the cluster, one column each."""

from __future__ import annotations

from collections.abc import Callable

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.metrics.networks import NetworkFacts, Storage, networks, storage
from clusterscope.units import BITS_PER_BYTE, counted
from clusterscope.views.shapes import Column, Table
from clusterscope.views.text import fmt

_ROWS: tuple[tuple[str, Callable[[NetworkFacts], str]], ...] = (
    ("technology", lambda n: n.technology),
    ("made of", lambda n: n.made_of),
    ("GPUs that a GPU reaches", lambda n: f"{n.reached:,}"),
    ("a GPU, each way", lambda n: fmt(n.each_gbps / BITS_PER_BYTE, "GBps")),
    ("between halves, each way", lambda n: fmt(n.bisection_gbps / BITS_PER_BYTE, "GBps")),
    ("switches", lambda n: f"{n.switches:,}"),
    ("cables", lambda n: f"{n.cables:,}{'' if n.cables_are == 'cables' else f' {n.cables_are}'}"),
    ("latency, longest way", lambda n: fmt(n.latency_s, "seconds")),
    ("price", lambda n: fmt(n.usd, "usd")),
    ("power", lambda n: fmt(n.watts, "watts")),
)


def networks_table(
    scenario: Scenario,
    frame: Frame | None,  # noqa: ARG001 - a view
    thing: Thing | None = None,  # noqa: ARG001
) -> Table:
    """Scale-up, scale-out and front-end network side by side, and what reaches storage."""
    found, kept = networks(scenario), storage(scenario)
    labels = [label for label, _ in _ROWS]
    labels += [label for label, _ in _storage(kept)] if kept else []
    columns = [Column("quantity", "text", labels)]
    for facts in found:
        cells = [cell(facts) for _, cell in _ROWS]
        if kept:
            own = facts.name == "front-end"
            cells += [words if own else "" for _, words in _storage(kept)]
        columns.append(Column(facts.name, "text", cells))
    return Table("networks side by side", tuple(columns), len(labels), note=_note(scenario))


def _storage(kept: Storage) -> list[tuple[str, str]]:
    """Rows about storage."""
    rate = fmt(kept.gbps / BITS_PER_BYTE, "GBps")
    return [
        (f"to {counted(kept.nodes, 'storage node')}", rate),
        ("held back by", kept.narrowest),
        ("a checkpoint of all GPUs", fmt(kept.checkpoint_bytes, "bytes")),
        ("to write or read it", fmt(kept.seconds, "seconds")),
    ]


def _note(scenario: Scenario) -> str:
    """What is missing, and what a number is not."""
    missing = "" if scenario.spec.front_end else "the spec says nothing about a front-end; "
    scale_up = "a scale-up price is that of its switches alone"
    joints = "a GPU-chip link is all lanes from a GPU to one switch chip, a bundle all of a GPU"
    return f"{missing}{scale_up}; {joints}; line rates"
