"""How well a training job uses its GPUs, and where an iteration goes.

* MFU: operations that the model needs at least (transformer.model_flops) over what all GPUs could
  do at their peak in that time. Operations a GPU: those, and what is computed again, over time.
* An iteration is computing, what is waited for beyond it (exposed communication, named after the
  cut whose slowest group it waits for), and bubble, in which stages of the pipeline idle.
* Spans are the rows of a Gantt chart: phase by phase, what is sent beside and after computing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from clusterscope.columns import F64, Bool, bincount
from clusterscope.engine.network import Network
from clusterscope.engine.shares import Share
from clusterscope.engine.step import iteration_parts
from clusterscope.engine.straggling import slowness
from clusterscope.traffic.flows import Flows, JobProgram, Phase, Work
from clusterscope.units import BITS_PER_BYTE, GIGA

_TERA = 1e12
SpanKind = Literal["compute", "communication", "hidden", "bubble", "busy"]


@dataclass(frozen=True)
class Span:
    """A row of a Gantt chart of one iteration.

    Attributes:
        name: phase, or what is sent in it ("microbatches: tp").
        kind: computing; communication that is waited for, or hidden beside what is; bubble; busy
            with both, where a job serves.
        network: whose links it uses; empty for computing and bubble.
        begin_s: from the begin of the iteration.
        end_s: from the begin of the iteration.
    """

    name: str
    kind: SpanKind
    network: str
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class Straggler:
    """The rank that the others wait for; of several that are as slow, the first.

    Attributes:
        rank: of the job.
        gpu: where it is.
        speed: share of its own speed that its GPU computes at.
        ranks: ranks that are slower than they should be.
        lost_s: computing of an iteration that full speed would spare.
    """

    rank: int
    gpu: int
    speed: float
    ranks: int
    lost_s: float


@dataclass(frozen=True)
class TrainingMetrics:
    """A training job at a frame.

    Attributes:
        model: what is trained.
        plan: how it is cut, in words.
        tokens: of an iteration.
        tokens_per_s: of all GPUs together; 0 when stalled.
        mfu: model operations over peak, 0 to 1.
        tflops_per_gpu: operations a GPU and second, with what is computed again, 10^12.
        compute_s: computing in an iteration alone in the network.
        bubble_s: idle time of a stage in it.
        exposed_s: seconds waited for each kind of communication in it.
        spans: the iteration, row by row.
        straggler: whom the others wait for; None when all GPUs have their own speed.
    """

    model: str
    plan: str
    tokens: int
    tokens_per_s: float
    mfu: float
    tflops_per_gpu: float
    compute_s: float
    bubble_s: float
    exposed_s: dict[str, float]
    spans: tuple[Span, ...]
    straggler: Straggler | None = None


def training_metrics(network: Network, job: int, iteration_s: float) -> TrainingMetrics | None:
    """How a job trains when an iteration takes `iteration_s`; None for a bare collective."""
    program = network.scenario.program[job]
    training = program.training
    if training is None:
        return None
    spans: list[Span] = []
    exposed: dict[str, float] = {}
    begin, compute, bubble = 0.0, 0.0, 0.0
    parts = iteration_parts(network.scenario, network, job)
    for place, (seconds, share) in enumerate(parts):
        work = network.work((job, place))
        if work is None or not math.isfinite(seconds):
            break
        rows = _spans(network, (job, place), share, begin, seconds)
        spans += rows
        begin += seconds
        compute += work.compute_s
        bubble += sum(r.end_s - r.begin_s for r in rows if r.kind == "bubble")
        for row in rows:
            if row.kind == "communication":
                kind = row.name.rpartition(": ")[2]
                exposed[kind] = exposed.get(kind, 0.0) + row.end_s - row.begin_s
    return TrainingMetrics(
        model=training.model.name,
        plan=training.plan.text,
        tokens=training.tokens,
        tokens_per_s=training.tokens / iteration_s,
        mfu=training.model_flops / iteration_s / training.peak_flops,
        tflops_per_gpu=training.hardware_flops / iteration_s / training.plan.ranks / _TERA,
        compute_s=compute,
        bubble_s=bubble,
        exposed_s=exposed,
        spans=tuple(spans),
        straggler=_straggler(network, program, compute),
    )


def _straggler(network: Network, program: JobProgram, compute_s: float) -> Straggler | None:
    """The slowest rank of a job that computes for so long; None when none is slow."""
    slow = slowness(program, network.actual)
    if slow is None:
        return None
    rank = int(slow.argmax())
    lost_s = compute_s * (1 - 1 / float(slow[rank]))
    count = int((slow > 1.0).sum())
    return Straggler(rank, int(program.gpus[rank]), 1 / float(slow[rank]), count, lost_s)


def _spans(
    network: Network, key: tuple[int, int], share: Share, begin_s: float, seconds: float
) -> list[Span]:
    """Rows of one phase: computing, sends beside it, what is waited for, bubble."""
    phase, work = _phase(network, key)
    load = network.scenario.loads[key[0]][key[1]]
    latency_s = network.phase(key).latency_s
    by_nic = load.src < network.scenario.fabric.ports
    with np.errstate(divide="ignore", invalid="ignore"):
        sending = latency_s + load.size_bytes * BITS_PER_BYTE / GIGA / share.rate_gbps[key]
        slowest = int((share.pace_gbps[key] / load.size_bytes).argmin())
    busy_s = seconds / (1 + work.bubble_ratio)
    if work.others_ratio != 1.0:
        busy_s = float(work.busy(sending, 1.0)[slowest])
    computed = begin_s + min(work.compute_s, busy_s)
    rows, waits = [], []
    if work.compute_s:
        rows.append(Span(phase.name, "compute", "", begin_s, computed))
    if isinstance(phase.demand, Flows) and len(phase.demand.src):
        waited = work.kinds[work.wire[slowest]]
        for kind in dict.fromkeys(work.kinds):
            own = np.array([k == kind for k in work.kinds])[work.wire]
            where = "scale-out" if bool((by_nic & own[load.row_entity]).any()) else "scale-up"
            name = f"{phase.name}: {kind}"
            long = min(float(sending[own].max()), busy_s)
            if kind == waited and begin_s + busy_s > computed * (1 + 1e-12):
                waits.append(Span(name, "communication", where, computed, begin_s + busy_s))
                long -= begin_s + busy_s - computed
            if long > 1e-9 * busy_s:
                rows.append(Span(name, "hidden", where, begin_s, begin_s + long))
    rows += waits
    if work.bubble_ratio:
        rows.append(Span(phase.name, "bubble", "", begin_s + busy_s, begin_s + seconds))
    return rows


def _phase(network: Network, key: tuple[int, int]) -> tuple[Phase, Work]:
    phase, work = network.scenario.program[key[0]].phases[key[1]], network.work(key)
    assert work is not None
    return phase, work


def ideal_work_s(phase: Phase, line_gbps: F64) -> float:
    """Lower bound of a phase of a training job: its computing, and bytes at line rate.

    Args:
        phase: with work.
        line_gbps: most that each vertex sends, and receives.
    """
    work, demand = phase.work, phase.demand
    assert work is not None
    assert isinstance(demand, Flows)
    longest = work.compute_s
    for before_s, beside_s in dict.fromkeys(zip(work.before_s, work.beside_s, strict=True)):
        wires = (work.before_s == before_s) & (work.beside_s == beside_s)
        sent = _busiest_s(demand, wires[work.wire], line_gbps)
        longest = max(longest, float(before_s) + sent, float(beside_s))
    return longest * (1 + work.bubble_ratio)


def waited_ratio(phase: Phase) -> float:
    """Seconds that a phase is longer for a second of latency."""
    work = phase.work
    if work is None:
        return 1.0
    hidden = bool((work.before_s == 0).all()) and work.compute_s > 0
    return 0.0 if hidden else 1 + work.bubble_ratio


def _busiest_s(demand: Flows, groups: Bool, line_gbps: F64) -> float:
    """Time of the busiest vertex for the flows of some groups (Q,), seconds."""
    longest = 0.0
    if not len(demand.src):
        return longest
    row = groups[demand.group]
    for ends in (demand.src[row], demand.dst[row]):
        size = bincount(ends, demand.size_bytes[row], len(line_gbps))
        busy = np.flatnonzero(size)
        longest = max(longest, float((size[busy] / line_gbps[busy]).max(initial=0.0)))
    return longest * BITS_PER_BYTE / GIGA
