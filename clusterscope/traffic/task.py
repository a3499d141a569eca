"""A training job before it has a place: its model, its plan and the GPU it runs on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clusterscope.columns import F64
from clusterscope.spec import parts
from clusterscope.spec.model import ClusterSpec, JobSpec
from clusterscope.spec.models import Transformer, resolve_model
from clusterscope.spec.parts import Gpu
from clusterscope.spec.plans import Plan, resolve_plan
from clusterscope.spec.training import PlanSpec
from clusterscope.traffic.schedule import bubble_ratio
from clusterscope.traffic.shuffle import Purpose, shuffled
from clusterscope.traffic.stages import SPEED_SPREAD, Pace, pace, peak_flops
from clusterscope.traffic.transformer import backward_ratio, hardware_flops, model_flops


@dataclass(frozen=True, eq=False)
class Training:
    """A training job: what is trained, how it is cut, on what.

    Attributes:
        model: what is trained.
        plan: how it is cut.
        gpu: what it runs on.
        spread: standard deviation of the speed of GPUs over their mean.
    """

    model: Transformer
    plan: Plan
    gpu: Gpu
    spread: float = SPEED_SPREAD

    @cached_property
    def pace(self) -> Pace:
        """Seconds of one microbatch on the slowest stage."""
        return pace(self.model, self.plan, self.gpu, self.spread)

    @property
    def tokens(self) -> int:
        """Tokens of an iteration."""
        return self.plan.batch * self.model.sequence

    @property
    def model_flops(self) -> float:
        """Operations of an iteration that MFU counts."""
        return self.plan.batch * model_flops(self.model, self.plan.attention)

    @property
    def hardware_flops(self) -> float:
        """Operations of an iteration, with what is computed again."""
        plan = self.plan
        return plan.batch * hardware_flops(self.model, plan.recompute, plan.attention)

    @property
    def peak_flops(self) -> float:
        """Peak operations a second of all GPUs."""
        return self.plan.ranks * peak_flops(self.model, self.gpu)

    @property
    def bubble_ratio(self) -> float:
        """Idle over working time of a stage."""
        plan = self.plan
        back = backward_ratio(self.model, plan.recompute, plan.attention)
        return bubble_ratio(plan.pp, plan.microbatches, plan.vp, plan.schedule, back)


def training_of(job: JobSpec, spec: ClusterSpec, ranks: int) -> Training | None:
    """What a job on so many GPUs trains; None when it runs a bare collective.

    Raises:
        SpecError: model and plan do not fit each other or the GPUs.
    """
    if job.model is None:
        return None
    where = f"job {job.name!r}"
    model = resolve_model(job.model, f"{where}: model")
    plan = resolve_plan(job.plan or PlanSpec(), model, ranks, f"{where}: plan")
    slow = job.stragglers
    spread = SPEED_SPREAD if slow is None or slow.spread is None else slow.spread
    return Training(model, plan, parts.gpu(spec.node.gpu), spread)


def speeds_of(job: JobSpec, ranks: int, seed: int) -> F64 | None:
    """Share of its own speed at which the GPU of every rank computes, (R,); None when all do."""
    slow = job.stragglers
    if slow is None or not slow.count:
        return None
    speed = np.ones(ranks)
    speed[shuffled(ranks, seed, Purpose.SLOW)[: slow.count]] = slow.speed
    speed.setflags(write=False)
    return speed
