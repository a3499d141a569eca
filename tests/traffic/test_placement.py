from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.errors import SpecError
from clusterscope.spec.model import JobSpec
from clusterscope.traffic.placement import place
from clusterscope.traffic.shuffle import Purpose, shuffled, shuffled_partners


def a_job(**fields):
    return JobSpec(name="job", collective="all-reduce", message_bytes=1, **fields)


def test_packed_takes_consecutive_gpus(fabric_of):
    gpus = place(a_job(ranks=5, first_gpu=3), fabric_of(4, 4), seed=0)
    assert gpus.dtype == np.int32
    assert gpus.tolist() == [3, 4, 5, 6, 7]


def test_all_gpus_from_the_first_one_when_ranks_are_left_out(fabric_of):
    assert len(place(a_job(), fabric_of(4, 4), seed=0)) == 16
    assert place(a_job(first_gpu=13), fabric_of(4, 4), seed=0).tolist() == [13, 14, 15]


def test_strided_walks_every_node_before_it_repeats_one(fabric_of):
    gpus = place(a_job(placement="strided", stride=4), fabric_of(6, 2), seed=0)
    assert (gpus[::2] // 2).tolist() == [0, 4, 2, 1, 5, 3]


def test_strided_starts_inside_its_first_node(fabric_of):
    gpus = place(a_job(placement="strided", stride=2, first_gpu=3, ranks=4), fabric_of(6, 2), 0)
    assert gpus.tolist() == [3, 6, 7, 10]


def test_random_order_is_pinned(fabric_of):
    gpus = place(a_job(placement="random", ranks=9), fabric_of(8, 2), seed=7)
    assert gpus.tolist() == [4, 5, 0, 1, 6, 7, 10, 11, 12]
    assert shuffled(8, 7, Purpose.NODES).tolist() == [2, 0, 3, 5, 6, 4, 7, 1]
    assert shuffled_partners(8, 7, Purpose.PARTNERS).tolist() == [1, 3, 5, 4, 7, 2, 0, 6]


def test_random_depends_on_the_seed_and_nothing_else_of_the_job(fabric_of):
    fabric = fabric_of(64, 2)
    whole = place(a_job(placement="random"), fabric, seed=7)
    part = place(a_job(placement="random", ranks=31, stride=3), fabric, seed=7)
    assert part.tolist() == whole[:31].tolist()
    assert place(a_job(placement="random"), fabric, seed=8).tolist() != whole.tolist()


def test_random_jobs_with_different_first_gpus_share_a_cluster(fabric_of):
    fabric = fabric_of(16, 4)
    first = place(a_job(placement="random", ranks=32), fabric, seed=3)
    second = place(a_job(placement="random", ranks=32, first_gpu=32), fabric, seed=3)
    assert sorted([*first, *second]) == list(range(64))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"ranks": 9},
            "job 'job': ranks: 9 ranks from GPU 0 on do not fit into 8 GPUs; use at most 8",
        ),
        (
            {"ranks": 3, "first_gpu": 6},
            "job 'job': ranks: 3 ranks from GPU 6 on do not fit into 8 GPUs; use at most 2",
        ),
        (
            {"first_gpu": 8},
            "job 'job': first_gpu: 8 is not a GPU of this cluster; use 0 to 7",
        ),
    ],
)
@pytest.mark.parametrize("placement", ["packed", "strided", "random"])
def test_a_job_that_does_not_fit_is_refused(fabric_of, placement, fields, text):
    with pytest.raises(SpecError) as caught:
        place(a_job(placement=placement, **fields), fabric_of(2, 4), seed=0)
    assert str(caught.value) == text


@given(data=st.data(), nodes=st.integers(1, 30), per_node=st.integers(1, 8))
@settings(max_examples=100, deadline=None)
def test_no_placement_uses_a_gpu_twice_and_nodes_stay_together(fabric_of, data, nodes, per_node):
    gpus = nodes * per_node
    first = data.draw(st.integers(0, gpus - 1))
    job = a_job(
        placement=data.draw(st.sampled_from(["packed", "strided", "random"])),
        first_gpu=first,
        ranks=data.draw(st.integers(1, gpus - first)),
        stride=data.draw(st.integers(1, 100)),
    )
    placed = place(job, fabric_of(nodes, per_node), data.draw(st.integers(0, 2**63 - 1)))
    assert len(placed) == job.ranks
    assert len(set(placed.tolist())) == job.ranks
    assert placed.min() >= 0
    assert placed.max() < gpus
    node = placed // per_node
    visits = 1 + int((np.diff(node) != 0).sum())
    assert visits == len(set(node.tolist()))


@given(count=st.integers(2, 200), seed=st.integers(0, 2**63 - 1))
@settings(max_examples=100, deadline=None)
def test_partners_are_a_permutation_and_nobody_is_their_own(count, seed):
    partners = shuffled_partners(count, seed, Purpose.PARTNERS)
    assert sorted(partners.tolist()) == list(range(count))
    assert (partners != np.arange(count)).all()
