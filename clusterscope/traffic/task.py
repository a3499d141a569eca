"""A training job before it has a place: its model, its plan and the GPU it runs on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from clusterscope.spec import parts
from clusterscope.spec.model import ClusterSpec, JobSpec
from clusterscope.spec.models import Transformer, resolve_model
from clusterscope.spec.parts import Gpu
from clusterscope.spec.plans import Plan, resolve_plan
from clusterscope.spec.training import PlanSpec
from clusterscope.traffic.schedule import bubble_ratio
from clusterscope.traffic.stages import Pace, pace, peak_flops
from clusterscope.traffic.transformer import backward_ratio, hardware_flops, model_flops


@dataclass(frozen=True, eq=False)
class Training:
    """A training job: what is trained, how it is cut, on what.

    Attributes:
        model: what is trained.
        plan: how it is cut.
        gpu: what it runs on.
    """

    model: Transformer
    plan: Plan
    gpu: Gpu

    @cached_property
    def pace(self) -> Pace:
        """Seconds of one microbatch on the slowest stage."""
        return pace(self.model, self.plan, self.gpu)

    @property
    def tokens(self) -> int:
        """Tokens of an iteration."""
        return self.plan.batch * self.model.sequence

    @property
    def model_flops(self) -> float:
        """Operations of an iteration that MFU counts."""
        return self.plan.batch * model_flops(self.model)

    @property
    def hardware_flops(self) -> float:
        """Operations of an iteration, with what is computed again."""
        return self.plan.batch * hardware_flops(self.model, self.plan.recompute)

    @property
    def peak_flops(self) -> float:
        """Peak operations a second of all GPUs."""
        return self.plan.ranks * peak_flops(self.model, self.gpu)

    @property
    def bubble_ratio(self) -> float:
        """Idle over working time of a stage."""
        back = backward_ratio(self.model, self.plan.recompute)
        plan = self.plan
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
    return Training(model, plan, parts.gpu(spec.node.gpu))
