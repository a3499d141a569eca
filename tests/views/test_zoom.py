"""Places of the map, and the way from the cluster to single links."""

from __future__ import annotations

import pytest

from clusterscope.engine.timeline import Timeline
from clusterscope.views import zoom
from clusterscope.views.catalog import view
from tests.small import scenario
from tests.views.test_tree import SHAPES


def names(built, places):
    return [built.names.thing(place) for place in places]


def test_the_way_in_with_three_tiers():
    built = scenario(**SHAPES["three tiers"])
    leaf = built.names.find("pod1/leaf0")
    assert names(built, zoom.way(built, leaf)) == ["cluster", "pod1", "pod1/leaf0"]
    spine = built.names.find("pod0/spine1")
    assert names(built, zoom.way(built, spine)) == ["cluster", "pod0", "pod0/spine1"]
    core = built.names.find("core1")
    assert names(built, zoom.way(built, core)) == ["cluster", "cores", "core1"]
    assert zoom.crumbs(built, leaf) == "▸ pod1 ▸ leaf0"
    assert zoom.crumbs(built, zoom.CLUSTER) == ""


def test_enter_goes_in_step_by_step_and_ends_at_single_links():
    built = scenario()
    cable = built.names.find("leaf1:u2")
    place, seen = zoom.CLUSTER, []
    while (following := zoom.inward(built, place, cable)) is not None:
        place = following
        seen.append(built.names.thing(place))
    assert seen == ["spines", "leaf1"]
    frame = Timeline(built).at(0)
    grid = view("utilization").function(built, frame, place)
    row, column = grid.where("leaf1:u2<")
    assert grid.row_labels[row] == "from above"
    assert grid.keys(row, column) == "leaf1:u2<"


def test_a_gpu_is_in_its_node_and_a_nic_on_its_leaf():
    built = scenario(**SHAPES["wide domains"])
    gpu, nic = built.names.find("node3/gpu1"), built.names.find("node3/nic1")
    assert names(built, zoom.way(built, zoom.place_of(built, gpu)))[1:] == ["domain0", "node3"]
    assert names(built, zoom.way(built, zoom.place_of(built, nic)))[1:] == ["spines", "leaf1"]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_cell_of_every_place_leads_back_to_itself(shape):
    built = scenario(**SHAPES[shape])
    frame = Timeline(built).at(0)
    places = [zoom.CLUSTER]
    places += [zoom.place_of(built, built.names.of_vertex(v)) for v in range(_vertices(built))]
    for place in dict.fromkeys(step for end in places for step in zoom.way(built, end)):
        grid = view("utilization").function(built, frame, place)
        assert grid.values.shape == grid.down.shape
        for row in range(len(grid.row_labels)):
            for column in range(len(grid.column_labels)):
                key = grid.keys(row, column)
                if key:
                    assert grid.where(key) == (row, column), (built.names.thing(place), key)
        assert grid.where("nothing") is None


def _vertices(built):
    fabric = built.fabric
    return fabric.ports + fabric.switches
