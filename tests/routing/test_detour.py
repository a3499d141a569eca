"""How much goes around: by hand, against slow versions, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.routing.detour import Mesh, detoured


def full(n: int, gbps: float = 1.0) -> np.ndarray:
    """Capacity of one mesh of n members, (1, n, n)."""
    return np.where(np.eye(n, dtype=bool), 0.0, gbps)[None]


def shift(n: int, demand: float) -> np.ndarray:
    """Every member sends the same to the next, (1, n, n)."""
    out = np.zeros((1, n, n))
    out[0, np.arange(n), (np.arange(n) + 1) % n] = demand
    return out


@st.composite
def meshes(draw: st.DrawFn) -> np.ndarray:
    """Capacity of one or two meshes; some pairs are weak or not cabled."""
    n, k = draw(st.integers(2, 6)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    choices = draw(st.sampled_from([[4.0], [4.0, 4.0, 3.0], [4.0, 1.0, 0.0]]))
    capacity = rng.choice(choices, (k, n, n))
    capacity[:, np.arange(n), np.arange(n)] = 0.0
    return capacity


@st.composite
def demands(draw: st.DrawFn, capacity: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    demand = rng.random(capacity.shape) * draw(st.sampled_from([1.0, 10.0, 200.0]))
    demand *= rng.random(capacity.shape) < draw(st.sampled_from([0.1, 0.5, 1.0]))
    demand[:, np.arange(capacity.shape[1]), np.arange(capacity.shape[1])] = 0.0
    return demand


def slow_detours(x: np.ndarray, capacity: np.ndarray) -> np.ndarray:
    """Load of detours on every pair, path by path."""
    load = np.zeros_like(capacity)
    n = capacity.shape[1]
    for k, a, b in np.argwhere(x > 0):
        part = [capacity[k, a, i] * capacity[k, i, b] for i in range(n)]
        for i in range(n):
            if part[i]:
                load[k, a, i] += x[k, a, b] * part[i] / sum(part)
                load[k, i, b] += x[k, a, b] * part[i] / sum(part)
    return load


@given(st.data(), meshes())
def test_detours_load_what_they_load_path_by_path(data, capacity):
    mesh = Mesh.of(capacity)
    x = np.where(mesh.ways > 0, data.draw(demands(capacity)), 0.0)
    np.testing.assert_allclose(mesh.detours(x), slow_detours(x, capacity), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [3, 4, 9, 74])
def test_a_shift_goes_direct_as_much_as_over_each_other_member(n: int) -> None:
    # Of 1, x goes around: 1 - x direct, 2 x / (n - 2) on each other pair. Equal: x = (n - 2) / n.
    share = detoured(shift(n, 1000.0), Mesh.of(full(n)))
    assert share[0, 0, 1] == pytest.approx((n - 2) / n, rel=2e-3)


def test_what_fits_goes_direct():
    demand = np.full((1, 5, 5), 1.0)
    demand[0, np.arange(5), np.arange(5)] = 0.0
    assert not detoured(demand, Mesh.of(full(5))).any()


def test_only_what_does_not_fit_goes_around():
    # One pair of 6 sends 3 over cables of 1; the other 4 members carry the rest with ease.
    demand = np.zeros((1, 6, 6))
    demand[0, 0, 1] = 3.0
    assert detoured(demand, Mesh.of(full(6)))[0, 0, 1] == pytest.approx(2 / 3)


def test_demand_past_all_cables_of_a_member_is_spread_over_all():
    demand = np.zeros((1, 6, 6))
    demand[0, 0, 1] = 1000.0
    assert detoured(demand, Mesh.of(full(6)))[0, 0, 1] == pytest.approx(4 / 5, rel=2e-3)


def test_a_dead_pair_goes_around_even_when_nothing_is_full():
    capacity = full(5)
    capacity[0, 0, 1] = 0.0
    share = detoured(shift(5, 0.1), Mesh.of(capacity))
    assert share[0, 0, 1] == 1.0
    assert share[0, 1, 2] == 0.0


def test_two_members_have_no_way_around():
    assert not detoured(shift(2, 99.0), Mesh.of(full(2))).any()


def test_one_weak_member_does_not_hold_back_the_others():
    # Member 0 has next to nothing left; the others still spread their shift.
    capacity = full(8)
    capacity[0, 0, 1:], capacity[0, 1:, 0] = 0.01, 0.01
    share = detoured(shift(8, 1000.0), Mesh.of(capacity))
    assert share[0, 2, 3] == pytest.approx(5 / 7, rel=0.1)


@given(st.data(), meshes())
def test_a_share_is_a_share_and_no_level_is_above_that_of_minimal_routing(data, capacity):
    mesh = Mesh.of(capacity)
    demand = data.draw(demands(capacity))
    # Within what both ends carry nothing is scaled, and levels can be told.
    for axis in (2, 1):
        most = capacity.sum(axis=axis, keepdims=True)
        demand = demand * np.minimum(1.0, most / np.maximum(demand.sum(axis, keepdims=True), 1e-9))
    share = detoured(demand, mesh)
    assert ((share >= 0) & (share <= 1)).all()
    assert not share[(mesh.ways == 0)].any()
    there = capacity > 0
    forced = np.where(there | (mesh.ways == 0), 0.0, demand)
    sent = np.where(there | (mesh.ways > 0), demand, 0.0)

    def level(x: np.ndarray) -> np.ndarray:
        load = sent - x + slow_detours(x, capacity)
        ratio = np.divide(load, capacity, out=np.zeros_like(load), where=there)
        return np.maximum(ratio.max(axis=(1, 2)), 1.0)

    assert (level(share * sent) <= level(forced) * (1 + 1e-6)).all()


@settings(max_examples=25)
@given(st.data(), meshes())
def test_members_may_be_relabeled(data, capacity):
    n = capacity.shape[1]
    demand = data.draw(demands(capacity))
    order = np.array(data.draw(st.permutations(range(n))))
    turned = np.ix_(range(len(capacity)), order, order)
    share = detoured(demand, Mesh.of(capacity))
    again = detoured(demand[turned], Mesh.of(np.ascontiguousarray(capacity[turned])))
    np.testing.assert_allclose(again, share[turned], atol=0.02)


@settings(max_examples=25)
@given(st.data(), meshes())
def test_meshes_side_by_side_do_not_see_each_other(data, capacity):
    demand = data.draw(demands(capacity))
    together = detoured(demand, Mesh.of(capacity))
    for k in range(len(capacity)):
        alone = detoured(demand[k : k + 1], Mesh.of(capacity[k : k + 1]))
        np.testing.assert_allclose(together[k], alone[0], atol=1e-9)


def best_throughput(demand: np.ndarray, capacity: np.ndarray, step: float = 0.1) -> float:
    """Share of all demands that fits at once over direct and detoured paths, to within 2 steps.

    Garg and Koenemann, "Faster and simpler algorithms for multicommodity flow", 2007.
    """
    n = len(demand)
    there = capacity > 0
    base = 1.0 + step
    start = (there.sum() / (1 - step)) ** (-1 / step)
    length = np.where(there, start / np.where(there, capacity, 1.0), np.inf)
    phases = 0
    while (length[there] * capacity[there]).sum() < 1:
        for a, b in np.argwhere(demand > 0):
            left = demand[a, b]
            while left > 1e-12 and (length[there] * capacity[there]).sum() < 1:
                over = [(length[a, i] + length[i, b], i) for i in range(n) if i not in (a, b)]
                around, i = min(over, default=(np.inf, -1))
                path = [(a, b)] if length[a, b] <= around else [(a, i), (i, b)]
                sent = min(left, *(capacity[hop] for hop in path))
                for hop in path:
                    length[hop] *= 1.0 + step * sent / capacity[hop]
                left -= sent
        phases += 1
    return float((phases - 1) / (np.log(1 / start) / np.log(base)))


@pytest.mark.parametrize("seed", range(4))
def test_throughput_is_near_the_best_of_any_split(seed: int) -> None:
    """Permutations of heavy traffic on small meshes, against the best split of each pair."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 7))
    demand, target = np.zeros((n, n)), rng.permutation(n)
    demand[np.arange(n), target] = rng.uniform(2.0, 4.0)
    np.fill_diagonal(demand, 0.0)
    demand += np.where(rng.random((n, n)) < 0.3, 0.5, 0.0)
    np.fill_diagonal(demand, 0.0)
    capacity = full(n)[0]
    mesh = Mesh.of(capacity[None])
    x = detoured(demand[None], mesh) * demand
    load = (demand - x + mesh.detours(x))[0]
    got = min(1.0, 1 / (load[capacity > 0] / capacity[capacity > 0]).max())
    best = min(1.0, best_throughput(demand, capacity))
    assert 0.75 * best <= got <= 1.2 * best
