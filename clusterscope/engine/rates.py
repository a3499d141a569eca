"""Fair rates: who gets how much of the links they share.

Model
    Weighted, demand-limited max-min fairness: the rates of all flows rise together, in proportion
    to their weights, until a link fills or a demand is met. No flow can then gain except at the
    cost of one that has no more (per weight) than itself.

Equation
    ``rate_i = min(demand_i, weight_i * level)`` at the flow's bottleneck, the saturated link on
    which its ``rate / weight`` is the highest.

Source
    D. Bertsekas, R. Gallager, *Data Networks*, 2nd ed., Prentice Hall 1992, section 6.5.2.

The result depends on the network alone: every tie is broken by index, and neither linear algebra
nor a transcendental function is used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clusterscope.engine._pages import Capacities, used_pages
from clusterscope.engine._waterfill import Floats, Incidence, Ints, summed, water_fill

WHOLE_ROW = 16
"""Flows with at most this many entries take one row each."""

SPLIT_ROW = 8
"""Entries in each of the rows that longer flows take."""


class Rates(NamedTuple):
    """Max-min rates and where they come from."""

    flow_gbps: Floats
    """(F,) rate of each flow, Gb/s; inf for a flow that neither a link nor a demand limits."""
    link_gbps: Floats
    """(L,) load of each link, Gb/s."""
    bottleneck: NDArray[np.int32]
    """(F,) the link that holds each flow back, -1 for a demand-limited or unlimited flow."""


def max_min(
    paths: ArrayLike,
    capacity_gbps: ArrayLike,
    demand_gbps: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> Floats:
    """Return the max-min fair rate of each flow.

    Args:
        paths: (F, H) integer link ids of each flow's path, -1 where it is shorter. A link that
            appears twice counts twice.
        capacity_gbps: (L,) link capacities, Gb/s; 0 is a dead link.
        demand_gbps: (F,) most that each flow wants, Gb/s; inf and None are greedy.
        weight: (F,) share of each flow relative to others; None is 1 for all.

    Returns:
        (F,) rates, Gb/s. A flow without a link gets its demand.

    Raises:
        ValueError: if a shape, an id or a number makes no sense.
    """
    links = path_columns(paths)
    capacity = padded_capacity(capacity_gbps)
    check_ids(links, len(capacity) - 1, "paths")
    flows = links.shape[1]
    demand = checked_demand(demand_gbps, flows)
    share = checked_weight(weight, flows)
    loads = None if share is None else np.broadcast_to(share, links.shape)
    cap = demand if share is None else demand / share
    level = water_fill(Incidence(links, loads, None), cap, capacity).level
    return _rates(level, cap, demand, share)


def max_min_entries(
    entry_flow: ArrayLike,
    entry_link: ArrayLike,
    entry_weight: ArrayLike | None,
    flows: int,
    capacity_gbps: ArrayLike,
    demand_gbps: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> Rates:
    """Return the max-min fair rates of flows that load many links, each in its own measure.

    Flow ``f`` at rate ``r`` puts ``entry_weight * r`` on ``entry_link`` for each of its entries: a
    sprayed flow loads each of its links with a part of its rate, a collective that moves in lock
    step loads hundreds of thousands of links at once.

    Args:
        entry_flow: (E,) integer flow of each entry, not decreasing.
        entry_link: (E,) integer link of each entry; repeats within a flow add up.
        entry_weight: (E,) load per unit of rate, above 0; None is 1 for all.
        flows: number of flows F.
        capacity_gbps: (L,) link capacities, Gb/s; 0 is a dead link.
        demand_gbps: (F,) most that each flow wants, Gb/s; inf and None are greedy.
        weight: (F,) share of each flow relative to others; None is 1 for all.

    Returns:
        Rates of the flows, loads of the links, and the bottleneck of each flow.

    Raises:
        ValueError: if a shape, an id, an order or a number makes no sense.
    """
    flow, link = _checked_entries(entry_flow, entry_link, flows)
    capacity = checked_capacity(capacity_gbps)
    check_ids(link + 1, len(capacity), "entry_link", padding=False)
    load = _positive(entry_weight, len(link), "entry_weight")
    demand = checked_demand(demand_gbps, flows)
    share = checked_weight(weight, flows)
    return _entry_rates(flow, link, _level_loads(load, share, flow), capacity, demand, share)


def own_entries(
    entry_flow: NDArray[np.int32],
    entry_link: NDArray[np.int32],
    entry_weight: Floats,
    flows: int,
    capacity_gbps: Floats | Capacities,
    demand_gbps: Floats | None = None,
    *,
    loads: bool = True,
    split: bool = False,
) -> Rates:
    """Return what `max_min_entries` does, without its checks: for entries of our own routes.

    Without `loads` the loads of links are not added up, and none are returned. With `split` rows
    are as short as beside a flow that takes several, and so the same of equal links is named.
    """
    load = None if (entry_weight == 1).all() else entry_weight
    demand = np.full(flows, np.inf) if demand_gbps is None else demand_gbps
    flow = entry_flow.astype(np.intp, copy=False)
    most = SPLIT_ROW if split else WHOLE_ROW
    return _entry_rates(flow, entry_link, load, capacity_gbps, demand, None, loads=loads, most=most)


def _entry_rates(
    flow: Ints,
    link: NDArray[np.integer[Any]],
    load: Floats | None,
    every: Floats | Capacities,
    demand: Floats,
    share: Floats | None,
    *,
    loads: bool = True,
    most: int = WHOLE_ROW,
) -> Rates:
    """Return the rates of flows; `load` (E,) is per unit of level, `every` (L,) the capacities."""
    pages = used_pages(link, len(every))
    dense, capacity = pages.dense(link), pages.padded(every)
    cap = demand if share is None else demand / share
    incidence = _rows(flow, dense, load, len(demand), most)
    level, holder = water_fill(incidence, cap, capacity, trace=True)
    if holder is None:
        holder = np.zeros(len(demand), dtype=np.intp)
    holder[level >= cap] = 0
    on_links = np.zeros(0)
    if loads:
        used = level.take(flow) if load is None else level.take(flow) * load
        on_links = pages.spread(summed(dense, used, len(capacity) - 1))
    rate = _rates(level, cap, demand, share)
    return Rates(rate, on_links, pages.named(holder - 1).astype(np.int32))


def path_columns(paths: ArrayLike) -> Ints:
    """Return paths (F, H) as (H, F) columns whose links count from 1, with 0 for padding."""
    table = np.asarray(paths)
    if table.ndim != 2:
        raise ValueError(f"paths must be two-dimensional (flows, hops), not {table.ndim}-d")
    _check_integer(table, "paths")
    columns = np.zeros(table.shape[::-1], dtype=np.intp)
    if table.size:
        np.add(table.T, 1, out=columns, dtype=np.intp, casting="same_kind")
    return columns


def padded_capacity(capacity_gbps: ArrayLike) -> Floats:
    """Return the checked capacities (L,) behind the infinite padding link 0: (L + 1,)."""
    return np.concatenate(([np.inf], checked_capacity(capacity_gbps)))


def checked_capacity(capacity_gbps: ArrayLike) -> Floats:
    """Return the capacities (L,) as floats after checking that they are 0 or more."""
    capacity = np.asarray(capacity_gbps, dtype=np.float64)
    if capacity.ndim != 1:
        raise ValueError(f"capacity_gbps must be one-dimensional, not {capacity.ndim}-d")
    _check_at_least_zero(capacity, "capacity_gbps")
    return capacity


def check_ids(links: Ints, count: int, name: str, *, padding: bool = True) -> None:
    """Raise ValueError unless all links, which count from 1, are at most ``count``."""
    lowest = 0 if padding else 1
    if links.size and (links.min() < lowest or links.max() > count):
        raise ValueError(
            f"{name} has link ids from {links.min() - 1} to {links.max() - 1}, "
            f"but they must lie in {lowest - 1}..{count - 1}"
        )


def checked_demand(demand_gbps: ArrayLike | None, flows: int) -> Floats:
    """Return the demand (F,) of each flow, inf where it is greedy."""
    if demand_gbps is None:
        return np.full(flows, np.inf)
    demand = _per_item(demand_gbps, flows, "demand_gbps")
    _check_at_least_zero(demand, "demand_gbps")
    return demand


def checked_weight(weight: ArrayLike | None, flows: int) -> Floats | None:
    """Return the weight (F,) of each flow, None when all are 1."""
    return _positive(weight, flows, "weight")


def _positive(values: ArrayLike | None, size: int, name: str) -> Floats | None:
    """Return values that must be finite and above 0, None when all are 1."""
    if values is None:
        return None
    checked = _per_item(values, size, name)
    if not (np.isfinite(checked).all() and (checked > 0).all()):
        raise ValueError(f"{name} must be finite and above 0")
    return None if (checked == 1).all() else checked


def _per_item(values: ArrayLike, size: int, name: str) -> Floats:
    """Return values as floats after checking that there is one per item."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},), not {array.shape}")
    return array


