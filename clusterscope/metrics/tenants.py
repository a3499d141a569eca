"""Who slows whom: the jobs that share a fabric, in pairs and all together.

Entry (i, j) is the time of one iteration of job i while job j sends all the while, over that of
job i alone in the network:

    beside_s[i, j] = max over the parts q of an iteration of j of T(i | q),   q of those that send
    together_s[i]  = T(i | every other job in the part that alone slows i most)

`metrics.beside` works out the last. T(i | q) runs the iteration of i phase by phase, each phase
sharing the links max-min fairly with the phases of q (`engine.network.share`). It is the worst case
in time: jobs that happen to send in turn do better. No entry is below 1, though beside all others a
job may do a little better than beside one of them: who is held back elsewhere leaves room.

Axes: J jobs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from clusterscope.columns import F64, I32, Arrays, Col
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.shares import PhaseKey, Share
from clusterscope.engine.step import iteration_parts
from clusterscope.fabric.arrays import Fabric
from clusterscope.metrics.beside import Crowd, Keys, Parts, together
from clusterscope.metrics.jobs import ideal_s
from clusterscope.metrics.memo import per_key

# Jobs that the matrix holds: it has a column for each, and pairs grow with the square. Fewer where
# each pair takes a tenth of a second.
_MOST, _MOST_LARGE, _LARGE_GPUS = 16, 8, 20_000

Tell = Callable[[str, int, int], object]


@dataclass(frozen=True, eq=False, kw_only=True)
class Tenants(Arrays):
    """Iterations of jobs alone, in pairs and all together; inf where one cannot finish."""

    ideal_s: Annotated[F64, Col("J", "s", "iteration at line rate")]
    alone_s: Annotated[F64, Col("J", "s", "iteration alone in the network")]
    beside_s: Annotated[F64, Col("JJ", "s", "iteration of a row's job while a column's sends")]
    together_s: Annotated[F64, Col("J", "s", "iteration while all other jobs send")]
    meets: Annotated[I32, Col("JJ", "link", "link where the two meet, -1 when they do not")]
    shared: Annotated[I32, Col("JJ", "1", "links that both load")]

    @property
    def slowdown(self) -> F64:
        """Iteration beside each other job over that alone, (J, J); 1 on the diagonal."""
        return _over(self.beside_s, self.alone_s[:, None])

    @property
    def all_together(self) -> F64:
        """Iteration beside all other jobs over that alone, (J,)."""
        return _over(self.together_s, self.alone_s)

    @property
    def against_ideal(self) -> F64:
        """Iteration alone over that at line rate, (J,)."""
        return _over(self.alone_s, self.ideal_s)

    def worst(self, job: int) -> int:
        """The neighbor that slows a job most, the first of equals; -1 when none does."""
        row = np.nan_to_num(self.slowdown[job], nan=0.0)
        worst = int(row.argmax())
        return worst if row[worst] > 1.0 else -1


def _over(seconds: F64, base: F64) -> F64:
    """A ratio; nan where what is compared with never ends."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio: F64 = seconds / base
    return np.where(np.isfinite(base), ratio, np.nan)


def most_jobs(fabric: Fabric) -> int:
    """Jobs that the matrix of a fabric holds at most."""
    return _MOST_LARGE if fabric.gpus > _LARGE_GPUS else _MOST


def tenants(network: Network, tell: Tell = lambda what, done, of: None) -> Tenants:  # noqa: ARG005 - says nothing
    """The matrix of the first `most_jobs` jobs in a network.

    Args:
        network: routes and health.
        tell: told of each job that is begun, as (name, done, of); may raise to end it.
    """
    kept = _kept(network)
    if not kept:
        kept.append(Neighbors(network).matrix(tell))
    return kept[0]


@per_key
def _kept(network: Network) -> list[Tenants]:  # noqa: ARG001 - the key
    """The answer of a network, once there is one."""
    return []


