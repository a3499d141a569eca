"""What an algorithm of a collective would cost, and which one a library takes.

    seconds = start + steps inside and between + bytes x wire ratio / rate + filling a pipeline

for each algorithm and protocol; the least is what `auto` runs, as in NCCL (ncclTopoGetAlgoTime).
Rates are those of GPU and NIC alone: a library chooses before it knows what the fabric gives.
Steps and bytes are those of `collectives`, `rails` and `trees`; constants are in `spec.library`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from clusterscope.errors import SpecError
from clusterscope.spec import library, parts
from clusterscope.spec.library import Family, Generation, Protocol
from clusterscope.spec.model import Algorithm, ClusterSpec, JobSpec, Task
from clusterscope.spec.reductions import Reason, unreduced
from clusterscope.spec.shape import cable_gbps, shape_of
from clusterscope.traffic.placed import Placed, crossings
from clusterscope.units import gbps_to_GBps

# Collectives that a library runs; the others are plain traffic.
COLLECTIVES: Final = frozenset(
    ("all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all", "sendrecv")
)
_FAMILY: Final[Mapping[Algorithm, Family]] = {
    "tree": "tree",
    "single-tree": "tree",
    "halving-doubling": "tree",
    "recursive-doubling": "tree",
    "nvls": "nvls",
    "nvls-tree": "nvls-tree",
    "sharp": "collnet",
}

# Algorithms that need as many ranks in every domain.
_EQUAL: Final = ("sharp", "nvls", "nvls-tree")
_PARTNERS: Final = ("halving-doubling", "recursive-doubling")
# Collectives of rings, and algorithms that come down to one where domains do not count.
_RINGS: Final = ("all-reduce", "all-gather", "reduce-scatter")
_AS_RING: Final = ("ring", "rail-ring", "direct")

# Sends between two ranks know no LL128, and those of an exchange use Simple.
_LEFT_OUT: Final[Mapping[Task, tuple[Protocol, ...]]] = {
    "all-to-all": ("LL", "LL128"),
    "sendrecv": ("LL128",),
}


@dataclass(frozen=True)
class Reach:
    """What a library knows of where a job runs.

    Attributes:
        k: scale-up domains of the job.
        g: its ranks in each.
        ring_GBps: payload a GPU sends to the next one of its domain, 10^9 B/s.
        all_GBps: payload it sends to all of them together.
        nic_GBps: payload a rank sends over NICs.
        switch_ratio: share of a ring's rate at which the domain's switches reduce; 0 when not.
        generation: of the GPUs.
        direct: GPUs of a domain are cabled to each other.
        rail_only: NICs of different rails cannot reach each other.
        ranks: in all, where domains are not equally full and g are the rails that they share; or
            where one ring takes no notice of domains and leaves them k times; 0 elsewhere.
        widest: ranks of the fullest domain, there.
    """

    k: int
    g: int
    ring_GBps: float  # noqa: N815 - the unit's own spelling
    all_GBps: float  # noqa: N815
    nic_GBps: float  # noqa: N815
    switch_ratio: float
    generation: Generation
    direct: bool
    rail_only: bool
    ranks: int = 0
    widest: int = 0

    @property
    def n(self) -> int:
        """Ranks."""
        return self.ranks or self.k * self.g

    @property
    def most(self) -> int:
        """Ranks of the fullest domain."""
        return self.widest or self.g


@dataclass(frozen=True)
class Cost:
    """What an algorithm costs by one protocol.

    Attributes:
        protocol: how it is sent; "" when only steps and bytes count.
        start_s: until the first step.
        inside_s: a step inside a domain.
        between_s: a step over NICs and one switch.
        wire: bytes sent for a payload byte.
        fill_s: what a pipeline takes to fill, and a protocol to keep up.
        seconds: all together, by the rates of GPU and NIC alone.
    """

    protocol: Protocol | str
    start_s: float
    inside_s: float
    between_s: float
    wire: float
    fill_s: float
    seconds: float


def reach_of(spec: ClusterSpec, job: Placed) -> Reach:
    """What a library knows of a job on its GPUs."""
    up, node = spec.scale_up, spec.node
    k, g, ranks, widest = _extent(job)
    ring = every = ratio = 0.0
    direct = False
    if up is not None:
        shape, goodput = shape_of(up), parts.scale_up_transport(up.kind).goodput_ratio
        cable, direct = gbps_to_GBps(cable_gbps(up)) * goodput, shape.direct
        ring = cable * min(2 if direct else 1, shape.gpu_cables)
        every = cable * shape.gpu_cables
        nvls = job.spec.model_copy(update={"algorithm": "nvls", "collective": "all-reduce"})
        if up.switch is not None and unreduced(spec, nvls) is None:
            ratio = parts.switch(up.switch).reduction_ratio or 1.0
    nic = gbps_to_GBps(node.nic_gbps) * node.nics / node.gpus if node.nics else 0.0
    return Reach(
        k=k,
        g=g,
        ring_GBps=ring or nic,
        all_GBps=every or nic,
        nic_GBps=nic or ring,
        switch_ratio=ratio,
        generation=library.generation_of(node.gpu),
        direct=direct,
        rail_only=spec.scale_out is not None and spec.scale_out.wiring == "rail-only",
        ranks=ranks,
        widest=widest,
    )


def _extent(job: Placed) -> tuple[int, int, int, int]:
    """k, g, ranks and widest of a job's reach."""
    if job.alone:
        return 1, job.ranks, 0, 0
    widest = int(job.domains.sizes.max())
    name, kind = job.spec.algorithm, job.spec.collective
    if job.uneven and name not in _PARTNERS:
        return len(job.domains.sizes), len(job.rails.sizes), job.ranks, widest
    if job.flat and kind in _RINGS and name in ("auto", *_AS_RING):
        return crossings(job), 1, job.ranks, widest
    return *job.split, 0, 0


