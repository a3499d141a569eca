"""What saving its state costs a training job, and what is left of its time with failures.

* Bytes: weights times bytes of a weight, once: every rank writes its share of one copy.
* Into the memory of the nodes they go over PCIe, and on to storage over the front-end network, as
  wide as the narrowest of the cuts that the job's nodes have (`spec.front_end`); without one, over
  the job's scale-out NICs to a storage that keeps up.
* The job waits for all of it, or only until its state is in the nodes' memory. What is still on its
  way when a failure comes is lost, so a restart goes back that much further.
* Failures, best interval and the share of time that computes: `metrics.reliability` (Young, Daly).

Axes: none; one job at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from clusterscope.engine.scenario import Scenario
from clusterscope.metrics.reliability import Checkpointing, job_mtbf_s
from clusterscope.spec.derive import derive
from clusterscope.spec.front_end import derive_front_end
from clusterscope.spec.training import CheckpointSpec
from clusterscope.traffic.transformer import parameters
from clusterscope.units import BITS_PER_BYTE, GIGA

_HOUR = 3600.0


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints of a training job.

    Attributes:
        bytes: of one.
        gbps: rate into storage, over all nodes of the job.
        narrowest: which cut decides that, in words.
        copy_s: from GPUs into the memory of their nodes.
        write_s: from there into storage, or back.
        blocking: the job waits for both, and not only for the first.
        interval_s: computing from one to the next.
        best_interval_s: what loses least.
        mtbf_s: mean time between failures of the job.
        goodput: share of time that computes, with failures, 0 to 1.
    """

    bytes: float
    gbps: float
    narrowest: str
    copy_s: float
    write_s: float
    blocking: bool
    interval_s: float
    best_interval_s: float
    mtbf_s: float
    goodput: float

    @property
    def stall_s(self) -> float:
        """How long the job waits for one."""
        return self.copy_s + (self.write_s if self.blocking else 0.0)

    @property
    def stall_ratio(self) -> float:
        """Share of time that the job waits for them, without failures."""
        return self.stall_s / (self.interval_s + self.stall_s)


def checkpoints(scenario: Scenario, job: int, iteration_s: float) -> Checkpoints | None:
    """Checkpoints of a job whose iteration takes so long.

    None for a job that does not train, and for one that says nothing of checkpoints on a cluster
    without storage; inf is no iteration to save.
    """
    program, spec = scenario.program[job], scenario.spec.jobs[job].checkpoint
    front = scenario.spec.front_end
    if program.training is None or not math.isfinite(iteration_s):
        return None
    if spec is None and (front is None or not front.storage_nodes):
        return None
    own = spec or CheckpointSpec()
    size = own.weight_bytes * parameters(program.training.model)
    ranks = len(program.gpus)
    narrowest, gbps = _way(scenario, len(set((program.gpus // _node(scenario)).tolist())))
    write_s = size * BITS_PER_BYTE / GIGA / gbps
    copy_s = size / ranks * BITS_PER_BYTE / GIGA / own.copy_gbps
    mtbf_s = job_mtbf_s(1 / (own.mtbf_gpu_hours * _HOUR), ranks)
    stall_s = copy_s + (write_s if own.blocking else 0.0)
    restart_s = own.restart_s + write_s + copy_s + (0.0 if own.blocking else write_s)
    model = Checkpointing(stall_s, restart_s, mtbf_s)
    # No sooner than an iteration is done, and the one before is in storage.
    soonest = max(iteration_s, 0.0 if own.blocking else write_s)
    best = max(model.daly_s, soonest)
    interval_s = best if own.interval_s is None else max(own.interval_s, soonest)
    return Checkpoints(
        bytes=size,
        gbps=gbps,
        narrowest=narrowest,
        copy_s=copy_s,
        write_s=write_s,
        blocking=own.blocking,
        interval_s=interval_s,
        best_interval_s=best,
        mtbf_s=mtbf_s,
        goodput=model.efficiency(interval_s),
    )


def _node(scenario: Scenario) -> int:
    return scenario.fabric.gpus_per_node


def _way(scenario: Scenario, nodes: int) -> tuple[str, float]:
    """The narrowest cut between some nodes and storage, and its rate in Gb/s."""
    front = derive_front_end(scenario.spec)
    if front is not None:
        cuts = front.cuts_of(nodes)
        if not front.spec.storage_nodes:  # says nothing of them, and has as many as are needed
            del cuts["the storage nodes"]
        return min(cuts.items(), key=lambda cut: cut[1])
    plan = derive(scenario.spec)
    if plan is None:
        return "the nodes' PCIe", math.inf
    return "the nodes' scale-out NICs", nodes * plan.nics * plan.nic_gbps
