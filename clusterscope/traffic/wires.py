"""Traffic of each cut of a training job on real GPUs, as flows in lock-step groups.

A wire is one kind of communication: the rings of all tensor parallel groups, the sends of all
pipelines. Bytes are those of one use (a microbatch, an iteration); a phase repeats them.
Axes: R ranks, F flows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clusterscope.columns import F64, I32
from clusterscope.fabric.arrays import Fabric
from clusterscope.spec.models import Transformer
from clusterscope.spec.plans import Plan
from clusterscope.traffic.channels import SEND_CHANNELS, channels_of
from clusterscope.traffic.edges import connect
from clusterscope.traffic.flows import Flows
from clusterscope.traffic.groups import Rings, domain_of
from clusterscope.traffic.layout import Hierarchy, hierarchy, layout_of
from clusterscope.traffic.parts import Parts, domain_parts
from clusterscope.traffic.volumes import expert_bytes, ring_share, stage_bytes


@dataclass(frozen=True, eq=False)
class Wire:
    """One kind of communication.

    Attributes:
        kind: "tp", "cp", "pp", "dp" or "ep".
        flows: what it moves, once.
        steps: messages that follow one another in it.
    """

    kind: str
    flows: Flows
    steps: int

    @property
    def groups(self) -> int:
        """Lock-step groups."""
        return int(self.flows.group[-1]) + 1 if len(self.flows.group) else 0


@dataclass(frozen=True, eq=False)
class Site:
    """Where a training job runs.

    Attributes:
        name: of the job.
        fabric: what is cabled to what.
        gpus: (R,) GPU of each rank.
        hierarchical: groups talk inside scale-up domains before they use NICs.
    """

    name: str
    fabric: Fabric
    gpus: I32
    hierarchical: bool

    def rings(
        self, kind: str, rings: Rings, sent_bytes: F64, steps: int, beside: int = 1
    ) -> list[Wire]:
        """Every rank sends to the next of its ring; bytes (R,) by rank. No wire without bytes.

        `beside` rings of one group leave a domain together.
        """
        if not sent_bytes.any():
            return []
        sender = self.gpus[rings.rank]
        receiver = self.gpus[rings.next_rank]
        size, ring = sent_bytes[rings.rank], rings.ring_of_member
        channels = channels_of(self.fabric, self.gpus, beside)
        flows = connect(self.name, self.fabric, sender, receiver, size, ring, channels)
        return [Wire(kind, flows, steps)] if len(flows.src) else []

    def split(self, groups: Rings) -> Hierarchy:
        """Groups by scale-up domains, or as flat rings."""
        if not self.hierarchical:
            return Hierarchy(None, groups if groups.sizes[0] > 1 else None, 1, int(groups.sizes[0]))
        return hierarchy(groups, domain_of(self.fabric, self.gpus))

    def shared(self, kind: str, groups: Rings, buffer_bytes: F64, passes: int) -> list[Wire]:
        """Gather or scatter a buffer (R,) among groups `passes` times: 2 is an all-reduce.

        Inside a domain a rank sends (g-1)/g of it, between k domains (k-1)/k of what is left.
        """
        cut = self.split(groups)
        if self.hierarchical and cut.inside is None and cut.across is not None:
            parts = domain_parts(groups, domain_of(self.fabric, self.gpus))
            if int(parts.rings.sizes.max()) > 1:
                return self._by_rails(kind, parts, buffer_bytes, passes, cut.k)
        wires = []
        if cut.inside is not None:
            sent = passes * ring_share(cut.g) * buffer_bytes
            wires += self.rings(kind, cut.inside, sent, passes * (cut.g - 1))
        if cut.across is not None:
            sent = passes * ring_share(cut.k) / cut.g * buffer_bytes
            wires += self.rings(kind, cut.across, sent, passes * (cut.k - 1), cut.g)
        return wires

    def _by_rails(
        self, kind: str, parts: Parts, buffer_bytes: F64, passes: int, size: int
    ) -> list[Wire]:
        """Groups of `size` ranks spread unevenly over domains: rings on the rails all parts have.

        A rank sends the buffer on inside its domain, and one of each rail a part of it over NICs.
        """
        inside, rails = parts.rings, parts.rails
        at = parts.on_rails
        rank = np.concatenate([inside.rank, inside.rank[at]])
        there = np.concatenate([inside.next_rank, inside.rank[parts.onward[at]]])
        each = np.concatenate([np.ones(len(inside.rank)), 1.0 / rails[at]])
        group = np.concatenate([parts.group, parts.group[at]])
        order = np.argsort(group, kind="stable")
        sent = (passes * ring_share(size) * buffer_bytes[rank] * each)[order]
        if not sent.any():
            return []
        channels = channels_of(self.fabric, self.gpus, int(rails.min()))
        ends = self.gpus[rank[order]], self.gpus[there[order]]
        flows = connect(
            self.name, self.fabric, *ends, sent, group[order].astype(np.int32), channels
        )
        return [Wire(kind, flows, passes * (size - 1))] if len(flows.src) else []


def tensor_wires(site: Site, plan: Plan, buffer_bytes: float, reduces: float) -> list[Wire]:
    """All-reduce of a buffer over tensor parallel groups, in so many messages."""
    if plan.tp == 1:
        return []
    ranks = np.full(plan.ranks, buffer_bytes)
    wires = site.shared("tp", layout_of(plan).groups({"tp"}), ranks, 2)
    return [Wire(w.kind, w.flows, max(1, round(w.steps * reduces))) for w in wires]


def context_wires(site: Site, plan: Plan, sent_bytes: float, rounds: float) -> list[Wire]:
    """Keys and values around context parallel rings, `rounds` times."""
    if plan.cp == 1:
        return []
    steps = max(1, round((plan.cp - 1) * rounds))
    sent = np.full(plan.ranks, sent_bytes)
    return site.rings("cp", layout_of(plan).groups({"cp"}), sent, steps)


def pipeline_wires(site: Site, model: Transformer, plan: Plan) -> list[Wire]:
    """Sends of one microbatch between stages, forward and back; one group a pipeline."""
    if plan.pp == 1:
        return []
    pipes = layout_of(plan).groups({"pp"})
    grid = pipes.rank.reshape(-1, plan.pp)
    sent = np.full(plan.pp, plan.vp * stage_bytes(model, plan))
    # From the last stage a chunk goes on to the first one, except the last chunk.
    sent[-1] *= (plan.vp - 1) / plan.vp
    count = plan.pp if plan.vp > 1 else plan.pp - 1
    here, there = grid[:, :count], np.roll(grid, -1, axis=1)[:, :count]
    src = np.concatenate([here, there], axis=1).ravel()
    dst = np.concatenate([there, here], axis=1).ravel()
    size = np.tile(sent[:count], 2 * len(grid))
    group = np.repeat(np.arange(len(grid), dtype=np.int32), 2 * count)
    ends = site.gpus[src], site.gpus[dst]
    flows = connect(site.name, site.fabric, *ends, size, group, SEND_CHANNELS)
    return [Wire("pp", flows, 2 * plan.vp)] if len(flows.src) else []


def expert_wires(site: Site, model: Transformer, plan: Plan, layers: float) -> list[Wire]:
    """Dispatch and combine of one microbatch in so many layers, forward and backward.

    Between domains a rank sends to the rank of its own position in each other domain, which hands
    on inside its domain; one rotation inside a domain stands for sends to all of it.
    """
    if plan.ep == 1 or not model.experts:
        return []
    groups = layout_of(plan).expert_groups(plan.ep)
    cut = hierarchy(groups, domain_of(site.fabric, site.gpus))
    away, inside = (layers * size for size in expert_bytes(model, plan, cut.g))
    steps = max(1, round(4 * layers))
    wires = []
    if cut.inside is not None:
        wires += site.rings("ep", cut.inside, np.full(plan.ranks, inside), steps)
    if cut.across is not None:
        wires += rotations(site, cut.across, away, steps)
    return wires


def rotations(site: Site, rings: Rings, sent_bytes: float, steps: int) -> list[Wire]:
    """Every rank sends alike to all others of its ring, (R x (k-1) flows); no wire of nothing."""
    if not sent_bytes:
        return []
    k = int(rings.sizes[0])
    grid = rings.rank.reshape(-1, k)
    shift = np.arange(1, k)
    there = grid[:, (np.arange(k)[:, None] + shift) % k]
    here = np.broadcast_to(grid[:, :, None], there.shape)
    group = np.repeat(np.arange(len(grid), dtype=np.int32), k * (k - 1))
    size = np.full(there.size, sent_bytes / (k - 1))
    ends = site.gpus[here.ravel()], site.gpus[there.ravel()]
    flows = connect(site.name, site.fabric, *ends, size, group)
    return [Wire("ep", flows, steps)] if len(flows.src) else []
