"""Cases of fairness: what flows get of the links they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clusterscope.columns import F64
from clusterscope.engine.completion import completion_times
from clusterscope.engine.rates import max_min
from clusterscope.units import BITS_PER_BYTE, GIGA
from clusterscope.validation.verdict import Outcome

Setup = Mapping[str, Any]
Ids = NDArray[np.int32]

# A link filled to its capacity within this, relative, is full.
_FULL = 1e-9


def equal_share(setup: Setup) -> Outcome:
    """FAIR-01: greedy flows over one link."""
    paths = np.zeros((setup["flows"], 1), dtype=np.int32)
    return {"rate_each": max_min(paths, [setup["link_gbps"]]).tolist()}


def parking_lot(setup: Setup) -> Outcome:
    """FAIR-02: one flow over all links, and one over each."""
    links = setup["links"]
    paths = np.full((1 + links, links), -1, dtype=np.int32)
    paths[0] = np.arange(links)
    paths[1:, 0] = np.arange(links)
    rate = max_min(paths, np.full(links, setup["cap"]))
    return {"long_flow": float(rate[0]), "short_flows": rate[1:].tolist()}


def demands_and_weights(setup: Setup) -> Outcome:
    """FAIR-04: flows that want little, and flows that count double."""
    demand = [float(value) for value in setup["demands_gbps"]]
    paths = np.zeros((len(demand), 1), dtype=np.int32)
    return {
        f"{which}_rates": max_min(
            paths, [setup["link_gbps"]], demand, setup[f"weights_{which}"]
        ).tolist()
        for which in ("a", "b")
    }


def bottlenecks(setup: Setup) -> Outcome:
    """FAIR-05: flows without a bottleneck, and links over capacity, in random networks."""
    found = 0
    for seed in range(setup["networks"]):
        paths, capacity = random_network(seed)
        found += violations(paths, capacity, max_min(paths, capacity))
    return {"violations": found}


def synchronous_flows(setup: Setup) -> Outcome:
    """FAIR-07: equal flows that start together finish as if their first rate lasted."""
    deviation, size_bytes = 0.0, GIGA
    for seed in range(setup["networks"]):
        paths, capacity = random_network(seed)
        rate = max_min(paths, capacity)
        # A flow of another size on a link of its own: the engine then moves from event to event
        # instead of taking this very theorem as given.
        alone = np.full((1, paths.shape[1]), -1, dtype=np.int32)
        alone[0, 0] = len(capacity)
        sizes = np.append(np.full(len(paths), size_bytes), 2 * size_bytes)
        finish = completion_times(np.concatenate([paths, alone]), np.append(capacity, 1.0), sizes)
        wanted = size_bytes * BITS_PER_BYTE / GIGA / rate
        deviation = max(deviation, float(np.abs(finish[:-1] / wanted - 1).max()))
    return {"max_rel_deviation": deviation}


def random_network(seed: int) -> tuple[Ids, F64]:
    """Paths (F, 4) padded with -1 and capacities (L,) of U[1, 10]: 2-11 links, 1-24 flows."""
    rng = np.random.default_rng(seed)
    links, flows = int(rng.integers(2, 12)), int(rng.integers(1, 25))
    paths = np.full((flows, 4), -1, dtype=np.int32)
    for path in paths:
        hops = int(rng.integers(1, min(4, links) + 1))
        path[:hops] = rng.choice(links, hops, replace=False)
    return paths, rng.uniform(1, 10, links)


def violations(paths: Ids, capacity: F64, rate: F64) -> int:
    """Links over capacity, and flows without a full link on which none is faster."""
    hop = paths >= 0
    link, owner = paths[hop], np.nonzero(hop)[0]
    load = np.bincount(link, rate[owner], len(capacity))
    fastest = np.zeros(len(capacity))
    np.maximum.at(fastest, link, rate[owner])
    full = load >= capacity * (1 - _FULL)
    holds = full[link] & (rate[owner] >= fastest[link] * (1 - _FULL))
    held = np.bincount(owner, holds, len(paths)) > 0
    return int((load > capacity * (1 + _FULL)).sum() + (~held).sum())


DERIVATIONS = {
    "FAIR-01": equal_share,
    "FAIR-02": parking_lot,
    "FAIR-04": demands_and_weights,
    "FAIR-05": bottlenecks,
    "FAIR-07": synchronous_flows,
}
