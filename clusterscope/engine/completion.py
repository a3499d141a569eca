"""Completion times: when each flow has moved its bytes.

Model
    A fluid of bytes moves at max-min fair rates, which are shared anew whenever a flow starts or
    finishes. Latency, headers and congestion control belong to transports, not here.

Equation
    ``integral of rate_i from start_i to finish_i = size_i``. When all flows have one size and one
    start, ``finish_i = start + size / rate_i``: the fastest flows on any link leave first, and the
    rates they free are of no use to those behind a slower bottleneck, which by definition of
    max-min (Bertsekas & Gallager, *Data Networks*, 2nd ed., 6.5.2) had none of the fast ones ahead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from clusterscope.engine._fluid import FluidRun
from clusterscope.engine._waterfill import Floats, Incidence, Ints, water_fill
from clusterscope.engine.rates import check_ids, padded_capacity, path_columns
from clusterscope.units import BITS_PER_BYTE, GIGA


def completion_times(
    paths: ArrayLike,
    capacity_gbps: ArrayLike,
    size_bytes: ArrayLike,
    start_s: ArrayLike | None = None,
) -> Floats:
    """Return when each flow finishes if all share their links max-min fairly.

    Args:
        paths: (F, H) integer link ids of each flow's path, -1 where it is shorter. A link that
            appears twice counts twice.
        capacity_gbps: (L,) link capacities, Gb/s; 0 is a dead link.
        size_bytes: (F,) what each flow has to move, bytes.
        start_s: (F,) when each flow starts, s; None is 0 for all.

    Returns:
        (F,) finish times, s: the start for a flow with nothing to move or without a link, inf for
        one behind a dead link.

    Raises:
        ValueError: if a shape, an id or a number makes no sense.
    """
    links = path_columns(paths)
    capacity = padded_capacity(capacity_gbps)
    check_ids(links, len(capacity) - 1, "paths")
    flows = links.shape[1]
    size = _finite(size_bytes, flows, "size_bytes")
    if (size < 0).any():
        raise ValueError("size_bytes must be 0 or more")
    start = np.zeros(flows) if start_s is None else _finite(start_s, flows, "start_s")
    if not flows:
        return np.zeros(0)
    gbit = size * (BITS_PER_BYTE / GIGA)
    if gbit[0] > 0 and (gbit == gbit[0]).all() and (start == start[0]).all():
        return start + _time_alone(links, capacity, gbit)
    return FluidRun(links, capacity, gbit, start).run()


def _time_alone(links: Ints, capacity: Floats, size_gbit: Floats) -> Floats:
    """Return the time (F,) each flow takes at its initial rate, s."""
    greedy = np.full(links.shape[1], np.inf)
    rate = water_fill(Incidence(links, None, None), greedy, capacity).level
    time = np.full(len(rate), np.inf)
    np.divide(size_gbit, rate, out=time, where=rate > 0)
    return time


def _finite(values: ArrayLike, flows: int, name: str) -> Floats:
    """Return values (F,) as floats after checking shape and finiteness."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (flows,):
        raise ValueError(f"{name} must have shape ({flows},), not {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")
    return array