def selected(job: Placed, spec: ClusterSpec) -> tuple[Placed, Cost | None]:
    """The job by the algorithm that runs, and its cost; None for traffic that no library runs.

    Raises:
        SpecError: its algorithm has nothing to work on where the job is.
    """
    if job.spec.collective not in COLLECTIVES:
        return job, None
    reason = refused(job)
    if reason is not None:
        raise SpecError(f"job {job.spec.name!r}: algorithm", *reason)
    reach = reach_of(spec, job)
    name = _runs(job, choose(job.spec, reach))
    found = cost(job.spec.collective, name, reach, job.size_bytes, job.spec.step_latency_s)
    return job.by(name), found


def refused(job: Placed) -> Reason | None:
    """Why a job cannot run by its algorithm where it is, and what can; None when it can."""
    name = job.spec.algorithm
    if name == "sharp" and job.alone:
        return "'sharp' reduces between domains, and all ranks share one", "use ring, nvls or auto"
    if name not in _EQUAL:
        return None
    if job.flat:
        return f"{name!r} works by domains, and hierarchical is false", "use ring, or leave it out"
    sizes = job.domains.sizes
    if not job.domains.uniform:
        held = f"they hold {sizes.min()} to {sizes.max()} ranks"
        return f"{name!r} needs equally full domains, and {held}", "use rail-ring, tree or auto"
    return None


def _runs(job: Placed, name: Algorithm) -> Algorithm:
    """The algorithm that an algorithm comes down to where the job is."""
    if (job.alone and name == "rail-ring") or (job.flat and name in _AS_RING):
        return "ring"
    if job.uneven and name in _AS_RING and job.spec.collective in _RINGS:
        return "rail-ring"
    return "direct" if job.uneven and name == "pxn" else name


def choose(job: JobSpec, reach: Reach) -> Algorithm:
    """The algorithm that runs: the job's own, or for "auto" the cheapest one."""
    if job.algorithm != "auto" or job.collective not in COLLECTIVES:
        return job.algorithm
    own = candidates(job.collective, reach) if job.hierarchical or reach.k == 1 else ("ring",)
    size = float(job.message_bytes)
    return min(own, key=lambda name: cost(job.collective, name, reach, size).seconds)


def candidates(collective: Task, reach: Reach) -> tuple[Algorithm, ...]:
    """Algorithms that a library weighs for a collective, those it prefers at a tie first."""
    if collective == "all-to-all":
        return ("pxn",) if reach.rail_only and reach.k > 1 and reach.g > 1 else ("direct",)
    if collective in ("broadcast", "sendrecv"):
        return ("ring",)
    if reach.k == 1:
        found: tuple[Algorithm, ...] = ("ring", "direct") if reach.direct else ("ring",)
        reduces = collective == "all-reduce" and reach.switch_ratio > 0
        return (*found, "nvls") if reduces else found
    ring: Algorithm = "ring" if reach.most == 1 else "rail-ring"
    if collective != "all-reduce":
        return (ring,)
    switched = reach.switch_ratio > 0 and reach.g > 1 and not reach.ranks
    return (ring, "tree", "nvls-tree") if switched else (ring, "tree")


def cost(
    collective: Task,
    algorithm: Algorithm,
    reach: Reach,
    size_bytes: float,
    step_s: float | None = None,
) -> Cost:
    """Cost by the protocol that makes it least; of plain steps of `step_s` when that is given."""
    if step_s is not None:
        inside, between = steps(collective, algorithm, reach)
        total = step_s * (inside + between) + busy_s(collective, algorithm, reach, size_bytes)
        return Cost("", 0.0, step_s, step_s, 1.0, 0.0, total)
    family = _FAMILY.get(algorithm, "ring")
    every = [
        _cost(collective, algorithm, reach, size_bytes, protocol)
        for protocol in library.protocols(family)
        if protocol not in _LEFT_OUT.get(collective, ())
    ]
    return min(every, key=lambda one: one.seconds)


