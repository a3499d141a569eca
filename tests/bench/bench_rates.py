"""What the fair-share kernels cost, as multiples of one bincount of the same entries.

Run `python -m tests.bench.bench_rates`; `--repeats N` times each case N times.

Networks
    A tree of pods: 96 hosts a leaf, 32 leaves and 32 spines a pod, 32 cores behind each spine, all
    links one-way and of 400 Gb/s. 32 pods have 98,304 hosts and 2 * 98,304 (NICs) + 2 * 32,768
    (leaf to spine) + 2 * 32,768 (spine to core) = 327,680 links, 3:1 oversubscribed at the leaves.
    Flows are a random permutation that chooses its spine and core at random: six hops, nic - leaf -
    spine - core - spine - leaf - nic, or fewer within a pod or a leaf. The same tree with trunks of
    800 Gb/s is the less contended variant.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clusterscope.engine.completion import completion_times
from clusterscope.engine.rates import max_min, max_min_entries

NIC_GBPS = 400.0


class Network(NamedTuple):
    paths: NDArray[np.int32]
    capacity_gbps: NDArray[np.float64]


class Timing(NamedTuple):
    best_s: float
    median_s: float


def timed(call: Callable[[], object], repeats: int) -> Timing:
    spent = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        spent.append(time.perf_counter() - begin)
    return Timing(min(spent), float(np.median(spent)))


def pod_tree(
    pods: int,
    hosts_per_leaf: int = 96,
    leaves: int = 32,
    spines: int = 32,
    cores: int = 32,
    trunk_gbps: float = NIC_GBPS,
    seed: int = 0,
) -> Network:
    """A random permutation over a three-level tree; see the module docstring."""
    rng = np.random.default_rng(seed)
    hosts = pods * leaves * hosts_per_leaf
    source, target = np.arange(hosts), rng.permutation(hosts)
    spine, core = rng.integers(0, spines, hosts), rng.integers(0, cores, hosts)
    leaf_trunks, core_trunks = pods * leaves * spines, pods * spines * cores
    first = np.cumsum([0, hosts, hosts, leaf_trunks, leaf_trunks, core_trunks])
    paths = np.full((hosts, 6), -1, dtype=np.int32)
    paths[:, 0], paths[:, 5] = source, first[1] + target
    leaf_up, leaf_down = source // hosts_per_leaf, target // hosts_per_leaf
    pod_up, pod_down = leaf_up // leaves, leaf_down // leaves
    leaves_differ, pods_differ = leaf_up != leaf_down, pod_up != pod_down
    paths[:, 1] = np.where(leaves_differ, first[2] + leaf_up * spines + spine, -1)
    paths[:, 4] = np.where(leaves_differ, first[3] + leaf_down * spines + spine, -1)
    up, down = (pod_up * spines + spine) * cores + core, (pod_down * spines + spine) * cores + core
    paths[:, 2] = np.where(pods_differ, first[4] + up, -1)
    paths[:, 3] = np.where(pods_differ, first[5] + down, -1)
    capacity = np.full(first[5] + core_trunks, trunk_gbps)
    capacity[: 2 * hosts] = NIC_GBPS
    return Network(paths, capacity)


def leaf_spine(leaves: int = 128, down: int = 16, up: int = 4, seed: int = 0) -> Network:
    """A random permutation over an oversubscribed leaf-spine, uplink by destination."""
    hosts = leaves * down
    source, target = np.arange(hosts), np.random.default_rng(seed).permutation(hosts)
    paths = np.full((hosts, 4), -1, dtype=np.int32)
    paths[:, 0], paths[:, 3] = source, hosts + target
    away = source // down != target // down
    paths[:, 1] = np.where(away, 2 * hosts + source // down * up + target % up, -1)
    paths[:, 2] = np.where(away, 2 * hosts + (leaves + target // down) * up + target % up, -1)
    return Network(paths, np.full(2 * hosts + 2 * leaves * up, NIC_GBPS))


class Ratio(NamedTuple):
    solve: Timing
    best: float
    """Best solve over best bincount: what a quiet machine would show."""
    median: float
    """Median over repeats of one solve over one bincount right before it."""


def against_bincount(network: Network, repeats: int) -> Ratio:
    """Solve, and count the entries of each link once as the yardstick (padding as link 0)."""
    entries = np.where(network.paths < 0, 0, network.paths).astype(np.intp).ravel()
    links = len(network.capacity_gbps)
    base, solve = [], []
    for _ in range(repeats):
        base.append(timed(lambda: np.bincount(entries, minlength=links), 1).best_s)
        solve.append(timed(lambda: max_min(*network), 1).best_s)
    timing = Timing(min(solve), float(np.median(solve)))
    return Ratio(timing, min(solve) / min(base), float(np.median(np.divide(solve, base))))


def exponent(small: Timing, large: Timing, factor: float) -> float:
    """The power of the size by which the best time grows."""
    return float(np.log(large.best_s / small.best_s) / np.log(factor))


def random_sizes(flows: int, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).integers(10**8, 2 * 10**9, flows).astype(float)


def report(name: str, timing: Timing, note: str = "") -> None:
    print(f"{name:<58} best {timing.best_s:9.4f} s  median {timing.median_s:9.4f} s  {note}")


def in_bincounts(found: Ratio) -> str:
    return f"{found.best:.1f}x bincount (median {found.median:.1f}x)"


def report_solves(repeats: int) -> None:
    for trunk in (400.0, 800.0):
        found = against_bincount(pod_tree(32, trunk_gbps=trunk), 3 * repeats)
        name = f"max_min 98,304 flows, 327,680 links, {trunk:.0f} Gb/s trunks"
        report(name, found.solve, f"{in_bincounts(found)}, target 60x")
    network = pod_tree(342)
    network = Network(network.paths[: 2**20], network.capacity_gbps)
    found = against_bincount(network, repeats)
    report("max_min 1,048,576 flows", found.solve, f"{in_bincounts(found)}, target 1.0 s")
    entries = np.repeat(np.arange(2**20), 6), network.paths.ravel()
    kept = entries[1] >= 0
    flow, link, capacity = entries[0][kept], entries[1][kept], network.capacity_gbps
    solve = timed(lambda: max_min_entries(flow, link, None, 2**20, capacity), repeats)
    report("max_min_entries 1,048,576 flows of up to 6 entries", solve)
    rng = np.random.default_rng(0)
    flow, link = np.repeat(np.arange(8), 100_000), rng.integers(0, 327_680, 800_000)
    weight = rng.uniform(0.1, 2.0, len(link))
    capacity = np.full(327_680, NIC_GBPS)
    solve = timed(lambda: max_min_entries(flow, link, weight, 8, capacity), repeats)
    report("max_min_entries 8 flows of 100,000 weighted entries", solve)


def report_completions(repeats: int) -> None:
    network = pod_tree(32, hosts_per_leaf=98)
    size = np.full(len(network.paths), 1e9)
    run = timed(lambda: completion_times(*network, size), repeats)
    report(f"completion_times {len(size):,} hosts, equal sizes", run, "target 1.5 s")
    network = leaf_spine()
    size = random_sizes(len(network.paths))
    run = timed(lambda: completion_times(*network, size), repeats)
    finishes = len(np.unique(completion_times(*network, size)))
    report(f"completion_times 2,048 flows, {finishes:,} finishes", run, "target 0.7 s")
    incast = Network(np.zeros((2048, 1), dtype=np.int32), np.array([NIC_GBPS]))
    run = timed(lambda: completion_times(*incast, size), repeats)
    report("completion_times 2,048 to one, distinct sizes", run)


def growth(repeats: int) -> tuple[list[int], list[Timing]]:
    """Flows and solve times of about 1k, 10k and 100k flows."""
    networks = [pod_tree(1, leaves=11), pod_tree(3, leaves=35), pod_tree(32, hosts_per_leaf=98)]
    timings = [timed(lambda n=n: max_min(*n), 3 * repeats) for n in networks]
    return [len(network.paths) for network in networks], timings


def report_growth(repeats: int) -> None:
    flows, timings = growth(repeats)
    for count, solve in zip(flows, timings, strict=True):
        report(f"max_min {count:,} flows", solve)
    for first, last in ((0, 1), (1, 2), (0, 2)):
        name = f"exponent of {flows[first]:,} to {flows[last]:,} flows"
        power = exponent(timings[first], timings[last], flows[last] / flows[first])
        print(f"{name:<58} {power:.2f}")


def report_many_sizes() -> None:
    network = pod_tree(32)
    rng = np.random.default_rng(1)
    size = rng.choice(np.linspace(1e8, 2e9, 1000), len(network.paths))
    run = timed(lambda: completion_times(*network, size), 1)
    report("completion_times 98,304 flows of 1,000 sizes", run)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--long", action="store_true", help="also the half-minute case")
    arguments = parser.parse_args()
    report_solves(arguments.repeats)
    report_completions(arguments.repeats)
    report_growth(arguments.repeats)
    if arguments.long:
        report_many_sizes()


if __name__ == "__main__":
    main()
