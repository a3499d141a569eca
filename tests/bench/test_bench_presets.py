from __future__ import annotations

import pytest

from tests.bench.bench_presets import LIMITS, MILLION, cost
from tests.bench.bench_scenario import failure_to_first, training

pytestmark = pytest.mark.slow


def test_a_million_gpus_cost_what_ten_times_100k_do() -> None:
    """Memory in megabytes, time against the cluster of a tenth of the size on the same machine."""
    big, small = cost(MILLION), cost("xai-colossus-100k")
    assert big.peak_mb < LIMITS[MILLION].peak_mb
    assert big.fail_s < 25 * small.fail_s
    assert big.quiet_s < big.fail_s


def test_a_failure_costs_no_more_than_the_first_frame() -> None:
    """Before and after the reroute: what stays inside domains is not shared out again."""
    assert failure_to_first("xai-colossus-100k") < 2


def test_another_plan_costs_no_more_than_the_first() -> None:
    first, *changed = training()
    assert max(changed) < 3 * first
