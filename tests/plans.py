"""Small training jobs for tests that need a plan."""

from __future__ import annotations

from typing import Any

from clusterscope.engine.scenario import Scenario
from tests import small

MODEL = {"layers": 8, "hidden": 1024, "heads": 16, "sequence": 1024, "vocabulary": 32000}
PLAN = {"tp": 2, "pp": 2, "microbatches": 4}


def job(**changes: Any) -> dict[str, Any]:
    """A job of 16 GPUs, TP2 x PP2 x DP4, of which a message in a domain needs no NIC."""
    plan = {**PLAN, **changes.pop("plan", {})}
    return {"name": "train", "model": MODEL, "plan": plan, **changes}


def scenario(**changes: Any) -> Scenario:
    """The small cluster under that job; keys of its plan are given as `plan`."""
    return small.scenario(jobs=[job(**changes)])
