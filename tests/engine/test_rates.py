from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.rates import max_min, max_min_entries
from tests.engine.networks import (
    SIMGRID,
    amounts,
    leaf_spine,
    networks,
    padded,
    random_network,
    simgrid_reference,
)
from tests.oracles import (
    entry_loads,
    exact,
    max_min_by_filling,
    max_min_violations,
    path_loads,
)

demands = st.one_of(st.just(math.inf), st.just(0.0), amounts)
modest = settings(max_examples=60, deadline=None)


class TestPublishedCases:
    def test_equal_share_of_one_bottleneck(self) -> None:
        """FAIR-01."""
        assert max_min([[0]] * 10, [400.0]).tolist() == [40.0] * 10

    def test_parking_lot_is_max_min_not_proportional(self) -> None:
        """FAIR-02."""
        paths = [[0, 1, 2], [0, -1, -1], [1, -1, -1], [2, -1, -1]]
        assert max_min(paths, [1.0, 1.0, 1.0]).tolist() == [0.5] * 4

    @pytest.mark.parametrize(
        ("weight", "expected"),
        [([1, 1, 1, 1], [10, 30, 30, 30]), ([1, 1, 2, 1], [10, 22.5, 45, 22.5])],
    )
    def test_demands_and_weights(self, weight: list[float], expected: list[float]) -> None:
        """FAIR-04."""
        rates = max_min([[0]] * 4, [100.0], [10, 30, 80, math.inf], weight)
        assert rates == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("block", range(10))
    def test_every_flow_has_a_bottleneck(self, block: int) -> None:
        """FAIR-05."""
        for seed in range(30 * block, 30 * (block + 1)):
            paths, capacity = random_network(seed)
            assert not max_min_violations(path_loads(paths), capacity, max_min(paths, capacity))

    @pytest.mark.parametrize("path", SIMGRID, ids=lambda path: path.stem[17:])
    def test_simgrid_initial_rates(self, path: Path) -> None:
        run = simgrid_reference(path)
        assert run.rate_gbps is not None
        assert max_min(run.paths, run.capacity_gbps) == pytest.approx(run.rate_gbps, rel=1e-8)


