from __future__ import annotations

import pytest

from tests.bench.bench_presets import LIMITS, MILLION, cost

pytestmark = pytest.mark.slow


def test_a_million_gpus_cost_what_ten_times_100k_do() -> None:
    """Memory in megabytes, time against the cluster of a tenth of the size on the same machine."""
    big, small = cost(MILLION), cost("xai-colossus-100k")
    assert big.peak_mb < 1_500 < LIMITS[MILLION].peak_mb
    assert big.fail_s < 25 * small.fail_s
    assert big.quiet_s < big.fail_s
