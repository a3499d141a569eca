"""The shape of the code: what may load what, and how long a module may be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "clusterscope"
HEAVY = ("textual", "rich", "networkx", "matplotlib")


def loaded(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in run.stdout.split()}


@pytest.mark.parametrize(
    "room",
    ["spec.presets", "fabric.build", "routing.route", "traffic.program", "engine.timeline",
     "metrics.report", "views.catalog", "export.bundle"],
)  # fmt: skip
def test_headless_rooms_leave_the_heavy_libraries_alone(room):
    assert not loaded(f"import clusterscope.{room}") & set(HEAVY)


def test_the_command_line_loads_nothing_before_it_must():
    assert not loaded("import clusterscope.cli") & {*HEAVY, "numpy", "pydantic"}


def test_importing_the_package_is_free():
    assert not loaded("import clusterscope") & {*HEAVY, "numpy", "pydantic", "click"}


def test_modules_fit_on_a_few_screens():
    long = {
        str(path.relative_to(PACKAGE)): lines
        for path in PACKAGE.rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 400
    }
    assert long == {}


def test_the_public_names_are_the_contract():
    import clusterscope as cs

    assert set(cs.__all__) == {
        "Timeline", "__version__", "build", "completion_times", "load", "max_min", "report",
    }  # fmt: skip
    for name in cs.__all__:
        assert getattr(cs, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cs.nothing  # noqa: B018 - the access is the test
