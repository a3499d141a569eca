"""How many flows have a route over each link."""

from __future__ import annotations

import numpy as np

from clusterscope.columns import I32
from clusterscope.engine.network import Network
from clusterscope.engine.shares import Routed
from clusterscope.metrics.memo import per_key


@per_key
def flows_per_link(network: Network) -> I32:
    """Flows of all phases of all jobs with a route over each link, (L,).

    A flow that is sprayed over several links counts on each of them; one that a transport splits
    over queue pairs counts once a pair; one that comes in several phases counts in each. A uniform
    exchange counts as one.
    """
    scenario = network.scenario
    total = np.zeros(scenario.fabric.links, dtype=np.int64)
    for job, loads in enumerate(scenario.loads):
        for phase in range(len(loads)):
            total += _crossing(network.phase((job, phase)), scenario.fabric.links)
    flows: I32 = total.astype(np.int32)
    flows.setflags(write=False)
    return flows


def _crossing(routed: Routed, links: int) -> np.ndarray:
    """Routed rows of one phase over each link, (L,), itself or as a member of a bundle."""
    bundles = routed.bundles
    size = np.diff(bundles.start)
    crossing = np.bincount(routed.entry_link, minlength=links + len(size))
    total = crossing[:links]
    # Members of one bundle are all different, but two bundles may share a link.
    np.add.at(total, bundles.member_link, np.repeat(crossing[links:], size))
    return total
