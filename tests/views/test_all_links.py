"""All links: order and filters, on a cluster small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from clusterscope.engine.events import Event
from clusterscope.errors import SpecError
from clusterscope.views.all_links import SORTS, STATES, as_table, link_table, sample
from clusterscope.views.link_filter import matching
from tests.canned import CannedTimeline
from tests.small import scenario

THREE = {
    "scale_out__tiers": 3,
    "scale_out__su_nodes": 2,
    "scale_out__leaf_down": 2,
    "scale_out__leaf_up": 2,
    "scale_out__pod_sus": 2,
    "scale_out__spine_up": 4,
}


def hurt():
    """Two tiers; leaf0:u0 dead, leaf1:u0 at half."""
    timeline = CannedTimeline(scenario())
    names = timeline.scenario.names
    timeline.inject(Event.named(names, "fail", "leaf0:u0", step=0))
    timeline.inject(Event.named(names, "degrade", "leaf1:u0", step=0))
    return timeline.scenario, timeline.at(0)


@pytest.fixture(scope="module")
def small():
    cluster, frame = hurt()
    return cluster, link_table(cluster, frame)


def names_of(cluster, links, line):
    keep = matching(cluster, links, line)
    rows = np.arange(cluster.fabric.links) if keep is None else np.flatnonzero(keep)
    return [cluster.names.link(row) for row in rows.tolist()]


def test_a_row_says_everything_about_its_link(small):
    cluster, links = small
    table = as_table(cluster, links)
    row = cluster.names.find("leaf1:u0<").index
    said = {column.name: column[row] for column in table.columns}
    assert table.rows == cluster.fabric.links == 96
    assert table.key(row) == said["link"] == "leaf1:u0<"
    assert (said["from"], said["to"], said["tier"]) == ("spine0", "leaf1", "leaf-spine")
    assert (said["capacity"], said["state"]) == (50.0, "slow")
    assert said["util"] == pytest.approx(said["load"] / 50)


def test_orders_are_stable_and_put_what_is_missing_last(small):
    cluster, links = small
    dead = {cluster.names.find(f"leaf0:u0{way}").index for way in "<>"}
    falling = links.ordered(None, "util", falling=True)
    assert set(falling[-2:].tolist()) == dead
    value = links.util[falling[:-2]]
    assert (np.diff(value) <= 0).all()
    ties = np.flatnonzero(np.diff(value) == 0)
    assert (np.diff(falling)[ties] > 0).all()
    assert links.ordered(None, "link", falling=False).tolist() == list(range(96))
    assert links.ordered(None, "link", falling=True).tolist() == list(range(95, -1, -1))
    assert set(links.ordered(None, "state", falling=True)[:2].tolist()) == dead
    for by in SORTS:
        assert sorted(links.ordered(None, by, falling=True).tolist()) == list(range(96))


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("", 96),
        ("leaf2", 2 * (4 + 4)),  # four NIC ports, four uplinks
        ("LEAF002", 16),
        ("leaf2 spine0", 4),  # a trunk of two cables, both ways
        ("leaf", 2 * (16 + 16)),
        ("spine", 32),
        ("node3", 2 * (2 + 2)),
        ("node3/nic1", 2),
        ("nic1", 16),
        ("gpu0", 16),
        ("node3/gpu", 4),
        ("domain", 32),
        ("domain4", 4),
        ("leaf2:u1", 2),
        ("leaf2:u1>", 1),
        ("nic-leaf", 32),
        ("scale-up rx", 16),
        ("down", 2),
        ("slow", 2),
        ("up", 92),
        ("slow tx", 1),
        (">0.99", 8),
        (">=99%", 8),
        ("<0.10 nic-leaf", 8),
        ("load>100 scale-up", 24),
        ("capacity<100", 4),
    ],
)
def test_filters_count_as_by_hand(small, line, count):
    assert len(names_of(*small, line)) == count


def test_a_filter_lists_what_it_says(small):
    assert names_of(*small, "leaf0 spine0 tx") == ["leaf0:u0>", "leaf0:u2>"]
    assert names_of(*small, "down") == ["leaf0:u0>", "leaf0:u0<"]
    assert names_of(*small, "slow rx") == ["leaf1:u0<"]


def test_with_pods_a_part_of_a_name_means_it_in_every_pod():
    cluster = scenario(**THREE)
    links = link_table(cluster, CannedTimeline(cluster).at(0))
    everywhere = names_of(cluster, links, "leaf1")
    assert {name.split("/")[0] for name in everywhere if name.startswith("pod")} == {"pod0", "pod1"}
    there = names_of(cluster, links, "pod1/leaf1")
    assert set(there) < set(everywhere)
    assert set(names_of(cluster, links, "pod1 leaf1")) == set(there)
    assert len(names_of(cluster, links, "pod1/leaf")) == len(everywhere) * 2
    assert names_of(cluster, links, "core1 tx")[0].startswith("pod0/spine")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("leaf9", "filter: there is no thing 'leaf9'; leaves there: leaf0 to leaf3"),
        ("warm", "or >0.9, slow, rx"),
        (">x", "or >0.9, slow, rx"),
        ("pod0/core1", "there is no thing 'pod0/core1'"),
        ("leaf1/leaf2", "there is no thing"),
        ("p0", "there is no thing 'p0'"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(small, line, sentence):
    with pytest.raises(SpecError, match="there is no thing") as caught:
        matching(*small, f"leaf2 {line}")
    assert sentence in str(caught.value)


def test_the_sample_for_widths_has_every_tier_and_state(small):
    cluster, links = small
    rows = sample(cluster, links)
    assert {int(cluster.fabric.cable_tier[row >> 1]) for row in rows} == {0, 1, 3}
    assert "down" in {STATES[links.state[row]] for row in rows}
    assert len(rows) < 20
