"""Every case that is derived comes out as its role demands."""

from __future__ import annotations

import importlib

import pytest

from clusterscope.validation import planned
from clusterscope.validation.cases import cases, chosen
from clusterscope.validation.registry import ROOMS, derivation
from clusterscope.validation.run import derive
from clusterscope.validation.shortfalls import SHORTFALLS
from clusterscope.validation.summary import BEYOND, summarize

# Predictions that fail, though no number is beyond twice its tolerance: Megatron of 2024 reached
# less of an H100 than the recipe of 2025 that the model is fitted on.
OUTSIDE: set[str] = {"TRAIN-15"}
# Coarse sources whose numbers come out elsewhere; their orderings hold.
OUT_OF_BAND: set[str] = {"ROUT-13", "ROUT-15", "TOPO-09", "TRAN-07"}
SLOW: set[str] = {"TRAIN-05", "TRAIN-08", "TRAIN-09"}

DERIVED = [
    pytest.param(case, id=case.id, marks=[pytest.mark.slow] if case.id in SLOW else [])
    for case in cases()
    if derivation(case.id)
]


@pytest.mark.parametrize("case", DERIVED)
def test_a_derived_case_comes_out_as_its_role_demands(case):
    result = derive(case)
    off = [(c.expected.name, c.expected.value, c.got) for c in result.checks if c.verdict == "fail"]
    assert result.derived
    if case.id in OUTSIDE:
        assert case.role == "predict"
        assert result.verdict == "fail"
        assert result.of_tolerance <= BEYOND, off
    elif case.id in OUT_OF_BAND:
        assert (case.role, result.verdict) == ("band", "fail")
        assert "order" not in {c.expected.tol_kind for c in result.checks if c.verdict == "fail"}
    elif case.role not in ("calibrate", "limit"):
        # What came out is within its tolerance, even where not everything did.
        assert result.verdict != "fail", off
    assert (result.verdict == "fail") == (case.id in SHORTFALLS), off


def test_planned_routes_are_ordered_as_published():
    # The orderings that the sources state in words, where the cases have numbers alone.
    racks, jobs = planned.racks({}), planned.jobs({})
    assert racks["eecmp_qp_gain_allreduce_max"] > 0
    assert racks["te_over_eecmp_busbw"] > 0
    assert jobs["gpt175b"] < jobs["gpt22b"]
    assert min(jobs.values()) >= 0


def test_predictions_outside_their_tolerance_are_few():
    predictions = [case for case in cases() if case.role == "predict" and derivation(case.id)]
    assert len(OUTSIDE) <= 0.2 * len(predictions)


def test_a_case_is_derived_alike_twice():
    first, second = (derive(case) for case in chosen(["ROUT-05"]) * 2)
    assert [check.got for check in first.checks] == [check.got for check in second.checks]


def test_every_derivation_is_of_a_case():
    known = {case.id for case in cases()}
    for front, module in ROOMS.items():
        ways = importlib.import_module(f"clusterscope.validation.{module}").DERIVATIONS
        assert set(ways) <= known
        for name, way in ways.items():
            assert name.startswith(f"{front}-")
            assert way.__doc__.startswith(f"{name}: ")


def test_cases_that_are_not_derived_are_counted_openly():
    results = [derive(case) for case in cases() if derivation(case.id) is None]
    assert {result.verdict for result in results} <= {"miss"}
    assert summarize(results).total("miss") == len(results)
