from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterscope.views.text import fmt, percent, sanitize

CASES = [
    (0.97, "ratio", ".97"),
    (1.0, "ratio", "1.00"),
    (0.0, "ratio", ".00"),
    (0.996, "ratio", "1.00"),
    (1234567, "int", "1,234,567"),
    (400.0, "gbps", "400.0 Gb/s"),
    (14400.0, "gbps", "14,400 Gb/s"),
    (51200.0, "gbps", "51.2 Tb/s"),
    (456308.0, "gbps", "456.3 Tb/s"),
    (3.14159, "gbps", "3.14 Gb/s"),
    (371.04, "GBps", "371.0 GB/s"),
    (0.0, "GBps", "0 GB/s"),
    (512, "bytes", "512 B"),
    (2**30, "bytes", "1 GiB"),
    (10.5 * 2**10, "bytes", "10.5 KiB"),
    (2.3e-7, "seconds", "230 ns"),
    (4.01e-5, "seconds", "40.1 µs"),
    (4.21, "seconds", "4.21 s"),
    (0.0, "seconds", "0 s"),
    (725.0, "seconds", "12 min 05 s"),
    (12_000.0, "seconds", "3 h 20 min"),
    (math.inf, "seconds", "∞ (stalled)"),
    (math.inf, "float", "∞"),
    (-math.inf, "float", "-∞"),
    (math.nan, "gbps", "–"),
    (None, "usd", "–"),
    (4.5193e9, "usd", "$4.52B"),
    (950.0, "usd", "$950"),
    (90_086_400.0, "watts", "90.1 MW"),
    (747.0, "watts", "747 W"),
    (1.23456, "float", "1.235"),
    ("a\x1b[31mb", "text", "a�[31mb"),
]


@pytest.mark.parametrize(("value", "kind", "text"), CASES)
def test_each_unit_has_one_rule(value, kind, text):
    assert fmt(value, kind) == text


def test_percent_is_for_sentences():
    assert percent(0.971) == "97.1 %"
    assert percent(math.nan) == "–"


def test_names_cannot_move_the_cursor_or_turn_the_text_around():
    assert sanitize("pod\n1\t\x07\u202e\x9b") == "pod�1����"
    assert sanitize("Großrechner 機 é") == "Großrechner 機 é"


@given(st.floats(allow_nan=True), st.sampled_from(["int", "ratio", "gbps", "bytes", "seconds"]))
def test_every_float_has_a_text_on_one_line(value, kind):
    text = fmt(value, kind)
    assert text
    assert text.isprintable()