def _check_at_least_zero(values: Floats, name: str) -> None:
    """Raise ValueError for a negative value or NaN."""
    if not (values >= 0).all():
        worst = np.flatnonzero(~(values >= 0))[0]
        raise ValueError(f"{name}[{worst}] is {values[worst]}, but must be 0 or more")


def _check_integer(ids: NDArray[np.generic], name: str) -> None:
    """Raise ValueError for ids that are not integers; an empty array may have any type."""
    if ids.size and not np.issubdtype(ids.dtype, np.integer):
        raise ValueError(f"{name} must hold integer ids, not {ids.dtype}")


def _checked_entries(entry_flow: ArrayLike, entry_link: ArrayLike, flows: int) -> tuple[Ints, Ints]:
    """Return flow (E,) and link (E,) of the entries after checking shape, type and order."""
    flow, link = np.asarray(entry_flow), np.asarray(entry_link)
    if flow.ndim != 1 or flow.shape != link.shape:
        raise ValueError(
            f"entry_flow and entry_link must be one-dimensional and of one length, "
            f"not {flow.shape} and {link.shape}"
        )
    _check_integer(flow, "entry_flow")
    _check_integer(link, "entry_link")
    flow, link = flow.astype(np.intp, copy=False), link.astype(np.intp, copy=False)
    if flow.size and (flow[0] < 0 or flow[-1] >= flows):
        raise ValueError(f"entry_flow must lie in 0..{flows - 1}")
    if (flow[1:] < flow[:-1]).any():
        raise ValueError("entry_flow must be sorted")
    return flow, link


