"""A cluster on paper: what a spec describes, before anything of it is built."""

from __future__ import annotations

from collections.abc import Sequence

from clusterscope.spec import parts
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.plan import ScaleOutPlan
from clusterscope.views.origin import origin_of, spec_fact
from clusterscope.views.shapes import Fact, Mark, Note
from clusterscope.views.text import fmt, sanitize

_SHORT = {
    "gpus": "GPUs",
    "nic_leaf_cables": "NIC-leaf",
    "leaf_spine_cables": "leaf-spine",
    "spine_core_cables": "spine-core",
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
        spec_fact(spec, "node.count", "nodes", f"{node.count:,} of {node.gpus} GPUs"),
        spec_fact(spec, "node.nic_gbps", "NICs", nics if node.nics else "none"),
    ]
    if up is not None:
        words = f"{up.kind}, {up.domain_gpus} GPUs, {fmt(up.gpu_gbps, 'gbps')} a GPU"
        facts.append(spec_fact(spec, "scale_up.domain_gpus", "scale-up", words))
    return facts


def _switches(spec: ClusterSpec, plan: ScaleOutPlan) -> list[Fact]:
    """Tiers, switches and cables of the scale-out fabric."""
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
            facts.append(Fact(tier, f"{number:,} {title}", "text", _mark(spec, tier), ""))
    facts.append(Fact("cables", plan.cables, "int", "derived"))
    facts.append(Fact("bisection", plan.bisection_gbps, "gbps", "derived"))
    return facts


def _mark(spec: ClusterSpec, tier: str) -> Mark:
    """Estimate when the published count of a tier is one; else derived."""
    return "estimate" if origin_of(spec, f"expect.{tier}").mark == "estimate" else "derived"


def _running(spec: ClusterSpec) -> list[Fact]:
    """Transport and jobs."""
    facts = [
        spec_fact(spec, "transport.name", "transport", parts.transport(spec.transport.name).title)
    ]
    for job in spec.jobs:
        ranks = spec.gpus if job.ranks is None else job.ranks
        words = f"{job.collective} × {ranks:,}, {fmt(job.message_bytes, 'bytes')}, {job.placement}"
        facts.append(spec_fact(spec, "jobs", f"job {job.name}", words))
    return facts


def _expected(spec: ClusterSpec, plan: ScaleOutPlan | None) -> list[Fact]:
    """Published counts beside what the spec gives."""
    given = {"gpus": spec.gpus, "nodes": spec.node.count}
    if plan is not None:
        given |= {"leaf": plan.leaves, "spine": plan.spines_total, "core": plan.cores_total}
        for cables in ("nic_leaf_cables", "leaf_spine_cables", "spine_core_cables"):
            given[cables] = getattr(plan, cables)
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
    if not spec.sources:
        return "none names a source"
    return f"{guessed} of {len(spec.sources)} sources are estimates"
