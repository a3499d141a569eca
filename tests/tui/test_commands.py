"""What can be typed after `:`."""

from __future__ import annotations

import pytest

from clusterscope.errors import ClusterscopeError
from clusterscope.tui.commands import USAGE, Command, parse


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("fail pod07/leaf12", Command("fail", "pod07/leaf12")),
        ("  restore   leaf1:u3 ", Command("restore", "leaf1:u3")),
        ("degrade leaf1:u3", Command("degrade", "leaf1:u3", scale=0.5)),
        ("degrade leaf1:u3 0.1", Command("degrade", "leaf1:u3", scale=0.1)),
        ("degrade leaf1:u3 to 0.1", Command("degrade", "leaf1:u3", scale=0.1)),
        ("degrade random cable", Command("degrade", "random cable")),
        ("degrade 5 random cables to 0.25 @3", Command("degrade", "5 random cables", 0, 0.25, 3)),
        ("fail 3 random  cables", Command("fail", "3 random cables")),
        ("fail spine1, spine2@12", Command("fail", "spine1, spine2", at=12)),
        ("restore all at step 4", Command("restore", "all", at=4)),
        ("step", Command("step", steps=1)),
        ("step 12", Command("step", steps=12)),
        ("seek 0", Command("seek", steps=0)),
        ("transport rocev2", Command("transport", "rocev2")),
        ("q", Command("quit")),
    ],
)
def test_commands(line, command):
    assert parse(line) == command


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "nothing was typed"),
        ("explode x", "there is no command 'explode'"),
        ("fial x", "did you mean 'fail'"),
        ("fail", "fail NAME"),
        ("select a b", "select NAME"),
        ("fail spine1@x", "'x' is not a step"),
        ("seek -1", "'-1' is not a number of steps"),
        ("seek 99999999999", "not a number of steps"),
        ("seek ²", "not a number of steps"),
        ("degrade x 0", "'0' is not a share"),
        ("degrade x nan", "'nan' is not a share"),
        ("degrade x much", "'much' is not a share"),
    ],
)
def test_wrong_commands_say_what_would_be_right(line, words):
    with pytest.raises(ClusterscopeError) as caught:
        parse(line)
    assert words in str(caught.value)


def test_every_usage_begins_with_its_verb():
    assert all(usage.split()[0] == verb for verb, usage in USAGE.items())
