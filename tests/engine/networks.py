"""Small random networks and reference runs for the fair-share tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

SIMGRID = sorted((Path(__file__).parent / "fixtures" / "simgrid").glob("*.json"))


class Reference(NamedTuple):
    """One SimGrid run: Gb/s, bytes, s."""

    paths: NDArray[np.intp]
    capacity_gbps: NDArray[np.float64]
    size_bytes: NDArray[np.float64]
    start_s: NDArray[np.float64]
    rate_gbps: NDArray[np.float64] | None
    finish_s: NDArray[np.float64]


def simgrid_reference(path: Path) -> Reference:
    run: dict[str, Any] = json.loads(path.read_text())
    rates = run.get("initial_rates_Bps")
    return Reference(
        padded([flow["links"] for flow in run["flows"]]),
        np.array([link["capacity_Bps"] for link in run["links"]]) * 8e-9,
        np.array([flow["bytes"] for flow in run["flows"]], dtype=float),
        np.array([flow["start"] for flow in run["flows"]], dtype=float),
        None if rates is None else np.array(rates) * 8e-9,
        np.array(run["finish_times"]),
    )


def padded(paths: list[list[int]]) -> NDArray[np.intp]:
    """Paths of any length as one array, padded with -1."""
    table = np.full((len(paths), max(map(len, paths), default=0)), -1)
    for row, path in zip(table, paths, strict=True):
        row[: len(path)] = path
    return table


def random_network(seed: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The networks of FAIR-05 and FAIR-07: 2-11 links of U[1, 10], 1-24 flows of 1-4 hops."""
    rng = np.random.default_rng(seed)
    links, flows = int(rng.integers(2, 12)), int(rng.integers(1, 25))
    paths = []
    for _ in range(flows):
        hops = int(rng.integers(1, min(4, links) + 1))
        paths.append(rng.choice(links, hops, replace=False).tolist())
    return padded(paths), rng.uniform(1, 10, links)


def leaf_spine(
    leaves: int, down: int, up: int, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """A random permutation, random uplinks, all links 400 Gb/s; NICs first, then trunks."""
    rng = np.random.default_rng(seed)
    hosts = leaves * down
    source, target = np.arange(hosts), rng.permutation(hosts)
    spine = rng.integers(0, up, hosts)
    paths = np.full((hosts, 4), -1)
    paths[:, 0], paths[:, 3] = source, hosts + target
    away = source // down != target // down
    paths[:, 1] = np.where(away, 2 * hosts + source // down * up + spine, -1)
    paths[:, 2] = np.where(away, 2 * hosts + (leaves + target // down) * up + spine, -1)
    return paths, np.full(2 * hosts + 2 * leaves * up, 400.0)


# Small whole numbers make ties and exactly full links common, which is where solvers break.
amounts = st.one_of(st.integers(1, 6).map(float), st.floats(0.01, 100.0))
capacities = st.one_of(st.just(0.0), amounts, amounts, amounts)


@st.composite
def networks(draw: st.DrawFn, *, flows: int = 8) -> tuple[list[list[int]], list[float]]:
    """Paths (with repeated and dead links) and capacities."""
    capacity = draw(st.lists(capacities, min_size=1, max_size=6))
    link = st.integers(0, len(capacity) - 1)
    paths = draw(st.lists(st.lists(link, min_size=1, max_size=4), min_size=1, max_size=flows))
    return paths, capacity
