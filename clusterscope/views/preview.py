"""A cluster on paper: what a spec describes, before anything of it is built."""

from __future__ import annotations

from collections.abc import Sequence

from clusterscope.spec import parts
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.plan import DragonflyPlan, ScaleOutPlan
from clusterscope.spec.serves import serving_ranks
from clusterscope.spec.services import model_of
from clusterscope.spec.shape import shape_words
from clusterscope.units import counted
from clusterscope.views.origin import shaky, spec_fact
from clusterscope.views.shapes import Fact, Note
from clusterscope.views.text import fmt, sanitize

_SHORT = {
    "gpus": "GPUs",
    "nic_leaf_cables": "NIC-leaf",
    "leaf_spine_cables": "leaf-spine",
    "spine_core_cables": "spine-core",
    "local_cables": "local",
    "global_cables": "global",
}


def preview(spec: ClusterSpec, saved: Sequence[str] = ()) -> Note:
    """What the spec describes: sizes with their origin, and what was published about them.

    Args:
        spec: a cluster that can be built.
        saved: sentences about the file besides, such as what a replay did.

    Arithmetic on the spec alone: a cluster of any size takes microseconds.
    """
    plan = derive(spec)
    facts = [*_size(spec), *(_switches(spec, plan) if plan is not None else []), *_running(spec)]
    facts += _expected(spec, plan)
    facts.append(Fact("numbers", _trust(spec)))
    facts += _doubts(spec)
    if about := sanitize(" ".join(spec.description.split())):
        facts.append(Fact("about", about))
    lines = (spec.title, *saved)
    return Note(sanitize(spec.name), tuple(facts), tuple(sanitize(text) for text in lines if text))


def _size(spec: ClusterSpec) -> list[Fact]:
    """GPUs, nodes, NICs and the scale-up domain."""
    node, up = spec.node, spec.scale_up
    nics = f"{node.nics} a node, {node.nic_gbps:g} Gb/s each: {parts.nic(node.nic).title}"
    facts = [
        Fact("GPUs", f"{spec.gpus:,} {parts.gpu(node.gpu).title}", "text", "derived"),
        spec_fact(spec, "node.count", "nodes", f"{node.count:,} of {counted(node.gpus, 'GPU')}"),
        spec_fact(spec, "node.nic_gbps", "NICs", nics if node.nics else "none"),
    ]
    if up is not None:
        words = f"{up.kind}, {counted(up.domain_gpus, 'GPU')}, {fmt(up.gpu_gbps, 'gbps')} a GPU"
        facts.append(spec_fact(spec, "scale_up.domain_gpus", "scale-up", words))
        if up.topology != "switched":
            facts.append(Fact("joined by", shape_words(up), "text", "derived"))
    if spec.front_end is not None:
        front = spec.front_end
        words = f"{front.nics} × {front.nic_gbps:g} Gb/s a node, {counted(front.tiers, 'tier')}"
        facts.append(spec_fact(spec, "front_end.nic_gbps", "front-end", words))
    return facts


def _switches(spec: ClusterSpec, plan: ScaleOutPlan) -> list[Fact]:
    """Tiers, switches and cables of the scale-out fabric."""
    if plan.dragonfly:
        return _groups(spec, plan, plan.dragonfly)
    tiers = f"{plan.tiers}, wired by {plan.wiring}" + (
        f", {plan.planes} planes" if plan.planes > 1 else ""
    )
    facts = [spec_fact(spec, "scale_out.tiers", "tiers", tiers)]
    rows = (
        ("leaf", plan.leaves, plan.leaf_switch),
        ("spine", plan.spines_total, plan.spine_switch),
        ("core", plan.cores_total, plan.core_switch),
    )
    for tier, number, name in rows:
        if number:
            title = parts.switch(name).title
            mark = shaky(spec, f"expect.{tier}")
            facts.append(Fact(tier, f"{number:,} {title}", "text", mark, ""))
    facts.append(Fact("cables", plan.cables, "int", "derived"))
    facts.append(Fact("bisection", plan.bisection_gbps, "gbps", "derived"))
    return facts


