"""Phases that run side by side over the same ports: together they take their bytes' sum.

Rings by rail send through NICs and inside domains at once, which are different ports. Where two
phases of one network meet on a port, its bytes of both have to pass, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clusterscope.columns import F64, bincount
from clusterscope.traffic.flows import Exchange, Phase
from clusterscope.units import BITS_PER_BYTE, GIGA


def side_by_side_s(
    phases: Sequence[Phase], alone_s: Sequence[float], line_gbps: F64, waits_s: Sequence[float] = ()
) -> float:
    """Seconds that phases take when all begin together.

    Args:
        phases: without computing; all of one job.
        alone_s: what the bytes of each take alone.
        line_gbps: rate of every vertex.
        waits_s: what each waits besides; nothing when left out.
    """
    factors = [1.0] * len(phases)
    for network in ("scale-up", "scale-out"):
        own = [at for at, p in enumerate(phases) if p.network == network and p.work is None]
        if len(own) > 1:
            factor = _crowded([phases[at] for at in own], line_gbps)
            for at in own:
                factors[at] = factor
    waits = waits_s or [0.0] * len(phases)
    rows = zip(factors, alone_s, waits, strict=True)
    return max((factor * own + wait for factor, own, wait in rows), default=0.0)


def _crowded(phases: Sequence[Phase], line_gbps: F64) -> float:
    """Time that phases take together over that of the longest of them alone, at least 1."""
    each = [busiest_s([phase], line_gbps) for phase in phases]
    return max(1.0, busiest_s(phases, line_gbps) / max(each)) if max(each) > 0 else 1.0


def busiest_s(phases: Sequence[Phase], line_gbps: F64) -> float:
    """Seconds that the busiest port needs to send or to receive its bytes of all phases."""
    longest = 0.0
    for way in range(2):
        size = np.zeros(len(line_gbps))
        for phase in phases:
            demand = phase.demand
            if isinstance(demand, Exchange):
                size += bincount(
                    demand.ports, np.full(len(demand.ports), demand.port_bytes), len(size)
                )
            else:
                size += bincount((demand.src, demand.dst)[way], demand.size_bytes, len(size))
        busy = np.flatnonzero(size)
        longest = max(longest, float((size[busy] / line_gbps[busy]).max(initial=0.0)))
    return longest * BITS_PER_BYTE / GIGA
