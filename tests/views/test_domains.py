"""Every view knows the cables and groups of domains beyond one switch."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from clusterscope.engine.events import Event
from clusterscope.engine.scenario import Scenario, build
from clusterscope.engine.timeline import Timeline
from clusterscope.fabric.arrays import SCALE_UP
from clusterscope.fabric.things import Thing
from clusterscope.metrics.targets import parse
from clusterscope.spec.model import ClusterSpec, JobSpec
from clusterscope.views import neighborhood
from clusterscope.views.all_links import link_table
from clusterscope.views.catalog import VIEWS
from clusterscope.views.focus import place_map
from clusterscope.views.inspector import inspector, links_of
from clusterscope.views.link_filter import matching
from clusterscope.views.measure import load
from clusterscope.views.shapes import Grid, Table
from clusterscope.views.tree import inside, parent
from clusterscope.views.zoom import way
from tests.fabric.domain_specs import mesh, torus, two_level

JOB = JobSpec(name="job", collective="all-to-all", message_bytes=10**9)
SHAPES = {
    "mesh": mesh(4, count=2),
    "one mesh": mesh(6),
    "torus": torus(2, 3, 2, nodes=2, count=2),
    "one torus": torus(3, 4),
    "two-level": two_level(8, 4, nodes=4, count=2),
    "groups in a node": two_level(8, 2, nodes=2),
    "a GPU a node": two_level(6, 3, nodes=6),
}


def with_nics(spec: ClusterSpec) -> ClusterSpec:
    """The same with a NIC a node on one leaf."""
    tables = spec.model_dump(exclude_none=True)
    tables["node"]["nics"] = 1
    tables["scale_out"] = {"tiers": 1, "wiring": "rack", "su_nodes": spec.node.count}
    tables["scale_out"]["leaf_switch"] = "generic-64"
    return ClusterSpec.model_validate(tables)


@pytest.fixture(params=[(name, nics) for name in SHAPES for nics in (False, True)], ids=str)
def scenario(request) -> Scenario:
    name, nics = request.param
    spec = SHAPES[name].model_copy(update={"jobs": (JOB.model_copy(update={"ranks": 2}),)})
    return build(with_nics(spec) if nics else spec)


def things(scenario: Scenario) -> list[Thing]:
    fabric = scenario.fabric
    first = int(fabric.tier_start[SCALE_UP])
    found = [Thing("domain", 0), Thing("node", 0), Thing("gpu", fabric.gpus - 1)]
    found += [Thing("cable", first), Thing("link", 2 * fabric.cables - 1)]
    return found + [Thing("subdomain", g) for g in range(min(2, fabric.groups))]


def test_every_view_can_be_read_of_every_thing(scenario):
    frame = Timeline(scenario).at(0)
    for thing in things(scenario):
        for view in VIEWS:
            shape = view.function(scenario, frame, thing)
            if isinstance(shape, Table) and shape.rows:
                assert [column[shape.rows - 1] for column in shape.columns]
            if isinstance(shape, Grid) and shape.keys is not None:
                rows, columns = shape.values.shape
                for row in range(rows):
                    for column in range(columns):
                        key = shape.keys(row, column)
                        assert not key or scenario.names.find(key)


def test_a_thing_is_below_its_parent_and_on_the_map_around_it(scenario):
    measure = load(scenario, Timeline(scenario).at(0))
    for thing in things(scenario):
        above = parent(scenario, thing)
        assert above is not None
        if thing.kind in ("subdomain", "node", "gpu"):
            assert thing in inside(scenario, above)
        for place in way(scenario, thing):
            grid = place_map(scenario, measure, place)
            assert grid.where is not None
            if thing.kind == "gpu" and place.kind in ("domain", "node"):
                assert grid.where(scenario.names.thing(thing)) is not None


def test_links_of_a_thing_are_those_that_end_in_it(scenario):
    fabric = scenario.fabric
    first = int(fabric.tier_start[SCALE_UP])
    for domain in range(fabric.domains):
        own = {link >> 1 for link in links_of(scenario, Thing("domain", domain)).tolist()}
        gpus = np.flatnonzero(fabric.gpu_domain == domain)
        of_gpus = [links_of(scenario, Thing("gpu", int(gpu))) for gpu in gpus]
        groups = [g for g in range(fabric.groups) if g // fabric.shape.groups == domain]
        uplinks = [links_of(scenario, Thing("subdomain", g)) for g in groups]
        assert own == {link >> 1 for links in (*of_gpus, *uplinks) for link in links.tolist()}
        assert min(own) >= first
    gpu = links_of(scenario, Thing("gpu", 1))
    assert all((gpu[0::2] ^ 1) == gpu[1::2])
    ends = np.where(gpu[0::2] & 1, fabric.cable_b[gpu[0::2] >> 1], fabric.cable_a[gpu[0::2] >> 1])
    assert set(ends.tolist()) == {fabric.gpu_vertex + 1}


def test_one_can_walk_from_every_thing_to_its_neighbors(scenario):
    frame = Timeline(scenario).at(0)
    for thing in things(scenario):
        center, _ = neighborhood.center_of(scenario, thing)
        hood = neighborhood.hood(scenario, center)
        ties = (*hood.above, *hood.side, *hood.below)
        assert ties
        for tie in ties:
            assert neighborhood.look(scenario, frame, tie).name
            assert neighborhood.words(scenario, frame, tie, center)
            for cable in tie.cables:
                ends = {int(scenario.fabric.cable_a[cable]), int(scenario.fabric.cable_b[cable])}
                met = [scenario.names.of_vertex(end) for end in ends]
                assert center in met or center.kind in ("node", "domain", "subdomain")


def test_cables_can_be_filtered_failed_and_drawn_by_rules(scenario):
    links = link_table(scenario, Timeline(scenario).at(0))
    gpu = scenario.names.gpu(1)
    kept = matching(scenario, links, f"{gpu} scale-up")
    assert kept is not None
    assert set(np.flatnonzero(kept).tolist()) == set(links_of(scenario, Thing("gpu", 1)).tolist())
    if scenario.fabric.groups:
        kept = matching(scenario, links, "domain0/group1")
        assert kept is not None
        own = set(links_of(scenario, Thing("subdomain", 1)).tolist())
        assert own <= set(np.flatnonzero(kept).tolist())
    assert parse("all scale-up cables of domain 0", scenario)


def test_a_dead_cable_is_told(scenario):
    timeline = Timeline(scenario)
    cable = int(scenario.fabric.tier_start[SCALE_UP])
    timeline.inject(Event(0, "fail", Thing("cable", cable), scenario.names.cable(cable)))
    note = inspector(scenario, timeline.at(0), Thing("cable", cable))
    assert "it is dead: the cable itself has failed." in note.lines
    assert dataclasses.asdict(note)["title"] == scenario.names.cable(cable)
