from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.errors import SpecError
from clusterscope.traffic.flows import Exchange
from clusterscope.traffic.program import build


def rows(flows):
    """Flows as plain (src, dst, size, group) rows."""
    columns = (flows.src, flows.dst, flows.size_bytes, flows.group)
    return list(zip(*(c.tolist() for c in columns), strict=True))


def only(spec, fabric):
    (program,) = build(spec, fabric)
    return program


def test_hierarchical_all_reduce_is_pinned(fabric_of, spec_of):
    fabric = fabric_of(2, 2, nics=2, domain_gpus=2)  # ports 0-3, leaf 4, GPUs 5-8
    program = only(spec_of(2, 2, message_bytes=400), fabric)
    assert [(p.name, p.network, p.serial_steps) for p in program.phases] == [
        ("reduce-scatter in domain", "scale-up", 1),
        ("all-reduce between domains", "scale-out", 2),
        ("all-gather in domain", "scale-up", 1),
    ]
    inside = [(5, 6, 200.0, 0), (6, 5, 200.0, 0), (7, 8, 200.0, 1), (8, 7, 200.0, 1)]
    assert rows(program.phases[0].demand) == inside
    assert rows(program.phases[2].demand) == inside
    across = [(0, 2, 200.0, 0), (2, 0, 200.0, 0), (1, 3, 200.0, 1), (3, 1, 200.0, 1)]
    assert rows(program.phases[1].demand) == across
    assert not program.overlapped
    assert program.busbw_factor == 1.5
    assert not program.gpus.flags.writeable


@pytest.mark.parametrize(
    ("collective", "names"),
    [
        ("all-gather", ["all-gather between domains", "all-gather in domain"]),
        ("reduce-scatter", ["reduce-scatter in domain", "reduce-scatter between domains"]),
    ],
)
def test_gather_and_scatter_are_mirror_images(fabric_of, spec_of, collective, names):
    fabric = fabric_of(4, 8, nics=8, domain_gpus=8)
    program = only(spec_of(4, 8, collective=collective, message_bytes=3200), fabric)
    assert [p.name for p in program.phases] == names
    sent = {p.network: set(p.demand.size_bytes.tolist()) for p in program.phases}
    assert sent == {"scale-up": {3200 * 7 / 8}, "scale-out": {3 * 100.0}}
    steps = {p.network: p.serial_steps for p in program.phases}
    assert steps == {"scale-up": 7, "scale-out": 3}


def test_one_domain_leaves_the_nics_alone(fabric_of, spec_of):
    program = only(spec_of(2, 4), fabric_of(2, 4, domain_gpus=8))
    assert [p.name for p in program.phases] == ["reduce-scatter in domain", "all-gather in domain"]


def test_no_scale_up_leaves_one_ring_over_all_nics(fabric_of, spec_of):
    (phase,) = only(spec_of(2, 2, message_bytes=400), fabric_of(2, 2, nics=2)).phases
    assert phase.name == "all-reduce between domains"
    assert phase.serial_steps == 6
    assert rows(phase.demand) == [
        (0, 1, 600.0, 0),
        (1, 2, 600.0, 0),
        (2, 3, 600.0, 0),
        (3, 0, 600.0, 0),
    ]


def test_a_flat_ring_uses_both_networks_in_lock_step(fabric_of, spec_of):
    fabric = fabric_of(2, 2, nics=2, domain_gpus=2)
    (phase,) = only(spec_of(2, 2, message_bytes=400, hierarchical=False), fabric).phases
    assert (phase.name, phase.network) == ("flat ring all-reduce", "scale-out")
    assert (phase.serial_steps, phase.inner_steps) == (2, 4)
    assert rows(phase.demand) == [
        (5, 6, 600.0, 0),
        (1, 2, 600.0, 0),
        (7, 8, 600.0, 0),
        (3, 0, 600.0, 0),
    ]


def test_a_flat_ring_inside_one_domain_is_scale_up(fabric_of, spec_of):
    (phase,) = only(spec_of(2, 2, hierarchical=False), fabric_of(2, 2, domain_gpus=4)).phases
    assert phase.network == "scale-up"


def test_unequal_domains_are_gathered_on_the_rails_that_they_share(fabric_of, spec_of):
    fabric = fabric_of(3, 4, nics=4, domain_gpus=4)
    program = only(spec_of(3, 4, ranks=10, collective="all-gather"), fabric)
    between, inside = program.phases
    assert program.algorithm == "rail-ring"
    assert set(between.demand.size_bytes.tolist()) == {9 * 1e9 / 10 / 2}
    assert set(inside.demand.size_bytes.tolist()) == {9 * 1e9 / 10}
    assert (between.serial_steps, between.inner_steps) == (2, 7)