def _groups(spec: ClusterSpec, plan: ScaleOutPlan, mesh: DragonflyPlan) -> list[Fact]:
    """Groups, switches and cables of a dragonfly."""
    local = f"{mesh.local_cables:,}, {mesh.local_links} between two switches of a group"
    between = f"{mesh.global_cables:,}, {mesh.global_links} between two groups"
    taper = plan.leaf_down * mesh.switches * plan.port_gbps
    leaving = (mesh.groups - 1) * mesh.global_links * plan.link_gbps
    switches = f"{plan.leaves:,} {parts.switch(plan.leaf_switch).title}"
    facts = [
        spec_fact(spec, "dragonfly.groups", "groups", f"{mesh.groups:,} of {mesh.switches}"),
        Fact("switches", switches, "text", shaky(spec, "expect.switches"), ""),
        spec_fact(spec, "dragonfly.local_links", "local cables", local),
        spec_fact(spec, "dragonfly.global_links", "global cables", between),
        Fact("cables", plan.cables, "int", "derived"),
        Fact("bisection", plan.bisection_gbps, "gbps", "derived"),
    ]
    if leaving:
        words = f"{taper / leaving:.3g}:1 from the NICs of a full group to its global cables"
        facts.append(Fact("global taper", words, "text", "derived"))
    return facts


def _running(spec: ClusterSpec) -> list[Fact]:
    """Transport and jobs."""
    facts = [
        spec_fact(spec, "transport.name", "transport", parts.transport(spec.transport.name).title)
    ]
    for job in spec.jobs:
        wanted = serving_ranks(job)
        ranks = spec.gpus if wanted is None else wanted
        where = f"job {job.name}"
        model = job.model if job.serve is None else model_of(job.serve, job.model, where)
        size = f" {model.name or 'a model'}" if model else ""
        size = size or f", {fmt(job.message_bytes, 'bytes')}"
        words = f"{job.collective} × {ranks:,}{size}, {job.placement}"
        facts.append(spec_fact(spec, "jobs", f"job {job.name}", words))
    return facts


def _expected(spec: ClusterSpec, plan: ScaleOutPlan | None) -> list[Fact]:
    """Published counts beside what the spec gives."""
    given = {"gpus": spec.gpus, "nodes": spec.node.count}
    if plan is not None:
        given |= {"leaf": plan.leaves, "spine": plan.spines_total, "core": plan.cores_total}
        for cables in ("nic_leaf_cables", "leaf_spine_cables", "spine_core_cables"):
            given[cables] = getattr(plan, cables)
    if plan is not None and plan.dragonfly is not None:
        mesh = plan.dragonfly
        given |= {"groups": mesh.groups, "switches": plan.leaves}
        given |= {"local_cables": mesh.local_cables, "global_cables": mesh.global_cables}
    facts = []
    for name, wanted in spec.expect.model_dump(exclude_none=True).items():
        own = given.get(name, 0)
        words = f"{wanted:,}" + ("" if own == wanted else f", but the spec gives {own:,}")
        label = f"expect {_SHORT.get(name, name)}"
        facts.append(spec_fact(spec, f"expect.{name}", label, words))
    return facts


def _trust(spec: ClusterSpec) -> str:
    """How many of the sources are estimates, in words."""
    guessed = sum(source.estimate for source in spec.sources.values())
    doubted = sum(source.doubt is not None for source in spec.sources.values())
    if not spec.sources:
        return "none names a source"
    words = f"{guessed} of {len(spec.sources)} sources are estimates"
    return words + (f", {doubted} in doubt" if doubted else "")


def _doubts(spec: ClusterSpec) -> list[Fact]:
    """What speaks against numbers of the spec, one fact a doubt."""
    return [
        Fact("in doubt", sanitize(f"{key}: {source.doubt}"), "text", "doubt")
        for key, source in spec.sources.items()
        if source.doubt
    ]
