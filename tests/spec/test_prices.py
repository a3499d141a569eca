"""Prices of one's own: strict, named, and in front of those of the catalogue."""

from __future__ import annotations

import pytest

from clusterscope.errors import SpecError
from clusterscope.spec import parts, prices
from clusterscope.spec.read import parse
from clusterscope.spec.write import write
from tests import small


def spec(*sets):
    import tomli_w

    return parse(tomli_w.dumps(small.tables()), "small.toml", sets)


def test_a_price_set_by_hand_goes_before_the_known_one():
    own = spec("prices.SN5600=40000", "prices.pue=1.1")
    note = parts.Note("catalogue", estimate=False)
    assert prices.price(own, "SN5600", 55000.0, note)[0] == 40000.0
    assert prices.price(own, "QM9700", 50000.0, note) == (50000.0, note)
    assert prices.assumption(own, "pue").value == 1.1
    assert prices.assumption(own, "amortization_years") == prices.ASSUMPTIONS["amortization_years"]


def test_a_price_says_where_it_comes_from():
    text = (
        'prices.SN5600 = 1\nsources."prices.SN5600" = { source = "an invoice" }\n'
        'sources."prices.pue" = { estimate = true, why = "a guess" }\nprices.pue = 1.2\n'
    )
    import tomli_w

    own = parse(text + tomli_w.dumps(small.tables()), "small.toml")
    assert prices.told(own, "SN5600") == ("an invoice", False)
    assert prices.told(own, "pue") == ("a guess", True)
    assert parse(write(own), "again").prices == own.prices


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("prices.SN56OO=1", "--set: prices.SN56OO: there is no such part or assumption; did you"),
        ("prices.SN5600=-1", "is not a price"),
        ("prices.pue=0.5", "allowed is 1 to 5, power of the site"),
        ("prices.SN5600=cheap", "'cheap' is not allowed; allowed is a number"),
        ("prices.a.b=1", "prices"),
    ],
)
def test_a_price_that_makes_no_sense_is_told_in_one_sentence(setting, words):
    with pytest.raises(SpecError) as error:
        spec(setting)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_every_part_and_assumption_can_have_a_price():
    names = prices.names()
    assert {"SN5600", "H100-SXM", "CX-7-400", "energy_usd_per_kwh"} <= set(names)
    assert len(set(names)) == len(names)
    assert prices.mistake(dict.fromkeys(names, 1.0)) is None
    assert prices.mistake({"generic-64": 9.0, "optic-1200": 5.0}) is None
    for assumed in prices.ASSUMPTIONS.values():
        assert assumed.low <= assumed.value <= assumed.high
        assert assumed.source
