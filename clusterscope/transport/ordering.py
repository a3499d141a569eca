"""What it costs to spread the packets of a flow whose receiver wants them in order.

Two packets of a flow that follow each other at a distance of G service times take different links
and wait there for as long as others are ahead of them. The first is overtaken when it waits longer
than G. Senders pace, and switches deal a flow's packets evenly over the n links of a stage; so a
queue behind that stage sees n periodic flows at utilization rho, period D = n / rho: an nD/D/1
queue, whose wait exceeds x service times with the chance (Benes; Roberts & Virtamo, *The
Superposition of Periodic Cell Arrival Streams in an ATM Multiplexer*, IEEE Trans. Comm. 1991)

    Q(x) = sum over x < k < n of
           C(n-1, k) ((k-x)/D)^k (1 - (k-x)/D)^(n-1-k) (D - n + 1 + x) / (D - k + x)

For many links this is M/D/1. With q such queues on the way, p = min(1, q Q(G)) of the packets are
overtaken, and each costs a go-back-N of its window W (`recovery`). A sender at x times the rate
that the fabric would give it has rho and W that are x times as large and G that is 1/x; it settles
at the x in (0, 1] whose goodput x (1-p) / (1 + p W x) is best.

Model: the best case. The next packet is taken not to wait, which makes p too large by at most
1/(1-rho); the sender is taken to find its best rate, which makes the goodput too large.

Against packets (256 hosts, 16 leaves and spines, paced, least-queue choice): Q(1/rho) = 0.0128 at
rho = 0.45 where 0.0101 of the packets were overtaken, 0.0278 at 0.5 where 0.0205 were.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from clusterscope.columns import F64, I64
from clusterscope.transport.exact import power
from clusterscope.transport.recovery import go_back_n

# Rates that a sender may settle at, as shares of what the fabric would give it.
_STEPS = 64
# Points of the tables of `wait_beyond`; the last wait is 31 service times.
_LOADS, _WAITS, _BEND = 128, 64, 11.3
# Links of a stage beyond which the queue behind it is as good as M/D/1.
_MOST_LINKS = 64


@dataclass(frozen=True)
class Spreading:
    """What one row (F,) of a phase meets between the links that spread it and its receiver.

    Attributes:
        load_ratio: utilization of the fullest stage at the rate the fabric gives, 0 to 1.
        gap: service times of that stage between two packets of the row at that rate.
        window: packets sent between an overtaking and its retransmission, at that rate.
        queues: queues in which packets can overtake; 0 when all take one path.
        links: links of the stage.
    """

    load_ratio: F64
    gap: F64
    window: F64
    queues: F64
    links: F64


def wait_beyond(wait: F64, load_ratio: F64, links: int) -> F64:
    """Chance that a packet waits longer than `wait` service times, nD/D/1 with n = `links`."""
    load, total = np.minimum(load_ratio, 1.0), np.zeros(np.shape(wait))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        period = links / load
        choose = 1.0
        for k in range(1, links):
            choose = choose * (links - k) / k
            share = (k - wait) / period
            term = choose * power(share, k) * power(1.0 - share, links - 1 - k)
            term = term * (period - links + 1 + wait) / (period - k + wait)
            total += np.where((k > wait) & (load > 0), term, 0.0)
    return np.minimum(total, 1.0)


def overtaken(load_ratio: F64, gap: F64, queues: F64, links: int) -> F64:
    """Share of packets that a later packet of their flow overtakes."""
    return np.minimum(1.0, queues * wait_beyond(gap, load_ratio, links))


def settle(rows: Spreading) -> tuple[F64, F64]:
    """Where senders settle: share of the fabric's rate sent, and of it that arrives, each (F,)."""
    sent, goodput = np.ones(len(rows.gap)), np.ones(len(rows.gap))
    spread = np.flatnonzero((rows.queues > 0) & (rows.load_ratio > 0))
    first, kind = np.unique(_alike(rows, spread), return_index=True, return_inverse=True)[1:]
    few = spread[first]
    links = np.clip(rows.links[few], 2, _MOST_LINKS).astype(np.int32)
    for count in np.unique(links).tolist():
        own = few[links == count]
        sent[own], goodput[own] = _best(rows, own, count)
    sent[spread], goodput[spread] = sent[few][kind], goodput[few][kind]
    return sent, goodput


def _alike(rows: Spreading, spread: I64) -> I64:
    """A number that is the same for rows which hardly differ, (F,)."""
    key = np.zeros(len(spread), dtype=np.int64)
    for values, scale in (
        (rows.load_ratio, 1024),
        (rows.gap, 64),
        (rows.window, 4),
        (rows.queues, 4),
        (rows.links, 1),
    ):
        step = np.minimum(np.rint(values[spread] * scale), 4095).astype(np.int64)
        key = key * 4096 + step
    return key


def _best(rows: Spreading, own: I64, links: int) -> tuple[F64, F64]:
    """The best of `_STEPS` rates for some rows of one number of links, and its goodput."""
    sent, goodput, best = np.ones(len(own)), np.ones(len(own)), np.zeros(len(own))
    for step in range(1, _STEPS + 1):
        share = step / _STEPS
        wait = _looked_up(links, share * rows.load_ratio[own], rows.gap[own] / share)
        lost = np.minimum(1.0, rows.queues[own] * wait)
        arrived = go_back_n(lost, share * rows.window[own])
        better = share * arrived > best
        best = np.where(better, share * arrived, best)
        sent = np.where(better, share, sent)
        goodput = np.where(better, arrived, goodput)
    return sent, goodput


def _looked_up(links: int, load_ratio: F64, wait: F64) -> F64:
    """`wait_beyond` between the points of a table, (F,)."""
    table = _table(links)
    row = np.minimum(load_ratio, 1.0) * _LOADS
    column = np.minimum(_BEND * np.sqrt(wait), table.shape[1] - 1.001)
    low, left = np.minimum(row.astype(np.int32), _LOADS - 1), column.astype(np.int32)
    up, right = row - low, column - left
    below = table[low, left] * (1.0 - right) + table[low, left + 1] * right
    above = table[low + 1, left] * (1.0 - right) + table[low + 1, left + 1] * right
    result: F64 = below * (1.0 - up) + above * up
    return result


@cache
def _table(links: int) -> F64:
    """`wait_beyond` by load (rows, in steps of 1 / _LOADS) and wait (columns, of (i / _BEND)^2)."""
    load = np.arange(_LOADS + 1)[:, None] / _LOADS
    wait = np.arange(_WAITS)[None, :] / _BEND
    return wait_beyond(wait * wait + 0.0 * load, load + 0.0 * wait, links)
