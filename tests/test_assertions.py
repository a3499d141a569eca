"""What is said of an assertion that does not hold."""

from __future__ import annotations

import pytest

from clusterscope.assertions import Assertion
from clusterscope.errors import AssertionFailedError, SpecError

REPORT = {
    "jobs": [{"busbw_GBps": 36.434834065517016, "iteration_s": 0.1, "ranks": 16384, "name": "a"}],
    "cost": {"total": 1.0},
}


@pytest.mark.parametrize("value", ["nan", "NaN", "-nan"])
@pytest.mark.parametrize("sign", [">=", "=="])
def test_what_no_value_could_meet_is_refused(sign, value):
    with pytest.raises(SpecError, match="nan"):
        Assertion.parse(f"jobs.0.busbw_GBps {sign} {value}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("jobs.0.busbw_GBps >= 200", "it is 36.43 GB/s"),
        ("jobs.0.busbw_GBps >= 36.4349", "it is 36.43 GB/s"),
        ("jobs.0.busbw_GBps < 36.43", "it is 36.435 GB/s"),
        ("jobs.0.busbw_GBps == 36.4348", "it is 36.43 GB/s"),
        ("jobs.0.iteration_s > 0.1", "it is 0.1 s"),
        ("jobs.0.ranks < 10", "it is 16,384"),
        ("jobs.0.name == b", "it is 'a'"),
        ("cost.total > 2", "it is 1"),
    ],
)
def test_a_value_is_told_in_few_digits_with_its_unit(text, said):
    with pytest.raises(AssertionFailedError) as raised:
        Assertion.parse(text).check(REPORT)
    assert str(raised.value).endswith(said)
