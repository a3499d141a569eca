"""Pictures of layouts; numbers are tested elsewhere, as text."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.tui.apps import CannedApp, settle

SIZES = [(80, 24), (120, 36), (200, 50)]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_explorer(snap_compare, size):
    assert snap_compare(CannedApp(), terminal_size=size, run_before=settle)


def test_explorer_with_a_dead_leaf_and_a_slow_cable(snap_compare):
    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        for command in ("degrade leaf1:u0 0.25", "fail leaf2", "select leaf2"):
            await pilot.press("colon", *command, "enter")
            await settle(pilot)

    assert snap_compare(CannedApp(), terminal_size=(120, 36), run_before=before)


def test_filter(snap_compare):
    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await pilot.press("slash", *"leaf")
        await settle(pilot)

    assert snap_compare(CannedApp(), terminal_size=(80, 24), run_before=before)


def test_help(snap_compare):
    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await pilot.press("question_mark")
        await settle(pilot)

    assert snap_compare(CannedApp(), terminal_size=(80, 24), run_before=before)


def test_no_color(snap_compare, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(CannedApp(), terminal_size=(80, 24), run_before=settle)