class TestEdges:
    def test_no_flows(self) -> None:
        assert max_min(np.zeros((0, 4)), [1.0]).shape == (0,)
        assert max_min_entries([], [], None, 0, [1.0]).link_gbps.tolist() == [0.0]

    def test_a_flow_without_links_gets_its_demand(self) -> None:
        assert max_min([[-1], [-1], [0]], [6.0], [5, math.inf, math.inf]).tolist() == [
            5,
            math.inf,
            6,
        ]
        assert max_min(np.zeros((2, 0), dtype=int), []).tolist() == [math.inf] * 2

    def test_a_free_flow_among_many_bound_ones(self) -> None:
        assert max_min([[0]] * 9 + [[-1]], [4.5]).tolist() == [0.5] * 9 + [math.inf]
        loads = ([0, 1, 1], [0, 0, 1], [1.0, 2.0, 1.0], 3, [6.0, math.inf])
        assert max_min_entries(*loads).flow_gbps.tolist() == [2.0, 2.0, math.inf]

    def test_a_dead_link_stops_its_flows_only(self) -> None:
        assert max_min([[0, 1], [1, -1]], [0.0, 8.0]).tolist() == [0.0, 8.0]

    def test_a_repeated_link_counts_twice(self) -> None:
        assert max_min([[0, 0], [0, -1]], [3.0]).tolist() == [1.0, 1.0]

    def test_an_infinite_link_never_binds(self) -> None:
        assert max_min([[0, 1], [0, -1]], [math.inf, 5.0]).tolist() == [5.0, math.inf]

    def test_padding_may_come_first(self) -> None:
        assert max_min([[-1, 0], [0, -1]], [4.0]).tolist() == [2.0, 2.0]

    def test_a_met_demand_is_met_to_the_last_bit(self) -> None:
        demand = [0.1, 0.7, 1 / 3]
        assert max_min([[0]] * 3, [100.0], demand, [3.0, 7.0, 0.3]).tolist() == demand

    @pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
    def test_any_integer_type_will_do(self, dtype: type[np.integer]) -> None:
        paths = np.array([[127, 1], [127, 2]], dtype=dtype)
        assert max_min(paths, np.full(128, 6.0)).tolist() == [3.0, 3.0]
        assert max_min_entries(paths[:, 1] - 1, paths[:, 0], None, 2, np.full(128, 6.0)).flow_gbps[
            0
        ] == pytest.approx(3.0)

    def test_input_is_left_alone(self) -> None:
        paths = np.array([[0, -1], [0, 1]])
        capacity = np.array([1.0, 2.0])
        max_min(paths, capacity, np.array([1.0, 1.0]), np.array([1.0, 2.0]))
        assert paths.tolist() == [[0, -1], [0, 1]]
        assert capacity.tolist() == [1.0, 2.0]

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (([0, 1], [1.0]), "two-dimensional"),
            (([[0.5]], [1.0]), "integer"),
            (([[1]], [1.0]), "0 to 0|1 to 1"),
            (([[-2]], [1.0]), "-2"),
            (([[0]], [[1.0]]), "one-dimensional"),
            (([[0]], [-1.0]), "0 or more"),
            (([[0]], [math.nan]), "0 or more"),
            (([[0]], [1.0], [1.0, 2.0]), "shape"),
            (([[0]], [1.0], [-1.0]), "0 or more"),
            (([[0]], [1.0], [math.nan]), "0 or more"),
            (([[0]], [1.0], None, [0.0]), "above 0"),
            (([[0]], [1.0], None, [math.nan]), "above 0"),
            (([[0]], [1.0], None, [math.inf]), "finite"),
        ],
    )
    def test_senseless_input(self, arguments: tuple[list[float], ...], problem: str) -> None:
        with pytest.raises(ValueError, match=problem):
            max_min(*arguments)

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (([0, 1], [0], None, 2, [1.0]), "one length"),
            (([1, 0], [0, 0], None, 2, [1.0]), "sorted"),
            (([2], [0], None, 2, [1.0]), "entry_flow"),
            (([-1], [0], None, 2, [1.0]), "entry_flow"),
            (([0], [-1], None, 1, [1.0]), "entry_link"),
            (([0], [1], None, 1, [1.0]), "entry_link"),
            (([0], [0], [0.0], 1, [1.0]), "above 0"),
            (([0], [0], [1.0, 1.0], 1, [1.0]), "shape"),
        ],
    )
    def test_senseless_entries(self, arguments: tuple[list[float], ...], problem: str) -> None:
        with pytest.raises(ValueError, match=problem):
            max_min_entries(*arguments)