def _cost(
    collective: Task, algorithm: Algorithm, reach: Reach, size_bytes: float, protocol: Protocol
) -> Cost:
    """Cost by one protocol."""
    family = _FAMILY.get(algorithm, "ring")
    busy = busy_s(collective, algorithm, reach, size_bytes)
    busbw = _factor(collective, reach.n) * size_bytes / busy / 1e9 if busy > 0 else 0.0
    slow = library.slowing(family, protocol, reach.k, reach.generation, busbw)
    wire = library.wire_ratio(family, protocol)
    start = library.start_s(family, protocol)
    inside_s = library.inside_s(family, protocol, reach.k)
    between_s = library.between_s(family, protocol, reach.most)
    if family == "ring" and protocol == "Simple" and reach.k > 1 and collective == "all-reduce":
        start, inside_s, between_s = (library.PLATEAU * s for s in (start, inside_s, between_s))
    inside, between = steps(collective, algorithm, reach)
    # What flags on the wire do not explain is waiting: it takes time, and no room on a link.
    hosted = busy_s(collective, algorithm, reach, size_bytes, library.HOST_RATIO)
    fill = hosted * slow - busy * wire
    if family in ("nvls", "nvls-tree"):
        chunk = library.round_bytes(size_bytes, reach.generation, reach.k, reach.g)
        fill += library.FILL_ROUNDS * busy * chunk / size_bytes
    elif algorithm == "tree":
        fill += busy * slow * (1.0 / library.tree_correction(protocol, size_bytes) - 1.0)
    seconds = start + inside * inside_s + between * between_s + busy * wire + fill
    return Cost(protocol, start, inside_s, between_s, wire, fill, seconds)


def steps(collective: Task, algorithm: Algorithm, reach: Reach) -> tuple[int, int]:
    """Messages that follow one another inside domains and between them."""
    k, g, n = reach.k, reach.g, reach.n
    passes = 2 if collective == "all-reduce" else 1
    climb, inside = 2 * (k.bit_length() - 1), 2 * (reach.most - 1)
    match algorithm:
        case _ if collective in ("all-to-all", "sendrecv"):
            return (0, 1) if k > 1 else (1, 0)
        case _ if collective == "broadcast":
            return n - k, k - 1
        case _ if algorithm == "rail-ring" or (reach.ranks and algorithm == "ring"):
            return passes * (n - k), passes * (k - 1)
        case "tree" | "single-tree":
            return inside, climb
        case "nvls-tree":
            return 2, climb
        case "nvls":
            return 2, 2 * (k - 1)
        case "direct":
            return passes, passes * (k - 1)
        case "sharp":
            return inside, 2
        case "halving-doubling" | "recursive-doubling":
            halved = 1 if algorithm == "recursive-doubling" else 2
            levels = halved * ((k if k > 1 else g).bit_length() - 1)
            return (inside, levels) if k > 1 else (levels, 0)
        case _:
            return passes * (g - 1), passes * (k - 1)


def busy_s(
    collective: Task,
    algorithm: Algorithm,
    reach: Reach,
    size_bytes: float,
    nic_ratio: float = 1.0,
) -> float:
    """Seconds that the busiest GPU and NIC send payload, one after the other or at once.

    NICs send at `nic_ratio` of their rate.
    """
    inside, between = _volumes(collective, algorithm, reach)
    rate = reach.all_GBps if algorithm == "direct" else reach.ring_GBps
    if algorithm in ("nvls", "nvls-tree"):
        rate *= reach.switch_ratio or 1.0
    near = inside * size_bytes / (rate * 1e9) if inside else 0.0
    far = between * size_bytes / (reach.nic_GBps * nic_ratio * 1e9) if between else 0.0
    at_once = algorithm in ("rail-ring", "tree", "single-tree", "nvls-tree") or reach.ranks
    if at_once or collective in ("all-to-all", "broadcast"):
        return max(near, far)
    return near + far


def _volumes(collective: Task, algorithm: Algorithm, reach: Reach) -> tuple[float, float]:
    """Bytes that a rank sends inside its domain and over NICs, by byte of the message."""
    k, g, n = reach.k, reach.g, reach.n
    passes = 2 if collective == "all-reduce" else 1
    inside, out, far = passes * (reach.most - 1) / reach.most, passes * (k - 1) / n, k > 1
    match algorithm:
        case _ if collective == "sendrecv":
            return (0.0, 1.0) if far else (1.0, 0.0)
        case _ if collective == "broadcast":
            return (1.0 if k == 1 else inside), far / g
        case _ if collective == "all-to-all":
            return (k if algorithm == "pxn" else 1) * (g - 1) / n, (n - g) / n
        case _ if algorithm == "rail-ring" or (reach.ranks and algorithm == "ring"):
            return passes * (n - 1) / n, passes * (n - 1) / n / g
        case "tree" | "single-tree":
            return inside, far * (3 if algorithm == "single-tree" else 2) / g
        case "nvls" | "nvls-tree":
            return (g + 1) / g, far * 2 / g if algorithm == "nvls-tree" else out
        case "sharp":
            return inside, 1 / g
        case "recursive-doubling":
            levels = (k if k > 1 else g).bit_length() - 1
            return (inside, levels / g) if k > 1 else (levels, 0.0)
        case _:
            return inside, out


def _factor(collective: Task, ranks: int) -> float:
    """Bus bandwidth over algorithm bandwidth."""
    if collective == "all-reduce":
        return 2 * (ranks - 1) / ranks
    return 1.0 if collective in ("broadcast", "sendrecv") else (ranks - 1) / ranks
