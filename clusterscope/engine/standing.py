"""A service of which some instances are cut off: the others take over their requests.

    pace = pace alone x (instances that serve / instances)

An instance serves nobody while a send of it has no way. The wave of requests is then done by the
others of its kind, one pass more for each that stands still; only when all of a kind are cut off
does the wave stand still. Link loads stay those of the instances that run.

Axes: U entities of a phase, I instances of a kind.
"""

from __future__ import annotations

import numpy as np

from clusterscope.columns import F64, I64, Bool
from clusterscope.engine.scenario import Scenario
from clusterscope.engine.shares import PhaseKey
from clusterscope.traffic.flows import Work


def instance_of(work: Work, wire: int, instances: int) -> I64:
    """Instance of each entity of one wire of a stage, in order of entities.

    Zeros when it has fewer entities than there are instances: computing alone stands for all.
    """
    count = int((work.wire == wire).sum())
    if count < instances:
        return np.zeros(count, dtype=np.int64)
    return np.arange(count, dtype=np.int64) * instances // count


def taken_over(scenario: Scenario, key: PhaseKey, pace_gbps: F64, left: F64) -> F64:
    """Pace of each entity of a phase, (U,) Gb/s, once the others work for those cut off.

    Those cut off are given up: they count as done with the slowest of the others.

    Args:
        scenario: the cluster and its jobs.
        key: the phase.
        pace_gbps: (U,) what each entity gets.
        left: (U,) bytes that each has still to send.
    """
    if scenario.program[key[0]].serving is None:
        return pace_gbps
    waiting = left > 0
    dead = waiting & (pace_gbps == 0)
    if not dead.any():
        return pace_gbps
    share = serving_share(scenario, key, dead)
    live = waiting & ~dead
    if not share or not live.any():
        return pace_gbps
    size = scenario.loads[key[0]][key[1]].size_bytes
    slowest = float((pace_gbps[live] / left[live]).min())
    pace = np.where(dead, left * slowest, pace_gbps)
    return pace * np.where(size > 0, share, 1.0)


def serving_share(scenario: Scenario, key: PhaseKey, dead: Bool) -> float:
    """Share of the instances of a stage without a dead send; of the sends of a transfer.

    Args:
        scenario: the cluster and its jobs.
        key: the phase.
        dead: (U,) sends that have no way.
    """
    program, work = scenario.program[key[0]], scenario.loads[key[0]][key[1]].work
    assert program.serving is not None
    service = program.serving.service
    name = program.phases[key[1]].name
    own = next((o for o in (service.prefill, service.decode) if o and o.kind == name), None)
    if own is None or work is None:
        return 1.0 - float(dead.mean())
    cut: Bool = np.zeros(own.instances, dtype=np.bool_)
    for wire in range(len(work.kinds)):
        mine = dead[work.wire == wire]
        cut[instance_of(work, wire, own.instances)[mine]] = True
        if len(mine) < own.instances and mine.any():
            cut[:] = True
    return 1.0 - float(cut.mean())