def _level_loads(load: Floats | None, share: Floats | None, flow: Ints) -> Floats | None:
    """Return the load (E,) per unit of level of each entry, None when all are 1."""
    if share is None:
        return load
    per_level = share.take(flow)
    return per_level if load is None else per_level * load


def _rows(flow: Ints, link: Ints, load: Floats | None, flows: int, most: int) -> Incidence:
    """Lay entries (E,) out in rows of equal width, several for a flow with many entries."""
    if not len(link):
        return Incidence(np.zeros((0, flows), dtype=np.intp), None, None)
    count = np.bincount(flow, minlength=flows)
    longest = int(count.max())
    width = longest if longest <= most else SPLIT_ROW
    begin, of_row = np.cumsum(count) - count, None
    if longest > width:
        rows = np.maximum(-(-count // width), 1)
        of_row = np.repeat(np.arange(flows), rows)
        nth = np.arange(len(of_row)) - np.repeat(np.cumsum(rows) - rows, rows)
        begin = begin.take(of_row) + nth * width
        count = np.minimum(count.take(of_row) - nth * width, width)
    columns = np.empty((width, len(begin)), dtype=np.intp)
    loads = None if load is None else np.empty(columns.shape)
    for hop in range(width):
        entry, beyond = begin + hop, np.flatnonzero(count <= hop)
        link.take(entry, mode="clip", out=columns[hop])
        columns[hop] += 1
        columns[hop, beyond] = 0
        if load is not None and loads is not None:
            # Any load will do for padding, which never fills.
            load.take(entry, mode="clip", out=loads[hop])
    return Incidence(columns, loads, of_row)


def _rates(level: Floats, cap: Floats, demand: Floats, share: Floats | None) -> Floats:
    """Return rates (F,) from levels; a met demand is met to the last bit."""
    if share is None:
        return level
    return np.where(level >= cap, demand, level * share)
