"""Jobs beside each other: what each needs for an iteration while all the others send.

    together_s[i] = T(i | every other job in the part of its iteration that alone slows i most)

T runs the iteration of i phase by phase, each phase sharing the links max-min fairly with what the
others send (`engine.network.share`). A job that shares no link with i is left out. Where several
parts of a job meet i each is tried; on large clusters with many such parts, where that takes too
long, the part q counts that has the highest sum over the parts p of i of

    seconds of p x max(1, (load of p + load of q) / capacity on the fullest link that both load)

It is the worst case in time: jobs that happen to send in turn do better. Header, jobs, compare and
reports show it until a job has finished an iteration beside the others, and then that iteration;
the matrix of tenants and `explain` show it always.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from clusterscope.columns import F64, I32, Bool
from clusterscope.engine.network import Network
from clusterscope.engine.shares import PhaseKey, Share
from clusterscope.engine.step import iteration_parts
from clusterscope.metrics.memo import per_key
from clusterscope.units import BITS_PER_BYTE, GIGA

# Links times shares that may be worked out to see which parts of other jobs slow a job most, by all
# jobs together: some two seconds; estimate of patience.
_TRIED_LINKS = 20_000_000

Parts = list[tuple[float, Share]]
Keys = tuple[PhaseKey, ...]


class Together(NamedTuple):
    """One job beside all others.

    Attributes:
        seconds: its iteration while they send; inf when it cannot finish.
        paused_s: of that what links paused by a busy egress add.
    """

    seconds: float
    paused_s: float


class _Load(NamedTuple):
    """A part of an iteration: how long it takes alone, the links that it loads, and how much."""

    seconds: float
    links: I32
    gbps: F64


class Crowd:
    """The jobs of one network, each with the links that it loads.

    Args:
        network: routes and health.
        jobs: which jobs; all when left out.
    """

    def __init__(self, network: Network, jobs: Iterable[int] | None = None) -> None:
        self.network, self.scenario = network, network.scenario
        self.jobs = sorted(set(range(len(self.scenario.program)) if jobs is None else jobs))
        self.parts: dict[int, Parts] = {
            own: iteration_parts(self.scenario, network, own) for own in self.jobs
        }
        self.alone_s = {own: sum(s for s, _ in parts) for own, parts in self.parts.items()}
        self._loads: dict[int, list[_Load]] = {own: _loads(p) for own, p in self.parts.items()}

    def common(self, job: int, other: int) -> I32:
        """Links that two jobs load, ascending."""
        both = self._loaded(job) & self._loaded(other)
        return np.flatnonzero(both).astype(np.int32)

    def _loaded(self, job: int) -> Bool:
        """Links that a job loads in some part of its iteration, (L,)."""
        mask = np.zeros(self.scenario.fabric.links, dtype=np.bool_)
        for load in self._loads[job]:
            mask[load.links] = True
        return mask

    def beside(self, job: int, keys: Keys) -> tuple[float, Parts]:
        """Seconds and parts of an iteration of a job while phases of others send."""
        if not keys:
            return self.alone_s[job], self.parts[job]
        if self.scenario.program[job].overlapped:
            parts = iteration_parts(self.scenario, self.network, job, keys)
        else:
            parts = list(self._phases(job, keys))
        return sum(seconds for seconds, _ in parts), parts

    def _phases(self, job: int, keys: Keys) -> Iterator[tuple[float, Share]]:
        """Phases of a job while others send; one that meets none of them is as it is alone."""
        theirs = np.zeros(self.scenario.fabric.links, dtype=np.bool_)
        for other in {key[0] for key in keys}:
            for _, share in self.parts[other]:
                if set(self.keys(share)) & set(keys):
                    theirs |= share.link_gbps > 0
        for phase, (seconds, share) in enumerate(self.parts[job]):
            if not (theirs & (share.link_gbps > 0)).any():
                yield seconds, share
                continue
            own = (job, phase)
            shared = self.network.share(tuple(sorted((own, *keys))))
            yield self._longest((own,), shared.pace_gbps) * BITS_PER_BYTE / GIGA, shared

    def keys(self, share: Share) -> Keys:
        """What sends in a share, phases with the same load as one."""
        return tuple(sorted({self.scenario.twin(key) for key in share.rate_gbps}))

    def against(self, job: int) -> dict[int, Keys]:
        """By other job, what it sends in the part that slows a job most; none that never meet."""
        found = {other: self._meeting(job, other) for other in self.jobs if other != job}
        doubtful = sum(len(met) for met in found.values() if len(met) > 1)
        solves = doubtful * len(self.parts[job]) * len(self.jobs)
        by_trial = solves * self.scenario.fabric.links <= _TRIED_LINKS
        out: dict[int, Keys] = {}
        for other, met in found.items():
            if len(met) > 1 and by_trial:
                out[other] = max(met, key=lambda keys: self.beside(job, keys)[0])
            elif met:
                out[other] = max(met, key=lambda keys: met[keys])
        return out

    def together(self, job: int) -> Together:
        """A job beside all others."""
        keys = tuple(key for own in self.against(job).values() for key in own)
        seconds, parts = self.beside(job, keys)
        seconds = max(seconds, self.alone_s[job])
        return Together(seconds, min(self._paused_s(job, parts), seconds - self.alone_s[job]))

    def _meeting(self, job: int, other: int) -> dict[Keys, tuple[float, float]]:
        """What another job sends in the parts that meet a job, and how long that may make it."""
        found: dict[Keys, tuple[float, float]] = {}
        for _, share in self.parts[other]:
            keys = self.keys(share)
            # The last phases of a part that has begun with more of them take less.
            if not any(set(keys) <= set(more) for more in found):
                length = self._length(job, share)
                if length[1] > 0:
                    found[keys] = length
        return found

    def _length(self, job: int, share: Share) -> tuple[float, float]:
        """How long an iteration may get beside a share, and the fullest link of both.

        Zeros when they load no common link.
        """
        seconds, fullest = 0.0, 0.0
        for own in self._loads[job]:
            load = share.link_gbps[own.links]
            met = np.flatnonzero(load)
            fill = 0.0
            if len(met):
                with np.errstate(divide="ignore"):
                    both = (own.gbps[met] + load[met]) / self.network.link_gbps[own.links[met]]
                fill = float(both.max())
            fullest = max(fullest, fill)
            seconds += own.seconds * max(1.0, fill)
        return (seconds, fullest) if fullest else (0.0, 0.0)

    def _paused_s(self, job: int, parts: Parts) -> float:
        """What pauses add to the parts of an iteration of a job, seconds; 0 when it never ends."""
        more = 0.0
        for seconds, share in parts:
            keys = [key for key in share.free_gbps if key[0] == job]
            paced, free = self._longest(keys, share.pace_gbps), self._longest(keys, share.free_gbps)
            if math.isinf(paced):
                return 0.0
            more += seconds * max(0.0, 1.0 - free / paced) if paced else 0.0
        return more

    def _longest(self, keys: Sequence[PhaseKey], pace_gbps: dict[PhaseKey, F64]) -> float:
        """Size over pace of the entity that takes longest."""
        with np.errstate(divide="ignore"):
            found = [self.scenario.loads[j][p].size_bytes / pace_gbps[j, p] for j, p in keys]
        return max((float(own.max(initial=0.0)) for own in found), default=0.0)


def _loads(parts: Parts) -> list[_Load]:
    """Links that each part of an iteration loads; parts with the same load as one."""
    out: dict[int, _Load] = {}
    for seconds, share in parts:
        known = out.get(id(share.link_gbps))
        if known is not None:
            out[id(share.link_gbps)] = known._replace(seconds=known.seconds + seconds)
        else:
            links = np.flatnonzero(share.link_gbps).astype(np.int32)
            out[id(share.link_gbps)] = _Load(seconds, links, share.link_gbps[links])
    return list(out.values())


@per_key
def together(network: Network) -> tuple[Together, ...]:
    """Every job of a network beside all others, once a network."""
    crowd = Crowd(network)
    return tuple(crowd.together(job) for job in crowd.jobs)
