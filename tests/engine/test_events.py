"""Events: what may fail, and what failing does."""

from __future__ import annotations

import pytest

from clusterscope.engine.events import Event, apply
from clusterscope.errors import SpecError, UnknownNameError
from clusterscope.fabric.arrays import Health
from tests.small import scenario

MADE = scenario()


def event(kind, name, **more):
    return Event.named(MADE.names, kind, name, step=0, **more)


@pytest.mark.parametrize("name", ["leaf0:u1", "spine1", "node2", "node2/nic1", "node2/gpu0"])
def test_fail_then_restore_is_the_whole_cluster(name):
    whole = Health.whole(MADE.fabric)
    hurt = apply(whole, [event("fail", name)])
    assert not hurt.healthy
    assert (hurt.cable_rate(MADE.fabric) == 0).any()
    assert apply(hurt, [event("restore", name)]).digest() == whole.digest()


def test_no_events_change_nothing_and_copy_nothing():
    whole = Health.whole(MADE.fabric)
    assert apply(whole, []) is whole


def test_a_link_stands_for_its_cable():
    assert event("fail", "leaf0:u1<").target == event("fail", "leaf0:u1").target


def test_a_dead_node_takes_its_nics_and_gpus_along():
    rate = apply(Health.whole(MADE.fabric), [event("fail", "node2")]).cable_rate(MADE.fabric)
    dead = {MADE.names.cable(c) for c in range(MADE.fabric.cables) if rate[c] == 0}
    assert dead == {"node2/nic0:u0", "node2/nic1:u0", "node2/gpu0:nv", "node2/gpu1:nv"}


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("fail", "cluster", "cannot fail"),
        ("degrade", "spine1", "cannot degrade"),
    ],
)
def test_what_cannot_fail_says_so(kind, name, words):
    with pytest.raises(SpecError, match=words):
        event(kind, name)


def test_what_is_not_there_is_named_with_what_is():
    with pytest.raises(UnknownNameError, match="spine0 to spine1"):
        event("fail", "spine7")
