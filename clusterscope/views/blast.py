"""What a failure would do, as facts to read before it is done."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from clusterscope.engine.events import Event
from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.metrics.choices import choices
from clusterscope.metrics.faults import BlastRadius, JobImpact, Next
from clusterscope.spec.derive import derive
from clusterscope.units import counted
from clusterscope.views.shapes import Column, Fact, Note, Table
from clusterscope.views.text import fmt, sanitize

_JOBS = 8
_NAMES = 4
_PLURALS = {
    "switch": "switches",
    "leaf": "leaves",
    "gpu": "GPUs",
    "nic": "NIC ports",
}
_TIERS = ("", "leaf", "spine", "core")


def quick_choices(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Table:  # noqa: ARG001 - every view takes a selection
    """Rules worth a look; the key of a row is its rule."""
    rows = choices(scenario, frame)
    rules = [row.rule for row in rows]
    return Table(
        "quick choices",
        (
            Column("choose", "text", [row.words for row in rows]),
            Column("as a rule", "text", [sanitize(rule) for rule in rules]),
        ),
        rows=len(rows),
        keys=rules,
    )


def meant(scenario: Scenario, events: Sequence[Event]) -> str:
    """Events of one rule in a line: "fail 3 cables: leaf05:u17, leaf07:u02, leaf19:u30"."""
    first = events[0]
    scale = f" to {first.scale:g}" if first.kind == "degrade" else ""
    counts = Counter(_kind(scenario, event.target) for event in events)
    what = " and ".join(f"{n:,} {_plural(kind) if n > 1 else kind}" for kind, n in counts.items())
    names = [event.name for event in events[:_NAMES]]
    if len(events) > _NAMES:
        names[-1] = f"… {events[-1].name}"
    return sanitize(f"{first.kind} {what}{scale}: {', '.join(names).replace(', …', ' …')}")


def _kind(scenario: Scenario, thing: Thing) -> str:
    """What a thing is called: a switch by its tier."""
    if thing.kind == "switch":
        return _TIERS[int(scenario.fabric.switch_tier[thing.index])]
    return {"gpu": "GPU", "nic": "NIC port"}.get(thing.kind, thing.kind)


def _plural(kind: str) -> str:
    return _PLURALS.get(kind.casefold(), f"{kind}s")


def blast_note(
    scenario: Scenario,
    events: Sequence[Event],
    blast: BlastRadius | None,
    following: Sequence[Next] | None,
    doing: str = "",
) -> Note:
    """What events would do, as far as it is known.

    Args:
        scenario: the cluster.
        events: what would be done, one event at least.
        blast: their effect; None while it is computed.
        following: failures that might follow, worst first; None while they are computed.
        doing: what is being computed, in words.
    """
    facts = [Fact(*_what(scenario, events))]
    if blast is None:
        return Note("blast radius", (*facts, Fact("jobs", doing or "computing …")))
    facts += [_job(impact, blast) for impact in blast.jobs[:_JOBS]]
    if len(blast.jobs) > _JOBS:
        facts.append(Fact("", f"and {counted(len(blast.jobs) - _JOBS, 'more job')}"))
    if not blast.jobs:
        facts.append(Fact("jobs", "there are none"))
    facts.append(Fact("cables", _cables(blast)))
    if blast.uplinks is not None:
        up, name = blast.uplinks, sanitize(scenario.names.switch(blast.uplinks.leaf))
        what = "switch cables" if scenario.fabric.dragonfly else "leaf uplinks"
        facts.append(Fact(what, f"{name} keeps {up.left:,} of {up.of:,}, fewest of all"))
    facts.append(Fact("unreached", _unreached(blast)))
    facts.append(Fact("reroute", _reroute(scenario, blast)))
    facts.append(Fact("worst next", doing if following is None else _next(blast, following)))
    return Note("blast radius", tuple(facts))


def _what(scenario: Scenario, events: Sequence[Event]) -> tuple[str, str]:
    """Label and value of what would be done."""
    first = events[0]
    verb, _, rest = meant(scenario, events).partition(" ")
    if len(events) == 1:
        rest = sanitize(first.name)
        part = _part(scenario, first.target)
        rest += f" ({part})" if part else ""
        rest += f" to {first.scale:g} of its rate" if first.kind == "degrade" else ""
    return verb, f"{rest}, at step {first.step:,}"


def _part(scenario: Scenario, thing: Thing) -> str:
    """What a switch is made of."""
    plan = derive(scenario.spec) if thing.kind == "switch" else None
    if plan is None:
        return ""
    parts = ("", plan.leaf_switch, plan.spine_switch, plan.core_switch)
    return sanitize(parts[int(scenario.fabric.switch_tier[thing.index])])


def _job(impact: JobImpact, blast: BlastRadius) -> Fact:
    """How one job goes before and after."""
    name = sanitize(impact.job)
    if not impact.touched:
        same = "stands still as before" if math.isinf(impact.before_s) else "not touched"
        return Fact(name, same)
    before, after = fmt(impact.before_s, "seconds"), fmt(impact.after_s, "seconds")
    if math.isinf(impact.after_s):
        text = f"{before} → stands still for good"
    elif math.isinf(impact.before_s):
        text = f"stands still → {after}: runs again"
    else:
        text = f"{before} → {after} an iteration, {_percent(impact.change)}"
    if math.isinf(impact.during_s) and math.isfinite(impact.after_s) and blast.reroute_s:
        text += f"; waits {fmt(blast.reroute_s, 'seconds')} for the reroute"
    return Fact(name, text)


def _percent(change: float) -> str:
    return f"{100 * change:+.1f} %" if abs(change) >= 5e-4 else "no slower"


def _cables(blast: BlastRadius) -> str:
    """Cables that go or come back, by tier: two links each, as everywhere else."""
    if not blast.gone_by_tier:
        return "none gone"
    gone = blast.links_gone >= 0
    total = abs(blast.links_gone) // 2
    tiers = ", ".join(f"{abs(n) // 2:,} {tier}" for tier, n in blast.gone_by_tier.items())
    return f"{total:,} of {blast.links // 2:,} {'gone' if gone else 'come back'}: {tiers}"


def _unreached(blast: BlastRadius) -> str:
    """Ranks and flows that are cut off."""
    lost, ranks = (
        sum(getattr(impact, name) for impact in blast.jobs) for name in ("ranks_lost", "ranks")
    )
    if not lost and not blast.unreached:
        return "nothing: every rank has a live way to every other"
    flows = counted(blast.unreached, "flow")
    return f"{lost:,} of {counted(ranks, 'rank')}, {flows} without a live way"


def _reroute(scenario: Scenario, blast: BlastRadius) -> str:
    """How long routes need, and what jobs do until then."""
    name = sanitize(scenario.transport.name)
    if not blast.reroute_s:
        return f"{name}: at once"
    waiting = [i for i in blast.jobs if math.isinf(i.during_s) and math.isfinite(i.before_s)]
    slower = [i for i in blast.jobs if math.isfinite(i.during_s) and i.during_s > i.before_s]
    until = "no job notices until then"
    if waiting:
        until = f"{counted(len(waiting), 'job')} stand{'s' * (len(waiting) == 1)} still until then"
    elif slower:
        worst = max(i.during_s / i.before_s - 1 for i in slower)
        until = f"{_percent(worst)} an iteration until then"
    return f"{name}: {fmt(blast.reroute_s, 'seconds')}; {until}"


def _next(blast: BlastRadius, following: Sequence[Next]) -> str:
    """The failure after this one that would hurt most, and the worst that stalls nothing."""
    if blast.all_stalled:
        return "every job stands still already"
    if not following:
        return "there is no switch that could fail"
    stalls = [one for one in following if math.isinf(one.harm)]
    slows = [one for one in following if math.isfinite(one.harm)]
    words = []
    if stalls:
        words.append(f"{stalls[0].event.name} → a job stands still")
    if slows:
        among = "worst of those after which no job stands still: " if stalls else ""
        words.append(f"{among}{slows[0].event.name} → {_percent(slows[0].harm)}")
    return sanitize("; ".join(words) + f" (of the {len(following)} busiest switches)")
