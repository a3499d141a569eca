"""Titles of panes: as many words as fit, never half of one."""

from __future__ import annotations

import pytest

from clusterscope.tui.panes.base import headed
from tests.tui.apps import CannedApp, driven, text_of

MAP = "2 utilization · worst link of a cell, both directions"


@pytest.mark.parametrize(
    ("ways", "room", "words"),
    [
        ((MAP,), 53, MAP),
        ((MAP,), 52, "2 utilization · worst link of a cell"),
        ((MAP,), 30, "2 utilization"),
        (("4 jobs · rocev2: htsim, 8 hosts", "4 jobs · rocev2"), 25, "4 jobs · rocev2"),
        (("3 inspector · node07/nic0", "3 node07/nic0"), 20, "3 node07/nic0"),
        (("3 inspector · node07/nic0", "3 node07/nic0"), 12, "3 inspector"),
        (("a-name-without-a-joint",), 10, "a-name-wi…"),
        (("explain · why 集群集群集群", "集群集群集群"), 8, "explain"),
    ],
)
def test_a_title_is_cut_at_a_joint(ways, room, words):
    assert headed(ways, room) == words


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=str)
async def test_no_title_in_sight_is_cut_in_a_word(size):
    async with driven(CannedApp(), size) as (press, pilot):
        app = pilot.app
        app.explorer.show(app.explorer.scenario.names.find("node0/nic0"))
        await press()
        for line in text_of(app).splitlines():
            if line.startswith(("╭", "┏")):
                assert "…" not in line
