"""The inside of a node, and the networks of a cluster, as text or JSON."""

from __future__ import annotations

import dataclasses

from clusterscope.engine.scenario import Scenario
from clusterscope.export.answers import table
from clusterscope.export.json import write
from clusterscope.metrics.inside import Node
from clusterscope.metrics.networks import networks, storage
from clusterscope.metrics.report import json_safe
from clusterscope.views.inside import inside, kept, link_name, links_inside
from clusterscope.views.networks import networks_table


def inside_text(scenario: Scenario) -> str:
    """Patterns of a node, and its links under the first of them."""
    return f"{table(inside(scenario, None))}\n{table(links_inside(scenario, 0))}"


def inside_json(scenario: Scenario) -> str:
    """Every build of a node with its links and patterns.

    Raises:
        SpecError: a node has more GPUs than can be shown.
    """
    builds = [_build(node) for node in kept(scenario)]
    return write({"spec": scenario.spec.name, "builds": builds})


def _build(node: Node) -> dict[str, object]:
    """One build of a node."""
    inner = node.inside
    ends = zip(inner.a.tolist(), inner.b.tolist(), inner.gbps.tolist(), inner.what, strict=True)
    return {
        "build": node.variant,
        "links": [
            {"from": inner.names[a], "to": inner.names[b], "what": what, "gbps": gbps}
            for a, b, gbps, what in ends
        ],
        "patterns": [
            {
                "pattern": pattern.name,
                "senders": pattern.senders,
                "each_GBps": pattern.each_GBps,
                "all_GBps": pattern.all_GBps,
                "held_back_by": link_name(inner, pattern.bottleneck),
            }
            for pattern in node.patterns
        ],
    }


def networks_text(scenario: Scenario) -> str:
    """The networks, a column each."""
    return table(networks_table(scenario, None))


def networks_json(scenario: Scenario) -> str:
    """The networks as rows, and what reaches storage (null without storage nodes)."""
    found = storage(scenario)
    document = {
        "spec": scenario.spec.name,
        "networks": [dataclasses.asdict(facts) for facts in networks(scenario)],
        "storage": dataclasses.asdict(found) if found else None,
    }
    return write(json_safe(document))
