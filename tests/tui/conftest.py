"""Pictures may only be made with the pinned versions."""

from __future__ import annotations

import importlib.metadata

import pytest

PINNED = {"textual": "8.2.8", "pytest-textual-snapshot": "1.1.0", "syrupy": "4.8.0"}


@pytest.fixture(autouse=True, scope="session")
def pinned_versions(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("update_snapshots", default=False):
        found = {name: importlib.metadata.version(name) for name in PINNED}
        assert found == PINNED, f"pictures are made with {PINNED}, not with {found}"


@pytest.fixture(autouse=True)
def known_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("COLORTERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
