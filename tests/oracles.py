"""Slow and obviously right versions of fast code, in plain Python.

Numbers may be floats or fractions: with fractions an answer is exact.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Number = Any
Loads = Sequence[dict[int, Number]]
"""For each flow, the load it puts on each of its links per unit of rate."""


def path_loads(paths: Sequence[Sequence[int]]) -> list[dict[int, int]]:
    """The loads of flows that follow one path each; -1 pads, repeats add up."""
    return [dict(Counter(int(link) for link in path if link >= 0)) for path in paths]


def entry_loads(
    entry_flow: Sequence[int], entry_link: Sequence[int], entry_weight: Sequence[Number], flows: int
) -> list[dict[int, Number]]:
    """The loads of flows given as entries."""
    loads: list[dict[int, Number]] = [{} for _ in range(flows)]
    for flow, link, weight in zip(entry_flow, entry_link, entry_weight, strict=True):
        loads[flow][link] = loads[flow].get(link, 0) + weight
    return loads


def exact(values: Sequence[float]) -> list[Number]:
    """Floats as fractions; inf stays what it is."""
    return [value if math.isinf(value) else Fraction(value) for value in values]


def max_min_by_filling(
    loads: Loads, capacity: Sequence[Number], demand: Sequence[Number], weight: Sequence[Number]
) -> list[Number]:
    """Max-min rates by raising the level of all open flows until something stops one of them."""
    flows = range(len(loads))
    rate: list[Number] = [None] * len(loads)
    while any(rate[f] is None for f in flows):
        still_open = [f for f in flows if rate[f] is None]
        level = min(demand[f] / weight[f] for f in still_open)
        share = {}
        for link, size in enumerate(capacity):
            used = sum(rate[f] * loads[f].get(link, 0) for f in flows if rate[f] is not None)
            pull = sum(weight[f] * loads[f].get(link, 0) for f in still_open)
            if pull > 0:
                share[link] = max(size - used, 0) / pull
                level = min(level, share[link])
        for f in still_open:
            if demand[f] / weight[f] <= level:
                rate[f] = demand[f]
            elif any(share[link] <= level for link in loads[f]):
                rate[f] = weight[f] * level
    return rate


def completion_by_events(
    paths: Sequence[Sequence[int]],
    capacity: Sequence[Number],
    size_gbit: Sequence[Number],
    start: Sequence[Number],
) -> list[Number]:
    """Finish times by sharing everything anew at each start and finish."""
    loads = path_loads(paths)
    left = list(size_gbit)
    finish: list[Number] = [math.inf] * len(loads)
    waiting, active, now = set(range(len(loads))), set(), min(start, default=0)
    while waiting or active:
        for f in [f for f in waiting if start[f] <= now]:
            waiting.remove(f)
            active.add(f)
        order = sorted(active)
        greedy, alike = [math.inf] * len(order), [1] * len(order)
        rates = dict(
            zip(
                order,
                max_min_by_filling([loads[f] for f in order], capacity, greedy, alike),
                strict=True,
            )
        )
        end = {f: now + (left[f] / rates[f] if rates[f] else math.inf) for f in order}
        end |= {f: now for f in order if left[f] == 0}
        soonest = min([*end.values(), *(start[f] for f in waiting)])
        if soonest == math.inf:
            break
        for f in order:
            if end[f] <= soonest:
                active.remove(f)
                finish[f] = end[f]
            else:
                left[f] -= rates[f] * (soonest - now)
        now = soonest
    return finish


def max_min_violations(
    loads: Loads,
    capacity: Sequence[float],
    rate: Sequence[float],
    demand: Sequence[float] | None = None,
    weight: Sequence[float] | None = None,
    tolerance: float = 1e-9,
) -> list[str]:
    """What keeps rates from being max-min: a link too full, or a flow with no reason to stop."""
    wanted = demand if demand is not None else [math.inf] * len(loads)
    share = weight if weight is not None else [1.0] * len(loads)
    used = [0.0] * len(capacity)
    highest = [0.0] * len(capacity)
    for f, load in enumerate(loads):
        for link, unit in load.items():
            used[link] += rate[f] * unit
            highest[link] = max(highest[link], rate[f] / share[f])
    full = [u >= c * (1 - tolerance) for u, c in zip(used, capacity, strict=True)]
    found = [
        f"link {link} carries {used[link]} of {size}"
        for link, size in enumerate(capacity)
        if used[link] > size * (1 + tolerance)
    ]
    for f, load in enumerate(loads):
        content = rate[f] >= wanted[f] * (1 - tolerance)
        held = any(
            full[link] and rate[f] / share[f] >= highest[link] * (1 - tolerance) for link in load
        )
        if not (content or held):
            found.append(f"flow {f} at {rate[f]} has no bottleneck")
    return found
