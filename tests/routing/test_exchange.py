"""A uniform exchange, against all of its pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterscope.columns import bincount
from clusterscope.routing.route import route, route_exchange
from clusterscope.routing.routes import Policy, link_loads
from tests.routing.routing_cases import SMALL, broken, clos, has_path

POLICIES = [Policy(name) for name in ("ecmp", "dmodk", "adaptive", "spray")]


def pairs_of(fabric, ports, domain):
    """Ordered pairs of another domain and of one island (what a whole fabric joins)."""
    rate = fabric.cable_gbps
    return [
        (s, t)
        for i, s in enumerate(ports.tolist())
        for j, t in enumerate(ports.tolist())
        if domain[i] != domain[j] and has_path(fabric, rate, s, t)
    ]


@st.composite
def members(draw, fabric):
    """Some ports of a fabric and a domain for each."""
    absent = draw(st.lists(st.integers(0, fabric.ports - 1), max_size=fabric.ports - 1))
    ports = np.setdiff1d(np.arange(fabric.ports, dtype=np.int32), np.array(absent, dtype=np.int32))
    size = st.integers(0, draw(st.sampled_from([1, 3, 20])))
    domain = draw(st.lists(size, min_size=len(ports), max_size=len(ports)))
    return ports, np.array(domain, dtype=np.int32)


def loads(fabric, routes, bundles):
    """Load of every link when every flow has rate 1."""
    resources = fabric.links + len(bundles.gbps)
    total = bincount(routes.entry_link, routes.entry_weight, resources)
    return link_loads(total, fabric.links, bundles)


@pytest.mark.parametrize("policy", POLICIES)
@given(data=st.data())
def test_loads_are_those_of_all_pairs(policy, data):
    fabric = SMALL[data.draw(st.sampled_from([name for name in sorted(SMALL) if name != "thin"]))]
    ports, domain = data.draw(members(fabric))
    rate = fabric.cable_gbps
    routes, bundles = route_exchange(fabric, rate, ports, domain, policy)
    pairs = pairs_of(fabric, ports, domain)
    assert routes.reached.tolist() == [len(pairs) > 0]
    if not pairs:
        assert len(routes.entry_link) == 0
        return
    src, dst = np.array(pairs, dtype=np.int32).T
    most = np.bincount(src).max()
    single, same = route(fabric, rate, src, dst, src.astype(np.uint64), Policy("spray"))
    wanted = loads(fabric, single, same) / most
    assert loads(fabric, routes, bundles) == pytest.approx(wanted)
    hashed = policy.load_balancing in ("ecmp", "dmodk")
    assert hashed == (len(bundles.gbps) == 0)
    assert routes.hops[0] == single.hops.max()


@given(case=broken(first_tier=1), data=st.data())
def test_it_is_reached_when_every_pair_is(case, data):
    fabric, rate = case
    ports, domain = data.draw(members(fabric))
    routes, _ = route_exchange(fabric, rate, ports, domain, Policy("spray"))
    pairs = pairs_of(fabric, ports, domain)
    works = all(has_path(fabric, rate, s, t) for s, t in pairs) and (rate[ports] > 0).all()
    assert bool(routes.reached[0]) == (len(pairs) > 0 and works)


def test_it_needs_every_member():
    fabric = SMALL["two tiers"]
    ports = np.arange(4, dtype=np.int32)
    rate = fabric.cable_gbps.copy()
    rate[4] = 0.0
    assert route_exchange(fabric, rate, ports, ports, Policy("spray"))[0].reached[0]
    rate[3] = 0.0
    assert not route_exchange(fabric, rate, ports, ports, Policy("spray"))[0].reached[0]


def test_leaves_that_exchange_nothing_need_no_path():
    fabric = clos(leaves=2, spines=2, hosts=2)
    rate = fabric.cable_gbps.copy()
    rate[int(fabric.tier_start[1]) + np.array([0, 3])] = 0.0  # no spine joins the leaves
    ports = np.array([0, 2], dtype=np.int32)
    for domain, reached in (([0, 1], False), ([0, 0], False)):
        members = np.array(domain, dtype=np.int32)
        assert route_exchange(fabric, rate, ports, members, Policy("spray"))[0].reached == reached
    three = clos(leaves=3, spines=3, hosts=2)
    rate = three.cable_gbps.copy()
    # Leaves 0 and 1 see spines 0 and 1 only; leaf 2 sees both.
    rate[int(three.tier_start[1]) + np.array([1, 2, 3, 5, 8])] = 0.0
    ports = np.array([0, 2, 4], dtype=np.int32)
    for domain, reached in (([0, 0, 1], True), ([0, 2, 1], False)):
        members = np.array(domain, dtype=np.int32)
        assert route_exchange(three, rate, ports, members, Policy("spray"))[0].reached == reached


def test_a_port_in_a_bigger_domain_sends_less():
    fabric = clos(leaves=2, spines=2, hosts=2)
    ports = np.arange(4, dtype=np.int32)
    domain = np.array([0, 0, 0, 1], dtype=np.int32)
    routes, _ = route_exchange(fabric, fabric.cable_gbps, ports, domain, Policy("spray"))
    weight = dict(zip(routes.entry_link.tolist(), routes.entry_weight.tolist(), strict=True))
    assert [weight[2 * p] for p in range(4)] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1])
    # Ports 0 and 1 send to 3 from leaf 0, which gets as much back; 2 and 3 stay on leaf 1.
    assert weight[fabric.links] == pytest.approx(2 / 3)


def test_rails_exchange_among_themselves():
    fabric = SMALL["rail-only"]
    ports = np.arange(fabric.ports, dtype=np.int32)
    routes, _ = route_exchange(fabric, fabric.cable_gbps, ports, ports, Policy("adaptive"))
    assert routes.reached[0]
    assert routes.hops[0] == 3
    assert routes.entry_weight[: fabric.ports] == pytest.approx(1.0)
