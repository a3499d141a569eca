from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine import _fluid, _levels
from clusterscope.engine.completion import completion_times
from clusterscope.engine.rates import max_min, padded_capacity, path_columns
from tests.engine.networks import (
    SIMGRID,
    amounts,
    leaf_spine,
    networks,
    padded,
    random_network,
    simgrid_reference,
)
from tests.oracles import completion_by_events

GBIT = 1e9 / 8
modest = settings(max_examples=60, deadline=None)


WAYS = {
    "usual": [],
    "crowds": [(_levels, "CROWD", 2), (_fluid, "BATCH_FLOWS", 10**9)],
    "local": [(_fluid, "BATCH_FLOWS", 10**9), (_levels, "PATIENCE_FLOWS", 10**9)],
    "impatient": [(_fluid, "BATCH_FLOWS", 10**9), (_levels, "PATIENCE_FLOWS", 3)],
    "from scratch": [(_fluid, "BATCH_FLOWS", 0), (_fluid, "BATCH_SHARE", 0.0)],
}
"""Every way the engine can share anew, so that small networks take each of them."""


@contextmanager
def going(way: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in WAYS[way]:
            patch.setattr(module, name, value)
        yield


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    with going(request.param):
        yield request.param


def resolved(
    paths: np.ndarray, capacity: np.ndarray, size: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """Finish times by one full solve at each event."""
    left, finish, now = size / GBIT, np.full(len(paths), math.inf), 0.0
    waiting, active = start > 0, start <= 0
    while active.any() or waiting.any():
        flows = np.flatnonzero(active)
        rate = max_min(paths[flows], capacity)
        wait = left[flows] / rate
        step = min(wait.min(initial=math.inf), start[waiting].min(initial=math.inf) - now)
        done = wait <= step * (1 + 1e-13)
        finish[flows[done]] = now + wait[done]
        left[flows] -= rate * step
        now += step
        active[flows[done]] = False
        came = waiting & (start <= now * (1 + 1e-13))
        active |= came
        waiting &= ~came
    return finish


class TestReferences:
    @pytest.mark.parametrize("path", SIMGRID, ids=lambda path: path.stem[17:])
    def test_simgrid_finish_times(self, path: Path, way: str) -> None:
        run = simgrid_reference(path)
        finish = completion_times(run.paths, run.capacity_gbps, run.size_bytes, run.start_s)
        assert finish == pytest.approx(run.finish_s, rel=1e-9)

    @pytest.mark.parametrize("block", range(4))
    def test_equal_sizes_finish_at_their_initial_rate(self, block: int, way: str) -> None:
        """FAIR-07, by the event engine; the public function takes the theorem's word."""
        for seed in range(50 * block, 50 * (block + 1)):
            paths, capacity = random_network(seed)
            expected = 8.0 / max_min(paths, capacity)
            size, start = np.full(len(paths), 8.0), np.zeros(len(paths))
            run = _fluid.FluidRun(path_columns(paths), padded_capacity(capacity), size, start)
            assert run.run() == pytest.approx(expected, rel=1e-12)
            assert completion_times(paths, capacity, size * GBIT) == pytest.approx(
                expected, rel=1e-12
            )

    @pytest.mark.parametrize("seed", range(2))
    def test_oversubscribed_leaf_spine_against_full_solves(self, seed: int) -> None:
        paths, capacity = leaf_spine(16, 16, 4, seed)
        rng = np.random.default_rng(seed)
        size = rng.integers(100_000_000, 2_000_000_000, len(paths)).astype(float)
        start = np.where(rng.random(len(paths)) < 0.5, 0.0, rng.uniform(0, 0.1, len(paths)))
        finish = completion_times(paths, capacity, size, start)
        assert finish == pytest.approx(resolved(paths, capacity, size, start), rel=1e-11)


class TestAgainstOracle:
    @modest
    @given(networks(flows=6), st.data())
    def test_starts_and_sizes(
        self, network: tuple[list[list[int]], list[float]], data: st.DataObject
    ) -> None:
        paths, capacity = network
        several = {"min_size": len(paths), "max_size": len(paths)}
        size = data.draw(st.lists(st.one_of(st.just(0.0), amounts), **several))
        start = data.draw(st.lists(st.one_of(st.just(0.0), amounts), **several))
        expected = completion_by_events(paths, capacity, size, start)
        for way in WAYS:
            with going(way):
                finish = completion_times(padded(paths), capacity, np.array(size) * GBIT, start)
            assert finish == pytest.approx(expected, rel=1e-9)


class TestEdges:
    def test_no_flows(self) -> None:
        assert completion_times(np.zeros((0, 3), dtype=int), [1.0], []).shape == (0,)

    def test_nothing_to_move_finishes_at_its_start(self) -> None:
        finish = completion_times([[0], [0], [1]], [8.0, 0.0], [0.0, GBIT, 0.0], [3.0, 1.0, 2.0])
        assert finish == pytest.approx([3.0, 1.125, 2.0])

    def test_a_flow_without_a_link_is_instant(self) -> None:
        finish = completion_times([[-1], [0]], [8.0], [GBIT, GBIT], [2.0, 0.0])
        assert finish == pytest.approx([2.0, 0.125])
        assert completion_times([[-1], [0]], [8.0], [GBIT] * 2) == pytest.approx([0.0, 0.125])

    def test_a_dead_link_never_delivers(self) -> None:
        finish = completion_times([[0, 1], [1, -1]], [0.0, 8.0], [GBIT, 2 * GBIT])
        assert finish.tolist() == [math.inf, 0.25]
        assert completion_times([[0], [1]], [0.0, 8.0], [GBIT] * 2).tolist() == [math.inf, 0.125]

    def test_a_late_start_slows_the_rest(self) -> None:
        finish = completion_times([[0], [0]], [1.0], [2 * GBIT, GBIT], [0.0, 1.0])
        assert finish == pytest.approx([3.0, 3.0])

    def test_start_may_be_long_after_zero(self) -> None:
        start = np.array([1e6, 1e6, 1e6 + 1])
        finish = completion_times([[0]] * 3, [1.0], np.array([1, 2, 1]) * GBIT, start)
        assert finish - 1e6 == pytest.approx([2.5, 4.0, 3.5], abs=1e-8)

    def test_one_crowded_link(self, way: str) -> None:
        """Flows of 1, 2, .. n Gbit on one link: the k-th leaves after sum over j of min(j, k)."""
        n = 200
        size = np.arange(1, n + 1)
        finish = completion_times(np.zeros((n, 1), dtype=int), [4.0], size * GBIT)
        expected = [np.minimum(size, k).sum() / 4.0 for k in size]
        assert finish == pytest.approx(expected, rel=1e-11)

    def test_crowds_that_meet(self, way: str) -> None:
        """Two crowded links share some flows, and others are held elsewhere."""
        rng = np.random.default_rng(3)
        paths = padded(
            [[0]] * 80 + [[1]] * 80 + [[0, 1]] * 40 + [[0, 2]] * 5 + [[1, 2]] * 5 + [[2, 3]] * 3
        )
        capacity = np.array([50.0, 80.0, 1.5, 0.9])
        size = rng.uniform(1, 9, len(paths)) * GBIT
        start = rng.choice([0.0, 0.3, 1.7], len(paths))
        finish = completion_times(paths, capacity, size, start)
        assert finish == pytest.approx(resolved(paths, capacity, size, start), rel=1e-11)

    def test_finishes_within_rounding_are_one_event(self) -> None:
        size = GBIT * (1 + 1e-15 * np.arange(40))
        finish = completion_times([[0]] * 40, [40.0], size)
        assert finish == pytest.approx(np.ones(40), rel=1e-12)

    def test_names_do_not_matter(self) -> None:
        paths, capacity = leaf_spine(8, 8, 2, 9)
        size = np.random.default_rng(2).uniform(1, 5, len(paths)) * GBIT
        order = np.random.default_rng(4).permutation(len(paths))
        finish = completion_times(paths, capacity, size)
        again = completion_times(paths[order], capacity, size[order])
        assert again == pytest.approx(finish[order], rel=1e-11)

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (([0], [1.0], [1.0]), "two-dimensional"),
            (([[1]], [1.0], [1.0]), "link ids"),
            (([[0]], [-1.0], [1.0]), "0 or more"),
            (([[0]], [1.0], [1.0, 2.0]), "shape"),
            (([[0]], [1.0], [-1.0]), "0 or more"),
            (([[0]], [1.0], [math.nan]), "finite"),
            (([[0]], [1.0], [1.0], [math.inf]), "finite"),
            (([[0]], [1.0], [1.0], [0.0, 0.0]), "shape"),
        ],
    )
    def test_senseless_input(self, arguments: tuple[list[float], ...], problem: str) -> None:
        with pytest.raises(ValueError, match=problem):
            completion_times(*arguments)
