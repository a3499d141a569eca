"""Planes of a NIC that stand in for each other, against every pair of an exchange and every row."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.columns import bincount
from clusterscope.engine.events import Event
from clusterscope.engine.step import iteration_parts
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.jobs import job_metrics
from clusterscope.routing.planes import moved_rows
from clusterscope.routing.route import route, route_exchange
from clusterscope.routing.routes import Policy, link_loads
from tests.small import job, scenario

PLANES = 4
SMALL = {
    "node__nic_gbps": 100.0 * PLANES,
    "scale_out__planes": PLANES,
    "scale_out__link_gbps": 100.0,
}


def planar(**changes):
    """8 nodes x 2 NICs of four 100 Gb/s ports; each plane is a leaf-spine of its own."""
    return scenario(**SMALL, **changes)


def with_dead_ports(data, fabric):
    """Cable rates after some NIC ports have died."""
    rate = fabric.cable_gbps.copy()
    dead = data.draw(st.lists(st.integers(0, fabric.ports - 1), max_size=12))
    rate[np.array(dead, dtype=np.int64)] = 0.0
    return rate


def carried_by(fabric, rate, src, weights):
    """Slow: bytes of each row once every dead plane has shared its bytes out over the others."""
    out = list(weights)
    for pair in range(0, len(src), PLANES):
        rows = range(pair, pair + PLANES)
        live = [r for r in rows if rate[src[r][0]] > 0 and rate[src[r][1]] > 0]
        total = sum(weights[r] for r in rows)
        if live:
            kept = sum(weights[r] for r in live)
            for r in rows:
                out[r] = weights[r] * Fraction(total, kept) if r in live else 0
    return out


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_rows_of_dead_planes_move_to_live_ones(data):
    fabric = planar().fabric
    rate = with_dead_ports(data, fabric)
    nics = fabric.ports // PLANES
    nic = st.integers(0, nics - 1)
    pairs = data.draw(
        st.lists(st.tuples(nic, nic).filter(lambda p: p[0] != p[1]), min_size=1, max_size=6)
    )
    ends = [(a * PLANES + p, b * PLANES + p) for a, b in pairs for p in range(PLANES)]
    weights = [Fraction(1 + index // PLANES) for index in range(len(ends))]
    src = np.array([a for a, _ in ends], dtype=np.int32)
    reached = np.array([rate[a] > 0 and rate[b] > 0 for a, b in ends])
    got = moved_rows(fabric, src, np.array(weights, dtype=float), reached)
    wanted = [float(w) for w in carried_by(fabric, rate, ends, weights)]
    if reached.all():
        assert got is None
    else:
        assert got is not None
        assert got.tolist() == pytest.approx(wanted)
        assert got.sum() == pytest.approx(float(sum(weights)))  # no byte is lost


def exchange_by_pairs(fabric, rate, ports, domain, most):
    """Slow: load of every link of one plane, pair by pair; None when a pair has no plane."""
    src, dst, share = [], [], []
    for i, a in enumerate(ports):
        for j, b in enumerate(ports):
            if domain[i] == domain[j]:
                continue
            sides = [
                p for p in range(PLANES) if rate[a - a % PLANES + p] and rate[b - b % PLANES + p]
            ]
            if not sides:
                return None
            if a % PLANES in sides:
                src, dst, share = [*src, a], [*dst, b], [*share, PLANES / len(sides) / most]
    ends = np.array(src, dtype=np.int32), np.array(dst, dtype=np.int32)
    routes, bundles = route(
        fabric, rate, *ends, np.zeros(len(src), dtype=np.uint64), Policy("spray")
    )
    weight = routes.entry_weight * np.array(share)[routes.entry_flow]
    total = bincount(routes.entry_link, weight, fabric.links + len(bundles.gbps))
    return link_loads(total, fabric.links, bundles)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_exchange_moves_to_live_planes(data):
    # Racks, so that one leaf of a plane has ports of several nodes and domains.
    made = planar(scale_out__wiring="rack", scale_out__leaf_down=4, scale_out__su_nodes=2)
    fabric = made.fabric
    rate = with_dead_ports(data, fabric)
    nics = sorted(data.draw(st.sets(st.integers(0, fabric.ports // PLANES - 1), min_size=2)))
    plane = data.draw(st.integers(0, PLANES - 1))
    ports = np.array(nics, dtype=np.int32) * PLANES + plane
    domain = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(nics), max_size=len(nics))),
        dtype=np.int32,
    )
    most = max(int((domain != d).sum()) for d in domain)
    routes, bundles = route_exchange(fabric, rate, ports.astype(np.int32), domain, Policy("spray"))
    wanted = exchange_by_pairs(fabric, rate, ports.tolist(), domain, most) if most else None
    assert bool(routes.reached[0]) == (wanted is not None)
    if wanted is not None:
        total = bincount(routes.entry_link, routes.entry_weight, fabric.links + len(bundles.gbps))
        assert link_loads(total, fabric.links, bundles) == pytest.approx(wanted)


def seconds(made, *names):
    """One iteration after failures that routes have reacted to."""
    timeline = Timeline(made)
    for name in names:
        timeline.inject(Event.named(made.names, "fail", name, step=0))
    network = timeline.at(0).network.rerouted
    return sum(span for span, _ in iteration_parts(made, network, 0))


@pytest.mark.parametrize("collective", ["permutation", "all-reduce", "all-to-all"])
@pytest.mark.parametrize("policy", ["adaptive", "spray", "ecmp"])
def test_a_dead_leaf_takes_one_plane_of_the_nics_below(collective, policy):
    made = planar(
        jobs=job(collective),
        transport__load_balancing=policy,
        transport__qps=2,
        scale_up__gpu_gbps=80_000.0,
    )
    whole = seconds(made)
    one = seconds(made, made.names.switch(0))
    assert np.isfinite(one)
    assert one >= whole * (1 - 1e-9)
    if policy == "adaptive":
        # The NIC has 3/4 left; the rest of the time (latency, NVLink) does not change.
        assert one / whole == pytest.approx(4 / 3, rel=0.02)


@pytest.mark.parametrize("down", [1, 4])
def test_rel_12_a_nic_keeps_the_share_of_its_live_planes(down):
    made = scenario(
        node__nic_gbps=800.0,
        scale_out__planes=8,
        scale_out__link_gbps=100.0,
        scale_up=None,
        jobs=job("permutation", message_bytes=10_000_000_000),
    )
    names = [made.names.nic(port) for port in range(down)]  # planes of node 0, NIC 0
    share = seconds(made) / seconds(made, *names)
    assert share == pytest.approx((8 - down) / 8, rel=0.03)


def test_rel_12_links_and_spines_above_the_leaf_cost_nothing():
    made = planar(jobs=job("all-reduce"))
    first = int(made.fabric.tier_start[1])
    cables = [made.names.cable(first + 4 * leaf) for leaf in range(4)]
    assert seconds(made, *cables) == pytest.approx(seconds(made), rel=0.02)


def test_bytes_wait_for_the_reroute_and_then_go_on():
    made = planar(jobs=job("permutation"), transport__reroute_s=0.05)
    timeline = Timeline(made)
    timeline.inject(Event.named(made.names, "fail", made.names.nic(0), step=1))
    waiting = job_metrics(made, timeline.at(1))[0]
    assert waiting.stalled
    assert waiting.settled is not None
    assert np.isfinite(waiting.settled.iteration_s)
    later = job_metrics(made, timeline.at(8))[0]
    assert not later.stalled
    assert sum(phase.unreached for phase in later.phases) == 0


def test_a_nic_without_a_plane_has_no_path():
    made = planar(jobs=job("permutation"))
    assert not np.isfinite(seconds(made, *[made.names.nic(port) for port in range(PLANES)]))
    # Two NICs that have no plane in common cannot talk either.
    a, b = (made.names.nic(p) for p in (0, 1)), (made.names.nic(2 * PLANES + p) for p in (2, 3))
    assert not np.isfinite(seconds(planar(jobs=job("all-to-all")), *a, *b))
