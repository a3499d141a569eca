"""Published figures that follow from the generated flows at wire rate."""

from __future__ import annotations

import time

import pytest

from clusterscope.traffic.program import algbw_GBps, build

GIB_4 = 4294967296


def test_hierarchical_all_reduce_of_4_nodes(fabric_of, spec_of, seconds_of):
    """stas00/ml-engineering network/README.md (P6-B200): wire rates bracket 22.05 ms measured."""
    fabric = fabric_of(4, 8, nics=8, domain_gpus=8)
    (program,) = build(spec_of(4, 8, message_bytes=GIB_4), fabric)
    seconds = [seconds_of(fabric, phase) for phase in program.phases]
    assert seconds[1] == pytest.approx(16.1061e-3, rel=1e-5)
    assert sum(seconds) == pytest.approx(24.4575e-3, rel=1e-5)
    assert seconds[1] < 22.05e-3 < sum(seconds)


def test_bandwidth_is_0_before_anything_has_finished():
    assert algbw_GBps(1e9, 0.0) == 0.0
    assert algbw_GBps(1e9, float("inf")) == 0.0


def test_100k_ranks_compile_without_a_loop_over_ranks(fabric_of, spec_of):
    fabric = fabric_of(12500, 8, nics=8, domain_gpus=8)
    spec = spec_of(12500, 8, placement="random")
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        build(spec, fabric)
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 0.5  # some 50 ms on an idle machine
