"""Results as shapes, which a file, a terminal and the explorer show alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from clusterscope.validation import words
from clusterscope.validation.cases import ROLE_WORDS, Case
from clusterscope.validation.summary import Summary
from clusterscope.validation.verdict import Check, Result
from clusterscope.views.shapes import Column, Fact, Note, Table


def case_table(cases: Sequence[Case], results: Mapping[str, Result]) -> Table:
    """A row a case: id, verdict, role, what it is about, distance; blank where nothing is known."""
    found = [results.get(case.id) for case in cases]
    return Table(
        "validation",
        (
            Column("case", "text", [case.id for case in cases]),
            Column("verdict", "text", [r.verdict if r else "" for r in found]),
            Column("role", "text", [case.role for case in cases]),
            Column("of tol.", "text", [words.distance(r) if r else "" for r in found],
                   "how far off its worst number is: 100 % of its tolerance is the edge"),
            Column("about", "text", [case.title for case in cases]),
        ),
        rows=len(cases),
        keys=[case.id for case in cases],
    )  # fmt: skip


def number_table(results: Sequence[Result]) -> Table:
    """A row an expected number: what was expected, what came out, what is accepted, the verdict."""
    rows = [(result, check) for result in results for check in result.checks]

    def of_case(name: str, text: Callable[[Case], str]) -> Column:
        return Column(name, "text", [text(result.case) for result, _ in rows])

    def of_number(name: str, text: Callable[[Check], str]) -> Column:
        return Column(name, "text", [text(check) for _, check in rows])

    return Table(
        "validation",
        (
            of_case("case", lambda case: case.id),
            of_number("verdict", lambda check: check.verdict),
            of_case("role", lambda case: case.role),
            of_number("number", lambda check: words.named(check.expected.name)),
            of_number("expected", lambda check: words.both(check)[0]),
            of_number("got", lambda check: words.both(check)[1]),
            of_number("tolerance", lambda check: words.tolerance(check.expected)),
            of_case("source", lambda case: f"{case.source} [{case.source_status}]"),
        ),
        rows=len(rows),
        keys=[result.case.id for result, _ in rows],
    )


def summary_table(summary: Summary) -> Table:
    """A row a role: how many passed, failed and missed, and what the bar asks for."""
    roles = summary.roles
    return Table(
        "summary",
        (
            Column("role", "text", [r.role for r in roles]),
            Column("pass", "int", [r.passed for r in roles]),
            Column("fail", "int", [r.failed for r in roles]),
            Column("miss", "int", [r.missed for r in roles]),
            Column("bar", "text", [words.bar(r) for r in roles]),
        ),
        rows=len(roles),
    )


def case_note(result: Result) -> Note:
    """Everything about one case: the verdict, then number by number, then where it comes from."""
    facts = [Fact("verdict", words.verdict(result))]
    facts += [Fact(words.named(c.expected.name), words.outcome(c)) for c in result.checks]
    facts += [Fact("took", result.seconds, "seconds")] if result.seconds else []
    return _note(result.case, facts)


def waiting_note(case: Case) -> Note:
    """What is known of a case before it is derived."""
    return _note(case, [Fact(words.named(e.name), words.wanted(e)) for e in case.expected])


def _note(case: Case, facts: Sequence[Fact]) -> Note:
    """Facts of a case, then its setup, formula and source as far as it has them."""
    setup = ", ".join(f"{key} = {value}" for key, value in case.setup.items())
    about = [
        Fact("role", f"{case.role}: {ROLE_WORDS[case.role]}"),
        Fact("setup", setup),
        Fact("formula", case.formula),
        Fact("worked", case.worked),
        *(Fact(words.named(expected.name), expected.note) for expected in case.expected),
        Fact("source", f"{case.source} [{case.source_status}]"),
    ]
    return Note(f"{case.id} {case.title}", (*facts, *(fact for fact in about if fact.value)))
