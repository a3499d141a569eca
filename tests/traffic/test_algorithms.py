"""Trees, doubling, rails: who sends how much, and that every rank ends up with everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.traffic import trees
from clusterscope.traffic.flows import Exchange
from clusterscope.traffic.program import build
from clusterscope.traffic.trees import below_leaves, depth, tree_edges

PLAIN = {"step_latency_s": 0.0, "message_bytes": 5040 * 10**6}


def program(fabric, spec):
    return build(spec, fabric)[0]


def climb(child, parent, members):
    """Parent of each member of one tree, -1 for the root, by a plain loop."""
    above = [-1] * members
    for low, high in zip(child.tolist(), parent.tolist(), strict=True):
        assert above[low] == -1
        above[low] = high
    return above


@given(st.integers(2, 400))
@settings(max_examples=60, deadline=None)
def test_both_trees_reach_everyone_and_nobody_is_inside_both(members):
    child, parent = tree_edges(members, 2)
    half = members - 1
    inner = []
    for tree in (slice(0, half), slice(half, None)):
        above = climb(child[tree], parent[tree], members)
        assert above.count(-1) == 1
        longest = 0
        for member in range(members):
            steps = 0
            while above[member] != -1:
                member, steps = above[member], steps + 1
                assert steps <= members
            longest = max(longest, steps)
        assert longest <= depth(members) + 1
        counts = np.bincount(parent[tree], minlength=members)
        assert counts.max() <= 2
        inner.append(set(np.flatnonzero(counts).tolist()))
    assert len(inner[0] & inner[1]) <= (0 if members % 2 == 0 else 1)


@pytest.mark.parametrize(("algorithm", "busiest"), [("single-tree", 3.0), ("tree", 2.0)])
def test_the_busiest_of_one_tree_sends_three_times_and_of_two_twice(
    fabric_of, spec_of, gpu_bytes, algorithm, busiest
):
    # COLL-05, by counting: S up and 2 S down; half of each in two trees, and a leaf's S besides.
    fabric = fabric_of(64, 1, nics=1)
    (phase,) = program(fabric, spec_of(64, 1, algorithm=algorithm, **PLAIN)).phases
    sent = gpu_bytes(fabric, phase.demand)
    assert sent.max() / 5040e6 == pytest.approx(busiest)
    assert phase.serial_steps == 2 * 6
    assert len(set(phase.demand.group.tolist())) == 1


@given(st.integers(2, 40), st.sampled_from(["halving-doubling", "recursive-doubling"]))
@settings(max_examples=60, deadline=None)
def test_partners_leave_everyone_with_the_parts_of_all(fabric_of, spec_of, nodes, algorithm):
    fabric = fabric_of(nodes, 1, nics=1)
    phases = program(fabric, spec_of(nodes, 1, algorithm=algorithm, **PLAIN)).phases
    known = [{rank} for rank in range(nodes)]
    for phase in phases:
        before = [set(own) for own in known]
        for src, dst in zip(phase.demand.src.tolist(), phase.demand.dst.tolist(), strict=True):
            known[dst] |= before[src]
    assert all(own == set(range(nodes)) for own in known)


@pytest.mark.parametrize("nodes", [4, 16, 64])
def test_halving_and_doubling_sends_what_a_ring_does_in_fewer_steps(
    fabric_of, spec_of, gpu_bytes, nodes
):
    fabric = fabric_of(nodes, 1, nics=1)
    made = program(fabric, spec_of(nodes, 1, algorithm="halving-doubling", **PLAIN))
    sent = sum(gpu_bytes(fabric, phase.demand) for phase in made.phases)
    assert sent == pytest.approx(np.full(nodes, 2 * 5040e6 * (nodes - 1) / nodes))
    assert sum(phase.serial_steps for phase in made.phases) == 2 * (nodes.bit_length() - 1)


def test_rings_by_rail_load_nics_and_links_of_the_domain_at_once(fabric_of, spec_of, gpu_bytes):
    fabric = fabric_of(4, 2, nics=2, domain_gpus=2)
    made = program(fabric, spec_of(4, 2, algorithm="rail-ring", **PLAIN))
    between, inside = made.phases
    assert made.overlapped
    passed = 2 * 7 / 8 * 5040e6
    assert gpu_bytes(fabric, between.demand) == pytest.approx(np.full(8, passed / 2))
    assert gpu_bytes(fabric, inside.demand) == pytest.approx(np.full(8, passed))
    assert (between.serial_steps, between.inner_steps) == (2 * 3, 2 * 4)


def test_pxn_keeps_to_rails_and_hands_over_inside(fabric_of, spec_of, gpu_bytes):
    fabric = fabric_of(3, 2, nics=2, domain_gpus=2)
    plain = {**PLAIN, "collective": "all-to-all", "message_bytes": 600}
    *rails, inside = program(fabric, spec_of(3, 2, algorithm="pxn", **plain)).phases
    assert [rail.demand.ports.tolist() for rail in rails] == [[0, 2, 4], [1, 3, 5]]
    assert [rail.demand.port_bytes for rail in rails] == [400.0, 400.0]
    # 100 to the other GPU of the node, and 100 for its rail in each of two other nodes.
    assert gpu_bytes(fabric, inside.demand) == pytest.approx(np.full(6, 300.0))


def test_a_broadcast_goes_down_a_chain_a_rail(fabric_of, spec_of, gpu_bytes):
    fabric = fabric_of(3, 2, nics=2, domain_gpus=2)
    plain = {**PLAIN, "collective": "broadcast", "message_bytes": 600}
    between, inside = program(fabric, spec_of(3, 2, **plain)).phases
    assert gpu_bytes(fabric, between.demand).tolist() == [300.0] * 4 + [0.0, 0.0]
    assert gpu_bytes(fabric, inside.demand).tolist() == [300.0] * 6


def test_the_busiest_rank_of_an_uneven_all_to_all_sets_its_bytes(fabric_of, spec_of):
    fabric = fabric_of(2, 2, nics=2, domain_gpus=2)
    plain = {**PLAIN, "collective": "all-to-all", "message_bytes": 400, "imbalance": 1.5}
    between, inside = program(fabric, spec_of(2, 2, **plain)).phases
    assert isinstance(between.demand, Exchange)
    assert between.demand.port_bytes == 300.0
    assert set(inside.demand.size_bytes.tolist()) == {150.0}


def test_what_turns_around_at_a_leaf_loads_its_ports_as_before(fabric_of, spec_of):
    fabric = fabric_of(32, 2, nics=2, domain_gpus=2)  # one leaf, so all of it
    (phase, _) = program(fabric, spec_of(32, 2, algorithm="tree", **PLAIN)).phases
    flows = phase.demand
    assert (flows.src == flows.dst).all()
    assert len(flows.src) == fabric.ports
    assert (below_leaves(fabric, flows).size_bytes == flows.size_bytes).all()
    assert flows.size_bytes.sum() == pytest.approx(4 * 31 * 5040e6 / 2)
    assert flows.size_bytes.max() == pytest.approx(2 * 5040e6 / 2)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_sums_by_counting_are_those_by_sorting(pairs):
    code, value = (np.array(column) for column in zip(*pairs, strict=True))
    expected: dict[int, float] = {}
    for key, own in pairs:
        expected[key] = expected.get(key, 0.0) + own
    for dense in (0, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trees, "_DENSE", dense)
            own, total = trees._sums(code, value.astype(float))
        assert dict(zip(own.tolist(), total.tolist(), strict=True)) == expected
        assert own.tolist() == sorted(expected)
