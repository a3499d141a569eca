"""A training job as phases: computing, and the bytes of every cut, one iteration.

An iteration of m microbatches goes through

    first forward       beside the parameter all-gather of its chunk, where they may overlap
    microbatches        computing, what goes on beside it, and tensor parallel sends in turn with it
    what is waited for  pipeline, context, expert and sharded-data sends that do not overlap
    last backward       beside the gradient reduction of its chunk
    optimizer

Each runs at the pace of the slowest stage, so a phase with computing or sends of all microbatches
lasts (1 + bubble) times what a stage works in it. Bytes of all microbatches of a kind are one
phase; which microbatch they belong to is not told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from clusterscope.columns import F64
from clusterscope.spec.models import Transformer
from clusterscope.spec.plans import Plan
from clusterscope.traffic.flows import Phase
from clusterscope.traffic.layout import layout_of
from clusterscope.traffic.phasing import Timed, merged, phase, portion, times
from clusterscope.traffic.stages import Pace, dense_weights, routed_weights, stage_layers
from clusterscope.traffic.task import Training
from clusterscope.traffic.volumes import (
    context_bytes,
    parameter_gathers,
    tensor_buffer_bytes,
    tensor_passes,
    tensor_reduces,
)
from clusterscope.traffic.wires import (
    Site,
    Wire,
    context_wires,
    expert_wires,
    pipeline_wires,
    tensor_wires,
)

_WORDS = {
    "tp": "tensor parallel",
    "cp": "context ring",
    "pp": "pipeline sends",
    "ep": "expert exchange",
    "dp": "sharded weights",
}


@dataclass(frozen=True)
class _Share:
    """What part of an iteration a phase holds, in forwards and backwards of one microbatch."""

    forwards: float
    backwards: float

    def seconds(self, own: Pace) -> float:
        """Computing in it."""
        return self.forwards * own.forward_s + self.backwards * own.backward_s


def training_phases(training: Training, site: Site) -> tuple[Phase, ...]:
    """Phases of one iteration, each after the one before.

    Raises:
        SpecError: ranks of different domains have to talk and have no NICs.
    """
    return tuple(_Compiler(training, site).phases())


@dataclass(frozen=True, eq=False)
class _Compiler:
    """One job on its way to phases."""

    training: Training
    site: Site

    @property
    def plan(self) -> Plan:
        return self.training.plan

    @property
    def model(self) -> Transformer:
        return self.training.model

    @cached_property
    def layers(self) -> int:
        """Layers of the fullest stage."""
        return int(stage_layers(self.model, self.plan).max())

    def phases(self) -> list[Phase]:
        """All phases, in order."""
        m, plan = self.plan.microbatches, self.plan
        gather, reduce = self._once(params=True), self._once(params=False)
        # A lone microbatch in a pipeline, or beside other sends, has no room in which bytes hide.
        hides = "dp" in plan.overlap and (m > 1 or (plan.pp == 1 and not self.streams))
        opens, closes = hides and bool(gather), hides and bool(reduce)
        # Of the chunks of a stage only the first waits for its parameters, and only the last one
        # finished has gradients left to send; the others have the whole iteration for it.
        edge = 1.0 / plan.vp
        early = [portion(wire, 1 - edge) for wire in gather] if opens and plan.vp > 1 else []
        late = [portion(wire, 1 - edge) for wire in reduce] if closes and plan.vp > 1 else []
        fabric, out = self.site.fabric, []
        if opens:
            own, wires = _Share(edge, 0), [portion(wire, edge) for wire in gather]
            out.append(self._computing("first forward + parameter all-gather", own, wires, 0.0))
        elif gather:
            out.append(self._waiting("parameter all-gather", gather, 0.0))
        out += self._microbatches(_Share(m - edge * opens, m - edge * closes), early + late)
        if closes:
            own, wires = _Share(0, edge), [portion(wire, edge) for wire in reduce]
            out.append(self._computing("last backward + gradient reduction", own, wires, 0.0))
        elif reduce:
            out.append(self._waiting("gradient reduction", reduce, 0.0))
        if plan.optimizer_s:
            out.append(phase(fabric, "optimizer", [], plan.optimizer_s, 0.0))
        return out

    def _microbatches(self, share: _Share, more: list[Wire]) -> list[Phase]:
        """The steady part: computing with what overlaps, then what is waited for."""
        own, bubble = self.training.pace, self.training.bubble_ratio
        beside = [w for w in self.streams if w.kind in self.plan.overlap]
        more = merged(more)
        out = []
        if share.forwards or share.backwards:
            whole = self.plan.microbatches * (own.forward_s + own.backward_s)
            idle = bubble * whole / share.seconds(own)
            out.append(self._computing("microbatches", share, beside + more, idle))
        for kind in ("pp", "cp", "ep", "dp"):
            waits = [w for w in self.streams if w.kind == kind and w not in beside]
            if waits:
                out.append(self._waiting(_WORDS[kind], waits, bubble))
        return out

    def _computing(self, name: str, share: _Share, beside: list[Wire], bubble: float) -> Phase:
        """Computing, tensor parallel sends in turn with it or beside it, and others beside it."""
        seconds = share.seconds(self.training.pace)
        tensor = self._tensor(share)
        side: list[Timed] = [(w, 0.0, seconds) for w in beside]
        if "tp" in self.plan.overlap:
            side += [(w, 0.0, seconds) for w in tensor]
        else:
            side = [(w, seconds, 0.0) for w in tensor] + side
        return phase(self.site.fabric, name, side, seconds, bubble)

    def _waiting(self, name: str, wires: list[Wire], bubble: float) -> Phase:
        """A phase in which ranks wait for bytes."""
        return phase(self.site.fabric, name, [(w, 0.0, 0.0) for w in wires], 0.0, bubble)

    def _tensor(self, share: _Share) -> list[Wire]:
        """Tensor parallel all-reduces of a share of the iteration."""
        plan, model = self.plan, self.model
        passes = share.forwards + share.backwards * (tensor_passes(plan) - 1)
        if not passes:
            return []
        buffer = tensor_buffer_bytes(model, plan) * self.layers * passes
        reduces = self.layers * passes * tensor_reduces(model)
        return tensor_wires(self.site, plan, buffer, reduces)

    @cached_property
    def streams(self) -> list[Wire]:
        """Sends of all microbatches other than tensor parallel ones."""
        plan, model, layers = self.plan, self.model, self.layers
        m = plan.microbatches
        ring = 3 * layers * context_bytes(model, plan)
        wires = context_wires(self.site, plan, m * ring, m * layers * 3)
        once = pipeline_wires(self.site, model, plan)
        once += expert_wires(self.site, model, plan, layers * model.moe_layers / model.layers)
        wires += [times(wire, m) for wire in once]
        if plan.zero >= 2:
            # Gradients after backward; parameters, layer by layer, before each pass over it.
            gathers = parameter_gathers(plan)
            width, messages = plan.grad_bytes + gathers * plan.param_bytes, layers * (1 + gathers)
            wires += [times(wire, m, messages) for wire in self._shards(width, 1)]
        return wires

    def _once(self, *, params: bool) -> list[Wire]:
        """Data parallel traffic that an iteration has once."""
        plan = self.plan
        if params:
            return self._shards(plan.param_bytes, 1) if plan.zero in (1, 2) else []
        return self._shards(plan.grad_bytes, 1 if plan.zero else 2) if plan.zero < 2 else []

    def _shards(self, width: int, passes: int) -> list[Wire]:
        """Weights of so many bytes each over data parallel ranks, gathered or scattered."""
        plan, grid = self.plan, layout_of(self.plan)
        wires = []
        if plan.dp * plan.cp > 1:
            dense = self._by_rank(dense_weights(self.model, plan)) * width
            wires += self.site.shared("dp", grid.groups({"cp", "dp"}), dense, passes)
        copies = plan.stage_ranks // plan.ep
        if self.model.experts and copies > 1:
            routed = self._by_rank(routed_weights(self.model, plan)) * width
            wires += self.site.shared("dp", grid.expert_copies(plan.ep), routed, passes)
        return wires

    def _by_rank(self, weights: F64) -> F64:
        """Weights (P,) of a rank's stage, (R,)."""
        return weights[layout_of(self.plan).place("pp")]
