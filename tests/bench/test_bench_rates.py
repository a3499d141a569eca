from __future__ import annotations

import numpy as np
import pytest

from clusterscope.engine.completion import completion_times
from tests.bench.bench_rates import (
    against_bincount,
    growth,
    leaf_spine,
    pod_tree,
    random_sizes,
    timed,
)

pytestmark = pytest.mark.slow


def test_a_solve_costs_some_dozens_of_bincounts() -> None:
    """About 20 on a quiet machine; others on the same cores and caches may treble it."""
    network = pod_tree(32)
    assert network.paths.shape == (98_304, 6)
    assert network.capacity_gbps.shape == (327_680,)
    assert against_bincount(network, 7).best < 120


def test_cost_grows_in_proportion() -> None:
    flows, timings = growth(3)
    assert 9 < flows[2] / flows[1] < 11
    assert timings[2].best_s < 40 * timings[1].best_s


def test_2048_distinct_finishes_cost_far_less_than_as_many_solves() -> None:
    network = leaf_spine()
    size = random_sizes(len(network.paths))
    assert len(np.unique(completion_times(*network, size))) > 2000
    assert timed(lambda: completion_times(*network, size), 3).best_s < 2.0
