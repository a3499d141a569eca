"""Connections of a NIC pair: hashed each on its own, and as fast as rings that run on their own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterscope.engine.rates import max_min_entries
from clusterscope.engine.scenario import Scenario, build, with_spec
from clusterscope.engine.timeline import Timeline
from clusterscope.metrics.jobs import job_metrics
from clusterscope.metrics.users import flows_on
from clusterscope.spec.carrying import TransportSpec
from clusterscope.validation.worlds import leaf_spine
from clusterscope.views.reason import flow_words

NODES, SPINES = 16, 4


def ring(**transport: object) -> Scenario:
    """One ring over 16 nodes on 4 leaves, in random order."""
    job = {
        "name": "ring",
        "collective": "all-reduce",
        "message_bytes": 2**30,
        "algorithm": "ring",
        "placement": "random",
    }
    spec = leaf_spine(4, 4, SPINES, jobs=[job], transport={"name": "rocev2", **transport})
    return build(spec)


def far(scenario: Scenario) -> int:
    """Edges of the ring that leave their leaf."""
    load, fabric = ring(channels=1).loads[0][0], scenario.fabric
    return int((fabric.port_leaf[load.src] != fabric.port_leaf[load.dst]).sum())


@pytest.mark.parametrize(
    ("own", "each"), [({}, 4), ({"channels": 2, "qps": 3}, 6), ({"qps": 2}, 8)]
)
def test_every_connection_of_an_edge_between_leaves_is_a_row(
    own: dict[str, int], each: int
) -> None:
    scenario = ring(**own)
    (load,) = scenario.loads[0]
    away = far(scenario)
    assert load.connections == each
    assert len(load.src) == NODES + away * (each - 1)
    assert int(load.row_connections.sum()) == NODES * each
    assert len(load.size_bytes) == 1


@given(channels=st.integers(1, 64), qps=st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_bytes_are_kept(channels: int, qps: int) -> None:
    (load,) = ring(channels=channels, qps=qps).loads[0]
    sent = np.bincount(load.src, load.row_weight * load.size_bytes[load.row_entity], NODES)
    assert sent == pytest.approx(np.full(NODES, 2 * (NODES - 1) / NODES * 2**30), rel=1e-12)


def test_more_channels_make_hashing_cheaper_and_spray_does_not_care() -> None:
    def seconds(name: str, channels: int) -> float:
        base = ring()
        times = []
        for seed in range(6):
            spec = base.spec.model_copy(
                update={
                    "transport": TransportSpec(name=name, channels=channels),
                    "sim": base.spec.sim.model_copy(update={"seed": seed}),
                }
            )
            scenario = with_spec(base, spec)
            times.append(job_metrics(scenario, Timeline(scenario).at(0))[0].iteration_s)
        return float(np.mean(times))

    one, four, many = (seconds("rocev2", channels) for channels in (1, 4, 64))
    assert one > 1.3 * four > 1.3 * many
    assert seconds("uec", 1) == seconds("uec", 64)


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_group_in_step_ends_when_its_last_channel_would(data: st.DataObject) -> None:
    """Oracle: every channel an entity of its own; the collective waits for the last one."""
    groups = data.draw(st.integers(1, 3))
    channels = data.draw(st.integers(1, 5))
    edges = data.draw(st.integers(1, 4))
    links = data.draw(st.integers(2, 8))
    capacity = np.array(data.draw(st.lists(st.integers(1, 9), min_size=links, max_size=links)))
    rows = groups * channels * edges
    path = st.lists(st.integers(0, links - 1), min_size=1, max_size=3, unique=True)
    paths = [data.draw(path) for _ in range(rows)]
    link = np.array([hop for hops in paths for hop in hops], dtype=np.int32)
    row = np.repeat(np.arange(rows), [len(hops) for hops in paths])
    channel = (row // edges).astype(np.int32)
    gbps = capacity.astype(np.float64)

    def last_s(entity: np.ndarray, weight: float, count: int, size: float) -> float:
        weights = np.full(len(link), weight)
        rates = max_min_entries(entity, link, weights, count, gbps)
        return size / float(rates.flow_gbps.min())

    apart = last_s(channel, 1.0, groups * channels, 1.0 / channels)
    group = (channel // channels).astype(np.int32)
    assert last_s(group, 1.0 / channels, groups, 1.0) == pytest.approx(apart, rel=1e-9)


def test_what_uses_a_link_is_told_in_connections() -> None:
    scenario = ring()
    frame = Timeline(scenario).at(0)
    uplink = 2 * scenario.fabric.ports
    (use,) = flows_on(scenario, frame, uplink)
    assert use.connections == use.rows
    assert flow_words(scenario, use).endswith("(of 4 a NIC pair)")
    sprayed = with_spec(
        scenario, scenario.spec.model_copy(update={"transport": TransportSpec(name="uec")})
    )
    (use,) = flows_on(sprayed, Timeline(sprayed).at(0), uplink)
    assert use.connections == 4 * use.rows
    assert flow_words(sprayed, use) == f"{use.rows} flows of {use.connections} connections"
