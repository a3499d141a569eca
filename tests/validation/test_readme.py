"""The README tells what validation really gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clusterscope.validation.cases import cases
from clusterscope.validation.run import run
from clusterscope.validation.summary import summarize

README = (Path(__file__).parents[2] / "README.md").read_text()


@pytest.mark.slow
def test_the_summary_of_the_readme_is_that_of_a_run():
    told = {
        role: (int(passed), int(failed), int(missed))
        for role, passed, failed, missed in re.findall(
            r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \|", README, re.MULTILINE
        )
    }
    summary = summarize(list(run(cases())))
    assert told == {role.role: (role.passed, role.failed, role.missed) for role in summary.roles}
