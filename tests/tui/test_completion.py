"""Tab completes what is typed after `:`, and never leaves the line."""

from __future__ import annotations

import pytest

from clusterscope.tui.completion import Completer, WordCompleter, things
from clusterscope.tui.widgets.prompt import Prompt
from tests import small
from tests.tui.test_explorer import BIG, explorer, text_of

NAMES = small.scenario().names


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("f", "fail "),
        ("fail sp", "fail spine"),
        ("fail spine", "fail spine"),
        ("fail node1", "fail node1/"),
        ("fail node3/g", "fail node3/gpu"),
        ("fail NODE3/g", "fail node3/gpu"),
        ("fail spine0, lea", "fail spine0, lea"),
        ("restore node3/nic1:", "restore node3/nic1:u0"),
        ("fail leaf2", "fail leaf2:u"),
        ("transport infin", "transport infiniband"),
        ("what error", "what error band"),
        ("open gb200-nvl7", "open gb200-nvl72"),
        ("nonsense", "nonsense"),
        ("fail nonsense/", "fail nonsense/"),
    ],
)
def test_a_line_goes_on_as_far_as_there_is_one_way(line, completed):
    assert Completer(NAMES).complete(line)[0] == completed


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("fail spine", "spine spines spine-core spine0 … 5 in all"),
        ("fail 3 random le", "leaf leaves leafs leaf-spine … 8 in all"),
        ("fail leaf2", "u0 u1 u2 u3"),
        ("seek ", "seek N"),
        ("nonsense", "nothing begins so"),
        ("open gb200-nvl7", ""),
    ],
)
def test_ways_to_go_on_are_told(line, words):
    found = Completer(NAMES).complete(line)[1]
    assert found == words


def test_everything_with_a_name_of_its_own_can_be_completed():
    fabric = NAMES.fabric
    assert set(map(NAMES.switch, range(fabric.switches))) <= set(things(NAMES, ""))
    assert set(map(NAMES.node, range(fabric.nodes))) <= set(things(NAMES, "node"))
    inside = [*map(NAMES.gpu, range(fabric.gpus)), *map(NAMES.nic, range(fabric.ports))]
    for name in inside:
        assert name in set(things(NAMES, name.partition("/")[0] + "/"))
    for cable in range(fabric.cables):
        name = NAMES.cable(cable)
        assert name in set(things(NAMES, name.partition(":")[0] + ":")), name


def test_a_word_is_completed_out_of_a_few():
    helper = WordCompleter(("infiniband", "rocev2", "rail"))
    assert helper.complete("r") == ("r", "rocev2 rail")
    assert helper.complete("i") == ("infiniband", "")
    assert helper.usage("") == "infiniband rocev2 rail"


async def test_tab_completes_and_keys_still_belong_to_the_line():
    async with explorer(BIG) as (app, screen, press, pilot):
        await press("colon", "tab")
        assert "fail restore degrade select" in text_of(app)
        await pilot.press(*"sel", "tab")
        await press()
        assert text_of(app).splitlines()[-2].split() == [":select", "select", "NAME"]
        await pilot.press(*"leaf2", "shift+tab")
        await pilot.press("x")
        await press()
        line = text_of(app).splitlines()[-2]
        assert line.startswith(" :select leaf2:ux")
        assert not screen.player.timeline.log
        await press("escape")
        assert not screen.query_one(Prompt).display


async def test_tab_stays_in_the_filter_as_well():
    async with explorer(BIG) as (_, screen, press, pilot):
        await press("slash")
        await pilot.press("l", "tab", "x")
        await press()
        assert screen.stage.topology.branches.filtered == "lx"
        assert not screen.player.timeline.log
