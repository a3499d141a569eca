"""What a `[jobs.plan]` comes to on a number of GPUs, and what must hold between it and its model.

Ranks count through tensor parallel first, then context, data and pipeline parallel, as Megatron
does: rank = t + tp (c + cp (d + dp p)).
"""

from __future__ import annotations

from dataclasses import dataclass

from clusterscope.errors import SpecError
from clusterscope.spec.cuts import need_divisors
from clusterscope.spec.models import Transformer
from clusterscope.spec.training import Attention, Overlap, PlanSpec, Recompute, Schedule
from clusterscope.units import counted

# Layers by which a model may fall short of whole chunks: the first and the last stage give up
# places for the embedding, the output and heads that predict further tokens.
SPARE_LAYERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A plan with nothing left out; keys as in `PlanSpec`."""

    tp: int
    cp: int
    dp: int
    pp: int
    ep: int
    vp: int
    schedule: Schedule
    zero: int
    microbatch: int
    microbatches: int
    recompute: Recompute
    attention: Attention
    overlap: frozenset[Overlap]
    grad_bytes: int
    param_bytes: int
    tp_over_nics: bool
    efficiency: float | None
    optimizer_s: float

    @property
    def ranks(self) -> int:
        """GPUs that the plan takes."""
        return self.tp * self.cp * self.dp * self.pp

    @property
    def stage_ranks(self) -> int:
        """GPUs of one pipeline stage."""
        return self.tp * self.cp * self.dp

    @property
    def batch(self) -> int:
        """Sequences of an iteration."""
        return self.microbatch * self.microbatches * self.dp

    @property
    def text(self) -> str:
        """The cuts above 1 in words, as "TP8 x PP16 x DP64"."""
        cuts = (("TP", self.tp), ("CP", self.cp), ("PP", self.pp), ("DP", self.dp), ("EP", self.ep))
        return " x ".join(f"{name}{size}" for name, size in cuts if size > 1) or "one GPU"


def resolve_plan(spec: PlanSpec, model: Transformer, ranks: int, where: str) -> Plan:
    """A plan on so many GPUs.

    Args:
        spec: what the user wrote.
        model: what is trained.
        ranks: GPUs of the job.
        where: the table, in error messages.

    Raises:
        SpecError: the plan does not fit the GPUs or the model.
    """
    dp = _data_parallel(spec, ranks, where)
    plan = Plan(
        tp=spec.tp,
        cp=spec.cp,
        dp=dp,
        pp=spec.pp,
        ep=spec.ep,
        vp=spec.vp,
        schedule=spec.schedule or ("interleaved" if spec.vp > 1 else "1f1b"),
        zero=spec.zero,
        microbatch=spec.microbatch,
        microbatches=_microbatches(spec, dp, where),
        recompute=spec.recompute,
        attention=spec.attention or ("stored" if spec.recompute == "selective" else "fused"),
        overlap=frozenset(spec.overlap),
        grad_bytes=spec.grad_bytes,
        param_bytes=spec.param_bytes,
        tp_over_nics=spec.tp_over_nics,
        efficiency=spec.efficiency,
        optimizer_s=spec.optimizer_s,
    )
    _check_layers(plan, model, where)
    _check_cuts(plan, model, where)
    _check_schedule(plan, where)
    return plan


def _data_parallel(spec: PlanSpec, ranks: int, where: str) -> int:
    """Data parallel ranks: as written, or what the other cuts leave."""
    others = spec.tp * spec.cp * spec.pp
    if spec.dp is None:
        if ranks % others:
            raise SpecError(
                f"{where}.pp" if spec.pp > 1 else f"{where}.tp",
                f"tp x cp x pp = {others} does not divide the {counted(ranks, 'rank')} of the job",
                f"allowed are cuts whose product divides {ranks}",
            )
        return ranks // others
    if others * spec.dp != ranks:
        raise SpecError(
            f"{where}.dp",
            f"tp x cp x dp x pp = {others * spec.dp} is not the {counted(ranks, 'rank')} of the "
            f"job",
            f"leave dp out, or set jobs.ranks = {others * spec.dp}",
        )
    return spec.dp


def _microbatches(spec: PlanSpec, dp: int, where: str) -> int:
    """Microbatches of an iteration: as written, or from the batch."""
    if spec.microbatches is not None and spec.global_batch is not None:
        raise SpecError(
            f"{where}.global_batch",
            f"{spec.global_batch} and microbatches = {spec.microbatches} say the same thing twice",
            "leave one of them out",
        )
    if spec.global_batch is None:
        return spec.microbatches or 1
    each = dp * spec.microbatch
    if spec.global_batch % each:
        raise SpecError(
            f"{where}.global_batch",
            f"{spec.global_batch} is no multiple of dp x microbatch = {each}",
            f"allowed is a multiple of {each}",
        )
    return spec.global_batch // each


def _check_layers(plan: Plan, model: Transformer, where: str) -> None:
    chunks = plan.pp * plan.vp
    if -model.layers % chunks > min(SPARE_LAYERS, plan.pp if chunks > 1 else 0):
        raise SpecError(
            f"{where}.pp" if plan.vp == 1 else f"{where}.vp",
            f"{counted(model.layers, 'layer')} cannot be divided into pp x vp = "
            f"{counted(chunks, 'chunk')}",
            f"allowed are divisors of {model.layers}, or of up to {SPARE_LAYERS} layers more",
        )


def _check_cuts(plan: Plan, model: Transformer, where: str) -> None:
    rules = (
        ("tp", plan.tp, f"model.heads = {model.heads}", model.heads),
        ("cp", plan.cp, f"model.sequence = {model.sequence}", model.sequence),
        ("ep", plan.ep, f"model.experts = {model.experts}", model.experts or 1),
        ("ep", plan.ep, f"tp x cp x dp = {plan.stage_ranks}", plan.stage_ranks),
    )
    need_divisors(where, rules)


def _check_schedule(plan: Plan, where: str) -> None:
    if (plan.schedule == "interleaved") != (plan.vp > 1):
        wrong = "1f1b or zero-bubble" if plan.vp == 1 else "interleaved"
        raise SpecError(
            f"{where}.schedule",
            f"{plan.schedule!r} does not go with vp = {plan.vp}",
            f"allowed is {wrong}, or another vp",
        )
    if plan.vp > 1 and plan.pp == 1:
        raise SpecError(
            f"{where}.vp",
            f"{plan.vp} chunks are interleaved over stages, and pp is 1",
            "allowed is 1, or pp of at least 2",
        )
    if plan.vp > 1 and plan.microbatches % plan.pp:
        # Interleaved stages take pp microbatches of a chunk at a time (Megatron-LM, schedules.py).
        raise SpecError(
            f"{where}.vp",
            f"{counted(plan.microbatches, 'microbatch', 'microbatches')} cannot be interleaved "
            f"over {plan.pp} stages",
            f"allowed is vp = 1, or a multiple of {plan.pp} microbatches",
        )