def test_planes_share_the_bytes_of_a_nic_and_its_group(fabric_of, spec_of):
    fabric = fabric_of(2, 1, nics=1, planes=2)  # ports 0,1 and 2,3
    (phase,) = only(spec_of(2, 1, message_bytes=400), fabric).phases
    assert rows(phase.demand) == [
        (0, 2, 200.0, 0),
        (1, 3, 200.0, 0),
        (2, 0, 200.0, 0),
        (3, 1, 200.0, 0),
    ]


def test_gpus_that_share_a_nic_share_its_port(fabric_of, spec_of):
    fabric = fabric_of(2, 2, nics=1, domain_gpus=2)
    between = only(spec_of(2, 2, message_bytes=400), fabric).phases[1]
    assert rows(between.demand) == [
        (0, 1, 200.0, 0),
        (1, 0, 200.0, 0),
        (0, 1, 200.0, 1),
        (1, 0, 200.0, 1),
    ]


def test_a_nic_sends_nothing_to_itself(fabric_of, spec_of):
    fabric = fabric_of(2, 2, nics=1)  # no scale-up: GPUs of a node meet at their NIC
    (phase,) = only(spec_of(2, 2, message_bytes=400), fabric).phases
    assert rows(phase.demand) == [(0, 1, 600.0, 0), (1, 0, 600.0, 0)]


def test_all_to_all_overlaps_both_networks(fabric_of, spec_of):
    fabric = fabric_of(3, 2, nics=2, domain_gpus=2)  # ports 0-5, leaf 6, GPUs 7-12
    program = only(spec_of(3, 2, collective="all-to-all", message_bytes=600), fabric)
    between, inside = program.phases
    assert program.overlapped
    assert between.name == "exchange between domains"
    assert between.demand.ports.tolist() == [0, 1, 2, 3, 4, 5]
    assert between.demand.domain.tolist() == [0, 0, 1, 1, 2, 2]
    assert between.demand.port_bytes == 400.0
    assert inside.name == "exchange in domain"
    assert rows(inside.demand)[:3] == [(7, 8, 100.0, 0), (8, 7, 100.0, 0), (9, 10, 100.0, 1)]


def test_all_to_all_has_an_exchange_a_plane(fabric_of, spec_of):
    fabric = fabric_of(2, 2, nics=2, domain_gpus=2, planes=2)
    *planes, _ = only(spec_of(2, 2, collective="all-to-all", message_bytes=400), fabric).phases
    assert [p.name for p in planes] == [f"exchange between domains, plane {i}" for i in range(2)]
    assert [p.demand.ports.tolist() for p in planes] == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert [p.demand.port_bytes for p in planes] == [100.0, 100.0]


def test_all_to_all_of_unequal_domains_is_as_long_as_its_busiest_port(fabric_of, spec_of):
    fabric = fabric_of(2, 4, nics=4, domain_gpus=4)
    program = only(spec_of(2, 4, ranks=5, collective="all-to-all", message_bytes=500), fabric)
    between, inside = program.phases
    assert between.demand.port_bytes == 400.0  # the lone rank sends all but its own share
    assert set(inside.demand.size_bytes.tolist()) == {300.0}
    assert len(inside.demand.src) == 4


def test_all_to_all_in_one_domain_has_no_exchange_between(fabric_of, spec_of):
    (phase,) = only(spec_of(2, 2, collective="all-to-all"), fabric_of(2, 2, domain_gpus=4)).phases
    assert phase.name == "exchange in domain"


def test_all_to_all_without_scale_up_spares_the_shared_nic(fabric_of, spec_of):
    fabric = fabric_of(2, 2, nics=1)
    (phase,) = only(spec_of(2, 2, collective="all-to-all", message_bytes=400), fabric).phases
    assert phase.demand.ports.tolist() == [0, 1]
    assert phase.demand.port_bytes == 400.0  # two GPUs, each half of its buffer


def test_incast_aims_everyone_at_rank_0(fabric_of, spec_of):
    fabric = fabric_of(2, 2, nics=2, domain_gpus=2)
    program = only(spec_of(2, 2, collective="incast", message_bytes=9), fabric)
    (phase,) = program.phases
    assert rows(phase.demand) == [(6, 5, 9.0, 0), (2, 0, 9.0, 1), (3, 0, 9.0, 2)]
    assert program.busbw_factor == 1.0


