"""Plans of all jobs of a spec as tables: what they send, their groups, their memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from clusterscope.engine.frame import Frame
from clusterscope.engine.scenario import Scenario
from clusterscope.fabric.things import Thing
from clusterscope.metrics.planned import JobFacts, all_facts
from clusterscope.views.plan import groups_table, memory_table, sent_table
from clusterscope.views.shapes import Column, Table
from clusterscope.views.text import sanitize


def sends(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Table:  # noqa: ARG001
    """What every job sends, a row a kind of bytes of a phase, and the link that bounds it."""
    facts = all_facts(scenario, frame)
    return _stacked(facts, lambda own: sent_table(scenario, own), "sends of an iteration")


def groups(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Table:  # noqa: ARG001
    """The parallel groups of every job, and what each spans."""
    return _stacked(all_facts(scenario, frame), groups_table, "parallel groups")


def memory(scenario: Scenario, frame: Frame, thing: Thing | None = None) -> Table:  # noqa: ARG001
    """What a GPU of the fullest stage of every training job holds."""
    return _stacked(all_facts(scenario, frame), memory_table, "memory a GPU")


def _stacked(facts: Sequence[JobFacts], table_of: Callable[[JobFacts], Table], title: str) -> Table:
    """Tables of all jobs, one below the other, with the job before each row."""
    tables = [table_of(own) for own in facts]
    names = [
        sanitize(own.name)
        for own, table in zip(facts, tables, strict=True)
        for _ in range(table.rows)
    ]
    if not tables:
        return Table(title, (Column("job", "text", []),), rows=0)
    columns = [
        dataclasses.replace(
            column,
            values=[t.columns[place][row] for t in tables for row in range(t.rows)],
        )
        for place, column in enumerate(tables[0].columns)
    ]
    note = tables[0].note if len(tables) == 1 else ""
    return Table(title, (Column("job", "text", names), *columns), rows=len(names), note=note)
