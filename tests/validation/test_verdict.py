"""Tolerances, roles and the bar."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterscope.errors import UnknownNameError
from clusterscope.validation import words
from clusterscope.validation.cases import Case, Expected, cases, chosen
from clusterscope.validation.document import document
from clusterscope.validation.shapes import (
    case_note,
    case_table,
    number_table,
    summary_table,
    waiting_note,
)
from clusterscope.validation.summary import summarize
from clusterscope.validation.verdict import LIMIT, NOT_DERIVED, Holds, Result, judge


def case(*expected: Expected, role: str = "exact", name: str = "TOPO-99") -> Case:
    return Case(name, "D. topology", "a title", role, {}, expected, "a/b", "", "a paper", "derived")


def one(value, kind, tol, got, role="exact") -> Result:
    return judge(case(Expected("x", value, "ms", kind, tol), role=role), {"x": got})


@pytest.mark.parametrize(
    ("value", "kind", "tol", "got", "verdict", "distance"),
    [
        (10.0, "rel", 0.1, 11.0, "pass", 1.0),
        (10.0, "rel", 0.1, 8.5, "fail", 1.5),
        (10.0, "abs", 2.0, 9.0, "pass", 0.5),
        (0.0, "abs", 0.0, 0.0, "pass", 0.0),
        (65536, "abs", 0.0, 65537, "fail", math.inf),
        (0.5, "range", (0.4, 0.8), 0.6, "pass", 0.0),
        (0.5, "range", (0.4, 0.8), 0.8, "pass", 1.0),
        (0.5, "range", (0.4, 0.8), 1.0, "fail", 2.0),
        ((1.0, 2.0), "rel", 0.1, [1.0, 2.1], "pass", 0.5),
        ((1.0, 2.0), "rel", 0.1, [1.0], "fail", math.inf),
        (10.0, "rel", 0.1, math.nan, "fail", math.inf),
        (10.0, "rel", 0.1, math.inf, "fail", math.inf),
        ("A < B", "order", 0.0, Holds(True, "1 < 2"), "pass", 0.0),
        ("A < B", "order", 0.0, Holds(False, "2 < 1"), "fail", 0.0),
        ("job aborts", "order", 0.0, "job aborts", "pass", 0.0),
        ("job aborts", "order", 0.0, "job waits", "fail", 0.0),
    ],
)
def test_tolerances(value, kind, tol, got, verdict, distance):
    result = one(value, kind, tol, got)
    assert result.verdict == verdict
    assert result.of_tolerance == pytest.approx(distance)


def test_digits_that_were_not_printed_are_not_held_against_anyone():
    # 200/7 was printed as 28.5714, which is 1.000001e-6 off, relative.
    assert one(28.5714, "rel", 1e-6, 200 / 7).verdict == "pass"
    assert one(28.5714, "rel", 1e-6, 28.5717).verdict == "fail"
    assert one(0.5, "rel", 1e-9, 0.500001).verdict == "fail"
    assert one(6_291_460.0, "rel", 1e-6, 6_291_456.0).verdict == "pass"


def test_the_worst_of_several_stands_for_all():
    check = one(10.0, "rel", 0.1, [10.0, 12.0, 9.5]).checks[0]
    assert (check.got, check.verdict) == (12.0, "fail")


@given(st.floats(-1e6, 1e6), st.floats(0, 10), st.floats(-1e6, 1e6))
def test_pass_is_to_be_at_most_one_tolerance_away(value, tol, got):
    check = one(value, "abs", tol, got).checks[0]
    assert (check.verdict == "pass") == (check.of_tolerance <= 1)
    if abs(got - value) <= tol:
        assert check.verdict == "pass"


def test_a_case_without_a_derivation_is_a_miss():
    result = judge(case(Expected("x", 1.0, "", "abs", 0.0)), None)
    assert (result.verdict, result.reason, result.derived) == ("miss", NOT_DERIVED, False)
    half = judge(
        case(Expected("x", 1.0, "", "abs", 0.0), Expected("y", 2.0, "", "abs", 0.0)), {"x": 1.0}
    )
    assert (half.verdict, half.reason) == ("miss", f"{NOT_DERIVED}: y")


def test_a_limit_is_a_miss_whatever_comes_out():
    result = one(7.9, "rel", 0.01, 7.9, role="limit")
    assert (result.verdict, result.reason) == ("miss", LIMIT)


def test_a_number_of_a_limit_is_shown_and_does_not_fail():
    beside = Expected("measured", 7.9, "h", "order", 0.0)
    result = judge(case(beside, role="limit"), {"measured": Holds(False, "28.8 h")})
    assert (result.verdict, result.checks[0].verdict) == ("miss", "miss")
    assert words.outcome(result.checks[0]) == "miss: 28.8 h, expected 7.9 h (not to be met)"
    assert words.shortfalls([result]) == []


def test_why_a_case_fails_is_told_only_when_it_does():
    expected = Expected("x", 10.0, "", "rel", 0.1)
    for got, reason in ((12.0, "no hosts"), (10.0, "")):
        result = judge(case(expected), {"x": got}, shortfall="no hosts")
        assert result.reason == reason
        assert words.shortfalls([result]) == ([f"TOPO-99 fails: {reason}"] if reason else [])


def banded(number: float, *, holds: bool) -> Result:
    expected = (Expected("x", 10.0, "", "rel", 0.1), Expected("order", "A < B", "", "order", 0.0))
    return judge(case(*expected, role="band"), {"x": number, "order": Holds(holds, "1, 2")})


def test_the_bar_of_a_band_is_on_orderings_and_its_numbers_are_counted_openly():
    (role,) = summarize([banded(12.0, holds=True), banded(10.0, holds=True)]).roles
    assert (role.passed, role.failed, role.held, role.broken, role.met) == (1, 1, 2, 0, True)
    assert words.bar(role) == "all orderings hold: met, 2 of 2"
    assert words.footnote(summarize([banded(12.0, holds=True)])).startswith("band: 1 case fails")
    broken = summarize([banded(10.0, holds=True), banded(10.0, holds=False)])
    assert words.bar(broken.roles[0]) == "all orderings hold: not met, 1 of 2"
    assert not broken.met
    assert words.footnote(broken) == ""


def test_an_ordering_that_was_not_derived_is_neither_held_nor_broken():
    expected = Expected("order", "A < B", "", "order", 0.0)
    (role,) = summarize([judge(case(expected, role="band"), None)]).roles
    assert (role.missed, role.orderings, role.met) == (1, 0, True)


def test_a_number_that_the_case_does_not_expect_is_our_mistake():
    with pytest.raises(ValueError, match="TOPO-99 does not expect y"):
        judge(case(Expected("x", 1.0, "", "abs", 0.0)), {"y": 1.0})


def results(role: str, *got: float | None) -> list[Result]:
    expected = Expected("x", 10.0, "", "rel", 0.1)
    return [judge(case(expected, role=role), None if g is None else {"x": g}) for g in got]


@pytest.mark.parametrize(
    ("role", "got", "met"),
    [
        ("exact", [10.0, 10.5], True),
        ("exact", [10.0] * 99 + [12.0], False),
        ("statistical", [10.0] * 19 + [12.0], True),
        ("statistical", [10.0] * 18 + [12.0], False),
        ("predict", [10.0] * 4 + [11.5], True),
        ("predict", [10.0] * 3 + [11.5], False),
        ("predict", [10.0] * 9 + [12.5], False),
        ("band", [10.0, 12.0], True),
        ("calibrate", [12.0], True),
        ("exact", [None, 10.0], True),
    ],
)
def test_the_bar(role, got, met):
    summary = summarize(results(role, *got))
    assert summary.met is met
    assert sum(summary.total(v) for v in ("pass", "fail", "miss")) == len(got)


def test_the_case_file_is_whole():
    every = cases()
    assert len(every) == 76
    assert len({c.id for c in every}) == 76
    for c in every:
        assert c.expected
        assert len({e.name for e in c.expected}) == len(c.expected)
        assert c.source


def test_cases_are_chosen_by_id_or_group():
    assert [c.id for c in chosen(["fair-02", " FAIR-01"])] == ["FAIR-01", "FAIR-02"]
    assert {c.id[:5] for c in chosen(["TRAN"])} == {"TRAN-"}
    assert len(chosen([])) == len(chosen([""])) == 76
    with pytest.raises(UnknownNameError, match="no case 'TOPO-98'; did you mean 'TOPO-09'"):
        chosen(["TOPO-98"])


def test_a_document_is_json_and_keeps_the_contract():
    mixed = [
        *results("predict", 10.0, None, math.inf),
        judge(
            case(Expected("x", "A < B", "", "order", 0.0), role="band"),
            {"x": Holds(True, "1 < 2")},
        ),
    ]
    document_ = json.loads(json.dumps(document(mixed), allow_nan=False))
    assert [c["verdict"] for c in document_["cases"]] == ["pass", "miss", "fail", "pass"]
    for c in document_["cases"]:
        assert {"id", "role", "verdict", "expected", "source", "title", "reason"} <= set(c)
        assert {"name", "value", "got", "unit", "tol_kind", "tol"} <= set(c["expected"][0])
    assert document_["summary"]["roles"]["predict"]["miss"] == 1
    assert document_["summary"]["bar_met"] is False


def test_shapes_have_a_row_for_everything():
    mixed = [*results("exact", 10.0, None, 12.0)]
    blank = case_table([r.case for r in mixed], {})
    assert (blank.rows, blank.columns[1][0], blank.columns[3][0]) == (3, "", "")
    full = case_table([mixed[2].case], {"TOPO-99": mixed[2]})
    assert (full.columns[1][0], full.columns[3][0]) == ("fail", "200 %")
    assert ("x", "10 (±10 %)") in [(f.label, f.value) for f in waiting_note(mixed[0].case).facts]
    table = number_table(mixed)
    assert [table.columns[1][row] for row in range(table.rows)] == ["pass", "miss", "fail"]
    assert summary_table(summarize(mixed)).columns[4][0] == "all: not met"
    note = case_note(mixed[1])
    assert note.title == "TOPO-99 a title"
    assert (note.facts[0].label, note.facts[0].value) == ("verdict", "miss: not yet derived")
    assert note.facts[1].value == "miss: expected 10 (±10 %)"
    assert case_note(mixed[2]).facts[1].value == "fail: 12, expected 10 (±10 %)"
    assert ("formula", "a/b") in [(f.label, f.value) for f in note.facts]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "ms", "–"),
        (40.0, "Gb/s", "40 Gb/s"),
        (65536, "", "65,536"),
        (1.75342, ":1", "1.753:1"),
        (1155.95, "s", "1,156 s"),
        (3145728, "B", "3 MiB"),
        (51.6384, "us", "51.64 µs"),
        (30000, "USD", "$30,000"),
        ([4, 16], "", "4, 16"),
        ([5.0, 5.0], "ms", "5 each ms"),
        (list(range(20)), "", "0, 1, 2, 3, 4, 5, …, 19"),
        (Holds(True, "1 < 2"), "x", "1 < 2"),
    ],
)
def test_values_as_words(value, unit, text):
    assert words.value(value, unit) == text


def test_numbers_that_differ_do_not_look_alike():
    (off,) = results("exact", 10.000_01 * 1.2)
    check = off.checks[0]
    near = dataclasses.replace(
        check, got=10.000_01, expected=dataclasses.replace(check.expected, value=10.0, unit="s")
    )
    assert words.both(near) == ("10 s", "10.00001 s")
    assert words.both(dataclasses.replace(near, verdict="pass")) == ("10 s", "10 s")