class Neighbors:
    """Jobs of one network in pairs.

    Args:
        network: routes and health.
    """

    def __init__(self, network: Network) -> None:
        self.network, self.scenario = network, network.scenario
        self.crowd = Crowd(network)
        self.jobs = self.crowd.jobs[: most_jobs(self.scenario.fabric)]

    def matrix(self, tell: Tell) -> Tenants:
        """Every job beside every other."""
        rows = []
        for job in self.jobs:
            tell(self.scenario.program[job].name, job, len(self.jobs))
            rows.append(self.row(job))
        count = len(rows)
        beside = np.array([row[0] for row in rows], dtype=np.float64).reshape(count, count)
        meets = np.array([row[1] for row in rows], dtype=np.int32).reshape(count, count)
        shared = np.array([row[2] for row in rows], dtype=np.int32).reshape(count, count)
        return Tenants(
            ideal_s=np.array([ideal_s(self.scenario, job) for job in self.jobs], dtype=np.float64),
            alone_s=np.array([self.crowd.alone_s[job] for job in self.jobs], dtype=np.float64),
            beside_s=beside,
            together_s=np.array(
                [one.seconds for one in together(self.network)[:count]], dtype=np.float64
            ),
            meets=meets,
            shared=shared,
        )

    def row(self, job: int) -> tuple[list[float], list[int], list[int]]:
        """One job beside each: its iteration, the link where they meet, links that both load."""
        alone_s = self.crowd.alone_s[job]
        beside, meets, shared = [], [], []
        for other in self.jobs:
            common = self.crowd.common(job, other)
            seconds, link = alone_s, -1
            if other != job and len(common):
                seconds, link = self._pair(job, other, common)
            beside.append(max(seconds, alone_s))
            meets.append(link)
            shared.append(len(common) if other != job else 0)
        return beside, meets, shared

    def _pair(self, job: int, other: int, common: I32) -> tuple[float, int]:
        """Worst time of a job while another sends, and where they meet then."""
        found: dict[Keys, tuple[float, Parts]] = {}
        for _, share in self.crowd.parts[other]:
            keys = self.crowd.keys(share)
            if keys not in found and (share.link_gbps[common] > 0).any():
                found[keys] = self.crowd.beside(job, keys)
        if not found:
            return self.crowd.alone_s[job], -1
        seconds, parts = max(found.values(), key=lambda one: one[0])
        return seconds, self._meet(job, parts, common)

    def _meet(self, job: int, parts: Parts, common: I32) -> int:
        """The link that both load and that holds the job up, or else the fullest of them."""
        seconds, share = max(parts, key=lambda part: part[0])
        bound = slowest(self.scenario, share, job)[2]
        if math.isfinite(seconds) and bound >= 0 and np.isin(bound, common):
            return bound
        with np.errstate(divide="ignore", invalid="ignore"):
            full = share.link_gbps[common] / self.network.link_gbps[common]
        return int(common[int(np.nan_to_num(full, nan=0.0).argmax())])


def slowest(scenario: Scenario, share: Share, job: int) -> tuple[PhaseKey, int, int]:
    """Phase and entity of a job that takes longest in a share, and its bottleneck link (or -1)."""
    best: tuple[float, PhaseKey, int] | None = None
    for key in sorted(share.pace_gbps):
        if key[0] == job and len(share.pace_gbps[key]):
            speed = share.pace_gbps[key] / scenario.loads[job][key[1]].size_bytes
            entity = int(speed.argmin())
            if best is None or speed[entity] < best[0]:
                best = float(speed[entity]), key, entity
    assert best is not None
    _, key, entity = best
    return key, entity, int(share.bottleneck[key][entity])


@per_key
def _loads(network: Network) -> dict[int, F64]:  # noqa: ARG001 - the key
    """Loads of the jobs of a network that were asked for."""
    return {}


def job_load(network: Network, job: int) -> F64:
    """Load of every link by one job alone in its worst phase, (L,) Gb/s on the wire."""
    kept = _loads(network)
    if job not in kept:
        load = np.zeros(network.scenario.fabric.links)
        for _, share in iteration_parts(network.scenario, network, job):
            np.maximum(load, share.link_gbps, out=load)
        kept[job] = load
    return kept[job]