class TestAgainstOracle:
    @modest
    @given(networks(), st.data())
    def test_paths(self, network: tuple[list[list[int]], list[float]], data: st.DataObject) -> None:
        paths, capacity = network
        several = {"min_size": len(paths), "max_size": len(paths)}
        demand = data.draw(st.lists(demands, **several))
        weight = data.draw(st.lists(amounts, **several))
        expected = max_min_by_filling(
            path_loads(paths), exact(capacity), exact(demand), exact(weight)
        )
        rates = max_min(padded(paths), capacity, demand, weight)
        assert rates == pytest.approx([float(rate) for rate in expected], rel=1e-9, abs=1e-12)

    @modest
    @given(st.data())
    def test_entries(self, data: st.DataObject) -> None:
        """Long flows take several rows, short ones one, and some have no entry at all."""
        capacity = data.draw(st.lists(amounts, min_size=1, max_size=8))
        lengths = data.draw(st.lists(st.sampled_from([0, 1, 3, 17, 40]), min_size=1, max_size=5))
        flow = np.repeat(np.arange(len(lengths)), lengths)
        rng = np.random.default_rng(data.draw(st.integers(0, 99)))
        link = rng.integers(0, len(capacity), len(flow))
        load = rng.choice([0.25, 0.5, 1.0, 2.0, 3.7], len(flow))
        demand = data.draw(
            st.lists(st.one_of(amounts, st.just(1e6)), min_size=len(lengths), max_size=len(lengths))
        )
        weight = data.draw(st.lists(amounts, min_size=len(lengths), max_size=len(lengths)))
        loads = entry_loads(flow.tolist(), link.tolist(), exact(load), len(lengths))
        expected = max_min_by_filling(loads, exact(capacity), exact(demand), exact(weight))

        found = max_min_entries(flow, link, load, len(lengths), capacity, demand, weight)

        assert found.flow_gbps == pytest.approx([float(rate) for rate in expected], rel=1e-9)
        used = np.bincount(link, found.flow_gbps[flow] * load, len(capacity))
        assert found.link_gbps == pytest.approx(used, rel=1e-12)
        for f, holder in enumerate(found.bottleneck):
            if holder < 0:
                assert found.flow_gbps[f] == demand[f]
                continue
            assert holder in loads[f]
            assert used[holder] == pytest.approx(capacity[holder], rel=1e-9)
            sharing = np.unique(flow[link == holder])
            level = found.flow_gbps / weight
            assert level[f] == pytest.approx(level[sharing].max(), rel=1e-9)

    def test_light_flow_behind_a_heavy_one(self) -> None:
        """What a heavy flow leaves must not be swamped by its rounding."""
        entries = ([0, 0, 1], [0, 1, 1], None, 2, [1.0, 1e9], None, [1e8, 1e-3])
        found = max_min_entries(*entries)
        assert found.flow_gbps == pytest.approx([1.0, 1e9 - 1], rel=1e-9)

    @pytest.mark.parametrize("seed", range(3))
    def test_paths_and_entries_agree(self, seed: int) -> None:
        paths, capacity = leaf_spine(16, 8, 3, seed)
        flow, hop = np.nonzero(paths >= 0)
        link = paths[flow, hop]
        found = max_min_entries(flow, link, None, len(paths), capacity)
        assert found.flow_gbps.tolist() == max_min(paths, capacity).tolist()
        assert (found.link_gbps <= capacity * (1 + 1e-12)).all()
        assert (found.bottleneck >= 0).all()

    def test_large_network_is_max_min(self) -> None:
        paths, capacity = leaf_spine(128, 16, 4, 5)
        capacity[4096:] = np.random.default_rng(6).uniform(100, 900, len(capacity) - 4096)
        rates = max_min(paths, capacity)
        assert not max_min_violations(path_loads(paths), capacity, rates, tolerance=1e-11)


class TestSymmetries:
    @modest
    @given(networks(), st.randoms(use_true_random=False))
    def test_names_do_not_matter(
        self, network: tuple[list[list[int]], list[float]], random: np.random.Generator
    ) -> None:
        paths, capacity = network
        rates = max_min(padded(paths), capacity)
        flows, links = list(range(len(paths))), list(range(len(capacity)))
        random.shuffle(flows)
        random.shuffle(links)
        place = {link: new for new, link in enumerate(links)}
        renamed = [[place[link] for link in paths[f]] for f in flows]
        again = max_min(padded(renamed), [capacity[link] for link in links])
        assert again == pytest.approx(rates[flows], rel=1e-11)

    @modest
    @given(networks(), st.sampled_from([0.5, 1024.0]), st.floats(0.1, 10))
    def test_units_do_not_matter(
        self, network: tuple[list[list[int]], list[float]], binary: float, scale: float
    ) -> None:
        paths, capacity = padded(network[0]), np.array(network[1])
        rates = max_min(paths, capacity)
        assert max_min(paths, capacity * binary).tolist() == (rates * binary).tolist()
        assert max_min(paths, capacity * scale) == pytest.approx(rates * scale, rel=1e-11)
        weight = np.full(len(paths), scale)
        assert max_min(paths, capacity, None, weight) == pytest.approx(rates, rel=1e-11)

    def test_the_same_twice(self) -> None:
        paths, capacity = leaf_spine(32, 16, 4, 1)
        assert max_min(paths, capacity).tobytes() == max_min(paths, capacity).tobytes()
