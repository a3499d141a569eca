"""The cluster in a few facts: what it is, what it runs, how that goes."""

from __future__ import annotations

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.counts import counts
from clusterscope.fabric.things import Thing
from clusterscope.metrics.cost import cost, power
from clusterscope.metrics.findings import findings
from clusterscope.metrics.jobs import JobMetrics, job_metrics
from clusterscope.metrics.links import hottest, worst
from clusterscope.metrics.memo import per_key
from clusterscope.metrics.networks import network_name
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.plan import ScaleOutPlan
from clusterscope.units import counted
from clusterscope.views.goodput import goodput_facts
from clusterscope.views.origin import shaky, spec_fact
from clusterscope.views.serving import serving_facts
from clusterscope.views.shapes import Fact, Mark, Note
from clusterscope.views.text import fmt, percent, sanitize


def summary(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Note:  # noqa: ARG001 - every view takes a selection
    """Cluster, transport, jobs and hot spot at a glance."""
    spec = scenario.spec
    jobs = job_metrics(scenario, frame)
    found = findings(scenario, frame)
    errors = sum(finding.severity == "error" for finding in found)
    facts = [
        Fact("cluster", sanitize(spec.title or spec.name)),
        spec_fact(spec, "node.count", "GPUs", f"{scenario.fabric.gpus:,} {spec.node.gpu}"),
        Fact("switches", switch_words(scenario), "text", _switch_mark(scenario)),
        spec_fact(spec, "transport.name", "transport", _transport_words(scenario)),
        Fact("step", frame.step, "int"),
        Fact("time", frame.time_s, "seconds"),
        *[fact for i, job in enumerate(jobs) for fact in _job_facts(scenario, i, job)],
        *_hot(scenario, frame),
        Fact("dead cables", int(worst(scenario, frame).cable_dead.sum()), "int"),
        Fact("findings", f"{len(found)}, {errors} of them errors"),
    ]
    return Note("summary", tuple(facts), tuple(_sentence(job) for job in jobs))


def _transport_words(scenario: Scenario) -> str:
    """The transport and how it balances load, or that no node has a NIC."""
    name = network_name(scenario)
    if not scenario.fabric.ports:
        return f"none: {name} alone, no NICs"
    return f"{name}: {_policy(scenario)}"


def switch_words(scenario: Scenario) -> str:
    """Switches by tier and part: "1,600 leaf / 1,600 spine / 800 core SN5600"."""
    plan = derive(scenario.spec)
    if plan is None:
        return "none"
    sizes = counts(scenario.fabric)["switches"]
    names = (plan.leaf_switch, plan.spine_switch, plan.core_switch)[: plan.tiers]
    same = len(set(names)) == 1
    parts = [
        f"{sizes[tier]:,} {_word(plan, tier)}" + ("" if same else f" {name}")
        for tier, name in zip(("leaf", "spine", "core"), names, strict=False)
    ]
    return sanitize(" / ".join(parts) + (f" {names[0]}" if same else ""))


def _switch_mark(scenario: Scenario) -> Mark:
    """Estimate or doubt when the number of leaves is one; else derived."""
    if scenario.spec.dragonfly is not None:
        return shaky(scenario.spec, "expect.switches")
    if scenario.spec.scale_out is None:
        return ""
    return shaky(scenario.spec, "expect.leaf")


def _word(plan: ScaleOutPlan, tier: str) -> str:
    """What a tier is called: a dragonfly has but one, in groups."""
    mesh = plan.dragonfly
    return f"switches in {counted(mesh.groups, 'group')}," if mesh else tier


def _policy(scenario: Scenario) -> str:
    """Load balancing in words."""
    policy, transport = scenario.transport.policy, scenario.transport
    lost = f", {percent(transport.loss_rate, 3)} of packets lost" if transport.loss_rate else ""
    if scenario.fabric.dragonfly:
        return f"{policy.dragonfly_course} dragonfly routing, {transport.ordering}{lost}"
    if policy.load_balancing in ("ecmp", "flowlet"):
        conns = max((load.connections for own in scenario.loads for load in own), default=1)
        pairs = f"{counted(conns, 'connection')} a NIC pair"
        return f"{policy.load_balancing}, {pairs}{lost}"
    return f"{policy.load_balancing}, {transport.ordering}{lost}"


def _job_facts(scenario: Scenario, index: int, job: JobMetrics) -> list[Fact]:
    """What a job is and how it goes."""
    name = sanitize(job.name)
    low, high = job.error_band
    band = f"{fmt(low, 'GBps')} to {fmt(high, 'GBps')}"
    way = f" by {job.algorithm}" if job.algorithm else ""
    what = f"{job.collective}{way}, {counted(job.ranks, 'rank')}, {fmt(job.message_bytes, 'bytes')}"
    if job.serving is not None:
        facts = serving_facts(job, job.serving)
        return [*facts, Fact(f"{name}: slowdown", job.slowdown, "float", "derived")]
    if job.training is not None:
        own = job.training
        what = f"training {sanitize(own.model)}, {counted(job.ranks, 'rank')}, {own.plan}"
        return [
            Fact(f"{name}: job", what),
            Fact(f"{name}: MFU", percent(own.mfu), "text", "derived"),
            Fact(f"{name}: tokens/s", own.tokens_per_s, "int", "derived"),
            Fact(f"{name}: TFLOPS a GPU", own.tflops_per_gpu, "float", "derived"),
            Fact(f"{name}: iteration", job.iteration_s, "seconds", "derived"),
            Fact(f"{name}: slowdown", job.slowdown, "float", "derived", "1 is undisturbed"),
            Fact(f"{name}: iterations done", job.iterations, "int"),
            *goodput_facts(scenario, index, job),
        ]
    return [
        Fact(f"{name}: job", what),
        Fact(f"{name}: busbw", job.busbw_GBps, "GBps", "derived", f"model error band {band}"),
        Fact(f"{name}: of line rate", job.share_of_line, "ratio", "derived"),
        Fact(f"{name}: iteration", job.iteration_s, "seconds", "derived"),
        Fact(f"{name}: slowdown", job.slowdown, "float", "derived", "1 is undisturbed"),
        Fact(f"{name}: iterations done", job.iterations, "int"),
    ]


def _sentence(job: JobMetrics) -> str:
    """How a job goes, in one sentence."""
    name = sanitize(job.name)
    if job.settled is not None:
        return f"{name} {_until(job)}."
    if job.stalled:
        return f"{name} stands still: a rank or every way to it is dead."
    slowest = max(job.phases, key=lambda p: p.seconds)
    share = percent(slowest.seconds / job.alone_s, 0)
    latency = percent(slowest.latency_s / slowest.seconds, 0)
    who = f"{name} alone" if job.iteration_s > 1.0005 * job.alone_s else name
    return f"{who} spends {share} of an iteration in {slowest.name}, {latency} of it latency."


def _until(job: JobMetrics) -> str:
    """How a job goes while routes have not reacted yet, and then."""
    settled = job.settled
    assert settled is not None
    now = "stands still" if job.stalled else f"needs {fmt(job.iteration_s, 'seconds')} an iteration"
    then = "then it stands still for good"
    if settled.iteration_s < float("inf"):
        then = (
            f"then {fmt(settled.busbw_GBps, 'GBps')} busbw, "
            f"{fmt(settled.iteration_s, 'seconds')} an iteration"
        )
    return f"{now} until routes have reacted at {fmt(settled.from_s, 'seconds')}; {then}"


def _hot(scenario: Scenario, frame: Frame) -> list[Fact]:
    """The hottest link."""
    links = hottest(scenario, frame, 1)
    if not len(links):
        return []
    link = int(links[0])
    return [
        Fact("hottest link", scenario.names.link(link)),
        Fact("its utilization", float(frame.utilization[link]), "ratio"),
    ]


def fabric(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Note:  # noqa: ARG001
    """Counts of the fabric, its bisection, cost and power."""
    return _fabric(scenario)


@per_key
def _fabric(scenario: Scenario) -> Note:
    have, spec = counts(scenario.fabric), scenario.spec
    money, watts = cost(scenario), power(scenario)
    facts = [
        spec_fact(spec, "node.count", "GPUs", have["gpus"], "int"),
        spec_fact(spec, "node.count", "nodes", have["nodes"], "int"),
        Fact("NICs", have["nics"], "int", "derived"),
        *[_count(spec, tier, n) for tier, n in have["switches"].items() if n],
        *[
            Fact(f"cables {tier}", count, "int", "derived")
            for tier, count in have["cables"].items()
            if count
        ],
        Fact("scale-up domains", scenario.fabric.domains, "int", "derived"),
        Fact("bisection", have["bisection_gbps"], "gbps", "derived"),
        Fact("cost", money["total"], "usd", "estimate", _guess(money["estimate_ratio"])),
        Fact("of it network", money["network"], "usd", "estimate"),
        Fact("power", watts["total"], "watts", "estimate", _guess(watts["estimate_ratio"])),
        Fact("of it network", watts["network"], "watts", "estimate"),
    ]
    description = sanitize(spec.description)
    return Note("fabric", tuple(facts), (description,) if description else ())


def _count(spec: ClusterSpec, tier: str, count: int) -> Fact:
    """Number of switches of a tier; derived unless the spec says where it was published."""
    key = f"expect.{tier}"
    if key in spec.sources:
        return spec_fact(spec, key, tier, count, "int")
    return Fact(tier, count, "int", "derived")


def _guess(ratio: float) -> str:
    """How much of a sum is estimated."""
    return f"{percent(ratio, 0)} of it from estimated figures"
