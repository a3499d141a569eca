"""Who slows whom: the jobs that share a fabric, in pairs and all together.

Entry (i, j) is the time of one iteration of job i while job j sends all the while, over that of
job i alone in the network:

    beside_s[i, j] = max over the parts q of an iteration of j of T(i | q),   q of those that send
    together_s[i]  = T(i | every other job in the part that alone slows i most)

T(i | q) runs the iteration of i phase by phase, each phase sharing the links max-min fairly with
the phases of q (`engine.network.share`). It is the worst case in time: jobs that happen to send in
turn do better. A neighbor can only take from a job, so no entry is below 1.

Axes: J jobs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from clusterscope.columns import F64, I32, Arrays, Bool, Col
from clusterscope.engine.network import Network
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.shares import PhaseKey, Share
from clusterscope.engine.step import iteration_parts
from clusterscope.fabric.arrays import Fabric
from clusterscope.metrics.jobs import ideal_s
from clusterscope.metrics.memo import per_key

# Jobs that the matrix holds: it has a column for each, and pairs grow with the square. Fewer where
# each pair takes a tenth of a second.
_MOST, _MOST_LARGE, _LARGE_GPUS = 16, 8, 20_000

Tell = Callable[[str, int, int], object]
Parts = list[tuple[float, Share]]


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


@dataclass(frozen=True, eq=False)
class Row:
    """One job beside the others.

    Attributes:
        beside_s: iteration beside each job, (J,); that alone where the two share no link.
        meets: link where it meets each, (J,), -1 for none.
        shared: links that both load, (J,).
        keys: by other job, the part of its iteration that slows this one most; () for none.
    """

    beside_s: F64
    meets: I32
    shared: I32
    keys: tuple[tuple[PhaseKey, ...], ...]

    def all_keys(self, without: int = -1) -> tuple[PhaseKey, ...]:
        """What the others send while they slow this job most; one of them may be left out."""
        return tuple(
            key for other, keys in enumerate(self.keys) if other != without for key in keys
        )


class Neighbors:
    """Jobs of one network in pairs.

    Args:
        network: routes and health.
        job: a job that is looked at even if it is not among the first.
    """

    def __init__(self, network: Network, job: int = 0) -> None:
        self.network, self.scenario = network, network.scenario
        count = min(most_jobs(self.scenario.fabric), len(self.scenario.program))
        self.jobs = sorted({*range(count), *([job] if self.scenario.program else [])})
        self.parts: dict[int, Parts] = {
            own: iteration_parts(self.scenario, network, own) for own in self.jobs
        }
        alone = [sum(seconds for seconds, _ in self.parts[own]) for own in self.jobs]
        self.alone_s = dict(zip(self.jobs, alone, strict=True))
        self._loads: dict[int, Bool] = {
            own: _loaded(network, parts) for own, parts in self.parts.items()
        }

    def matrix(self, tell: Tell) -> Tenants:
        """Every job beside every other."""
        rows, together = [], []
        for job in self.jobs:
            tell(self.scenario.program[job].name, job, len(self.jobs))
            row = self.row(job)
            seconds = self.beside(job, row.all_keys())[0]
            together.append(max(seconds, float(row.beside_s.max())))
            rows.append(row)
        empty = np.zeros((0, 0))
        return Tenants(
            ideal_s=np.array([ideal_s(self.scenario, job) for job in self.jobs], dtype=np.float64),
            alone_s=np.array(list(self.alone_s.values()), dtype=np.float64),
            beside_s=np.stack([row.beside_s for row in rows]) if rows else empty,
            together_s=np.array(together, dtype=np.float64),
            meets=np.stack([r.meets for r in rows]) if rows else empty.astype(np.int32),
            shared=np.stack([r.shared for r in rows]) if rows else empty.astype(np.int32),
        )

    def row(self, job: int) -> Row:
        """One job beside each other job."""
        count = max(self.jobs) + 1
        beside = np.full(count, self.alone_s[job], dtype=np.float64)
        meets = np.full(count, -1, dtype=np.int32)
        shared = np.zeros(count, dtype=np.int32)
        keys: list[tuple[PhaseKey, ...]] = [()] * count
        for other in self.jobs:
            common = np.flatnonzero(self._loads[job] & self._loads[other]).astype(np.int32)
            if other != job and len(common):
                shared[other] = len(common)
                seconds, keys[other], meets[other] = self._pair(job, other, common)
                beside[other] = max(seconds, self.alone_s[job])
        return Row(beside, meets, shared, tuple(keys))

    def _pair(self, job: int, other: int, common: I32) -> tuple[float, tuple[PhaseKey, ...], int]:
        """Worst time of a job while another sends, in which part of that, and where they meet."""
        found: dict[tuple[PhaseKey, ...], tuple[float, Parts]] = {}
        for _, share in self.parts[other]:
            keys = tuple(sorted({self.scenario.twin(key) for key in share.rate_gbps}))
            if keys not in found and (share.link_gbps[common] > 0).any():
                found[keys] = self.beside(job, keys)
        if not found:
            return float(self.alone_s[job]), (), -1
        worst = max(found, key=lambda keys: found[keys][0])
        seconds, parts = found[worst]
        return seconds, worst, self._meet(job, parts, common)

    def beside(self, job: int, keys: tuple[PhaseKey, ...]) -> tuple[float, Parts]:
        """Seconds and parts of an iteration of a job while phases of others send."""
        parts = iteration_parts(self.scenario, self.network, job, keys)
        return sum(seconds for seconds, _ in parts), parts

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


def _loaded(network: Network, parts: Parts) -> Bool:
    """Links that a job loads in some part of its iteration, (L,)."""
    loaded = np.zeros(network.scenario.fabric.links, dtype=np.bool_)
    for _, share in parts:
        loaded |= share.link_gbps > 0
    return loaded


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