def test_permutation_pairs_everyone_with_someone_else(fabric_of, spec_of):
    fabric = fabric_of(16, 1, nics=1)
    (phase,) = only(spec_of(16, 1, collective="permutation", message_bytes=9), fabric).phases
    flows = phase.demand
    assert sorted(flows.src.tolist()) == sorted(flows.dst.tolist()) == list(range(16))
    assert (flows.src != flows.dst).all()
    assert flows.group.tolist() == list(range(16))
    other = only(spec_of(16, 1, seed=8, collective="permutation", message_bytes=9), fabric)
    assert other.phases[0].demand.digest() != flows.digest()


@pytest.mark.parametrize("collective", ["all-reduce", "all-to-all", "permutation", "incast"])
def test_ranks_of_two_domains_need_nics(fabric_of, spec_of, collective):
    with pytest.raises(SpecError, match="have no scale-out NICs"):
        build(spec_of(4, 2, collective=collective), fabric_of(4, 2, domain_gpus=2))


def test_a_job_that_moves_nothing_is_refused(fabric_of, spec_of):
    with pytest.raises(SpecError, match="1 rank moves nothing"):
        build(spec_of(2, 2, ranks=1), fabric_of(2, 2, nics=2, domain_gpus=2))
    with pytest.raises(SpecError, match="2 ranks move nothing"):
        build(spec_of(2, 2, ranks=2), fabric_of(2, 2, nics=1))


SHAPES = st.tuples(
    st.integers(1, 6), st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 4]), st.integers(1, 3)
)
SIZE = 5040 * 10**9  # more than any int32 holds
COLLECTIVES = ["all-reduce", "all-gather", "reduce-scatter", "permutation", "incast"]


@given(
    shape=SHAPES,
    collective=st.sampled_from([*COLLECTIVES, "all-to-all"]),
    hierarchical=st.booleans(),
    placement=st.sampled_from(["packed", "strided", "random"]),
    data=st.data(),
)
@settings(max_examples=100, deadline=None)
def test_any_job_sends_what_its_formula_says(
    fabric_of, spec_of, gpu_bytes, shape, collective, hierarchical, placement, data
):
    nodes, gpus, domain_nodes, planes = shape
    if nodes * gpus < 2:
        nodes = 2
    fabric = fabric_of(nodes, gpus, nics=gpus, domain_gpus=gpus * domain_nodes, planes=planes)
    n = data.draw(st.integers(2, nodes * gpus))
    spec = spec_of(
        nodes,
        gpus,
        ranks=n,
        collective=collective,
        hierarchical=hierarchical,
        placement=placement,
        stride=2,
        message_bytes=SIZE,
    )
    program = only(spec, fabric)
    sent = np.zeros(fabric.gpus)
    received = np.zeros(fabric.gpus)
    for phase in program.phases:
        if isinstance(phase.demand, Exchange):
            sent += np.bincount(phase.demand.ports // planes, minlength=fabric.gpus) * (
                phase.demand.port_bytes
            )
            continue
        flows = phase.demand
        groups = flows.group.tolist()
        assert groups == sorted(groups)
        assert sorted(set(groups)) == list(range(len(set(groups))))
        sent += gpu_bytes(fabric, flows)
        back = dataclasses.replace(flows, src=flows.dst, dst=flows.src)
        received += gpu_bytes(fabric, back)
    sizes = np.unique(program.gpus // (gpus * domain_nodes), return_counts=True)[1]
    uneven = hierarchical and collective in COLLECTIVES[:3]
    hard = (collective == "all-to-all" or uneven) and len(set(sizes.tolist())) > 1
    expected = {
        "all-reduce": 2 * SIZE * (n - 1) / n,
        "all-gather": SIZE * (n - 1) / n,
        "reduce-scatter": SIZE * (n - 1) / n,
        "all-to-all": SIZE * (n - 1) / n,
        "permutation": SIZE,
        "incast": SIZE,
    }[collective]
    ranks = program.gpus[1:] if collective == "incast" else program.gpus
    if hard:
        assert (sent[ranks] >= expected * (1 - 1e-12)).all()
    else:
        np.testing.assert_allclose(sent[ranks], expected, rtol=1e-12)
    others = np.setdiff1d(np.arange(fabric.gpus), ranks)
    assert not sent[others].any()
    if collective in COLLECTIVES[:4] and not hard:
        np.testing.assert_allclose(received[program.gpus], expected, rtol=1e-12)


@pytest.mark.parametrize("hierarchical", [True, False])
def test_the_same_spec_gives_the_same_program(fabric_of, spec_of, hierarchical):
    fabric = fabric_of(8, 4, nics=4, domain_gpus=4)
    spec = spec_of(8, 4, placement="random", hierarchical=hierarchical)
    first, again = ([p.demand.digest() for p in only(spec, fabric).phases] for _ in range(2))
    assert first == again
