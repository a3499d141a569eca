"""An explanation as a note, a table of who shares the bottleneck and a table of what would help."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.arrays import NIC_LEAF, SCALE_UP
from clusterscope.metrics.dead import Dead
from clusterscope.metrics.explain import Explanation
from clusterscope.metrics.remedies import Tried
from clusterscope.units import counted
from clusterscope.views.shapes import Column, Fact, Note, Table
from clusterscope.views.slots import letter
from clusterscope.views.text import NOTHING, change, fmt, percent, sanitize

# Gains below this are rounding and word choice, not help.
_NOTICED = 0.001
# What is worth calling help.
_WORTH = 0.05
# From this share of its capacity on a link counts as full.
_FULL = 0.95
# Tiers whose cables belong to one sender or receiver.
_OWN = (NIC_LEAF, SCALE_UP)
# Shares of its speed above this that something loses to pauses are what holds it back.
_PAUSED = 0.05
# Jobs that a sentence names.
_NAMED = 4


def explain_note(scenario: Scenario, found: Explanation, tried: Sequence[Tried] | None) -> Note:
    """What holds the subject back, in facts and sentences.

    Args:
        scenario: the cluster.
        found: the explanation.
        tried: changes that were tried; None while they are being tried.
    """
    subject = found.subject
    facts = [
        Fact(subject.kind, sanitize(subject.name)),
        _gets(found),
    ]
    if subject.job >= 0:
        program = scenario.program[subject.job]
        what = f"{letter(subject.job)} {program.name}: {program.collective}"
        facts.append(Fact("job", sanitize(what)))
        if found.phase >= 0:
            facts.append(Fact("in", sanitize(program.phases[found.phase].name)))
    if found.bottleneck >= 0:
        tier = scenario.fabric.tier_names[int(scenario.fabric.cable_tier[found.bottleneck >> 1])]
        facts += [
            Fact("bottleneck", f"{scenario.names.link(found.bottleneck)}, {tier}"),
            Fact("it carries", f"{_of(found.load_gbps, found.capacity_gbps)}"),
        ]
    if found.beside:
        names = ", ".join(f"{letter(j)} {scenario.program[j].name}" for j in found.beside)
        facts.append(Fact("beside", sanitize(names)))
    if found.path:
        facts.append(Fact("path", ", ".join(scenario.names.link(link) for link in found.path)))
    return Note(f"why {sanitize(subject.name)}", tuple(facts), sentences(scenario, found, tried))


def _of(load: float, capacity: float) -> str:
    if capacity <= 0:
        return "nothing: it is dead"
    return f"{fmt(load, 'gbps')} of {fmt(capacity, 'gbps')}, {percent(load / capacity, 0)}"


def sentences(
    scenario: Scenario, found: Explanation, tried: Sequence[Tried] | None
) -> tuple[str, ...]:
    """Why, and what would help most."""
    if found.subject.job < 0:
        return ("No job uses it.",) if found.dead is None else (_dead(scenario, found, found.dead),)
    lines = [_why(scenario, found), *_connections(scenario, found)]
    if found.elsewhere:
        lines.append("It moves in lock step with a flow on that link, which its own path avoids.")
    if tried is not None:
        lines.append(best_words(tried) or _nothing(scenario, found, tried))
    return tuple(lines)


def _split(scenario: Scenario, found: Explanation) -> bool:
    """Whether flows that share the bottleneck have several connections."""
    return any(scenario.loads[one.job][one.phase].connections > 1 for one in found.sharers)


def _waits_for(scenario: Scenario, found: Explanation) -> str:
    """What slows a flow that no link does."""
    transport = scenario.transport
    work = scenario.loads[found.subject.job][found.phase].work if found.phase >= 0 else None
    if work is not None and work.compute_s > 0:
        return "it computes all the while"
    if transport.ordered_on_many_paths:
        return f"packets overtake each other, and NICs of {sanitize(transport.name)} want order"
    if transport.loss_rate:
        return f"packets are lost, and sent again as {transport.recovery} does"
    return "what it waits for is latency"


def _why(scenario: Scenario, found: Explanation) -> str:
    """What holds it back and who shares that."""
    if found.bottleneck < 0:
        return f"No link holds it back: {_waits_for(scenario, found)}."
    link = scenario.names.link(found.bottleneck)
    if found.capacity_gbps <= 0:
        assert found.dead is not None
        return _dead(scenario, found, found.dead)
    full = found.load_gbps >= _FULL * found.capacity_gbps
    if found.subject.kind == "link" and not full:
        return _not_full(scenario, found)
    if found.paused_ratio > _PAUSED and found.subject.kind != "link":
        return _paused(scenario, found)
    own = sum(one.ratio for one in found.sharers if one.job == found.subject.job)
    others = [one for one in found.sharers if one.job != found.subject.job]
    tail = "" if full else ", and part of the time it waits for messages that follow one another"
    if not others:
        rows = sum(one.rows for one in found.sharers)
        conns = sum(one.connections for one in found.sharers)
        word = "connections" if conns == rows and _split(scenario, found) else "flows"
        meet = f": {rows:,} of its {word} meet there" if rows > 1 else ""
        return f"{link} holds it back{meet}{tail}."
    most = others[0]
    name = sanitize(scenario.program[most.job].name)
    return (
        f"{link} holds it back: {letter(most.job)} {name} takes {percent(most.ratio, 0)} of what "
        f"it carries, {percent(own, 0)} is its own{tail}."
    )


def _dead(scenario: Scenario, found: Explanation, dead: Dead) -> str:
    """Why a link is dead, who waits for it, and whether that ends by itself."""
    names = scenario.names
    why = f": {names.thing(dead.failed)} has failed" if dead.failed.kind != "cable" else ""
    words = f"{names.link(found.bottleneck)} is dead{why}."
    if not dead.users:
        return f"{words} No job would use it."
    if not dead.waiting:
        return f"{words} {_jobs(scenario, dead.users)} would use it; the routes lead around it."
    who = _jobs(scenario, dead.waiting)
    wait = "waits for it and stands" if len(dead.waiting) == 1 else "wait for it and stand"
    if dead.no_other_way:
        back = names.thing(dead.failed)
        return f"{words} {who} {wait} still: no other way exists until {back} is restored."
    return f"{words} {who} {wait} still until the routes, which still lead over it, have changed."


def _jobs(scenario: Scenario, jobs: Sequence[int]) -> str:
    """Jobs by letter and name, the first few of them."""
    told = [f"{letter(job)} {sanitize(scenario.program[job].name)}" for job in jobs[:_NAMED]]
    more = len(jobs) - len(told)
    return ", ".join(told) + (f" and {counted(more, 'more job')}" if more else "")


def _paused(scenario: Scenario, found: Explanation) -> str:
    """What is held up by congestion that is not its own."""
    link = scenario.names.link(found.bottleneck)
    flood = [one for one in found.sharers if one.floods and one.job != found.subject.job]
    who = "a busy receiver"
    if flood:
        name = sanitize(scenario.program[flood[0].job].name)
        who = f"{letter(flood[0].job)} {name}, which sends more than its receiver takes,"
    return (
        f"{link} is paused again and again: {who} holds up everything behind it, and "
        f"{percent(found.paused_ratio, 0)} of the speed is lost to that."
    )


def _not_full(scenario: Scenario, found: Explanation) -> str:
    """A link with room: what holds back the job that loads it most."""
    used = percent(found.load_gbps / found.capacity_gbps, 0)
    name = sanitize(scenario.program[found.subject.job].name)
    words = f"It is not full, {used}, so it holds nothing back"
    if found.paced_by in (-1, found.bottleneck):
        return f"{words}: {name}, which loads it most, waits for messages that follow one another."
    return (
        f"{words}: {name}, which loads it most, is paced by {scenario.names.link(found.paced_by)}."
    )


def best_words(tried: Sequence[Tried]) -> str:
    """The change that gains most, in a sentence; "" when none gains."""
    helpful = [one for one in tried if not one.why_not and one.gain > _NOTICED]
    if not helpful:
        return ""
    best = helpful[0]
    gain = "it moves again" if math.isinf(best.gain) else f"{change(best.gain)}"
    lead = "Most would help:" if best.gain >= _WORTH else "Little would help; at best"
    return f"{lead} {sanitize(best.change)}, {gain} ({_amount(best.after, best.unit)})."


def _connections(scenario: Scenario, found: Explanation) -> list[str]:
    """How many connections a flow has, and whether that helps."""
    if found.subject.kind != "flow" or found.phase < 0:
        return []
    count = scenario.loads[found.subject.job][found.phase].connections
    if count == 1:
        return []
    each = "each hashed on its own" if scenario.transport.hashed else "all on the same paths"
    return [f"A NIC pair has {count} connections, {each}."]


def _nothing(scenario: Scenario, found: Explanation, tried: Sequence[Tried]) -> str:
    """Why nothing helps."""
    own = found.bottleneck >= 0 and int(scenario.fabric.cable_tier[found.bottleneck >> 1]) in _OWN
    lead = "Nothing that was tried helps" if tried else "There is nothing to try here"
    return lead + (": its own cable is the limit." if own else ".")


def _gets(found: Explanation) -> Fact:
    """What the subject gets, in its unit."""
    if found.unit == "tokens/s":
        return Fact("gets", _amount(found.value, found.unit), "text", "derived")
    return Fact("gets", found.value, "gbps" if found.unit == "gbps" else "GBps", "derived")


def _amount(value: float, unit: str) -> str:
    """A value in the unit of an explanation."""
    if unit == "tokens/s":
        return f"{fmt(value, 'int')} tokens/s" if math.isfinite(value) else NOTHING
    return fmt(value, "gbps" if unit == "gbps" else "GBps")


def sharers_table(scenario: Scenario, found: Explanation) -> Table:
    """Who shares the bottleneck, and how much each takes."""
    rows = found.sharers
    programs = [scenario.program[one.job] for one in rows]
    phases = [p.phases[one.phase].name for p, one in zip(programs, rows, strict=True)]
    link = scenario.names.link(found.bottleneck) if found.bottleneck >= 0 else ""
    title = f"who shares {link}" if link else "who shares it"
    return Table(
        title,
        (
            Column("", "text", [letter(one.job) for one in rows], "letter of the job"),
            Column("job", "text", [sanitize(p.name) for p in programs]),
            Column("takes", "gbps", [one.gbps for one in rows], "on the wire"),
            Column("share", "ratio", [one.ratio for one in rows], "of what the link carries"),
            Column("flows", "int", [one.rows for one in rows], "or connections, that cross it"),
            Column("conns", "int", [one.connections for one in rows], "connections of these flows"),
            Column("phase", "text", [sanitize(name) for name in phases]),
        ),
        rows=len(rows),
        keys=[link] * len(rows),
        note="parts add up to the load of the link",
    )


def tried_table(tried: Sequence[Tried]) -> Table:
    """What was tried, the largest gain first."""
    before, after = (
        [_value(one, getattr(one, name)) for one in tried] for name in ("before", "after")
    )
    gains = [_gain(one) for one in tried]
    return Table(
        "what would help",
        (
            Column("gain", "text", gains, "after over before, less one"),
            Column("then", "text", after, "rate of the flow, or busbw of the job, with the change"),
            Column("now", "text", before, "the same without it"),
            Column("change", "text", [sanitize(one.change) for one in tried]),
            Column("how", "text", [sanitize(one.why_not or one.how) for one in tried]),
        ),
        rows=len(tried),
        note="each tried by the engine on a copy; not tried: the reason under 'how'",
    )


def _value(one: Tried, value: float) -> str:
    return _amount(value, one.unit)


def _gain(one: Tried) -> str:
    if one.why_not:
        return "not tried"
    return "moves" if math.isinf(one.gain) else change(one.gain)


def as_dict(scenario: Scenario, found: Explanation, tried: Sequence[Tried]) -> dict[str, object]:
    """The explanation for a file."""
    names, program = scenario.names, scenario.program
    subject = found.subject
    return {
        "schema": 1,
        "subject": subject.name,
        "kind": subject.kind,
        "job": program[subject.job].name if subject.job >= 0 else None,
        "value": found.value,
        "unit": found.unit,
        "bottleneck": names.link(found.bottleneck) if found.bottleneck >= 0 else None,
        "capacity_gbps": found.capacity_gbps,
        "load_gbps": found.load_gbps,
        "path": [names.link(link) for link in found.path],
        "sharers": [
            {
                "job": program[one.job].name,
                "phase": program[one.job].phases[one.phase].name,
                "flows": one.rows,
                "connections": one.connections,
                "gbps": one.gbps,
                "ratio": one.ratio,
            }
            for one in found.sharers
        ],
        "tried": [
            {
                "change": one.change,
                "how": one.how,
                "before": one.before,
                "after": None if one.why_not else one.after,
                "gain": None if one.why_not or math.isinf(one.gain) else one.gain,
                "unit": one.unit,
                "why_not": one.why_not or None,
            }
            for one in tried
        ],
        "sentences": list(sentences(scenario, found, tried)),
    }
