"""How often ZeRO 3 gathers parameters."""

from __future__ import annotations

import pytest

from clusterscope.spec.models import model
from clusterscope.spec.plans import resolve_plan
from clusterscope.spec.training import PlanSpec, Recompute
from clusterscope.traffic.volumes import data_bytes, parameter_gathers


@pytest.mark.parametrize(
    ("zero", "recompute", "gathers"),
    [(3, "none", 2), (3, "selective", 2), (3, "full", 3), (2, "full", 0)],
)
def test_weights_are_gathered_before_every_pass(
    zero: int, recompute: Recompute, gathers: int
) -> None:
    ranks, weights = 8, 1e9
    written = PlanSpec(zero=zero, recompute=recompute, microbatches=4)
    plan = resolve_plan(written, model("gpt3-175b"), ranks, "plan")
    assert parameter_gathers(plan) == gathers
    if zero == 3:
        # ZeRO-Infinity (SC21), section 4.1: 2 bytes a weight, once more with checkpoints.
        assert data_bytes(weights, ranks, plan)[1] == 4 * gathers * 2 * weights * 7 / 8
