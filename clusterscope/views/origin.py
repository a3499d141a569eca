"""Where a number comes from: the spec's sources, the parts catalogue, or arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.metrics.memo import per_key
from clusterscope.spec import parts
from clusterscope.spec.derive import derive
from clusterscope.spec.model import ClusterSpec, Source
from clusterscope.views.shapes import Fact, Kind, Mark, Table
from clusterscope.views.tables import column
from clusterscope.views.text import sanitize


@dataclass(frozen=True)
class Origin:
    """How far a number can be trusted, and why."""

    mark: Mark
    text: str


@dataclass(frozen=True)
class Sourced:
    """One number of the cluster and its origin."""

    key: str
    value: str
    origin: Origin


def origin_of(spec: ClusterSpec, key: str) -> Origin:
    """Origin of a value of the spec; a table's source covers its keys."""
    parent = key
    while parent:
        if parent in spec.sources:
            source = spec.sources[parent]
            if source.doubt:
                return Origin("doubt", sanitize(_doubted(source)))
            if source.estimate:
                return Origin("estimate", sanitize(source.why or source.source or "estimate"))
            return Origin("source", sanitize(source.source or source.why or ""))
        parent = parent.rpartition(".")[0]
    return Origin("set", "set in the spec, without a source")


def _doubted(source: Source) -> str:
    """Where a number comes from, and what speaks against it."""
    origin = source.why if source.estimate else source.source
    kind = "estimate: " if source.estimate else ""
    return f"{kind}{origin}; in doubt: {source.doubt}" if origin else f"in doubt: {source.doubt}"


def shaky(spec: ClusterSpec, key: str) -> Mark:
    """Mark of a number that is worked out: "estimate" or "doubt" when its origin is one."""
    mark = origin_of(spec, key).mark
    return mark if mark in ("estimate", "doubt") else "derived"


def spec_fact(spec: ClusterSpec, key: str, label: str, value: object, kind: Kind = "text") -> Fact:
    """Fact about a value of the spec, marked with its origin."""
    origin = origin_of(spec, key)
    shown = sanitize(value) if isinstance(value, str) else value
    return Fact(label, shown, kind, origin.mark, origin.text)


def part_fact(part: parts.Part, key: str, label: str, value: object, kind: Kind) -> Fact:
    """Fact about a part, marked with the catalogue's note."""
    note = part.sources.get(key)
    if note is None:
        return Fact(label, value, kind)
    return Fact(label, value, kind, "estimate" if note.estimate else "source", note.text)


def parts_used(scenario: Scenario) -> tuple[tuple[str, parts.Part], ...]:
    """Parts of the cluster, each with what it is there."""
    spec, plan = scenario.spec, derive(scenario.spec)
    used: list[tuple[str, parts.Part]] = [("gpu", parts.gpu(spec.node.gpu))]
    if spec.scale_up is not None and spec.scale_up.switch is not None:
        used.append(("scale-up switch", parts.switch(spec.scale_up.switch)))
    if plan is not None:
        used.append(("nic", parts.nic(spec.node.nic)))
        used.append(("leaf", parts.switch(plan.leaf_switch)))
        if plan.tiers > 1:
            used.append(("spine", parts.switch(plan.spine_switch)))
        if plan.tiers > 2:
            used.append(("core", parts.switch(plan.core_switch)))
        used.append(("transport", parts.transport(spec.transport.name)))
    return tuple(used)


def _flat(prefix: str, value: object) -> Iterator[tuple[str, object]]:
    """Leaves of a tree of tables, by dotted key."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _flat(f"{prefix}.{index}", item)
    else:
        yield prefix, value


@per_key
def _sourced(scenario: Scenario) -> tuple[Sourced, ...]:
    """Every number that the cluster is made of, spec first, then parts."""
    spec = scenario.spec
    wordy = {"name", "title", "description", "sources"}
    own = spec.model_dump(mode="json", exclude_unset=True, exclude=wordy)
    rows = [
        Sourced(sanitize(key), sanitize(str(value)), origin_of(spec, key))
        for key, value in _flat("", own)
        if value is not None
    ]
    for role, part in parts_used(scenario):
        for key, note in part.sources.items():
            mark: Mark = "estimate" if note.estimate else "source"
            shown = _value(part, key)
            rows.append(Sourced(f"{role} {part.name}: {key}", shown, Origin(mark, note.text)))
    return tuple(rows)


def _value(part: parts.Part, key: str) -> str:
    """Value of a part as the catalogue has it."""
    if isinstance(part, parts.Switch) and key == "ports":
        return " or ".join(f"{mode.count} x {mode.gbps:g} Gb/s" for mode in part.ports)
    value = getattr(part, key, "")
    return f"{value:g}" if isinstance(value, float) else str(value)


def sources(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Table:  # noqa: ARG001 - every view takes a selection
    """Every number of the spec and of its parts, with its source or the reason of an estimate."""
    rows = _sourced(scenario)
    guessed = sum(row.origin.mark == "estimate" for row in rows)
    doubted = sum(row.origin.mark == "doubt" for row in rows)
    return Table(
        "sources",
        (
            column("number", "text", [row.key for row in rows]),
            column("value", "text", [row.value for row in rows]),
            column("is", "text", [row.origin.mark for row in rows]),
            column("because", "text", [row.origin.text for row in rows]),
        ),
        rows=len(rows),
        note=f"{guessed} of {len(rows)} are estimates" + (f", {doubted} in doubt" * (doubted > 0)),
    )
