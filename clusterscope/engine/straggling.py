"""GPUs that compute slower than others, and who waits for them.

The members of a lock-step group wait for each other in every message, so a group computes at the
speed of its slowest GPU, and a phase ends with its slowest group. Of a pipeline the stage of that
GPU sets the pace; while the pipeline fills and drains, it waits for the others once each, so that
in the bubble all stages count as long as the others compute on average: of p stages that take
t_1 ... t_p, each at the speed of its slowest rank,

    (t_1 + ... + t_p - max t) / ((p - 1) max t)    of the slowest one's computing

Source: a pipeline of stages of unequal length (Narayanan et al. 2019, section 3.1), which the tests
play slot by slot.
Axes: R ranks of a job, Q lock-step groups of a phase, W wires.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from clusterscope.columns import F64
from clusterscope.engine.loads import Load
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import Fabric, Health
from clusterscope.traffic.flows import JobProgram, Work
from clusterscope.traffic.layout import layout_of


def slowness(program: JobProgram, health: Health) -> F64 | None:
    """Time of every rank for what a GPU of full speed does in 1, (R,); None when all have that."""
    if program.training is None and program.serving is None:
        return None
    speed = health.gpu_speed[program.gpus]
    if program.speed is not None:
        speed = speed * program.speed
    return None if (speed == 1.0).all() else 1.0 / speed


def work_of(scenario: Scenario, key: tuple[int, int], health: Health) -> Work | None:
    """What ranks compute in a phase of a job, (job, phase); None in a bare collective."""
    program, load = scenario.program[key[0]], scenario.loads[key[0]][key[1]]
    slow = None if load.work is None else slowness(program, health)
    return load.work if slow is None else slowed_work(program, load, slow, scenario.fabric)


def slowed_work(program: JobProgram, load: Load, slow: F64, fabric: Fabric) -> Work:
    """What ranks compute in a phase when they take `slow` (R,) times as long.

    Groups of a wire that are slow alike are a wire of their own.
    """
    work = load.work
    assert work is not None
    group = _of_groups(program, load, slow, fabric)
    factors, place = np.unique(group, return_inverse=True)
    key = work.wire.astype(np.int64) * len(factors) + place
    kept, wire = np.unique(key, return_inverse=True)
    old, factor = kept // len(factors), factors[kept % len(factors)]
    return dataclasses.replace(
        work,
        wire=wire.astype(np.int32),
        before_s=work.before_s[old] * factor,
        beside_s=work.beside_s[old] * factor,
        steps=work.steps[old],
        kinds=tuple(work.kinds[own] for own in old.tolist()),
        compute_s=work.compute_s * float(slow.max()),
        others_ratio=_others(program, slow),
    )


def _of_groups(program: JobProgram, load: Load, slow: F64, fabric: Fabric) -> F64:
    """Slowest member of every group, (Q,).

    Groups are known by the NICs and GPUs of their flows. A rank that sends nothing in a phase, with
    all its bytes inside one NIC, holds all groups up. A KV cache moves beside the passes of prefill
    that compute it, so that its receivers, which are about something else, hold nothing up.
    """
    assert load.work is not None
    vertex = np.ones(fabric.domain_vertex)
    np.maximum.at(vertex, fabric.gpu_vertex + program.gpus, slow)
    ports = fabric.gpu_nic_port[program.gpus]
    for plane in range(fabric.ports_per_nic):
        own = ports >= 0
        np.maximum.at(vertex, ports[own] + plane, slow[own])
    group = np.ones(len(load.work.wire))
    for ends in (load.src,) if "kv" in load.work.kinds else (load.src, load.dst):
        np.maximum.at(group, load.row_entity, vertex[ends])
    # Of a job that serves, only some ranks are in a phase; the others hold up nobody in it.
    if not len(group) or (program.serving is None and group.max() < slow.max()):
        group = np.full(len(load.work.wire), float(slow.max()))
    return group


def _others(program: JobProgram, slow: F64) -> float:
    """Computing of the other stages, on average, over the slowest one's."""
    if program.training is None:
        return 1.0
    plan = program.training.plan
    if plan.pp == 1:
        return 1.0
    longest = np.ones(plan.pp)
    np.maximum.at(longest, layout_of(plan).place("pp"), slow)
    return (float(longest.sum() / longest.max()) - 1) / (plan.pp - 1)
