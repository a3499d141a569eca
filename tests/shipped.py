"""The shipped presets as test parameters: those that take more than seconds are marked slow."""

from __future__ import annotations

from typing import Any

import pytest

from clusterscope.spec.presets import summaries

# GPUs from which looking at all of a preset takes seconds; the flagship is looked at every time.
LARGE = 5_000
ALWAYS = "xai-colossus-100k"


def shipped() -> list[Any]:
    """Names of all presets, for `pytest.mark.parametrize`."""
    return [
        pytest.param(row.name, marks=pytest.mark.slow)
        if row.gpus > LARGE and row.name != ALWAYS
        else row.name
        for row in summaries()
    ]
