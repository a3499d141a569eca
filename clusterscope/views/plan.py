"""A job as shapes: its plan, what it reaches, what it sends, its groups and its memory.

Each says what has become of it since another plan, when there is one to compare with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from clusterscope.engine.scenario import Scenario
from clusterscope.metrics.groups import MOST_PLACES, WORDS, CutGroups, places
from clusterscope.metrics.iteration import Sent
from clusterscope.metrics.memory import Memory, sentence
from clusterscope.metrics.planned import JobFacts
from clusterscope.spec.replan import FIELDS
from clusterscope.units import GIGA
from clusterscope.views.published import published_fact
from clusterscope.views.shapes import Column, Fact, Kind, Note, Table
from clusterscope.views.text import change, fmt, percent, sanitize

_ZERO = ("nothing", "optimizer", "optimizer, gradients", "optimizer, gradients, weights")
_HEADLINE = ("MFU", "iteration", "alone", "exposed", "busbw")
_LISTED = 8  # ranks that are named one by one


def title(facts: JobFacts) -> str:
    """Name, model and plan of a job in a few words."""
    own = facts.metrics
    if own.training is None:
        return sanitize(f"{own.name} · {own.collective} over {own.ranks:,} GPUs")
    name, model = own.name, own.training.model
    named = name if model in name else f"{name} · {model}"
    return sanitize(f"{named} · {own.training.plan} · {own.ranks:,} GPUs")


def headline(facts: JobFacts, before: JobFacts | None = None) -> str:
    """What counts most, and what has become of it, in one line.

    Beside other jobs an iteration takes longer than alone, which all below this line is about.
    """
    parts: dict[str, str] = {}
    for fact in _speed(facts, before):
        if fact.label in _HEADLINE:
            parts[fact.label] = f"{fact.label} {fmt(fact.value, fact.kind)}"
    alone = parts.pop("alone", "").removeprefix("alone ")
    if alone:
        parts["iteration"] += f" beside the others, {alone} alone (chart)"
    return " · ".join(parts.values())


def plan_table(facts: JobFacts, before: JobFacts | None = None) -> Table:
    """A row a field of the plan that can be changed."""
    return fields_table(facts.values, None if before is None else before.values)


def fields_table(values: Mapping[str, str], old: Mapping[str, str] | None = None) -> Table:
    """A row a field that can be changed, from values by field, now and before."""
    names = list(values)
    columns = [
        Column("field", "text", names),
        Column("value", "text", [values[name] for name in names]),
    ]
    if old is not None:
        was = [old[n] if n in old and old[n] != values[n] else "" for n in names]
        columns.append(Column("was", "text", was))
    columns.append(Column("what", "text", [_meaning(values, name) for name in names]))
    return Table("plan", tuple(columns), rows=len(names), keys=names)


def facts_note(facts: JobFacts, before: JobFacts | None = None) -> Note:
    """What a job reaches, and where its iteration goes."""
    shown = [*_speed(facts, before), *_shares(facts, before)]
    published = published_fact(facts)
    if published is not None:
        shown.append(published)
    if facts.memory is not None:
        told = facts.memory
        text = f"{_gb(told.needed_bytes)} of {_gb(told.hbm_bytes)}, {percent(told.full, 0)}"
        shown.append(Fact("memory a GPU", text, "text", "derived"))
    short = "" if facts.memory is None else sentence(facts.memory)
    return Note(title(facts), tuple(shown), (short[:1].upper() + short[1:],) if short else ())


def _speed(facts: JobFacts, before: JobFacts | None) -> Iterator[Fact]:
    """Speed of a job."""
    own, old = facts.metrics, before.metrics if before is not None else None
    train = own.training
    then = old.training if old is not None else None
    if train is not None:
        points = "" if then is None else f" ({_points(train.mfu - then.mfu)})"
        yield Fact("MFU", percent(train.mfu) + points)
    yield _told("iteration", own.iteration_s, "seconds", old.iteration_s if old else None)
    if own.iteration_s > own.alone_s * (1 + 1e-9):
        yield _told("alone", own.alone_s, "seconds", old.alone_s if old else None)
    # A bare collective is waited for from its begin to its end.
    if train is not None and not facts.serves:
        yield _told("exposed", facts.exposed_s, "seconds", before.exposed_s if before else None)
    if train is None:
        yield _told("busbw", own.busbw_GBps, "GBps", old.busbw_GBps if old else None)
        yield _told("algbw", own.algbw_GBps, "GBps", old.algbw_GBps if old else None)
        yield Fact("message", own.message_bytes, "bytes")
        return
    yield _told("tokens/s", train.tokens_per_s, "int", then.tokens_per_s if then else None)
    yield _told("TFLOPS/GPU", train.tflops_per_gpu, "float", then.tflops_per_gpu if then else None)


def _shares(facts: JobFacts, before: JobFacts | None) -> Iterator[Fact]:
    """Where an iteration of a training job goes."""
    train = facts.metrics.training
    then = before.metrics.training if before is not None else None
    if train is None:
        return
    yield _told("computing", train.compute_s, "seconds", then.compute_s if then else None)
    yield _told("bubble", train.bubble_s, "seconds", then.bubble_s if then else None)
    kinds = [*train.exposed_s, *(then.exposed_s if then else ())]
    for kind in dict.fromkeys(kinds):
        old = None if then is None else then.exposed_s.get(kind, 0.0)
        yield _told(f"exposed {kind}", train.exposed_s.get(kind, 0.0), "seconds", old)
    yield Fact("tokens", train.tokens, "int")


def _told(label: str, value: float, kind: Kind, old: float | None) -> Fact:
    """A value, and by how much it has grown."""
    if old is None:
        return Fact(label, value, kind)
    if old == value:
        grown = "as before"
    elif old and math.isfinite(old) and math.isfinite(value):
        grown = change(value / old - 1)
    else:
        grown = f"was {fmt(old, kind)}"
    return Fact(label, f"{fmt(value, kind)} ({grown})")


def _points(grown: float) -> str:
    """A difference of shares in points."""
    text = f"{100 * grown:+.1f}".replace("-", "−")
    return "as before" if text[1:] == "0.0" else f"{text} points"


def _meaning(values: Mapping[str, str], name: str) -> str:
    """What a field means, with its value where that says more."""
    if name == "zero":
        return f"{FIELDS[name]}: {_ZERO[int(values[name])]}"
    return FIELDS[name]


def sent_table(scenario: Scenario, facts: JobFacts) -> Table:
    """A row a kind of bytes of a phase, and the link that bounds it; keys are links."""
    rows = facts.sent
    links = [scenario.names.link(row.bound_link) if row.bound_link >= 0 else "" for row in rows]
    return Table(
        "phases",
        (
            Column("phase", "text", [_phase(row) for row in rows]),
            Column("cut", "text", [row.kind for row in rows]),
            Column("seconds", "seconds", [row.seconds for row in rows], "of its slowest group"),
            Column(
                "exposed",
                "seconds",
                [row.exposed_s for row in rows],
                "of the iteration that wait for it",
            ),
            Column("bound by", "text", links, "link of the slowest group"),
            Column("bytes", "bytes", [row.bytes for row in rows], "all senders together"),
            Column("network", "text", [row.network for row in rows]),
            Column("rate", "gbps", [row.rate_gbps for row in rows], "of its slowest flow"),
            Column("groups", "int", [row.groups for row in rows]),
        ),
        rows=len(rows),
        keys=links,
        note="alone in the network",
    )


def _phase(row: Sent) -> str:
    """A phase without what is sent beside it, which has rows of its own."""
    return sanitize(row.phase).partition(" + ")[0]


def groups_table(facts: JobFacts) -> Table:
    """A row a cut: its groups, and what each spans; keys are the cuts."""
    rows = facts.groups
    return Table(
        "groups",
        (
            Column("cut", "text", [row.cut for row in rows]),
            Column("groups", "int", [row.count for row in rows]),
            Column("ranks", "int", [row.size for row in rows], "of a group"),
            Column("where", "text", [spread(row) for row in rows]),
            Column("domains", "int", [row.domains for row in rows], "that a group spans"),
            Column("leaves", "int", [row.leaves or None for row in rows], "that a group spans"),
            Column("pods", "int", [row.pods or None for row in rows], "that a group spans"),
            Column("what", "text", [WORDS[row.cut] for row in rows]),
        ),
        rows=len(rows),
        keys=[row.cut for row in rows],
        note="what the widest group spans",
    )


def spread(row: CutGroups) -> str:
    """Where the ranks of a group talk to each other."""
    if row.inside:
        return "inside the scale-up domain"
    if row.in_domain > 1:
        return f"{row.in_domain} in a domain, the rest across NICs"
    return "across NICs"


def places_table(scenario: Scenario, facts: JobFacts, cut: str, number: int) -> Table:
    """Where one group is: a row a node and leaf; keys are leaves, or GPUs without NICs."""
    rows, names = places(scenario, facts.job, cut, number), scenario.names
    leaves = [names.switch(row.leaf) if row.leaf >= 0 else "" for row in rows]
    keys = [leaf or names.gpu(row.gpus[0]) for leaf, row in zip(leaves, rows, strict=True)]
    pods = [names.pod(row.pod) if row.pod >= 0 else None for row in rows]
    domains = [names.domain(row.domain) if row.domain >= 0 else None for row in rows]
    count = next(row.count for row in facts.groups if row.cut == cut)
    return Table(
        f"{cut} group {number:,} of {count:,}",
        (
            Column("ranks", "text", [_listed(row.ranks) for row in rows]),
            Column("GPUs", "text", [_gpus(scenario, row.gpus) for row in rows]),
            Column("domain", "text", domains),
            Column("leaf", "text", leaves),
            Column("pod", "text", pods),
        ),
        rows=len(rows),
        keys=keys,
        note=f"the first {MOST_PLACES:,} places" if len(rows) == MOST_PLACES else "",
    )


def _gpus(scenario: Scenario, gpus: Sequence[int]) -> str:
    """GPUs of one node by name: the first one, and how many more."""
    first = scenario.names.gpu(gpus[0])
    return first if len(gpus) == 1 else f"{first} and {len(gpus) - 1} more"


def _listed(ranks: Sequence[int]) -> str:
    """Ranks in ascending order: runs as "0–7", a few others one by one."""
    if len(ranks) > 1 and ranks[-1] - ranks[0] == len(ranks) - 1:
        return f"{ranks[0]:,}–{ranks[-1]:,}"
    more = f" and {len(ranks) - _LISTED:,} more" if len(ranks) > _LISTED else ""
    return ", ".join(f"{rank:,}" for rank in ranks[:_LISTED]) + more


def memory_table(facts: JobFacts) -> Table:
    """What a GPU of the fullest stage holds; empty for a bare collective."""
    told = facts.memory
    rows = [] if told is None else list(_memory_rows(told))
    whole = 1.0 if told is None else told.hbm_bytes
    note = (
        "" if told is None else f"stage {told.stage} of {told.stages}, the fullest; the first is 1"
    )
    return Table(
        "memory a GPU",
        (
            Column("what", "text", [name for name, _, _ in rows]),
            Column("GB", "float", [value / GIGA for _, value, _ in rows]),
            Column("of HBM", "ratio", [value / whole for _, value, _ in rows]),
            Column("about", "text", [about for _, _, about in rows]),
        ),
        rows=len(rows),
        note=note,
    )


def _memory_rows(told: Memory) -> Iterator[tuple[str, float, str]]:
    yield "weights", told.weights_bytes, "two bytes each"
    yield "gradients", told.gradients_bytes, f"{told.grad_bytes} bytes each (plan.grad_bytes)"
    yield "optimizer", told.optimizer_bytes, "Adam: 12 bytes a parameter before ZeRO"
    flying = f"{told.in_flight:.3g} microbatches in flight"
    yield "activations", told.activations_bytes, flying
    if told.scores_bytes:
        yield "attention scores", told.scores_bytes, "attention is not fused"
    yield "needed", told.needed_bytes, "without buffers of libraries and fragments"
    yield "HBM", told.hbm_bytes, "of the GPU"


def _gb(number: float) -> str:
    """Bytes as memory of GPUs is sold, in 10^9."""
    return f"{number / GIGA:.3g} GB"
