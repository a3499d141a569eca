"""Sends of a service that take turns with computing leave the links to others meanwhile.

The fair share takes what is sent in turn with computing as if it were sent all the time, which is
right while it is sent. What has as long as a whole pass needs a mean over time, and goes between:

    burst  = its rate while it sends, from the fair share of all
    spread = its fair share when each burst wants no more than its mean, size / (computing + sends)

Means add up on a link, so no link carries more than it can. Model: bursts are short against what
is spread between them (a layer of a decode step takes a millisecond, a pass seconds), and come at
their own times. Only phases of one service are told apart in this way; other jobs send at any time.

Axes: E entries, U entities.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clusterscope.columns import F64, I32
from clusterscope.engine._pages import Capacities
from clusterscope.engine.rates import Rates, own_entries
from clusterscope.traffic.flows import Work

# Share of a demand below which it still counts as met.
_MET = 1e-9


def between(
    entries: tuple[I32, I32, F64],
    limits: tuple[Capacities, F64],
    shared: tuple[Rates, Rates],
    phases: Sequence[tuple[int, F64, Work | None]],
) -> tuple[Rates, Rates]:
    """Rates once what is spread goes between the bursts, with and without pauses.

    Args:
        entries: entity, resource and load per unit of rate, (E,) each.
        limits: what resources carry, and the most that each entity wants, (U,) Gb/s.
        shared: the fair share of all, and the same but for pauses.
        phases: of services, with the place of its first entity, rates averaged over sending,
            waiting and computing, and its computing.
    """
    (capacity, wanted), (rates, free) = limits, shared
    rate, turns, mean = rates.flow_gbps, np.zeros(len(wanted), dtype=np.bool_), wanted.copy()
    for low, pace_gbps, work in phases:
        if work is not None:
            turns[low : low + len(pace_gbps)] = work.before_s[work.wire] > 0
            mean[low : low + len(pace_gbps)] = pace_gbps
    short = ~turns & np.isfinite(wanted) & (rate > 0) & (rate < wanted * (1 - _MET))
    if not short.any() or not turns.any():
        return shared
    demand = np.where(turns, np.minimum(mean, wanted), wanted)
    second = own_entries(*entries, len(rate), capacity, demand, loads=False)
    if (second.flow_gbps < demand * (1 - _MET))[turns].any():
        return shared  # a burst must keep its mean, or links would carry more than they can
    more = rates._replace(
        flow_gbps=np.where(turns, rate, second.flow_gbps),
        bottleneck=np.where(turns, rates.bottleneck, second.bottleneck).astype(np.int32),
    )
    return more, more if free is rates else free
