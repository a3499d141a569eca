"""Shared set-up: invariants on, a known environment, modest property tests."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "suite",
    deadline=None,
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def known_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLUSTERSCOPE_CHECK", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    # Nobody's own settings: this directory is not there.
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent/clusterscope-tests")
