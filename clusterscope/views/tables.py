"""Tables of the cluster at a frame: tiers, links, jobs, phases, events, findings, parts."""

from __future__ import annotations

from collections.abc import Sequence

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.metrics.bands import band_of_all, stays_inside
from clusterscope.metrics.cost import cost_items
from clusterscope.metrics.findings import findings as all_findings
from clusterscope.metrics.jobs import JobMetrics, PhaseMetrics, job_metrics
from clusterscope.metrics.links import hottest, peak_utilization, tier_summaries
from clusterscope.metrics.memo import per_frame
from clusterscope.metrics.users import users_of
from clusterscope.units import counted
from clusterscope.views.shapes import Column, Kind, Table
from clusterscope.views.text import sanitize

# Links that the table of the hottest lists.
LINKS = 1000

Selected = Thing | None


def column(name: str, kind: Kind, values: Sequence[object], doc: str = "") -> Column:
    """A column of values that are there; text is made safe to print."""
    if kind == "text":
        return Column(name, kind, [sanitize(str(v)) for v in values], doc)
    return Column(name, kind, values, doc)


def tiers(scenario: Scenario, frame: Frame, thing: Selected = None) -> Table:  # noqa: ARG001 - every view takes a selection
    """Utilization of the live links of every tier."""
    rows = tier_summaries(scenario, frame)
    names = scenario.names
    worst = [names.link(row.worst_link) if row.worst_link >= 0 else "" for row in rows]
    return Table(
        "tiers",
        (
            column("tier", "text", [row.tier for row in rows]),
            column("cables", "int", [row.links // 2 for row in rows], "a link each way"),
            column("down", "int", [row.down // 2 for row in rows], "dead cables"),
            column("mean", "ratio", [row.mean for row in rows], "load over capacity"),
            column("p50", "ratio", [row.p50 for row in rows], "median"),
            column("p99", "ratio", [row.p99 for row in rows], "99th percentile"),
            column("max", "ratio", [row.max for row in rows], "hottest link now"),
            column("peak", "ratio", [row.peak for row in rows], "hottest link in any phase"),
            column("hottest", "text", worst),
        ),
        rows=len(rows),
        keys=worst,
        note="live links; load on the wire, mean over the step",
    )


@per_frame
def _links(scenario: Scenario, frame: Frame) -> Table:
    links = hottest(scenario, frame, LINKS)
    users = users_of(scenario, frame, links)
    tier = scenario.fabric.cable_tier[links >> 1]
    jobs = [sanitize(job.name) for job in scenario.program]
    names = scenario.names

    def key(row: int) -> str:
        return names.link(int(links[row]))

    return Table(
        "hottest links",
        (
            Column("link", "text", key, "> leads up, < leads down"),
            Column("tier", "text", lambda row: scenario.fabric.tier_names[tier[row]]),
            Column("load", "gbps", frame.link_gbps[links], "on the wire"),
            Column("capacity", "gbps", frame.network.link_gbps[links], "what it carries now"),
            Column("utilization", "ratio", frame.utilization[links], "load over capacity"),
            Column("peak", "ratio", peak_utilization(frame.network)[links], "in any phase"),
            Column("jobs", "text", lambda row: ", ".join(jobs[j] for j in users[row])),
        ),
        rows=len(links),
        keys=key,
        note=f"{len(links):,} hottest of {counted(scenario.fabric.links, 'link')}",
    )


def links(scenario: Scenario, frame: Frame, thing: Selected = None) -> Table:  # noqa: ARG001
    """The hottest links, and whose they are."""
    return _links(scenario, frame)


def jobs(scenario: Scenario, frame: Frame, thing: Selected = None) -> Table:  # noqa: ARG001
    """Every job, in nccl-tests terms."""
    rows = job_metrics(scenario, frame)

    def of(name: str, kind: Kind, attribute: str, doc: str = "") -> Column:
        return column(name, kind, [getattr(row, attribute) for row in rows], doc)

    return Table(
        "jobs",
        (
            of("job", "text", "name"),
            of("collective", "text", "collective"),
            of("ranks", "int", "ranks"),
            of("message", "bytes", "message_bytes"),
            of("iteration", "seconds", "iteration_s"),
            of("latency", "seconds", "latency_s", "part of the iteration"),
            of("algbw", "GBps", "algbw_GBps", "nccl-tests"),
            of("busbw", "GBps", "busbw_GBps", "nccl-tests"),
            column("busbw low", "GBps", [row.error_band[0] for row in rows], "model error band"),
            column("busbw high", "GBps", [row.error_band[1] for row in rows], "model error band"),
            of("line", "GBps", "line_GBps", "busbw at line rate"),
            of("of line", "ratio", "share_of_line", "time at line rate over iteration"),
            of("slowdown", "float", "slowdown", "against alone and nothing failed, 1 is none"),
            of("iterations", "int", "iterations", "done"),
            column("running", "text", [_running(row) for row in rows], "phase now"),
        ),
        rows=len(rows),
        note=_band_note(scenario),
    )


def _band_note(scenario: Scenario) -> str:
    """The network whose error band the jobs have, and what it rests on."""
    up = scenario.spec.scale_up
    inside = up is not None and all(stays_inside(program) for program in scenario.program)
    name = up.kind if up is not None and inside else scenario.transport.name
    return f"{name}: {band_of_all(scenario)[1]}"


def _running(job: JobMetrics) -> str:
    """Name of the running phase."""
    return job.phases[job.running_phase].name if job.phases else ""


def phases(scenario: Scenario, frame: Frame, thing: Selected = None) -> Table:  # noqa: ARG001
    """Every phase of every job's iteration, and what paces it."""
    rows = [(job.name, phase) for job in job_metrics(scenario, frame) for phase in job.phases]
    bound = [_bound(scenario, phase) for _, phase in rows]

    def of(name: str, kind: Kind, attribute: str, doc: str = "") -> Column:
        return column(name, kind, [getattr(phase, attribute) for _, phase in rows], doc)

    return Table(
        "phases",
        (
            column("job", "text", [job for job, _ in rows]),
            of("phase", "text", "name"),
            of("network", "text", "network"),
            of("time", "seconds", "seconds"),
            of("latency", "seconds", "latency_s", "part of the time"),
            of("bytes", "bytes", "bytes", "of all senders together"),
            of("slowest", "gbps", "rate_gbps", "payload rate of the slowest entity"),
            column("bound by", "text", list(bound), "link that paces the slowest entity"),
            of("rates", "int", "entities", "flows or lock-step groups"),
            of("conns", "int", "connections", "connections of a pair of NICs"),
            of("stalled", "int", "stalled", "of them"),
            of("unreached", "int", "unreached", "flows without a live path"),
        ),
        rows=len(rows),
        keys=bound,
        note="each job alone in the network as it is" if len(scenario.program) > 1 else "",
    )


def _bound(scenario: Scenario, phase: PhaseMetrics) -> str:
    """Name of the link that paces a phase, "" when none does."""
    return scenario.names.link(phase.bound_link) if phase.bound_link >= 0 else ""


def events(scenario: Scenario, frame: Frame, thing: Selected = None) -> Table:  # noqa: ARG001
    """Events of this step and the schedule of the spec.

    Injected events of other steps are in the timeline, which a view does not see.
    """
    applied = [(event, "now") for event in frame.applied]
    others = [
        (event, "done" if event.step < frame.step else "to come")
        for event in scenario.schedule
        if event not in frame.applied
    ]
    rows = sorted(applied + others, key=lambda row: row[0].step)
    return Table(
        "events",
        (
            column("step", "int", [event.step for event, _ in rows]),
            column("event", "text", [event.kind for event, _ in rows]),
            column("target", "text", [event.name for event, _ in rows]),
            column("kind", "text", [event.target.kind for event, _ in rows]),
            column(
                "scale",
                "ratio",
                [event.scale if event.kind == "degrade" else None for event, _ in rows],
                "share of the line rate left",
            ),
            column("state", "text", [state for _, state in rows]),
        ),
        rows=len(rows),
        keys=[event.name for event, _ in rows],
    )


def findings(scenario: Scenario, frame: Frame, thing: Selected = None) -> Table:  # noqa: ARG001
    """What deserves attention."""
    rows = all_findings(scenario, frame)

    def of(name: str, attribute: str) -> Column:
        return column(name, "text", [getattr(row, attribute) for row in rows])

    columns = (of("severity", "severity"), of("rule", "rule"), of("where", "where"))
    return Table("findings", (*columns, of("message", "message")), rows=len(rows))


def cost(scenario: Scenario, frame: Frame, thing: Selected = None) -> Table:  # noqa: ARG001
    """Capital cost and power by class of part."""
    rows = cost_items(scenario)

    def of(name: str, kind: Kind, attribute: str, doc: str = "") -> Column:
        return column(name, kind, [getattr(row, attribute) for row in rows], doc)

    return Table(
        "cost and power",
        (
            of("class", "text", "kind"),
            of("part", "text", "part"),
            of("count", "int", "count"),
            of("each", "usd", "each_usd"),
            of("cost", "usd", "usd"),
            column("cost from", "text", [_from(r.usd_estimate, r.usd_source) for r in rows]),
            of("each draws", "watts", "each_w"),
            of("power", "watts", "watts", "at full load"),
            column("power from", "text", [_from(r.w_estimate, r.w_source) for r in rows]),
        ),
        rows=len(rows),
        note="GPUs with their share of the server, NICs, switches and cables; nothing else",
    )


def _from(estimate: bool, text: str) -> str:
    """Where a number comes from, in words."""
    return f"~ {text}" if estimate else text
