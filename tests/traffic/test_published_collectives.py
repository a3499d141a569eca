"""Published figures that follow from the generated flows at wire rate."""

from __future__ import annotations

import time

import pytest

from clusterscope.traffic.program import algbw_GBps, build, busbw_GBps

GIB_4 = 4294967296


def test_ring_all_reduce_of_8_ranks(fabric_of, spec_of, seconds_of):
    """nccl-tests doc/PERFORMANCE.md: t = 2(n-1)/n S/B; 50 GB/s NICs give a busbw of 50."""
    fabric = fabric_of(8, 1, nics=1)
    (program,) = build(spec_of(8, 1, message_bytes=10**9, hierarchical=False), fabric)
    (phase,) = program.phases
    seconds = seconds_of(fabric, phase)
    assert seconds == pytest.approx(35e-3, rel=1e-9)
    assert algbw_GBps(program.message_bytes, seconds) == pytest.approx(28.5714, rel=1e-5)
    assert busbw_GBps(program, seconds) == pytest.approx(50, rel=1e-9)
    assert phase.serial_steps == 14


@pytest.mark.parametrize("collective", ["reduce-scatter", "all-gather", "all-reduce"])
def test_72_ranks_in_one_domain(fabric_of, spec_of, seconds_of, collective):
    """nccl-tests doc/PERFORMANCE.md: (n-1)/n S/B each, and an all-reduce is both."""
    fabric = fabric_of(18, 4, nics=4, domain_gpus=72)
    (program,) = build(spec_of(18, 4, message_bytes=GIB_4, collective=collective), fabric)
    seconds = [seconds_of(fabric, phase) for phase in program.phases]
    both = collective == "all-reduce"
    assert seconds == pytest.approx([4.70591e-3] * (2 if both else 1), rel=2e-6)
    assert busbw_GBps(program, sum(seconds)) == pytest.approx(900, rel=1e-9)


@pytest.mark.parametrize(("nodes", "busbw"), [(2, 93.75), (4, 64.583), (16, 52.917), (64, 50.694)])
def test_all_to_all_busbw_is_bounded_by_the_nics(fabric_of, spec_of, seconds_of, nodes, busbw):
    """nccl-tests issue 130: B (n-1)/(n-g), as bytes inside the node cost no NIC anything."""
    fabric = fabric_of(nodes, 8, nics=8, domain_gpus=8)
    (program,) = build(spec_of(nodes, 8, collective="all-to-all"), fabric)
    seconds = max(seconds_of(fabric, phase) for phase in program.phases)
    assert busbw_GBps(program, seconds) == pytest.approx(busbw, rel=1e-5)


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
