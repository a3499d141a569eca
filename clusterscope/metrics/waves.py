"""One wave of a serving job in a network: how long its sends take, and what waits for them.

Axes: U entities of a phase, I instances of a kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from clusterscope.columns import F64, I64, bincount
from clusterscope.engine.network import Network
from clusterscope.engine.shares import Share
from clusterscope.engine.standing import instance_of, serving_share
from clusterscope.metrics.training import Span
from clusterscope.spec.services import Instance
from clusterscope.traffic.exchanges import token_bytes
from clusterscope.traffic.flows import Flows, JobProgram, Work
from clusterscope.traffic.serving_task import Serving
from clusterscope.units import BITS_PER_BYTE, GIGA

Parts = list[tuple[float, Share]]
# Bytes below this share of an entity count as moved: float rounding, as in the engine.
_DONE = 1e-9
# Share of a step below which an exchange still counts as hidden: that much others may hold it up.
LITTLE = 0.01


@dataclass(frozen=True, eq=False)
class Wave:
    """A job and one wave of it in a network."""

    network: Network
    job: int
    parts: Parts
    line_gbps: F64

    @property
    def program(self) -> JobProgram:
        """The job, compiled."""
        return self.network.scenario.program[self.job]

    @property
    def serving(self) -> Serving:
        """What it serves."""
        found = self.program.serving
        assert found is not None
        return found

    def place(self, name: str) -> int:
        """Phase of that name, -1 when there is none."""
        return next((i for i, p in enumerate(self.program.phases) if p.name == name), -1)


@dataclass(frozen=True)
class Exchange:
    """The expert exchange of one pass or step: latency of its messages, and their bytes."""

    latency_s: float
    sending_s: float

    @property
    def seconds(self) -> float:
        """Both together."""
        return self.latency_s + self.sending_s

    def way_s(self, serving: Serving, own: Instance, way: int) -> float:
        """Dispatch (0) or combine (1) in one layer and part of the batch, seconds."""
        each = token_bytes(serving.model)
        ratio = (each.dispatch, each.combine)[way] / (each.dispatch + each.combine)
        parts = own.microbatches * serving.model.moe_layers
        return (self.latency_s / 2 + self.sending_s * ratio) / parts if parts else 0.0


def work_of(wave: Wave, place: int) -> Work:
    """Computing of a phase, its wires by entity."""
    found = wave.network.scenario.loads[wave.job][place].work
    assert found is not None
    return found


def by_instance(wave: Wave, place: int, own: Instance) -> F64:
    """Seconds of a wave in each instance, (I,); inf where a send of it has no way."""
    work, seconds = work_of(wave, place), np.zeros(own.instances)
    done_s = entity_s(wave, place)
    for wire in range(len(work.kinds)):
        mine = done_s[work.wire == wire]
        instance = instance_of(work, wire, own.instances)
        if len(mine) < own.instances:  # computing alone stands for all of them
            seconds = np.maximum(seconds, mine.max(initial=0.0))
            continue
        np.maximum.at(seconds, instance, mine)
    return seconds


def entity_s(wave: Wave, place: int) -> F64:
    """Seconds until each entity of a phase is done in a wave, (U,); inf when it never is."""
    key, size = (wave.job, place), wave.network.scenario.loads[wave.job][place].size_bytes
    left, spent, serve = size.copy(), np.zeros(len(size)), 1.0
    for seconds, share in wave.parts:
        if key not in share.pace_gbps:
            break
        dead = (share.pace_gbps[key] == 0) & (left > 0)
        if dead.any() and math.isfinite(seconds):
            serve = serving_share(wave.network.scenario, key, dead) or 1.0
        # Those that serve do more than their own part of a wave; told is how long that takes.
        pace = share.pace_gbps[key] * serve * GIGA / BITS_PER_BYTE
        need = np.divide(left, pace, out=np.full(len(size), np.inf), where=pace > 0)
        need[left <= 0] = 0.0
        spent += np.minimum(need, seconds)
        if not math.isfinite(seconds):
            break
        left = np.where(need <= seconds, 0.0, left - pace * seconds)
        left[left <= _DONE * size] = 0.0
    # What is given up once the others are done never is.
    spent[left > 0] = math.inf
    return spent * serve


def sends_of(wave: Wave, place: int, kind: str) -> I64:
    """Entities of one kind of communication in a phase."""
    work = work_of(wave, place)
    wires = np.array([k == kind for k in work.kinds])
    return np.flatnonzero(wires[work.wire])


def sending_s(wave: Wave, place: int, entities: I64) -> tuple[F64, F64]:
    """Latency, and bytes at the mean rate they get, of some entities in a wave, seconds each."""
    key = (wave.job, place)
    runs = [
        (s, share.rate_gbps[key][entities]) for s, share in wave.parts if key in share.rate_gbps
    ]
    spans = [s for s, _ in runs if math.isfinite(s)]
    if sum(spans) > 0:
        rate = sum(s * gbps for s, gbps in runs[: len(spans)]) / sum(spans)
    else:
        rate = runs[0][1]
    size = wave.network.scenario.loads[wave.job][place].size_bytes[entities]
    latency = wave.network.phase(key).latency_s[entities]
    with np.errstate(divide="ignore"):
        return latency, size * BITS_PER_BYTE / GIGA / rate


def exchange_of(wave: Wave, place: int, count: float, slow: float) -> Exchange:
    """The expert exchange of one pass or step, undisturbed by the other phases.

    One that hides is spread over the computing beside it; what is told then is line rate.

    Args:
        wave: the wave.
        place: the phase.
        count: passes or steps of it.
        slow: time of the slowest GPU over that of one with its own speed.
    """
    own = sends_of(wave, place, "ep")
    if not len(own):
        return Exchange(0.0, 0.0)
    alone = [(math.inf, wave.network.share(((wave.job, place),)))]
    latency, sending = sending_s(replace(wave, parts=alone), place, own)
    live = np.isfinite(sending)
    if not live.any():
        return Exchange(math.inf, math.inf)
    slowest = int(np.where(live, latency + sending, 0.0).argmax())
    work = work_of(wave, place)
    room = slow * float(work.beside_s[work.wire[own[slowest]]])
    seconds = float(sending[slowest])
    if float(latency[slowest]) + seconds <= room * (1 + LITTLE):
        seconds = _line_s(wave, place, "ep")[0]
    return Exchange(float(latency[slowest]) / count, seconds / count)


def transfer_of(wave: Wave, place: int, slow: float) -> tuple[float, int]:
    """The KV cache transfer of a wave as fast as it goes, seconds, and the link that paces it.

    One that hides is spread over the pass beside it; what is told then is line rate, and the cable
    of the NIC with most to send or receive.

    Args:
        wave: the wave.
        place: the phase.
        slow: time of the slowest GPU of prefill over that of one with its own speed.
    """
    done = entity_s(wave, place)
    live = np.isfinite(done)
    if not live.any():
        return math.inf, -1
    slowest = float(done[live].max())
    work = wave.network.scenario.loads[wave.job][place].work
    if work is None or slowest > slow * float(work.beside_s.max()) * (1 + LITTLE):
        return slowest, link_of(wave, place)
    return _line_s(wave, place, "kv")


def _line_s(wave: Wave, place: int, kind: str) -> tuple[float, int]:
    """Sends of one kind in a wave at line rate, with headers: the busiest sender or receiver.

    Seconds, and its cable's link when it is a NIC, else -1.
    """
    demand, work = wave.program.phases[place].demand, wave.program.phases[place].work
    assert isinstance(demand, Flows)
    assert work is not None
    kinds = np.array([k == kind for k in work.kinds])
    row = kinds[work.wire[demand.group]]
    scenario, longest, link = wave.network.scenario, 0.0, -1
    line = wave.line_gbps.copy()
    line[: scenario.fabric.ports] *= scenario.goodput[0]
    line[scenario.fabric.ports :] *= scenario.goodput[-1]
    for way, ends in enumerate((demand.src[row], demand.dst[row])):
        size = bincount(ends, demand.size_bytes[row], len(line))
        busy = np.flatnonzero(size)
        took = size[busy] / line[busy]
        if len(busy) and float(took.max()) > longest:
            longest, vertex = float(took.max()), int(busy[took.argmax()])
            link = 2 * vertex + way if vertex < scenario.fabric.ports else -1
    return longest * BITS_PER_BYTE / GIGA, link


def exposed_s(wave: Wave, place: int, waits: float, count: float) -> dict[str, float]:
    """Seconds of a pass or step that its slowest sends are waited for, by kind."""
    work = work_of(wave, place)
    seconds = entity_s(wave, place)
    seconds[~np.isfinite(seconds)] = 0.0
    compute_s = work.compute_s / count
    if not waits > compute_s * _DONE:
        return {}
    slowest = int(work.wire[seconds.argmax()])
    kind = work.kinds[slowest]
    before = float(work.before_s[slowest] - work.compute_s) / count if kind == "ep" else 0.0
    if before > 0:
        return {"tp": min(before, waits), "ep": max(0.0, waits - before)}
    return {kind: waits}


def link_of(wave: Wave, place: int) -> int:
    """Link that paces the slowest entity of a phase that moves at all, -1 when none does."""
    key = (wave.job, place)
    share = next(share for _, share in wave.parts if key in share.bottleneck)
    pace = share.pace_gbps[key] / wave.network.scenario.loads[wave.job][place].size_bytes
    pace = np.where(pace > 0, pace, np.inf)
    return int(share.bottleneck[key][int(pace.argmin())]) if len(pace) else -1


def spans_of(wave: Wave) -> tuple[Span, ...]:
    """One wave as rows of a Gantt chart; what stands still has none."""
    out, fabric = [], wave.network.scenario.fabric
    for place, phase in enumerate(wave.program.phases):
        seconds = entity_s(wave, place)
        end = float(seconds[np.isfinite(seconds)].max(initial=0.0))
        if phase.work is None:
            out.append(Span(phase.name, "communication", phase.network, 0.0, end))
            continue
        work = work_of(wave, place)
        if not work.compute_s:
            out.append(Span(phase.name, "hidden", phase.network, 0.0, end))
            continue
        computed = min(work.compute_s, end)
        out.append(Span(phase.name, "compute", "", 0.0, computed))
        for kind in dict.fromkeys(k for k in work.kinds if k):
            mine = sends_of(wave, place, kind)
            load = wave.network.scenario.loads[wave.job][place]
            by_nic = load.src < fabric.ports
            among = np.isin(load.row_entity, mine)
            where = "scale-out" if bool(by_nic[among].any()) else "scale-up"
            latency, sending = sending_s(wave, place, mine)
            sends = latency + sending
            long = float(sends[np.isfinite(sends)].max(initial=0.0))
            hidden = not work.before_s[work.wire[mine]].any()
            name = f"{phase.name}: {kind}"
            if hidden:
                out.append(Span(name, "hidden", where, 0.0, min(long, end)))
            elif end > computed:
                out.append(Span(name, "communication", where, computed, min(computed + long, end)))
    return tuple(out)
