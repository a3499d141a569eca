"""Pictures may only be made with the pinned versions; apps under test are quick."""

from __future__ import annotations

import importlib.metadata

import pytest
from textual import _wait
from textual import screen as screen_module
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

_parse_rules = Stylesheet._parse_rules
_PARSED: dict[object, object] = {}

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


@pytest.fixture(autouse=True)
def quick_app(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait in shorter naps than Textual's, and paint nothing that nobody sees.

    What is on the screen is rendered when a test reads it. Tests of what is painted, and when, ask
    for the fixture `painting`.
    """
    monkeypatch.setattr(_wait, "SLEEP_GRANULARITY", 0.006)
    monkeypatch.setattr(_wait, "SLEEP_IDLE", 0.0006)
    monkeypatch.setattr(screen_module, "UPDATE_PERIOD", 0.002)
    monkeypatch.setattr(Stylesheet, "_parse_rules", _parsed_once)
    if "painting" not in request.fixturenames:
        monkeypatch.setattr(Screen, "_compositor_refresh", _unpainted)


@pytest.fixture
def painting() -> None:
    """Paint as on a terminal."""


def _parsed_once(sheet: Stylesheet, *arguments: object, **named: object) -> object:
    """Rules of a style sheet, parsed once for all apps that have the same variables."""
    key = (*sheet._variables.items(), *arguments, *named.items())
    if key not in _PARSED:
        _PARSED[key] = _parse_rules(sheet, *arguments, **named)
    return _PARSED[key]


def _unpainted(screen: Screen[object]) -> None:
    """Forget what would have to be painted."""
    if screen is screen.app.screen:
        screen._compositor._dirty_regions.clear()
        screen._dirty_widgets.clear()
    screen.app._update_mouse_over(screen)
