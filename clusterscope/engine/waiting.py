"""How long one message of a phase waits besides its bytes.

A library's own figure for a step holds over one switch (`Phase.step_s`); what more switches add is
added. Without one, a step costs what NICs, switches and cables do. Axes: F rows, U entities.
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import F64, I32, bincount
from clusterscope.engine.loads import Load
from clusterscope.engine.scenario import Scenario
from clusterscope.routing.routes import Routes
from clusterscope.transport.latency import path_latency_s
from clusterscope.transport.model import scale_up_latency_s


def step_latency_s(scenario: Scenario, load: Load, hops: F64, row_entity: I32) -> F64:
    """Latency of one step of each entity, (U,) seconds.

    Args:
        scenario: the cluster.
        load: the phase.
        hops: (U,) switches on the way, a mean over the rows of each entity.
        row_entity: (F,) entity of each row.
    """
    inside = scale_up_latency_s(hops)
    if load.network == "scale-up":
        return inside if load.step_s is None else load.step_s + inside - scale_up_latency_s(_ONE)
    outside = path_latency_s(scenario.spec, scenario.transport, hops)
    if load.step_s is not None:
        nearest = path_latency_s(scenario.spec, scenario.transport, _ONE)
        return load.step_s + np.maximum(outside - nearest, 0.0)
    if load.work is None:
        return outside
    by_nic = (load.src < scenario.fabric.ports).astype(np.float64)
    return np.where(bincount(row_entity, by_nic, len(hops)) > 0, outside, inside)


def mean_hops(routes: Routes, row_entity: I32, load: Load, units: int) -> F64:
    """Switches on the way, a mean over the live rows of each entity, (U,).

    Rows count by their bytes where some flows are split over queue pairs and others are not.
    """
    share = np.ones(len(row_entity)) if load.exchange is not None else load.row_weight
    if len(share) and share.min() == share.max():
        share = np.ones(len(share))
    live = bincount(row_entity, routes.reached * share, units)
    hops = bincount(row_entity, routes.hops * share, units)
    return np.divide(hops, live, out=np.zeros(units), where=live > 0)


_ONE = np.ones(1)
