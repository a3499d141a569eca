"""All-reduce by switches: bytes, trees, and where they are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clusterscope.engine.scenario import build, with_transport
from clusterscope.engine.timeline import Timeline
from clusterscope.errors import SpecError
from clusterscope.metrics.causes import CAUSES, causes
from clusterscope.metrics.jobs import job_metrics
from clusterscope.spec.checks import check
from clusterscope.spec.model import ClusterSpec
from clusterscope.spec.validate import validate
from clusterscope.traffic.reduction import domain_bytes

SIZE = 1_000_000_000


def cluster(hosts: int, *, algorithm: str, gpus: int = 1, **more: Any) -> ClusterSpec:
    """Hosts of some GPUs on a Clos of QM9700, 32 to a leaf."""
    tables: dict[str, Any] = {
        "name": "trees",
        "node": {"count": hosts, "gpus": gpus, "gpu": "H100-SXM", "nics": gpus, "nic_gbps": 400.0},
        "scale_out": {
            "tiers": 2,
            "wiring": "rail",
            "su_nodes": min(hosts, 32),
            "leaf_switch": "QM9700",
        },
        "transport": {"name": "infiniband-ar"},
        "jobs": [
            {
                "name": "job",
                "collective": "all-reduce",
                "message_bytes": SIZE,
                "algorithm": algorithm,
            }
        ],
    }
    if gpus > 1:
        up = {"domain_gpus": gpus, "gpu_gbps": 3600.0, "switch": "NVSwitch3", "switches": 4}
        tables["scale_up"] = up
    tables.update(more)
    return validate(tables, "trees")


def busbw(spec: ClusterSpec) -> float:
    built = build(spec)
    return job_metrics(built, Timeline(built).at(0))[0].busbw_GBps


@pytest.mark.parametrize(("hosts", "speedup"), [(2, 1.0), (8, 1.75), (64, 1.9688), (1024, 1.998)])
def test_a_switch_tree_saves_what_a_ring_sends_twice(hosts, speedup):
    # COLL-12, bytes alone.
    ring, tree = (
        build(cluster(hosts, algorithm=a)).program[0].phases[-1] for a in ("ring", "sharp")
    )
    assert ring.demand.size_bytes.max() / tree.demand.size_bytes.max() == pytest.approx(
        speedup, rel=1e-3
    )


def test_a_tree_loads_each_nic_once_and_each_leaf_by_one_stream():
    built = build(cluster(128, algorithm="sharp"))
    share = built.healthy.share(((0, 0),))
    fabric, rate = built.fabric, share.pace_gbps[0, 0][0] / built.transport.goodput_ratio
    ports = 2 * np.arange(fabric.ports)
    assert share.link_gbps[ports] == pytest.approx(rate)
    assert share.link_gbps[ports + 1] == pytest.approx(rate)
    above = fabric.tier_cables(1)
    up = share.link_gbps[2 * above.start : 2 * above.stop : 2]
    leaves = int((fabric.switch_tier == 1).sum())
    assert up.sum() == pytest.approx(rate * leaves)


def test_nvls_ramps_with_the_number_of_gpus():
    # COLL-13: (n+1)/n S each way, at 0.85 of what a ring reaches.
    for gpus, ideal in ((4, 1.2), (5, 1.3333), (6, 1.4286), (7, 1.5), (8, 1.5556)):
        ring = 2 * (gpus - 1) / gpus * SIZE
        assert ring / domain_bytes(SIZE, gpus) == pytest.approx(ideal, rel=1e-3)
    ring, switched = (
        busbw(cluster(1, algorithm=a, gpus=8, scale_out=None)) for a in ("ring", "nvls")
    )
    assert switched / ring == pytest.approx(0.85 * 14 / 9, rel=0.02)
    assert switched == pytest.approx(473.1, rel=0.05)


def test_what_switches_save_is_a_cause_of_its_own_and_all_still_add_up():
    built = build(cluster(64, algorithm="sharp", gpus=8))
    for scenario in (built, with_transport(built, "rocev2")):
        frame = Timeline(scenario).at(0)
        (metrics,), (split,) = job_metrics(scenario, frame), causes(scenario, frame)
        assert tuple(split) == CAUSES
        assert sum(split.values()) == pytest.approx(metrics.iteration_s - metrics.ideal_s)
        saves = scenario.spec.jobs[0].algorithm == "sharp"
        assert (split["in-network reduction"] < 0) == saves


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"transport": {"name": "rocev2"}}, "'sharp' reduces in InfiniBand switches"),
        ({"scale_out__leaf_switch": "SN5600"}, "SN5600 does not"),
        ({"jobs__algorithm": "nvls", "scale_up__switch": "NVSwitch2"}, "NVSwitch2 does not"),
        ({"jobs__algorithm": "nvls", "scale_up__switch": None}, "names none"),
        ({"jobs__collective": "all-gather"}, "all-gather does not"),
    ],
)
def test_where_no_switch_reduces_it_is_refused(change, words):
    tables = cluster(64, algorithm="sharp", gpus=8).model_dump(exclude_unset=True)
    for key, value in change.items():
        table, _, name = key.partition("__")
        place = tables[table][0] if table == "jobs" else tables[table]
        if name:
            place[name] = value
        else:
            tables[table] = value
    with pytest.raises(SpecError, match=words):
        check(validate(tables, "trees"), "trees")


def test_a_switch_with_one_tree_refuses_the_second():
    out = {"tiers": 2, "wiring": "rack", "su_nodes": 4, "leaf_switch": "QM8700"}
    spec = cluster(8, algorithm="sharp", gpus=4, scale_out=out)
    nodes = spec.node.model_copy(update={"nic_gbps": 200.0})
    with pytest.raises(SpecError, match="4 reduction trees meet on a leaf, and a QM8700 runs 1"):
        build(spec.model_copy(update={"node": nodes}))
